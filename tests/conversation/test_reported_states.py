"""Turns of agents that accept prompts by ID and report states: their beginning, their end, and what remains."""

from __future__ import annotations

from itertools import permutations

import pytest

from acp_tui.conversation.content import Image, Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Failure, Message, TurnEnd
from acp_tui.conversation.facts import BackgroundWork, TurnPhase, TurnUsage
from acp_tui.conversation.reducer import NOT_TAKEN_UP, apply
from acp_tui.conversation.updates import (
    CancelRequested,
    Disconnected,
    MessageReplaced,
    PromptAccepted,
    PromptRefused,
    PromptSent,
    SessionUpdate,
    StateReported,
    TurnFailed,
)
from support.folding import agent, call, fold, texts, user

SENT = PromptSent((Text("hello"),), awaits_id=True)
ACCEPTED = PromptAccepted("u")
RUNNING = StateReported("running")
IDLE = StateReported("idle", "end_turn")


def turns(*updates: SessionUpdate) -> list[TurnPhase]:
    """The session's state after each update."""
    conversation, seen = Conversation(), list[TurnPhase]()
    for update in updates:
        apply(conversation, update)
        seen.append(conversation.turn)
    return seen


@pytest.mark.parametrize(
    "order",
    [
        (RUNNING, user("hello", "u"), ACCEPTED),
        (user("hello", "u"), ACCEPTED, RUNNING),
        (ACCEPTED, user("hello", "u"), RUNNING),
    ],
)
def test_a_turn_ends_with_the_idle_behind_acceptance_and_work(order: tuple[SessionUpdate, ...]) -> None:
    """R2-TURN, R2-MSG: Codex 2.6.0 begins with running, others with the message."""
    before = turns(SENT, *order)
    assert set(before) == {TurnPhase.RUNNING}
    ended = fold(SENT, *order, agent("hi", "a"), IDLE)
    assert (ended.turn, ended.last_stop_reason) == (TurnPhase.IDLE, "end_turn")
    assert texts(ended) == [("user", "hello"), ("agent", "hi")]


def test_an_idle_that_outruns_the_acceptance_ends_the_turn_with_it() -> None:
    """R2-TURN."""
    assert turns(SENT, RUNNING, IDLE, ACCEPTED) == [*[TurnPhase.RUNNING] * 3, TurnPhase.IDLE]


def test_an_idle_of_the_work_before_does_not_end_the_turn() -> None:
    """R2-TURN, R2-STATE: the prompt was sent while the agent worked on its own."""
    seen = turns(RUNNING, SENT, IDLE, ACCEPTED, RUNNING, IDLE)
    assert seen == [*[TurnPhase.RUNNING] * 5, TurnPhase.IDLE]


def test_a_prompt_taken_up_by_work_that_goes_on_ends_with_it() -> None:
    """R2-TURN: nothing promises a second running."""
    assert turns(RUNNING, SENT, ACCEPTED, IDLE)[-1] is TurnPhase.IDLE


def test_work_that_the_agent_begins_by_itself_shows_as_a_turn() -> None:
    """R2-STATE."""
    assert turns(RUNNING, agent("I looked again", "a"), IDLE) == [TurnPhase.RUNNING, TurnPhase.RUNNING, TurnPhase.IDLE]


def test_a_repeated_idle_is_no_new_end() -> None:
    """R2-STATE."""
    refusal = StateReported("idle", "refusal")
    conversation = fold(SENT, ACCEPTED, RUNNING, refusal, refusal, refusal)
    assert sum(isinstance(entry, TurnEnd) for entry in conversation.entries) == 1


@pytest.mark.parametrize("state", ["requires_action", "_compacting", "waiting"])
def test_any_state_but_idle_is_work(state: str) -> None:
    """R2-STATE."""
    assert turns(StateReported(state), IDLE) == [TurnPhase.RUNNING, TurnPhase.IDLE]


