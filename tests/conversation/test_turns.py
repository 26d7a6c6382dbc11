"""Turns: a prompt starts one, only the agent ends it, and how it ended stays visible."""

from dataclasses import replace

import pytest

from acp_tui.conversation import wording
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import Image, Text
from acp_tui.conversation.conversation import NOTHING, Change, Conversation
from acp_tui.conversation.entries import EntryId, Failure, Message, ToolCallEntry, TurnEnd
from acp_tui.conversation.facts import BackgroundWork, Fact, PlanStep, RequestKey, TurnPhase
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.conversation.updates import (
    CancelRequested,
    Disconnected,
    PermissionAnswered,
    PlanReplaced,
    PromptSent,
    SessionUpdate,
    StateReported,
    TurnEnded,
    TurnFailed,
)
from support.folding import agent, ask, call, fold, last_change, prompt, texts

IMAGE = Image("aGk=", "image/png")
TURN = (Fact.TURN,)


def statuses(conversation: Conversation) -> list[str]:
    return [entry.call.status for entry in conversation.entries if isinstance(entry, ToolCallEntry)]


def test_a_new_conversation_is_idle_connected_and_empty() -> None:
    conversation = Conversation()
    assert (conversation.turn, conversation.is_connected, conversation.entries) == (TurnPhase.IDLE, True, [])


def test_a_prompt_is_shown_with_all_its_blocks_and_the_turn_runs() -> None:
    conversation = Conversation()
    change = apply(conversation, PromptSent((Text("see "), Text("this:"), IMAGE)))
    assert change == Change((EntryId(0),), TURN)
    assert conversation.entries == [Message("user", None, [TextBuffer("see this:"), IMAGE])]
    assert conversation.turn is TurnPhase.RUNNING


def test_a_turn_that_is_done_ends_without_an_entry() -> None:
    updates = (prompt("go"), agent("Done."), TurnEnded("end_turn"))
    conversation = fold(*updates)
    assert (conversation.turn, conversation.last_stop_reason) == (TurnPhase.IDLE, "end_turn")
    assert texts(conversation) == [("user", "go"), ("agent", "Done.")]
    assert last_change(*updates) == Change((), TURN)


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal", "cancelled", "invented"])
def test_any_other_stop_reason_is_visible_word_for_word(reason: str) -> None:
    """R-PROMPT-6."""
    updates = (prompt("go"), TurnEnded(reason))
    conversation = fold(*updates)
    assert conversation.entries[-1] == TurnEnd(reason)
    assert (conversation.turn, conversation.last_stop_reason) == (TurnPhase.IDLE, reason)
    assert last_change(*updates) == Change((EntryId(1),), TURN)


def test_the_next_prompt_forgets_how_the_last_turn_stopped() -> None:
    assert fold(prompt("a"), TurnEnded("refusal"), prompt("b")).last_stop_reason is None


# Cancellation


def test_a_cancel_marks_unfinished_calls_at_once_and_keeps_the_turn() -> None:
    """R-CANC-2, R-CANC-7."""
    calls = [call(name, status=name) for name in ("pending", "in_progress", "completed", "failed", "invented")]
    updates: list[SessionUpdate] = [prompt("go"), *calls, CancelRequested()]
    conversation = fold(*updates)
    assert statuses(conversation) == ["cancelled", "cancelled", "completed", "failed", "cancelled"]
    assert conversation.turn is TurnPhase.CANCELLING
    change = last_change(*updates)
    assert (set(change.entries), change.facts) == ({1, 2, 5}, TURN)


def test_a_cancel_leaves_a_call_alone_that_was_done_before() -> None:
    updates = (prompt("go"), call("a"), call("a", status="completed"), CancelRequested())
    assert statuses(fold(*updates)) == ["completed"]
    assert last_change(*updates) == Change((), TURN)


@pytest.mark.parametrize("before", [[], [prompt("a"), TurnEnded("end_turn")], [prompt("a"), CancelRequested()]])
def test_a_cancel_without_a_running_turn_does_nothing(before: list[SessionUpdate]) -> None:
    assert last_change(*before, CancelRequested()) == NOTHING


