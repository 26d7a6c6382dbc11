"""Session methods beyond new and load: list, close, delete, several sessions at once, additional folders."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.errors import (
    AgentRefused,
    SessionClosed,
    Unsupported,
)
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import HttpServer, SessionId, SessionSummary, StdioServer, TurnPhase
from support.agents import (
    REPLY,
    agent_texts,
    asked,
    capable,
    exchange,
    in_turn,
    notification,
    open_session,
    response,
    said,
    settle,
)

S1 = SessionId("s1")
CANCELLED = {"outcome": {"outcome": "cancelled"}}


# What isn't offered isn't sent


@pytest.mark.parametrize(
    "call",
    [
        lambda agent: agent.load_session(S1, Path("/")),
        lambda agent: agent.resume_session(S1, Path("/")),
        lambda agent: agent.open_session(S1, Path("/")),
        lambda agent: agent.list_sessions(),
        lambda agent: agent.delete_session(S1),
        lambda agent: agent.new_session(Path("/"), additional_directories=[Path("/x")]),
        lambda agent: agent.new_session(Path("/"), mcp_servers=[HttpServer("sse", "n", "https://x")]),
    ],
    ids=["load", "resume", "open", "list", "delete", "directories", "sse"],
)
async def test_what_the_agent_does_not_offer_is_not_asked_of_it(call: Callable[[Agent], Awaitable[Any]]):
    """R-INIT-5, R-INIT-7, R-DIR-1, R-MCP-2."""
    nothing = {
        "loadSession": False,
        "sessionCapabilities": {"resume": None},
        "mcpCapabilities": {"http": True},
    }
    async with capable(nothing) as (agent, wire):
        with pytest.raises(Unsupported, match=r"doesn't offer .*(loadSession|Capabilities)"):
            await call(agent)
        assert await wire.receive_all() == []


async def test_a_relative_path_is_never_sent():
    """R-SESS-2."""
    async with capable() as (agent, wire):
        with pytest.raises(ValueError, match="absolute"):
            await agent.new_session(Path("here"))
        with pytest.raises(ValueError, match="absolute"):
            await agent.load_session(S1, Path("/"), additional_directories=[Path("there")])
        assert await wire.receive_all() == []


async def test_directories_and_servers_go_along_each_time_a_session_is_opened(tmp_path: Path):
    """R-DIR-1, R-MCP-1, R-MCP-2, R-MCP-3."""
    servers = [
        StdioServer("a", "/bin/a", env=(("K", "v"),)),
        HttpServer("http", "b", "https://b", (("H", "v"),)),
    ]
    place: dict[str, Any] = {"additional_directories": [tmp_path / "x"], "mcp_servers": servers}
    async with capable() as (agent, wire), anyio.create_task_group() as tasks:
        for call, method in (
            (agent.new_session, "session/new"),
            (lambda *args, **named: agent.load_session(S1, *args, **named), "session/load"),
            (lambda *args, **named: agent.resume_session(SessionId("s2"), *args, **named), "session/resume"),
        ):
            tasks.start_soon(lambda call=call: call(tmp_path, **place))
            request = await wire.expect(method)
            assert request["params"]["additionalDirectories"] == [str(tmp_path / "x")]
            assert request["params"]["mcpServers"] == [
                {"name": "a", "command": "/bin/a", "args": [], "env": [{"name": "K", "value": "v"}]},
                {"type": "http", "name": "b", "url": "https://b", "headers": [{"name": "H", "value": "v"}]},
            ]
            await wire.answer(request, {"sessionId": "s0"})


async def test_files_of_additional_directories_are_served(tmp_path: Path):
    """R-FS-7."""
    here, there = tmp_path / "here", tmp_path / "there"
    for directory in (here, there):
        directory.mkdir()
    (there / "a.txt").write_text("a")
    async with capable() as (agent, wire):
        opening = agent.new_session(here, additional_directories=[there])
        await exchange(opening, wire, "session/new", sessionId="s1")
        params = {"sessionId": "s1", "path": str(there / "a.txt")}
        await wire.send({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": params})
        assert (await wire.receive())["result"] == {"content": "a"}


# List


async def test_a_page_of_sessions_is_read_as_the_agent_wrote_it(tmp_path: Path):
    """R-SESS-8, R-DIR-2."""
    full = {"sessionId": "s1", "cwd": "/a", "title": "T", "updatedAt": "2026-01-01T00:00:00Z"}
    full["additionalDirectories"] = ["/b"]  # type: ignore[assignment]
    listed = [full, {"sessionId": "s2", "cwd": "/c"}, {"sessionId": 5}]
    async with capable() as (agent, wire):
        page = await exchange(agent.list_sessions(), wire, "session/list", sessions=listed, nextCursor="x")
    assert page.sessions == (
        SessionSummary(S1, Path("/a"), "T", "2026-01-01T00:00:00Z", (Path("/b"),)),
        SessionSummary(SessionId("s2"), Path("/c")),
    )
    assert page.next_cursor == "x"


async def test_a_cursor_goes_back_as_it_came_and_an_empty_page_may_have_one(tmp_path: Path):
    """R-SESS-9."""
    cursor = ' {"a": 1}=\\ü '
    async with capable() as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.list_sessions, tmp_path, cursor)
        request = await wire.expect("session/list")
        assert request["params"] == {"cwd": str(tmp_path), "cursor": cursor}
        await wire.answer(request, {"sessions": [], "nextCursor": None})
        page = await exchange(agent.list_sessions(), wire, "session/list", sessions=[], nextCursor="more")
        assert (page.sessions, page.next_cursor) == ((), "more")


async def test_a_cursor_that_the_agent_does_not_take_asks_for_a_new_beginning():
    """R-SESS-9."""
    async with capable() as (agent, wire), anyio.create_task_group() as tasks:

        async def list_sessions() -> None:
            with pytest.raises(AgentRefused, match="invalid cursor") as caught:
                await agent.list_sessions(cursor="old")
            assert "from the first page" in caught.value.hint

        tasks.start_soon(list_sessions)
        await wire.refuse(await wire.expect("session/list"), -32602, "invalid cursor")


# Close and delete


async def test_closing_takes_back_the_questions_and_is_told_first(tmp_path: Path):
    """R-SESS-7, R-ORD-4."""
    async with capable() as (agent, wire):
        session = await open_session(agent, wire, tmp_path)
        async with in_turn(session, wire) as prompt, anyio.create_task_group() as tasks:
            await wire.send(asked(1, "a"))
            await settle()
            tasks.start_soon(agent.close_session, session)
            closing = await wire.expect("session/close")
            assert closing["params"] == {"sessionId": "s1"}
            assert (await wire.receive())["result"] == CANCELLED
            await wire.send(asked(2, "a"))
            assert (await wire.receive())["result"] == CANCELLED
            await wire.answer(prompt, {"stopReason": "cancelled"})
            await wire.answer(closing, None)
        assert (agent.sessions, session.conversation.turn) == ({}, TurnPhase.IDLE)
        with pytest.raises(SessionClosed):
            await session.send_prompt(REPLY)


async def test_an_agent_that_does_not_know_the_session_any_more_has_closed_it(tmp_path: Path):
    """R-SESS-7."""
    async with capable() as (agent, wire):
        session = await open_session(agent, wire, tmp_path)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.close_session, session)
            await wire.refuse(await wire.expect("session/close"), -32002, "unknown session")
        assert (agent.sessions, session.is_closed) == ({}, True)


async def test_where_closing_is_not_offered_the_turn_is_cancelled_and_no_more_is_sent(tmp_path: Path):
    """R-INIT-7."""
    async with capable({}) as (agent, wire):
        session = await open_session(agent, wire, tmp_path)
        async with in_turn(session, wire):
            await agent.close_session(session)
            assert [message["method"] for message in await wire.receive_all()] == ["session/cancel"]
        assert agent.sessions == {}


async def test_closing_ends_the_terminals_of_the_session_and_of_no_other(tmp_path: Path):
    """R-TERM-13, R-SESS-12."""
    async with capable({}) as (agent, wire):
        sessions = [await open_session(agent, wire, tmp_path, name) for name in ("s1", "s2")]
        for number, session in enumerate(sessions):
            params = {"sessionId": session.session_id, "command": "sleep", "args": ["1000"]}
            await wire.send({"jsonrpc": "2.0", "id": number, "method": "terminal/create", "params": params})
            assert "result" in await wire.receive()
        await agent.close_session(sessions[0])
        ended = [terminal.has_exited for session in sessions for terminal in session.conversation.terminals.values()]
        assert ended == [True, False]


async def test_what_is_said_of_a_closed_session_reaches_nobody(tmp_path: Path):
    """R-SESS-12."""
    async with capable({}) as (agent, wire):
        session = await open_session(agent, wire, tmp_path)
        await agent.close_session(session)
        await wire.send(said("too late"), asked(1, "a"))
        assert (await wire.receive())["error"]["code"] == -32002
        again = await open_session(agent, wire, tmp_path)
        assert (agent_texts(session), agent_texts(again)) == ([], [])


async def test_an_open_session_is_closed_before_it_is_deleted(tmp_path: Path):
    """R-SESS-11."""
    async with capable() as (agent, wire):
        await open_session(agent, wire, tmp_path)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.delete_session, S1)
            await wire.answer(await wire.expect("session/close"), {})
            deleting = await wire.expect("session/delete")
            assert deleting["params"] == {"sessionId": "s1"}
            await wire.answer(deleting, None)
        assert agent.sessions == {}


async def test_a_session_that_is_not_open_is_deleted_just_so():
    async with capable() as (agent, wire):
        await exchange(agent.delete_session(S1), wire, "session/delete")


# Several at once


async def test_updates_of_two_sessions_apply_in_wire_order_before_a_later_response(tmp_path: Path):
    """R-UPD-2, R-SESS-12, R-ORD-1: 10,000 updates of two sessions, and a response after each half of them."""
    words = [f"{number} " for number in range(10_000)]
    async with capable() as (agent, wire):
        sessions = [await open_session(agent, wire, tmp_path, name) for name in ("s1", "s2")]
        seen_at_the_end: list[list[str]] = []

        def watch(session: Session) -> Callable[[Any], None]:
            def note(_: Any) -> None:
                if session.conversation.turn is TurnPhase.IDLE and session.conversation.last_stop_reason:
                    seen_at_the_end.append(list(agent_texts(session)))

            return note

        async with anyio.create_task_group() as tasks:
            prompts = []
            for session in sessions:
                session.subscribe(watch(session))
                tasks.start_soon(session.send_prompt, REPLY)
                prompts.append(await wire.expect("session/prompt"))
            updates = [said(word, f"s{number % 2 + 1}") for number, word in enumerate(words)]
            ends = [response(prompt["id"], {"stopReason": "end_turn"}) for prompt in prompts]
            await wire.send(*updates, *ends, *(said("late", f"s{number}") for number in (1, 2)))
    assert seen_at_the_end[0] == ["".join(words[::2])]
    assert ["".join(words[1::2])] in seen_at_the_end
    assert [agent_texts(session) for session in sessions] == [
        ["".join(words[::2]), "late"],
        ["".join(words[1::2]), "late"],
    ]


async def test_closing_one_session_leaves_the_questions_of_another(tmp_path: Path):
    """R-CANC-8, R-SESS-12."""
    async with capable({}) as (agent, wire):
        first, second = [await open_session(agent, wire, tmp_path, name) for name in ("s1", "s2")]
        await wire.send(asked(1, "a", session_id="s1"), asked(2, "a", session_id="s2"))
        await settle()
        await agent.close_session(first)
        assert [message["id"] for message in await wire.receive_all()] == [1]
        assert len(second.conversation.permissions) == 1


async def test_the_options_of_the_opening_win_over_what_was_said_before_it(tmp_path: Path):
    """R-CFG-9, R-SESS-13: wire order."""

    def config(value: str) -> list[dict[str, Any]]:
        options = [{"value": name, "name": name} for name in ("a", "b")]
        return [{"id": "o", "name": "O", "type": "select", "currentValue": value, "options": options}]

    async with capable() as (agent, wire):
        update = {"sessionUpdate": "config_option_update", "configOptions": config("a")}
        early = notification("session/update", {"sessionId": "s1", "update": update})
        opening = agent.new_session(tmp_path)
        result = {"sessionId": "s1", "configOptions": config("b")}
        session = await exchange(opening, wire, "session/new", early, **result)
        assert [option.value for option in session.conversation.options] == ["b"]