def test_an_agent_that_cannot_tell_begins_no_work() -> None:
    """R2-STATE."""
    assert turns(StateReported("unknown")) == [TurnPhase.IDLE]


def test_a_cancelled_turn_ends_though_it_never_ran() -> None:
    """R2-CANC."""
    cancelled = StateReported("idle", "cancelled")
    conversation = fold(SENT, CancelRequested(), ACCEPTED, cancelled)
    assert (conversation.turn, conversation.last_stop_reason) == (TurnPhase.IDLE, "cancelled")


def test_an_error_ends_the_turn_as_a_failure() -> None:
    """R2-ERR."""
    failed = StateReported("idle", "error", TurnFailed("no quota", "details", -32603))
    conversation = fold(SENT, ACCEPTED, RUNNING, failed)
    assert conversation.entries[-1] == Failure("no quota", "details")
    assert conversation.is_idle


def test_background_work_outlives_the_turn() -> None:
    """R2-STATE, R2-CANC: only what belongs to the turn is settled with it."""
    background = (BackgroundWork("tool_call", "server"),)
    conversation = fold(
        *(SENT, ACCEPTED, RUNNING, call("server"), call("test")),
        StateReported("idle", "cancelled", background=background),
    )
    assert conversation.background == background
    statuses = [conversation.tool_call(name).call.status for name in ("server", "test")]  # type: ignore[arg-type]
    assert statuses == ["pending", "cancelled"]
    apply(conversation, StateReported("idle"))
    assert conversation.background == background
    apply(conversation, StateReported("idle", background=()))
    assert conversation.background == ()


def test_the_tokens_of_a_turn_come_with_its_end() -> None:
    """R2-STATE: a repeated snapshot adds none."""
    used = StateReported("idle", "end_turn", usage=TurnUsage(120, 100, 20))
    conversation = fold(SENT, ACCEPTED, RUNNING, used, IDLE)
    assert conversation.turn_usage == TurnUsage(120, 100, 20)


# Messages by id


@pytest.mark.parametrize(
    "echo",
    [
        (user("hello", "u"),),
        (user("hel", "u"), user("lo", "u")),
        (MessageReplaced("user", "u", (Text("hello"),)),),
        (MessageReplaced("user", "u", ()), user("hello", "u")),
        (MessageReplaced("user", "u", (Text("hello"), Image("aGk=", "image/png"))),),
    ],
)
def test_the_users_own_prompt_is_never_shown_twice(echo: tuple[SessionUpdate, ...]) -> None:
    """R2-MSG: however it is repeated, and wherever its acceptance arrives."""
    for at in range(len(echo) + 1):
        conversation = fold(SENT, *echo[:at], ACCEPTED, *echo[at:], RUNNING, IDLE)
        assert texts(conversation) == [("user", "hello")]
        entry = conversation.entries[0]
        assert isinstance(entry, Message)
        assert entry.message_id == "u"


def test_a_prompt_that_the_agent_has_changed_shows_as_the_agent_has_it() -> None:
    """R2-MSG."""
    conversation = fold(SENT, ACCEPTED, MessageReplaced("user", "u", (Text("hello, expanded"),)))
    assert texts(conversation) == [("user", "hello, expanded")]
    conversation = fold(SENT, ACCEPTED, user("hello", "u"), user(" and more", "u"))
    assert texts(conversation) == [("user", "hello and more")]


def test_another_clients_message_is_shown_after_the_acceptance() -> None:
    """R2-MSG: until then, it might have been the user's own."""
    other = user("from another client", "x")
    assert texts(fold(SENT, other)) == [("user", "hello")]
    assert texts(fold(SENT, other, ACCEPTED)) == [("user", "hello"), ("user", "from another client")]


@pytest.mark.parametrize("end", [TurnFailed("no"), Disconnected("gone")])
def test_what_was_held_back_is_shown_where_no_acceptance_comes(end: SessionUpdate) -> None:
    """R2-MSG."""
    assert ("user", "from another client") in texts(fold(SENT, user("from another client", "x"), end))


