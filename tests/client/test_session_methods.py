"""Sessions over the wire beside new: load, resume, open, list, close, delete, several at once, more directories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from acp_tui.client.errors import (
    AgentLost,
    AgentRefused,
    OpeningInProgress,
    PromptInProgress,
    SessionClosed,
    StaleCursor,
    Unsupported,
)
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.phase import Phase
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.mcp import HttpServer, StdioServer
from acp_tui.conversation.facts import SessionId, SessionSummary, Turn
from support.agents import REPLY, agent_texts, asked, in_memory, in_turn, open_session, said
from support.peers import Counterpart, notification, response, settle

S1 = SessionId("s1")
ALL = {
    "loadSession": True,
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {
        name: {} for name in ("list", "delete", "resume", "close", "additionalDirectories")
    },
}
CANCELLED = {"outcome": {"outcome": "cancelled"}}
T = TypeVar("T")


@asynccontextmanager
async def capable(capabilities: Any = ALL) -> AsyncIterator[tuple[Agent, Counterpart]]:
    """An agent in memory that says it can do all this."""
    async with in_memory() as (agent, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.initialize)
            result = {"protocolVersion": 1, "agentCapabilities": capabilities}
            await wire.answer(await wire.expect("initialize"), result)
        yield agent, wire


async def exchange(call: Awaitable[T], wire: Counterpart, method: str, *said_first: Any, **result: Any) -> T:
    """Make a call of the client, which the agent answers after saying something."""
    results: list[T] = []

    async def make() -> None:
        results.append(await call)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(make)
        request = await wire.expect(method)
        await wire.send(*said_first, response(request["id"], result))
    return results[0]


async def refused(call: Awaitable[Any], wire: Counterpart, method: str, code: int = -32603) -> None:
    """The same, where the agent refuses."""
    async with anyio.create_task_group() as tasks:

        async def make() -> None:
            with pytest.raises(AgentRefused):
                await call

        tasks.start_soon(make)
        await wire.refuse(await wire.expect(method), code, "no")


# Load and resume


async def test_a_loaded_session_has_its_history_when_it_is_there(tmp_path: Path):
    """R-SESS-3, R-SESS-4, R-ORD-2."""
    async with capable() as (agent, wire):
        loading = agent.load_session(S1, tmp_path)
        session = await exchange(loading, wire, "session/load", said("from "), said("before"))
        assert agent_texts(session) == ["from before"]
        assert agent.sessions == {"s1": session}


async def test_what_is_said_while_a_session_loads_is_shown_at_once_and_requests_are_served(tmp_path: Path):
    """R-SESS-4: updates and requests for its id are accepted before the response."""
    async with capable() as (agent, wire), anyio.create_task_group() as tasks:
        changes: list[Any] = []
        tasks.start_soon(agent.load_session, S1, tmp_path, changes.append)
        loading = await wire.expect("session/load")
        assert loading["params"] == {"sessionId": "s1", "cwd": str(tmp_path), "mcpServers": []}
        await wire.send(said("early"), asked(7, "a"))
        await settle()
        assert changes
        [key] = agent.sessions[S1].conversation.permissions
        agent.sessions[S1].answer_permission(key, "a")
        assert (await wire.receive())["id"] == 7
        await wire.answer(loading, None)


@pytest.mark.parametrize("result", [None, {}, {"modes": None, "vendor": 1}])
async def test_a_load_is_answered_by_null_or_by_nothing_much(tmp_path: Path, result: Any):
    """R-SESS-5, R-RPC-8."""
    async with capable() as (agent, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.load_session, S1, tmp_path)
            await wire.answer(await wire.expect("session/load"), result)
        assert agent.sessions[S1].conversation.options == ()


async def test_a_session_loaded_while_it_is_open_begins_afresh_and_replaces_the_old_one(tmp_path: Path):
    """R-SESS-5: nothing is there twice; what waited in the old one is taken back."""
    async with capable() as (agent, wire):
        old = await open_session(agent, wire, tmp_path)
        await wire.send(said("history"), asked(1, "a"))
        await settle()
        new = await exchange(agent.load_session(S1, tmp_path), wire, "session/load", said("history"))
        assert (await wire.receive())["result"] == CANCELLED
        assert (agent_texts(new), agent_texts(old)) == (["history"], ["history"])
        await wire.send(said(", and more"))
        await settle()
        assert (agent_texts(new), agent_texts(old)) == (["history, and more"], ["history"])
        assert agent.sessions == {"s1": new}
        with pytest.raises(SessionClosed):
            await old.send_prompt(REPLY)


async def test_a_refused_load_leaves_what_was_open(tmp_path: Path):
    async with capable() as (agent, wire):
        old = await open_session(agent, wire, tmp_path)
        await refused(agent.load_session(S1, tmp_path), wire, "session/load")
        await refused(agent.load_session(SessionId("s2"), tmp_path), wire, "session/load", -32002)
        assert (agent.sessions, agent.phase) == ({"s1": old}, Phase.READY)
        async with in_turn(old, wire):
            await wire.send(said("still here"))
        assert agent_texts(old) == ["still here"]


async def test_an_unreadable_answer_to_a_load_leaves_what_was_open(tmp_path: Path):
    async with capable() as (agent, wire), anyio.create_task_group() as tasks:

        async def load() -> None:
            with pytest.raises(AgentLost, match="broke the protocol"):
                await agent.load_session(S1, tmp_path)

        tasks.start_soon(load)
        await wire.answer(await wire.expect("session/load"), "loaded")
        await settle()
        assert agent.sessions == {}


async def test_a_session_is_opened_once_at_a_time(tmp_path: Path):
    async with capable() as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.load_session, S1, tmp_path)
        loading = await wire.expect("session/load")
        with pytest.raises(OpeningInProgress):
            await agent.load_session(S1, tmp_path)
        await wire.answer(loading, {})


async def test_a_session_is_not_loaded_in_the_middle_of_its_turn(tmp_path: Path):
    """R-PROMPT-3: the fresh one would not know of the prompt in flight."""
    async with capable() as (agent, wire):
        session = await open_session(agent, wire, tmp_path)
        async with in_turn(session, wire):
            with pytest.raises(PromptInProgress):
                await agent.load_session(S1, tmp_path)
            assert await wire.receive_all() == []


async def test_a_replaced_session_sends_nothing_any_more(tmp_path: Path):
    """R-SESS-12: its id is another's now."""
    async with capable() as (agent, wire):
        old = await open_session(agent, wire, tmp_path)
        new = await exchange(agent.load_session(S1, tmp_path), wire, "session/load")
        async with in_turn(new, wire):
            old.cancel()
            await agent.close_session(old)
            with pytest.raises(SessionClosed):
                await old.set_option("mode", "ask")
            assert await wire.receive_all() == []
        assert agent.sessions == {"s1": new}


