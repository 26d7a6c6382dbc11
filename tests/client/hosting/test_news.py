"""A host tells its user what happens in a session that no terminal shows."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from acp_tui.client.notices import News
from acp_tui.client.sessions.session import Session
from support.agents import REPLY, asked, settle, until
from support.hosts import Hosted, hosted

pytestmark = pytest.mark.anyio


def news_of(its: Hosted) -> list[tuple[str, str]]:
    """What the user is told from now on: the session's ID, and the kind."""
    told: list[tuple[str, str]] = []

    def tell(session: Session, news: News) -> None:
        told.append((session.session_id, news.kind))

    its.host.on_news = tell
    return told


async def test_a_question_that_nobody_sees_is_told_once(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        told = news_of(its)
        await its.wire.send(asked("p", "yes"))
        await its.wire.send(asked("q", "yes"))
        await until(its.session, lambda: len(its.session.conversation.permissions) == 2)
        assert told == [("s1", "needs_you")]


async def test_what_a_terminal_shows_is_for_that_to_tell(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, anyio.create_task_group() as tasks:
        told = news_of(its)
        client = await its.attach()
        tasks.start_soon(client.send_prompt, REPLY)
        prompt = await its.wire.expect("session/prompt")
        await its.wire.send(asked("p", "yes"))
        await until(client, lambda: bool(client.conversation.permissions))
        client.answer_permission(next(iter(client.conversation.permissions)), "yes")
        await its.wire.receive()
        await its.wire.answer(prompt, {"stopReason": "end_turn"})
        await until(client, lambda: client.conversation.is_idle)
        assert told == []


async def test_a_question_that_the_last_terminal_leaves_is_told(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        told = news_of(its)
        clients = [await its.connect("one"), await its.connect("other")]
        for client in clients:
            await client.load_session(its.session.session_id, tmp_path)
        await its.wire.send(asked("p", "yes"))
        await until(its.session, lambda: bool(its.session.conversation.permissions))
        await clients[0].stop()
        await settle()
        assert told == []
        await clients[1].stop()
        await settle()
        assert told == [("s1", "needs_you")]


async def test_the_end_of_a_turn_whose_terminal_left_is_told(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, anyio.create_task_group() as tasks:
        told = news_of(its)
        tasks.start_soon(its.session.send_prompt, REPLY)
        prompt = await its.wire.expect("session/prompt")
        assert told == []
        await its.wire.answer(prompt, {"stopReason": "end_turn"})
        await until(its.session, lambda: its.session.conversation.is_idle)
        assert told == [("s1", "done")]