def test_a_message_is_replaced_where_it_stands_and_chunks_append_to_it() -> None:
    """R2-MSG."""
    updates = (agent("half ", "a"), agent("between", "b"), MessageReplaced("agent", "a", (Text("whole"),)))
    assert texts(fold(*updates)) == [("agent", "whole"), ("agent", "between")]
    assert texts(fold(*updates, agent("!", "a")))[0] == ("agent", "whole!")
    assert texts(fold(*updates, MessageReplaced("agent", "a", ())))[0] == ("agent", "")


def test_an_empty_message_before_its_chunks_makes_no_entry() -> None:
    """R2-MSG: replays of Codex 2.6.0 begin each message this way."""
    assert texts(fold(MessageReplaced("agent", "a", ()))) == []
    replay = (MessageReplaced("agent", "a", ()), agent("said", "a"))
    assert texts(fold(*replay, *replay)) == [("agent", "said")]


def test_several_prompts_are_accepted_in_the_order_in_which_they_were_sent() -> None:
    """R2-QUEUE."""
    second = PromptSent((Text("and this"),), awaits_id=True)
    for order in permutations((PromptAccepted("1"), PromptAccepted("2"))):
        conversation = fold(SENT, second, RUNNING, *order, IDLE)
        ids = [entry.message_id for entry in conversation.entries if isinstance(entry, Message)]
        assert ids == [update.message_id for update in order]
        assert conversation.is_idle


AGAIN = PromptSent((Text("and this"),), awaits_id=True)
AT_WORK = (SENT, ACCEPTED, RUNNING, AGAIN)


def test_a_prompt_that_waits_for_the_end_of_another_begins_behind_it() -> None:
    """R2-QUEUE: the first idle doesn't end everything, but its tokens count."""
    used = StateReported("idle", "end_turn", usage=TurnUsage(10, 6, 4))
    updates = (*AT_WORK, used, PromptAccepted("2"), RUNNING, used)
    assert turns(*updates) == [*[TurnPhase.RUNNING] * 7, TurnPhase.IDLE]
    assert fold(*updates).spent == TurnUsage(20, 12, 8)


def test_a_prompt_that_joins_the_turn_ends_with_it() -> None:
    """R2-QUEUE."""
    assert turns(*AT_WORK, PromptAccepted("2"), IDLE) == [*[TurnPhase.RUNNING] * 5, TurnPhase.IDLE]


@pytest.mark.parametrize("why", [None, TurnFailed("I am busy")])
def test_a_further_prompt_that_is_refused_says_so_and_the_turn_goes_on(why: TurnFailed | None) -> None:
    """R2-QUEUE."""
    refused = PromptRefused(why)
    assert turns(*AT_WORK, refused, IDLE)[-2:] == [TurnPhase.RUNNING, TurnPhase.IDLE]
    assert turns(*AT_WORK, IDLE, refused)[-2:] == [TurnPhase.RUNNING, TurnPhase.IDLE]
    first, second = fold(*AT_WORK, refused).entries
    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert (first.notes, second.notes) == ((), (NOT_TAKEN_UP,))


def test_a_cancel_settles_what_was_begun_before_a_further_prompt() -> None:
    """R2-QUEUE, R2-CANC."""
    conversation = fold(
        *(SENT, ACCEPTED, RUNNING, call("test"), AGAIN, CancelRequested(), PromptRefused()),
        StateReported("idle", "cancelled"),
    )
    assert conversation.tool_call("test").call.status == "cancelled"  # type: ignore[arg-type]
    assert (conversation.turn, conversation.last_stop_reason) == (TurnPhase.IDLE, "cancelled")


@pytest.mark.parametrize("why", [None, TurnFailed("no")])
def test_the_only_prompt_that_is_refused_ends_its_turn(why: TurnFailed | None) -> None:
    """R2-QUEUE, R2-ERR."""
    assert fold(SENT, PromptRefused(why)).is_idle
