"""A host passes on who is logged in and says what its sessions do, to clients of both versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.hosting.host import ClientAccess
from acp_tui.conversation.facts import Account, AuthStatus, SessionId, SessionStatus
from client.hosting.test_both_versions import client_of
from support.agents import notification, request, settle, until
from support.hosts import hosted

pytestmark = pytest.mark.anyio

TOLD = notification("_auth/status_update", {"authStatus": {"kind": "api_key", "label": "Key"}})
SAME: dict[str, Any] = {"state": "authenticated", "accounts": [{"label": "Key"}]}


@pytest.mark.parametrize("version", [1, 2])
async def test_who_is_logged_in_is_passed_on_to_who_attached_and_answered(tmp_path: Path, version: int) -> None:
    async with hosted(tmp_path, version=version) as its:
        await its.wire.send(TOLD)
        await settle()
        async with client_of(its, 1) as one, client_of(its, 2) as two:
            for client in (one, two):
                await client.send(request(3, "auth/status", {}))
                assert (await client.receive())["result"] == SAME
            await its.wire.send(notification("auth/status_update", {"state": "unauthenticated"}))
            for client in (one, two):
                told = await client.expect("auth/status_update")
                assert told["params"] == {"state": "unauthenticated", "accounts": []}
            assert await its.wire.receive_all() == [], "the agent offers no such request"


async def test_acp_tui_attached_sees_it_change(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        await its.wire.send(TOLD)
        await settle()
        agent = await its.connect()
        await agent.ask_auth_status()
        assert agent.auth_status == AuthStatus("authenticated", (Account("Key"),))
        await its.wire.send(notification("auth/status_update", {"state": "not_required"}))
        await settle()
        assert agent.auth_status == AuthStatus("not_required")


async def test_a_watcher_is_neither_offered_nor_told_who_is_logged_in(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        await its.wire.send(TOLD)
        await settle()
        spy = await its.connect(access=ClientAccess("elsewhere", is_read_only=True))
        assert not spy.capabilities.auth_status
        await its.wire.send(notification("auth/status_update", {"state": "not_required"}))
        await settle()
        assert spy.auth_status is None
        assert await spy.session_status(SessionId("s1")) == SessionStatus(is_open=True)


async def test_a_client_is_told_no_login_that_it_was_not_offered(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, client_of(its, 1) as client:
        await its.wire.send(TOLD)
        await settle()
        assert await client.receive_all() == []


@pytest.mark.parametrize("version", [1, 2])
async def test_a_session_of_a_host_is_open_and_has_a_state_in_version_two(tmp_path: Path, version: int) -> None:
    async with hosted(tmp_path) as its, client_of(its, version) as client:
        await client.send(request(3, "session/status", {"sessionId": "s1"}))
        state = {"state": {"state": "idle", "background": []}} if version == 2 else {}
        assert (await client.receive())["result"] == {"status": "open", **state}
        await client.send(request(4, "session/status", {"sessionId": "s2"}))
        error = (await client.receive())["error"]
        assert (error["code"], error["data"]) == (-32002, {"sessionId": "s2"})


async def test_a_session_of_a_host_that_asks_needs_the_user(tmp_path: Path) -> None:
    async with hosted(tmp_path, version=2) as its:
        agent = await its.connect()
        option = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
        asks = {"sessionId": "s1", "title": "May I?", "options": [option]}
        state = {"sessionUpdate": "state_update", "state": "running"}
        await its.wire.send(notification("session/update", {"sessionId": "s1", "update": state}))
        await its.wire.send(request(1, "session/request_permission", asks))
        await until(its.session, lambda: bool(its.session.conversation.permissions))
        status = await agent.session_status(SessionId("s1"))
        assert status is not None
        assert status.in_words == "needs you"
