"""Tool calls: reports update one entry each, in place (R-TOOL-1 to R-TOOL-6)."""

import itertools
from typing import Any

import pytest

from acp_tui.conversation import UNSET, reducer
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.entries import EntryId, ToolCallEntry
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    TextDiff,
    ToolCall,
    ToolCallId,
    UnknownContent,
)
from acp_tui.conversation.updates import CancelRequested, SessionUpdate, ToolCallContentAdded, TurnEnded
from acp_tui.conversation.visible.cutting import MAX_ITEMS, cut_characters
from support.folding import agent, ask, begun, call, fold, last_change, prompt, texts

OUTPUT = BlockContent(Text("42"))
DIFF = TextDiff("/work/a.py", "new", "old")
FULL: dict[str, Any] = {
    "title": "Edit a.py",
    "kind": "edit",
    "status": "in_progress",
    "content": (DIFF,),
    "locations": (Location("/work/a.py", 3),),
    "raw_input": {"path": "a.py"},
    "raw_output": None,
    "name": "edit_file",
}


def only_call(conversation: Conversation) -> ToolCall:
    (entry,) = (entry for entry in conversation.entries if isinstance(entry, ToolCallEntry))
    return entry.call


def fields(tool_call: ToolCall) -> dict[str, Any]:
    return {name: getattr(tool_call, name) for name in FULL}


def test_a_report_makes_an_entry_with_the_protocols_defaults() -> None:
    """R-TOOL-1."""
    assert fold(call("t", title="Read")).entries == [
        ToolCallEntry(ToolCall(ToolCallId("t"), "Read", kind="other", status="pending"))
    ]


ENDED = (begun("t", title="Read", status="completed"), TurnEnded("end_turn"))


def test_an_id_that_is_used_again_in_a_later_turn_is_another_call() -> None:
    later = (prompt("more"), begun("t", title="Write"), call("t", status="failed"))
    conversation = fold(prompt("go"), *ENDED, *later)
    assert texts(conversation) == [("user", "go"), ("call", "t"), ("user", "more"), ("call", "t")]
    calls = [entry.call for entry in conversation.entries if isinstance(entry, ToolCallEntry)]
    assert [(each.title, each.status) for each in calls] == [("Read", "completed"), ("Write", "failed")]


def test_a_question_about_a_call_of_an_earlier_turn_that_is_over_is_about_another() -> None:
    conversation = fold(prompt("go"), *ENDED, prompt("more"), ask(1, "t", title="Delete"))
    assert texts(conversation)[-1] == ("call", "t")
    assert [conversation.entries[at].waiting for at in (1, 3)] == [0, 1]  # type: ignore[union-attr]


@pytest.mark.parametrize("again", [begun("t", title="Write"), ask(1, "t", title="Write")])
@pytest.mark.parametrize(
    "before",
    [
        (prompt("go"), begun("t", title="Read", status="completed")),
        (prompt("go"), TurnEnded("end_turn"), prompt("more"), begun("t", title="Read", status="completed")),
        (prompt("go"), TurnEnded("end_turn"), begun("t", title="Read"), prompt("more")),
    ],
    ids=["in the same turn", "in the later turn", "still at work"],
)
def test_a_call_that_is_announced_again_while_it_may_be_at_work_is_the_same(
    before: tuple[SessionUpdate, ...], again: SessionUpdate
) -> None:
    assert only_call(fold(*before, again)).title == "Write"


def test_an_update_of_a_call_of_an_earlier_turn_changes_it_where_it_stands() -> None:
    assert only_call(fold(prompt("go"), *ENDED, prompt("more"), call("t", title="Late"))).title == "Late"


def test_a_second_report_changes_the_entry_where_it_stands() -> None:
    """R-TOOL-3: whichever kind of report it is."""
    updates = (call("t", title="Read"), agent("between"), call("t", title="Read a.py", status="completed"))
    conversation = fold(*updates)
    assert texts(conversation) == [("call", "t"), ("agent", "between")]
    assert (only_call(conversation).title, only_call(conversation).status) == ("Read a.py", "completed")
    assert last_change(*updates) == Change((EntryId(0),))


def test_an_update_for_an_unknown_call_makes_it() -> None:
    """R-TOOL-4."""
    conversation = fold(agent("a"), call("t", status="completed"), call("t", title="Late title"))
    assert texts(conversation) == [("agent", "a"), ("call", "t")]
    assert only_call(conversation).title == "Late title"


@pytest.mark.parametrize("name", FULL)
def test_what_a_report_leaves_out_stays_as_it_was(name: str) -> None:
    """R-TOOL-2."""
    changed = {"title": "T", "kind": "k", "status": "s", "content": (), "locations": (), "name": "n"}.get(name, 1)
    conversation = fold(call("t", **FULL), call("t", **{name: changed}))
    assert fields(only_call(conversation)) == FULL | {name: changed}


