"""Updates for sessions that aren't known yet are kept, up to limits in number and bytes."""

from __future__ import annotations

import pytest

from acp_tui.client.subagents import MAX_EARLY_BYTES, MAX_EARLY_UPDATES, EarlyUpdates
from acp_tui.conversation.facts import SessionId
from support.folding import agent

NEW = SessionId("new")


def test_what_is_small_is_kept_up_to_a_number() -> None:
    early = EarlyUpdates()
    early.await_new()
    for _ in range(MAX_EARLY_UPDATES + 5):
        early.add(NEW, agent("a"))
    assert len(early.take(NEW)) == MAX_EARLY_UPDATES
    assert early.take(NEW) == []


@pytest.mark.parametrize(
    ("text", "session"), [("x" * (MAX_EARLY_BYTES // 4), "new"), ("a", "s" * (MAX_EARLY_BYTES // 4))]
)
def test_what_is_long_is_kept_up_to_so_many_bytes(text: str, session: str) -> None:
    early = EarlyUpdates()
    early.await_new()
    for number in range(100):
        early.add(SessionId(f"{session}{number}"), agent(text))
    assert sum(len(early.take(SessionId(f"{session}{number}"))) for number in range(100)) == 3


def test_a_small_one_is_kept_behind_one_that_was_too_long() -> None:
    early = EarlyUpdates()
    early.await_new()
    early.add(NEW, agent("x" * (MAX_EARLY_BYTES + 1)))
    early.add(NEW, agent("a"))
    assert early.take(NEW) == [agent("a")]


def test_there_is_room_again_when_no_session_is_awaited() -> None:
    early = EarlyUpdates()
    early.await_new()
    for _ in range(MAX_EARLY_UPDATES):
        early.add(NEW, agent("a"))
    early.end_awaiting()
    early.add(NEW, agent("not expected"))
    early.await_new()
    early.add(NEW, agent("b"))
    assert early.take(NEW) == [agent("b")]
