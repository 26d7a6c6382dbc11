"""Permission requests wait in a queue, and decisions stay with their tool call."""

import pytest

from acp_tui.conversation.catch_up import retold
from acp_tui.conversation.conversation import NOTHING, Change, Conversation
from acp_tui.conversation.entries import Decision, EntryId, ToolCallEntry
from acp_tui.conversation.facts import Fact, PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.permission_requests import decision_words
from acp_tui.conversation.tool_calls import ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import PermissionAnswered, PermissionAsked
from support.folding import ALLOW, REJECT, agent, ask, call, fold, last_change, prompt, texts

PERMISSIONS = (Fact.PERMISSIONS,)


def answered(key: int, option: PermissionOption | None) -> PermissionAnswered:
    return PermissionAnswered(RequestKey(key), option.option_id if option else None)


def entry_of(conversation: Conversation, call_id: str) -> ToolCallEntry:
    entry = conversation.entries[conversation.tool_call_entries[ToolCallId(call_id)]]
    assert isinstance(entry, ToolCallEntry)
    return entry


def test_a_request_is_merged_into_its_tool_call_in_place() -> None:
    """R-PERM-3: by the same rules as any report."""
    updates = (call("t", title="Edit", kind="edit"), agent("May I?"), ask(1, "t", title="Edit a.py"))
    conversation = fold(*updates)
    assert texts(conversation) == [("call", "t"), ("agent", "May I?")]
    reported = entry_of(conversation, "t").call
    assert (reported.title, reported.kind) == ("Edit a.py", "edit")
    assert last_change(*updates) == Change((EntryId(0),), PERMISSIONS)


def test_a_request_may_be_the_first_mention_of_its_tool_call() -> None:
    """R-ORD-3."""
    conversation = fold(ask(1, "t", title="Run ls", kind="execute"))
    assert texts(conversation) == [("call", "t")]
    assert entry_of(conversation, "t").call.title == "Run ls"


def test_a_request_keeps_the_agents_options_as_they_came() -> None:
    """R-PERM-2."""
    options = (REJECT, ALLOW, PermissionOption("x", "Only on Sundays", "invented"))
    asked = PermissionRequest(RequestKey(1), ToolCallId("t"), options)
    conversation = fold(PermissionAsked(asked, ToolCallPatch(ToolCallId("t"))))
    assert list(conversation.permissions.values()) == [asked]


def test_several_requests_wait_oldest_first_and_are_answered_in_any_order() -> None:
    """R-PERM-6: even two about one tool call."""
    asked = (ask(3, "a"), ask(1, "b"), ask(2, "a"))
    assert list(fold(*asked).permissions) == [3, 1, 2]
    assert list(fold(*asked, answered(1, ALLOW)).permissions) == [3, 2]
    assert list(fold(*asked, answered(1, ALLOW), answered(3, None)).permissions) == [2]


@pytest.mark.parametrize(
    ("option", "decision"),
    [
        (ALLOW, Decision("Allow once", "allow_once")),
        (REJECT, Decision("No", "reject_once")),
        (None, Decision(None, None)),
    ],
)
def test_the_decision_is_kept_with_the_tool_call(option: PermissionOption | None, decision: Decision) -> None:
    updates = (agent("a"), ask(1, "t"), answered(1, option))
    conversation = fold(*updates)
    assert entry_of(conversation, "t").decisions == (decision,)
    assert conversation.permissions == {}
    assert last_change(*updates) == Change((EntryId(1),), PERMISSIONS)


def test_decisions_about_one_tool_call_are_kept_in_their_order() -> None:
    conversation = fold(ask(1, "t"), answered(1, REJECT), ask(2, "t"), answered(2, ALLOW))
    assert [decision.option_name for decision in entry_of(conversation, "t").decisions] == [
        "No",
        "Allow once",
    ]


def test_an_answer_to_a_question_of_acp_tui_is_told_by_its_own_name() -> None:
    option = PermissionOption("session", "Allow in this session", "allow_always")
    request = PermissionRequest(RequestKey(1), ToolCallId("t"), (option,), is_ours=True)
    conversation = fold(PermissionAsked(request, ToolCallPatch(ToolCallId("t"))), answered(1, option))
    for told in (conversation, fold(*retold(conversation))):
        (decision,) = entry_of(told, "t").decisions
        assert decision_words(decision) == "you chose: Allow in this session"


def test_a_decision_changes_no_status() -> None:
    """Only the agent knows whether the call continues."""
    of_turn = fold(prompt("go"), ask(1, "t", status="pending"), answered(1, REJECT))
    assert entry_of(of_turn, "t").call.status == "pending"


@pytest.mark.parametrize("key", [1, 2])
def test_an_answer_to_what_does_not_wait_does_nothing(key: int) -> None:
    """R-CREQ-4: the first answer counts."""
    updates = (ask(1, "t"), answered(1, ALLOW), answered(key, REJECT))
    assert last_change(*updates) == NOTHING
    assert len(entry_of(fold(*updates), "t").decisions) == 1


@pytest.mark.parametrize(
    ("kind", "is_rejection"),
    [
        ("allow_once", False),
        ("allow_always", False),
        ("reject_once", True),
        ("reject_always", True),
        ("x", False),
    ],
)
def test_the_kinds_that_refuse_are_known(kind: str, is_rejection: bool) -> None:
    assert PermissionOption("o", "n", kind).is_rejection is is_rejection