def test_a_cancel_leaves_an_unfinished_call_of_an_earlier_turn_alone() -> None:
    first = (prompt("a"), TurnEnded("end_turn"), call("background", status="in_progress"))
    second = (prompt("b"), call("now", status="in_progress"), CancelRequested(), TurnEnded("cancelled"))
    assert statuses(fold(*first, *second)) == ["in_progress", "cancelled"]
    assert statuses(fold(*first, *second, Disconnected("gone"))) == ["failed", "cancelled"]


@pytest.mark.parametrize(("status", "stays"), [("completed", False), ("in_progress", True)])
def test_a_finished_plan_leaves_with_its_turn(status: str, stays: bool) -> None:
    plan = PlanReplaced((PlanStep("first", status="completed"), PlanStep("last", status=status)))
    conversation = fold(prompt("a"), plan, TurnEnded("end_turn"), prompt("b"))
    assert (conversation.plan is not None) is stays


def test_a_call_that_begins_after_the_cancel_is_marked_when_the_turn_ends() -> None:
    updates = (prompt("go"), call("a"), CancelRequested(), call("b"), TurnEnded("cancelled"))
    assert statuses(fold(*updates[:-1])) == ["cancelled", "pending"]
    assert statuses(fold(*updates)) == ["cancelled", "cancelled"]
    assert last_change(*updates) == Change((EntryId(2), EntryId(3)), TURN)


def test_a_cancelled_turn_may_still_end_as_done() -> None:
    """R-CANC-7."""
    conversation = fold(prompt("go"), CancelRequested(), TurnEnded("end_turn"))
    assert (conversation.turn, texts(conversation)) == (TurnPhase.IDLE, [("user", "go")])


def test_a_call_whose_end_the_agent_did_not_tell_is_unfinished_after_the_turn() -> None:
    updates = (prompt("go"), call("a"), call("b", status="in_progress"), TurnEnded("end_turn"))
    assert statuses(fold(*updates)) == ["unfinished", "unfinished"]
    assert last_change(*updates) == Change((EntryId(1), EntryId(2)), TURN)


@pytest.mark.parametrize("status", ["in_progress", "completed"])
def test_an_agent_that_goes_on_with_a_call_after_the_turn_is_believed(status: str) -> None:
    assert statuses(fold(prompt("go"), call("a"), TurnEnded("end_turn"), call("a", status=status))) == [status]


@pytest.mark.parametrize(("answer", "words"), [("opt-2", "rejected"), ("opt-1", "unfinished"), (None, "unfinished")])
def test_a_rejected_call_whose_end_is_untold_is_rejected_after_the_turn(answer: str | None, words: str) -> None:
    answered, ended = PermissionAnswered(RequestKey(1), answer), TurnEnded("end_turn")
    conversation = fold(prompt("go"), ask(1, "a"), answered, ended)
    assert conversation.tool_call(ToolCallId("a")).status_words == words
    assert fold(prompt("go"), ask(1, "a"), ended, answered) == conversation


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (PermissionAnswered(RequestKey(1), None), "canceled"),
        (PermissionAnswered(RequestKey(1), None, is_withdrawn=True), "unfinished"),
        (PermissionAnswered(RequestKey(1), "opt-2"), "rejected"),
        (PermissionAnswered(RequestKey(1), "opt-1"), "pending"),
    ],
)
def test_a_call_that_was_asked_about_outside_a_turn_waits_no_more(answer: PermissionAnswered, words: str) -> None:
    turn = (prompt("go"), TurnEnded("end_turn"))
    conversation = fold(*turn, ask(1, "a"), answer)
    assert conversation.tool_call(ToolCallId("a")).status_words == words
    assert statuses(fold(*turn, ask(1, "a"), answer, call("a", status="completed"))) == ["completed"]


def test_a_call_that_goes_on_in_the_background_or_is_asked_about_twice_still_waits() -> None:
    canceled = PermissionAnswered(RequestKey(1), None)
    assert statuses(fold(ask(1, "a"), ask(2, "a"), canceled)) == ["pending"]
    behind = StateReported("idle", background=(BackgroundWork("tool_call", "a"),))
    assert statuses(fold(ask(1, "a"), behind, canceled)) == ["pending"]


@pytest.mark.parametrize(("answer", "words"), [("opt-2", "rejected"), ("opt-1", "failed")])
def test_a_rejected_call_that_the_agent_reports_as_failed_is_rejected(answer: str, words: str) -> None:
    """claude-agent-acp, codex-acp, and opencode do that."""
    conversation = fold(
        prompt("go"), ask(1, "a"), PermissionAnswered(RequestKey(1), answer), call("a", status="failed")
    )
    assert conversation.tool_call(ToolCallId("a")).status_words == words