async def test_what_was_said_of_a_session_before_it_is_loaded_is_not_its_history(tmp_path: Path):
    """R-SESS-5."""
    async with capable() as (agent, wire):
        await wire.send(said("stray"))
        session = await exchange(agent.load_session(S1, tmp_path), wire, "session/load", said("history"))
        assert agent_texts(session) == ["history"]


async def test_the_end_of_the_agent_reaches_the_session_that_loads_and_the_one_it_replaces(tmp_path: Path):
    async with capable() as (agent, wire):
        old = await open_session(agent, wire, tmp_path)
        async with anyio.create_task_group() as tasks:

            async def load() -> None:
                with pytest.raises(AgentLost, match="closed its output"):
                    await agent.load_session(S1, tmp_path)

            tasks.start_soon(load)
            await wire.expect("session/load")
            await wire.close_output()
        assert not old.conversation.is_connected


async def test_a_resumed_session_has_the_options_of_the_response_and_no_history(tmp_path: Path):
    """R-SESS-6."""
    async with capable() as (agent, wire):
        modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
        session = await exchange(agent.resume_session(S1, tmp_path), wire, "session/resume", modes=modes)
        assert [option.value for option in session.conversation.options] == ["ask"]
        assert session.conversation.entries == []


async def test_an_open_session_that_is_resumed_keeps_its_conversation(tmp_path: Path):
    """R-SESS-6."""
    async with capable() as (agent, wire):
        session = await open_session(agent, wire, tmp_path)
        await wire.send(said("kept"))
        extra = tmp_path / "extra"
        resuming = agent.resume_session(S1, tmp_path, additional_directories=[extra])
        assert await exchange(resuming, wire, "session/resume") is session
        assert agent_texts(session) == ["kept"]
        assert session.additional_directories == (extra,)


@pytest.mark.parametrize(
    ("capabilities", "method"),
    [
        (ALL, "session/load"),
        ({"loadSession": True}, "session/load"),
        ({"sessionCapabilities": {"resume": {}}}, "session/resume"),
    ],
)
async def test_an_old_session_is_loaded_where_that_can_be_and_else_resumed(
    tmp_path: Path, capabilities: Any, method: str
):
    """R-SESS-10."""
    async with capable(capabilities) as (agent, wire):
        session = await exchange(agent.open_session(S1, tmp_path), wire, method)
        assert agent.sessions == {"s1": session}


# What is not offered is not sent


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
        with pytest.raises(Unsupported, match=r"does not offer .*(loadSession|Capabilities)"):
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
            with pytest.raises(StaleCursor):
                await agent.list_sessions(cursor="old")

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
        assert (agent.sessions, session.conversation.turn) == ({}, Turn.IDLE)
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
        ended = [
            terminal.has_exited
            for session in sessions
            for terminal in session.conversation.terminals.values()
        ]
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


async def test_updates_of_two_sessions_are_applied_in_wire_order_and_before_a_later_response(tmp_path: Path):
    """R-UPD-2, R-SESS-12, R-ORD-1: 10,000 updates of two sessions, and a response behind each half of them."""
    words = [f"{number} " for number in range(10_000)]
    async with capable() as (agent, wire):
        sessions = [await open_session(agent, wire, tmp_path, name) for name in ("s1", "s2")]
        seen_at_the_end: list[list[str]] = []

        def watch(session: Session) -> Callable[[Any], None]:
            def note(_: Any) -> None:
                if session.conversation.turn is Turn.IDLE and session.conversation.last_stop_reason:
                    seen_at_the_end.append(list(agent_texts(session)))

            return note

        async with anyio.create_task_group() as tasks:
            prompts = []
            for session in sessions:
                session.listener = watch(session)
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