@pytest.mark.parametrize("content", [(), (OUTPUT,), (DIFF, OUTPUT), (UnknownContent("hologram", {}),)])
def test_a_list_replaces_the_whole_list(content: tuple[Any, ...]) -> None:
    """R-TOOL-2: it never appends, and an empty list empties it."""
    conversation = fold(call("t", content=(DIFF, OUTPUT)), call("t", content=content))
    assert only_call(conversation).content == content


def test_null_is_a_value_of_raw_input_and_output_and_not_their_absence() -> None:
    """R-TOOL-11, R-PERM-8."""
    assert only_call(fold(call("t"))).raw_input is UNSET
    assert only_call(fold(call("t", raw_input={}), call("t", raw_input=None))).raw_input is None


@pytest.mark.parametrize(
    ("before", "after"),
    itertools.permutations(["pending", "in_progress", "completed", "failed", "invented"], 2),
)
def test_a_status_may_move_in_any_direction(before: str, after: str) -> None:
    """R-TOOL-6."""
    assert only_call(fold(call("t", status=before), call("t", status=after))).status == after


def test_a_late_completed_replaces_the_local_mark_of_a_cancelled_turn() -> None:
    """R-CANC-6."""
    cancelled = (prompt("go"), call("t", status="in_progress"), CancelRequested())
    assert only_call(fold(*cancelled)).status == "cancelled"
    ended = (*cancelled, call("t", status="completed"), TurnEnded("cancelled"))
    assert only_call(fold(*ended)).status == "completed"
    assert only_call(fold(*cancelled, TurnEnded("cancelled"), call("t", status="failed"))).status == "failed"


def test_a_call_that_fails_because_the_user_cancels_the_turn_is_canceled() -> None:
    cancelled = (prompt("go"), call("t", status="in_progress"), call("u", status="failed"), CancelRequested())
    conversation = fold(*cancelled, call("t", status="failed"), call("u", status="failed"), TurnEnded("cancelled"))
    statuses = [entry.call.status for entry in conversation.entries if isinstance(entry, ToolCallEntry)]
    assert statuses == ["cancelled", "failed"]


def test_a_late_report_without_a_status_leaves_the_local_mark() -> None:
    conversation = fold(prompt("go"), call("t"), CancelRequested(), call("t", content=(OUTPUT,)))
    assert only_call(conversation).status == "cancelled"
    assert only_call(conversation).content == (OUTPUT,)


def test_unknown_kinds_and_statuses_are_kept_as_they_came() -> None:
    """R-LEN-4."""
    tool_call = only_call(fold(call("t", kind="teleport", status="paused")))
    assert (tool_call.kind, tool_call.status, tool_call.is_settled) == ("teleport", "paused", False)


def test_meta_gathers_over_the_reports() -> None:
    conversation = fold(call("t", meta={"a": 1, "b": 1}), call("t"), call("t", meta={"b": 2}))
    assert only_call(conversation).meta == {"a": 1, "b": 2}


def test_meta_of_the_wire_is_copied_and_not_shared() -> None:
    wire = {"a": 1}
    fold(call("t", meta=wire), call("t", meta={"b": 2}))
    assert wire == {"a": 1}


@pytest.mark.parametrize(
    ("reported", "shown"),
    [
        ({"title": "Edit a.py", "name": "edit"}, "Edit a.py"),
        ({"title": "", "name": "edit_file"}, "edit_file"),
        ({"kind": "execute"}, "execute"),
        ({}, "t-1"),
    ],
)
def test_a_call_without_a_title_is_named_by_the_next_best(reported: dict[str, Any], shown: str) -> None:
    """R-TOOL-4."""
    assert only_call(fold(call("t-1", **reported))).shown_title == shown


def test_two_calls_do_not_touch_each_other() -> None:
    conversation = fold(call("a", **FULL), call("b"), call("b", status="failed", content=(OUTPUT,)))
    first, second = (entry.call for entry in conversation.entries if isinstance(entry, ToolCallEntry))
    assert fields(first) == FULL
    assert (second.status, second.content) == ("failed", (OUTPUT,))


def test_content_added_without_end_is_cut_with_a_mark_that_counts_all_of_it() -> None:
    conversation = fold(call("1", content=(OUTPUT,)))
    for _ in range(2 * MAX_ITEMS):
        reducer.apply(conversation, ToolCallContentAdded(ToolCallId("1"), (OUTPUT,)))

    *kept, mark = only_call(conversation).content
    assert kept == [OUTPUT] * MAX_ITEMS
    assert isinstance(mark, BlockContent)
    assert isinstance(mark.block, Text)
    assert cut_characters(mark.block.text) == len(str(OUTPUT)) * (MAX_ITEMS + 1)
