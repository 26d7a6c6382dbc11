"""A retold conversation equals the original: late listeners see what the others see, and continue alike."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.catch_up import retold
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import BackgroundWork, TurnPhase
from acp_tui.conversation.reducer import IDLE, apply
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.conversation.updates import (
    MessageChunk,
    MessageReplaced,
    PromptAccepted,
    PromptJoined,
    PromptRefused,
    PromptSent,
    Reconnected,
    SessionUpdate,
    StateReported,
    TurnEnded,
    TurnFailed,
)
from conversation.test_replay_equality import EVERY_KIND
from support.folding import agent, call, fold, prompt, thought, user


def that_can_come(updates: list[SessionUpdate]) -> list[SessionUpdate]:
    """Those that one agent can send.

    All prompts of a connection await an ID, or none does: its version of the protocol says so. Only a prompt that was
    sent under one, and isn't accepted, is refused. No ID is that of two prompts. Only a turn ends.
    """
    conversation, awaits_id, come = Conversation(), None, []
    for update in updates:
        if isinstance(update, PromptSent) and awaits_id not in (None, update.awaits_id):
            continue
        if isinstance(update, PromptRefused) and not conversation.unaccepted:
            continue
        if isinstance(update, PromptAccepted) and update.message_id in conversation.echoes:
            continue
        if isinstance(update, TurnEnded | TurnFailed) and conversation.turn is TurnPhase.IDLE:
            continue
        if isinstance(update, PromptSent):
            awaits_id = update.awaits_id
        elif isinstance(update, Reconnected) and not update.is_loaded:
            awaits_id = None
        apply(conversation, update)
        come.append(update)
    return come


FEW_KINDS = st.lists(st.sampled_from(EVERY_KIND), min_size=1, max_size=6)
"""What depends on each other meets more often among few."""
UPDATES = (
    st.one_of(st.just(list(EVERY_KIND)), FEW_KINDS)
    .flatmap(lambda kinds: st.lists(st.sampled_from(kinds), max_size=40))
    .map(that_can_come)
)
RECORDINGS = sorted(Path(__file__).parents[1].glob("data/recordings/*.jsonl"))
WAITING = ("permissions", "elicitations")
"""Questions are asked again."""


def shown(conversation: Conversation) -> dict[str, Any]:
    """What a user sees of it and what later updates build on, except for open questions."""
    entries = copy.deepcopy(list(conversation.entries))
    for entry in entries:
        if isinstance(entry, ToolCallEntry):
            entry.waiting = 0
    facts = ("turn", "plans", "commands", "options", "title", "updated_at", "usage", "is_connected")
    of_turn = ("turn_cost", "last_stop_reason", "turn_start")
    places = ("tool_call_entries", "message_entries", "compaction_entries", "open_message", "unsettled_calls")
    terminals = {
        key: (
            state.command,
            state.output.read(),
            state.has_exited,
            state.exit_code,
            state.is_cancellable,
            state.is_ours,
        )
        for key, state in conversation.terminals.items()
    }
    return {
        "entries": entries,
        "terminals": terminals,
        "visits": [(visit.elicitation_id, visit.url) for visit in conversation.visits.values()],
        "spent": [
            (turn.end, turn.usage, turn.cost and round(turn.cost, 9))
            for turn in conversation.turns
            if turn.usage or turn.cost
        ],
        "state": None if conversation.is_idle and conversation.state != IDLE else _state(conversation),
        **{name: getattr(conversation, name) for name in (*facts, *of_turn, *places)},
    }


def _state(conversation: Conversation) -> object:
    return conversation.state, conversation.background


BACKGROUND = StateReported("running", background=(BackgroundWork("tool_call", "t"),))
TOLD_AGAIN = (
    [BACKGROUND, user("x"), thought("c"), user("x")],
    [BACKGROUND, PromptJoined((Text("x"),)), thought("c"), user("x")],
    [prompt("x"), user("y"), thought("c"), user("x")],
    [prompt("x"), user("y"), thought("c"), user("x", "m"), TurnEnded("end_turn")],
    [prompt("hello"), user("hello"), user("hel"), thought("c")],
    [user("x", "u"), MessageReplaced("user", "u", ()), agent("a")],
    [PromptSent((Text("this"),), awaits_id=True), PromptAccepted("u"), user("that", "u")],
    [BACKGROUND, PromptSent((Text("x"),), awaits_id=True), StateReported("idle"), PromptAccepted("u")],
)
"""Where the agent tells of the user what the user sent, or wrote before, and where it changes or accepts that."""


@settings(deadline=None, max_examples=500)
@given(UPDATES)
def test_a_conversation_told_again_is_the_same(updates: list[SessionUpdate]) -> None:
    conversation = fold(*updates)
    assert shown(fold(*retold(conversation))) == shown(conversation)


@pytest.mark.parametrize("updates", TOLD_AGAIN)
def test_what_the_user_sent_stays_apart_from_what_the_agent_tells(updates: list[SessionUpdate]) -> None:
    live = fold(*updates)
    late = fold(*retold(live))
    assert shown(late) == shown(live)
    for update in (user("x"), agent("b")):
        apply(live, update)
        apply(late, update)
    assert shown(late) == shown(live)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_recorded_sessions_told_again_are_the_same(recording: Path) -> None:
    for conversation in replayed(recording).values():
        assert shown(fold(*retold(conversation))) == shown(conversation)


def test_what_comes_later_is_understood_alike() -> None:
    live = fold(prompt("go"), thought("hm"), agent("a"), call("t", title="Read", status="in_progress"), agent("b"))
    late = fold(*retold(live))
    for update in (agent("c"), call("t", status="completed"), thought("d"), agent("e"), prompt("on")):
        apply(live, update)
        apply(late, update)
    assert shown(late) == shown(live)


def test_a_call_that_went_on_after_its_turn_was_canceled_is_told_as_it_ended() -> None:
    report = call("t", title="Read", status="in_progress")
    live = fold(report, TurnEnded("cancelled"), report, TurnEnded("end_turn"))
    assert live.tool_call(ToolCallId("t")).status_words == "unfinished"
    assert shown(fold(*retold(live))) == shown(live)


def test_a_message_of_many_chunks_is_told_at_once() -> None:
    told = list(retold(fold(prompt("go"), *(agent("x") for _ in range(1000)))))
    assert [update for update in told if isinstance(update, MessageChunk) and update.role == "agent"] == [
        agent("x" * 1000)
    ]
