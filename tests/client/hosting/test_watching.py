"""A client that can only watch sees a session without secrets, changes nothing of it, and is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.hosting import extension_methods
from acp_tui.client.hosting.host import ClientAccess
from acp_tui.client.sessions.session import Attendance
from acp_tui.conversation.facts import TurnPhase
from acp_tui.protocol.connection import STEERING
from support.agents import REPLY, Counterpart, agent_texts, asked, notification, request, said, settle, until
from support.hosts import hosted

pytestmark = pytest.mark.anyio

WATCHING = ClientAccess("10.0.0.7", is_read_only=True)
SECRET = "sk-proj-" + "abcdEFGH1234" * 4
FULL = {"sessionId": "s1"}
METHODS: dict[str, dict[str, Any]] = {
    "authenticate": {"methodId": "agent"},
    "logout": {},
    "auth/status": {},
    "providers/list": {},
    "providers/set": {"providerId": "main", "apiType": "openai", "baseUrl": "https://evil.example"},
    "providers/disable": {"providerId": "main"},
    "session/new": {"cwd": "/", "mcpServers": []},
    "session/close": FULL,
    "session/prompt": {**FULL, "prompt": [{"type": "text", "text": "rm"}]},
    STEERING: {**FULL, "prompt": [{"type": "text", "text": "rm"}]},
    "session/set_config_option": {**FULL, "configId": "mode", "value": "code"},
    "auth/login": {"methodId": "agent"},
    "auth/logout": {},
    "tool_call/cancel": {**FULL, "toolCallId": "p"},
    "terminal/cancel": {**FULL, "terminalId": "t"},
    extension_methods.STOP: {},
    extension_methods.REVOKE: {},
    "session/set_title": {**FULL, "title": "Theirs"},
    "session/set_mode": {**FULL, "modeId": "code"},
    "session/delete": FULL,
    "session/cancel": FULL,
    "session/request_permission": FULL,
    "_acp_tui/update": FULL,
    "_anything/else": {},
}
"""All that isn't for watchers, as valid parameters."""


async def shake_hands(client: Counterpart, meta: dict[str, Any] | None = None, version: int = 1) -> None:
    params = {"protocolVersion": version, "clientCapabilities": {"_meta": meta or {}}, "clientInfo": {"name": "spy"}}
    if version == 2:
        params |= {"capabilities": {}, "info": {"name": "spy", "version": "1"}}
    await client.send(request("hello", "initialize", params))
    await client.receive()


@pytest.mark.parametrize("version", [1, 2])
async def test_every_method_of_a_host_is_for_watchers_or_tried_here(tmp_path: Path, version: int) -> None:
    """A new method must not be forgotten."""
    async with hosted(tmp_path) as its, its.played() as client:
        await shake_hands(client, version=version)
        assert its.host.clients[-1].requests.keys() <= extension_methods.FOR_WATCHERS | METHODS.keys()


@pytest.mark.parametrize("version", [1, 2])
async def test_nothing_that_a_hostile_watcher_sends_reaches_the_agent_or_ends_anything(
    tmp_path: Path, version: int
) -> None:
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
    async with hosted(tmp_path, modes=modes) as its, anyio.create_task_group() as tasks:
        tasks.start_soon(its.session.send_prompt, REPLY)
        prompt = await its.wire.expect("session/prompt")
        revoked: list[str] = []
        its.host.revoke = lambda: bool(revoked.append("revoked"))
        await its.wire.send(asked("p", "yes"))
        await until(its.session, lambda: bool(its.session.conversation.permissions))
        async with its.played(WATCHING) as spy:
            await shake_hands(spy, dict(extension_methods.FOLLOWS) if version == 1 else None, version)
            load = "session/load" if version == 1 else "session/resume"
            await spy.send(request("load", load, {"sessionId": "s1", "cwd": "/", "mcpServers": []}))
            await settle()
            sent = await spy.receive_all()
            assert not [message for message in sent if "method" in message and "id" in message], "it is asked nothing"
            for number, (method, params) in enumerate(METHODS.items()):
                await spy.send(notification(method, params), request(f"r{number}", method, params))
                answer = await spy.receive()
                assert answer["error"]["message"] == "You can only watch here", method
            for request_id in range(20):  # as if it had been asked
                await spy.answer({"id": request_id}, {"outcome": {"outcome": "selected", "optionId": "yes"}})
            await settle()
        assert await its.wire.receive_all() == []
        assert list(its.session.conversation.permissions)
        assert its.session.conversation.turn is TurnPhase.RUNNING
        await its.wire.answer(prompt, {"stopReason": "end_turn"})
        assert not its.host.ended.is_set()
        assert revoked == []


async def test_a_watcher_sees_what_was_and_what_is_said_without_secrets(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        its.host.masker.learn({"API_KEY": "correct horse battery"})
        await its.wire.send(said(f"the key is {SECRET}, "))
        await until(its.session, lambda: bool(agent_texts(its.session)))
        watching = await its.attach("watching", access=WATCHING)
        full = await its.attach("full")
        await its.wire.send(said(f"again {SECRET} and correct horse battery"))
        await its.wire.send(asked("p", "yes", title=f"curl -H 'Authorization: Bearer {SECRET}'"))
        await until(its.session, lambda: bool(its.session.conversation.permissions))
        for seen in (watching, full):
            await until(seen, lambda seen=seen: "again" in agent_texts(seen)[-1])  # type: ignore[misc]
        await until(watching, lambda: bool(watching.attendance and watching.attendance.waiting))
        assert agent_texts(watching) == ["the key is ***, again *** and ***"]
        assert SECRET in agent_texts(full)[-1]
        assert watching.attendance is not None
        assert watching.attendance.waiting == ("curl -H 'Authorization: Bearer ***'",)
        assert watching.conversation.permissions == {}


async def test_whoever_can_answer_sees_who_watches_and_who_else_can(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        one = await its.attach("one")
        assert one.attendance == Attendance()
        watching = await its.connect("watching", access=WATCHING)
        watched = await watching.load_session(its.session.session_id, tmp_path)
        other = await its.attach("other")
        await until(one, lambda: one.attendance is not None and bool(one.attendance.others))
        assert one.attendance == Attendance(("acp-tui on this machine",), ("acp-tui on 10.0.0.7",))
        assert other.attendance == one.attendance
        await until(watched, lambda: watched.attendance is not None and len(watched.attendance.others) == 2)
        await watching.stop()
        await until(one, lambda: one.attendance is not None and not one.attendance.watchers)


async def test_a_watcher_does_not_count_as_someone_who_sees_a_question(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        told: list[str] = []
        its.host.on_news = lambda _, news: told.append(news.kind)
        await its.attach("watching", access=WATCHING)
        await its.wire.send(asked("p", "yes"))
        await until(its.session, lambda: bool(its.session.conversation.permissions))
        assert told == ["needs_you"]