def test_a_question_of_its_own_that_is_canceled_with_the_turn_is_canceled() -> None:
    alone = ask(1, "a")
    alone = replace(alone, request=replace(alone.request, is_alone=True))
    answered, ended = PermissionAnswered(RequestKey(1), None), TurnEnded("end_turn")
    conversation = fold(prompt("go"), alone, answered, ended)
    assert statuses(conversation) == ["cancelled"]
    assert fold(prompt("go"), alone, ended, answered) == conversation


def test_messages_are_accepted_after_a_cancel() -> None:
    """R-CANC-6."""
    conversation = fold(prompt("go"), agent("I was "), CancelRequested(), agent("about to"))
    assert texts(conversation)[-1] == ("agent", "I was about to")


# Failures


def test_a_failed_turn_shows_its_error_and_settles_its_calls_as_failed() -> None:
    """R-PROMPT-8."""
    updates = (prompt("go"), call("a"), TurnFailed("overloaded", "try later", -32603))
    conversation = fold(*updates)
    assert conversation.entries[-1] == Failure("overloaded", "try later")
    assert statuses(conversation) == ["failed"]
    assert (conversation.turn, conversation.last_stop_reason) == (TurnPhase.IDLE, None)
    assert last_change(*updates) == Change((EntryId(1), EntryId(2)), TURN)


def test_the_loss_of_the_agent_ends_the_turn_shows_why_and_clears_the_questions() -> None:
    """R-TRANS-7."""
    updates = (prompt("go"), ask(1, "a"), Disconnected("it exited with code 3", "Killed\n"))
    conversation = fold(*updates)
    assert conversation.entries[-1] == Failure("it exited with code 3", stderr_tail="Killed\n")
    assert (conversation.turn, conversation.is_connected) == (TurnPhase.IDLE, False)
    assert (conversation.permissions, statuses(conversation)) == ({}, ["failed"])
    change = last_change(*updates)
    assert change.entries == (1, 2)
    assert set(change.facts) == {Fact.TURN, Fact.CONNECTION, Fact.PERMISSIONS}


def test_the_loss_of_the_agent_is_shown_once() -> None:
    assert last_change(Disconnected("gone"), Disconnected("gone again")) == NOTHING


def test_the_loss_of_an_idle_agent_is_shown_too() -> None:
    conversation = fold(prompt("go"), TurnEnded("end_turn"), Disconnected("gone"))
    assert texts(conversation) == [("user", "go"), ("Failure", "")]


# After the turn


def test_updates_after_the_turn_are_applied_and_begin_no_turn() -> None:
    """R-PROMPT-10."""
    done = (prompt("go"), call("a"), agent("a"), TurnEnded("end_turn"))
    conversation = fold(*done, agent("late"), call("a", status="completed"), call("b"))
    assert texts(conversation)[2:] == [("agent", "a"), ("agent", "late"), ("call", "b")]
    assert statuses(conversation) == ["completed", "pending"]
    assert conversation.turn is TurnPhase.IDLE


def test_a_chunk_with_the_id_of_an_ended_turn_joins_its_message() -> None:
    conversation = fold(prompt("go"), agent("a", "m"), TurnEnded("end_turn"), agent("b", "m"))
    assert texts(conversation) == [("user", "go"), ("agent", "ab")]


def test_the_end_of_a_turn_leaves_its_questions_open() -> None:
    """R-CREQ-4: each is answered on the wire, once."""
    assert list(fold(prompt("go"), ask(1, "a"), TurnEnded("cancelled")).permissions) == [1]


@pytest.mark.parametrize(
    ("message", "detail", "is_of_login"),
    [
        ("API key not valid", None, True),
        ("You are not logged in", None, True),
        ("request failed", "HTTP 401: invalid x-api-key", True),
        ("Authentication required", None, True),
        ("overloaded", "401k tokens were read by its author", False),
    ],
)
def test_an_error_that_names_a_login_is_told_from_others(message: str, detail: str | None, is_of_login: bool) -> None:
    assert wording.is_of_login(Failure(message, detail)) is is_of_login
