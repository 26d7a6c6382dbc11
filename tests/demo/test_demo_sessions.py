"""Sessions the demo agent keeps: what it offers, and listing, loading, resuming, closing, and deleting."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.rpc import ErrorCode, RequestFailed

TURN = '[[prompt]]\nstep = [{ say = "hello" }]\n'
KEPT = f"""
[sessions]
page_size = 2
kept = [
  {{ id = "old", title = "An old one", history = [{{ user = "hi" }}, {{ title = "Told" }}, {{ say = "ho" }}] }},
  {{ id = "older", cwd = "sub" }},
]
{TURN}
"""


def place(session_id: str, cwd: str = "/project") -> dict[str, Any]:
    return {"sessionId": session_id, "cwd": cwd, "mcpServers": []}


async def refused(request: Any) -> int:
    with pytest.raises(RequestFailed) as failed:
        await request
    return failed.value.code


async def listed(client: Any, **params: Any) -> list[str]:
    """The IDs on every page, in order."""
    ids: list[str] = []
    cursor = None
    while True:
        page = await client.peer.request("session/list", {"cursor": cursor, **params})
        ids += [summary["sessionId"] for summary in page["sessions"]]
        cursor = page.get("nextCursor")
        if cursor is None:
            return ids


async def test_an_agent_without_kept_sessions_offers_and_serves_no_method_for_them(connect):
    async with connect(TURN) as client:
        capabilities = (await client.initialize())["agentCapabilities"]
        assert (capabilities["loadSession"], capabilities["sessionCapabilities"]) == (False, {"close": {}})
        for method in ("session/list", "session/load", "session/resume", "session/delete", "logout"):
            assert await refused(client.peer.request(method, place("x"))) == ErrorCode.METHOD_NOT_FOUND


async def test_only_what_the_scenario_offers_is_offered_and_served(connect):
    async with connect(KEPT.replace("page_size = 2", 'offers = ["list", "resume"]')) as client:
        capabilities = (await client.initialize())["agentCapabilities"]
        assert capabilities["loadSession"] is False
        assert capabilities["sessionCapabilities"].keys() == {"close", "list", "resume"}
        assert await refused(client.peer.request("session/load", place("old"))) == ErrorCode.METHOD_NOT_FOUND


async def test_sessions_are_listed_page_by_page_the_newest_first(connect):
    async with connect(KEPT) as client:
        await client.open()
        first = await client.peer.request("session/list", {})
        assert [summary["sessionId"] for summary in first["sessions"]] == ["demo-1", "old"]
        assert first["sessions"][1] == {"sessionId": "old", "cwd": "/project", "title": "An old one"}
        assert await listed(client) == ["demo-1", "old", "older"]
        assert await listed(client, cwd="/project/sub") == ["older"]


async def test_a_session_is_named_by_its_first_prompt(connect):
    async with connect(KEPT) as client:
        await client.open()
        await client.prompt("tell me")
        summary = (await client.peer.request("session/list", {}))["sessions"][0]
        assert summary["title"] == "tell me"
        assert summary["updatedAt"].endswith("Z")


async def test_a_cursor_is_refused_when_it_is_unknown_or_its_session_is_gone(connect):
    async with connect(KEPT) as client:
        await client.open()
        cursor = (await client.peer.request("session/list", {}))["nextCursor"]
        await client.peer.request("session/delete", {"sessionId": "old"})
        for stale in (cursor, "made up", ""):
            assert await refused(client.peer.request("session/list", {"cursor": stale})) == -32602


async def test_loading_tells_the_history_before_the_answer(connect):
    async with connect(KEPT) as client:
        await client.initialize()
        told = await client.peer.request(
            "session/load",
            place("old"),
            read=lambda _: [update["sessionUpdate"] for update in client.updates],
        )
        assert told == ["user_message_chunk", "session_info_update", "agent_message_chunk"]


async def test_a_session_that_is_loaded_again_tells_what_was_said_since(connect):
    async with connect(KEPT) as client:
        await client.initialize()
        await client.peer.request("session/resume", place("old"))
        assert client.updates == []
        await client.prompt("and now?", session_id="old")
        for _ in range(2):
            client.updates.clear()
            await client.peer.request("session/load", place("old"))
            assert [update.get("content", {}).get("text") for update in client.updates] == [
                "hi",
                None,
                "ho",
                "and now?",
                "hello",
            ]


async def test_a_session_that_was_begun_here_can_be_closed_and_loaded(connect):
    async with connect(KEPT) as client:
        await client.open()
        await client.prompt("go")
        await client.peer.request("session/close", {"sessionId": "demo-1"})
        assert await refused(client.prompt()) == ErrorCode.INVALID_PARAMS
        client.updates.clear()
        await client.peer.request("session/load", place("demo-1"))
        assert [update["content"]["text"] for update in client.updates] == ["go", "hello"]
        assert await client.prompt() == "end_turn"


async def test_a_deleted_session_is_gone_and_deleting_it_again_is_no_error(connect):
    async with connect(KEPT) as client:
        await client.open()
        for _ in range(2):
            assert await client.peer.request("session/delete", {"sessionId": "demo-1"}) == {}
        assert await listed(client) == ["old", "older"]
        assert await refused(client.prompt()) == ErrorCode.INVALID_PARAMS
        assert await refused(client.peer.request("session/load", place("demo-1"))) == -32002
