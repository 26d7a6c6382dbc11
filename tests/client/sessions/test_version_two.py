"""Sessions with agents of version 2: what we ask of them, what they report and ask, and what a user can do."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.cli.permissions import question_text
from acp_tui.client.errors import AgentRefused, AuthenticationRequired, Unsupported
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import Policy
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import RefusalRule
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Question
from acp_tui.conversation.facts import WHY_ACTS_ITSELF, AskedCommand, BooleanOption, HttpServer, StdioServer, TurnPhase
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.conversation.tool_calls import FileChange, TerminalId, TextDiff, ToolCall, ToolCallId
from acp_tui.protocol.roles import ClientOffer
from acp_tui.ui.permission.request_drawing import SubjectDrawing, SubjectStyle
from acp_tui.ui.rendering.palette import PLAIN
from support.agents import (
    REPLY,
    Counterpart,
    agent_texts,
    in_memory,
    notification,
    response,
    settle,
    shake_hands,
    until,
)

MODE = {
    "configId": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "ask",
    "options": [
        {"groupId": "g", "name": "Group", "options": [{"value": "ask", "name": "Ask"}]},
        {"groupId": "h", "name": "Other", "options": [{"value": "code", "name": "Code"}]},
    ],
}
FAST = {"configId": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
ALLOW = {"optionId": "y", "name": "Allow", "kind": "allow_once"}
REJECT = {"optionId": "n", "name": "Reject", "kind": "reject_once"}
CAPABILITIES = {"session": {"delete": {}, "prompt": {"image": {}}, "mcp": {"http": {}}}}
RUNNING = {"sessionUpdate": "state_update", "state": "running"}
IDLE = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}


def told(*updates: Any) -> list[Any]:
    """Updates, as on the wire."""
    return [notification("session/update", {"sessionId": "s1", "update": update}) for update in updates]


def asked(request_id: int, **params: Any) -> dict[str, Any]:
    """A permission request, as on the wire."""
    params = {"sessionId": "s1", "title": "May I?", "options": [ALLOW, REJECT], **params}
    return {"jsonrpc": "2.0", "id": request_id, "method": "session/request_permission", "params": params}


@asynccontextmanager
async def agent_of_two(
    offer: ClientOffer | None = None, policy: Policy | None = None, **said: Any
) -> AsyncIterator[tuple[Agent, Counterpart]]:
    """An agent behind a handshake of version 2."""
    async with in_memory(offer, policy) as (agent, wire):
        answer = {
            "protocolVersion": 2,
            "info": {"name": "two", "version": "1"},
            "capabilities": CAPABILITIES,
        }
        await shake_hands(agent, wire, answer={**answer, **said})
        yield agent, wire


@asynccontextmanager
async def session_of_two(
    cwd: Path, offer: ClientOffer | None = None, policy: Policy | None = None, **setup: Any
) -> AsyncIterator[tuple[Session, Counterpart]]:
    """A session with such an agent."""
    async with agent_of_two(offer, policy) as (agent, wire):
        opened: list[Session] = []

        async def open_it() -> None:
            opened.append(await agent.new_session(cwd))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(open_it)
            await wire.answer(await wire.expect("session/new"), {"sessionId": "s1", **setup})
        yield opened[0], wire


@asynccontextmanager
async def turn_of_two(session: Session, wire: Counterpart) -> AsyncIterator[None]:
    """A running turn. When the block ends, the turn ends, too."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.send_prompt, REPLY)
        prompt = await wire.expect("session/prompt")
        await wire.send(response(prompt["id"], {"messageId": "u"}), *told(RUNNING))
        await settle()
        yield
        await wire.send(*told(IDLE))


def only_call(session: Session, name: str = "c") -> ToolCall:
    return session.conversation.tool_call(ToolCallId(name)).call


# Sessions and options


async def test_what_a_session_begins_with_is_in_the_answer(tmp_path: Path):
    """R2-CFG, R2-CMD: including groups, booleans, and commands with input."""
    command = {
        "type": "command",
        "name": "review",
        "description": "d",
        "input": {"type": "text", "hint": "h"},
    }
    setup = {"configOptions": [MODE, FAST], "availableCommands": [command, {"type": "_x", "name": "y"}]}
    async with session_of_two(tmp_path, **setup) as (session, _):
        mode, fast = session.conversation.options
    assert (mode.option_id, mode.category, mode.value) == ("mode", "mode", "ask")
    assert [choice.group for choice in mode.choices] == ["Group", "Other"]  # type: ignore[union-attr]
    assert fast == BooleanOption("fast", "Fast", False)
    assert [(one.name, one.hint) for one in session.conversation.commands] == [("review", "h")]


@pytest.mark.parametrize(("option_id", "value", "kind"), [("mode", "code", "id"), ("fast", True, "boolean")])
async def test_an_option_is_set_with_the_type_of_its_value(tmp_path: Path, option_id: str, value: Any, kind: str):
    """R2-CFG."""
    async with session_of_two(tmp_path, configOptions=[MODE, FAST]) as (session, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, option_id, value)
            request = await wire.expect("session/set_config_option")
            changed = [{**MODE, "currentValue": "code"}, {**FAST, "currentValue": True}]
            await wire.answer(request, {"configOptions": changed})
        values = {option.option_id: option.value for option in session.conversation.options}
    expected = {"sessionId": "s1", "configId": option_id, "type": kind, "value": value}
    assert (request["params"], values[option_id]) == (expected, value)


async def test_loading_is_resuming_from_the_start_and_its_history_is_shown_once(tmp_path: Path):
    """R2-LIFE, R2-MSG."""
    async with agent_of_two() as (agent, wire):
        loaded: list[Session] = []

        async def load() -> None:
            loaded.append(await agent.load_session("s1", tmp_path))  # type: ignore[arg-type]

        history = (
            {"sessionUpdate": "user_message", "messageId": "u", "content": []},
            {
                "sessionUpdate": "user_message_chunk",
                "messageId": "u",
                "content": {"type": "text", "text": "go"},
            },
            {
                "sessionUpdate": "agent_message",
                "messageId": "a",
                "content": [{"type": "text", "text": "gone"}],
            },
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(load)
            request = await wire.expect("session/resume")
            await wire.send(*told(*history, *history, {"sessionUpdate": "state_update", "state": "idle"}))
            await wire.answer(request, {})
        assert request["params"]["replayFrom"] == {"type": "start"}
        assert agent_texts(loaded[0]) == ["gone"]
        assert len(loaded[0].conversation.entries) == 2
        assert loaded[0].conversation.turn is TurnPhase.IDLE


async def test_resuming_alone_asks_for_no_history_and_shows_what_goes_on(tmp_path: Path):
    """R2-LIFE, R2-STATE: the snapshot before the answer says whether the agent works."""
    async with agent_of_two() as (agent, wire):
        resumed: list[Session] = []

        async def resume() -> None:
            resumed.append(await agent.resume_session("s1", tmp_path))  # type: ignore[arg-type]

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(resume)
            request = await wire.expect("session/resume")
            await wire.send(*told(RUNNING))
            await wire.answer(request, {"configOptions": [MODE]})
        assert "replayFrom" not in request["params"]
        assert resumed[0].conversation.turn is TurnPhase.RUNNING
        assert resumed[0].conversation.options


async def test_login_and_logout_go_by_their_new_names(tmp_path: Path):
    """R2-AUTH: unknown kinds of login are left out, and a terminal's variables arrive as pairs."""
    methods = [
        {"type": "agent", "methodId": "key", "name": "Key"},
        {"type": "terminal", "methodId": "tty", "name": "T", "env": [{"name": "A", "value": "1"}]},
        {"type": "_smoke", "methodId": "s", "name": "Smoke"},
    ]
    async with agent_of_two(ClientOffer(auth_terminal=True), authMethods=methods) as (agent, wire):
        assert [method.method_id for method in agent.auth_methods] == ["key", "tty"]
        assert dict(agent.auth_methods[1].env) == {"A": "1"}

        async def log_in_and_out() -> None:
            with pytest.raises(AuthenticationRequired):
                await agent.new_session(tmp_path)
            await agent.authenticate("key")
            await agent.logout()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(log_in_and_out)
            await wire.refuse(await wire.expect("session/new"), -32000, "log in")
            login = await wire.expect("auth/login")
            await wire.answer(login, {})
            await wire.answer(await wire.expect("auth/logout"), {})
        assert login["params"] == {"methodId": "key"}


async def test_mcp_servers_are_sent_as_the_agent_can_use_them(tmp_path: Path):
    """R2-MCP: one that the agent starts requires its capability, and has a type."""
    files, docs = StdioServer("files", "/bin/files"), HttpServer("http", "docs", "https://docs.example/mcp")
    async with agent_of_two() as (agent, wire), anyio.create_task_group() as tasks:
        with pytest.raises(Unsupported):
            await agent.new_session(tmp_path, mcp_servers=[files])
        with pytest.raises(Unsupported):
            await agent.new_session(tmp_path, mcp_servers=[HttpServer("sse", "news", "https://a.example")])

        async def open_it() -> None:
            await agent.new_session(tmp_path, mcp_servers=[docs])

        tasks.start_soon(open_it)
        request = await wire.expect("session/new")
        await wire.answer(request, {"sessionId": "s1"})
    assert [server["type"] for server in request["params"]["mcpServers"]] == ["http"]
    capable = {"session": {"mcp": {"stdio": {}}}}
    async with agent_of_two(capabilities=capable) as (agent, wire), anyio.create_task_group() as tasks:

        async def open_other() -> None:
            await agent.new_session(tmp_path, mcp_servers=[files])

        tasks.start_soon(open_other)
        request = await wire.expect("session/new")
        await wire.answer(request, {"sessionId": "s1"})
    assert [server["type"] for server in request["params"]["mcpServers"]] == ["stdio"]


# Turns


async def test_a_prompt_returns_when_the_agent_is_idle_and_not_before(tmp_path: Path):
    """R2-TURN."""
    async with session_of_two(tmp_path) as (session, wire):
        done = anyio.Event()

        async def work() -> None:
            await session.send_prompt(REPLY)
            done.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            prompt = await wire.expect("session/prompt")
            await wire.send(*told(RUNNING), response(prompt["id"], {"messageId": "u"}))
            await settle()
            assert not done.is_set()
            await wire.send(*told(IDLE))
        assert done.is_set()


@pytest.mark.parametrize(("code", "error"), [(-32000, AuthenticationRequired), (-32603, AgentRefused)])
async def test_an_error_at_the_end_is_raised_as_if_the_prompt_had_been_refused(
    tmp_path: Path, code: int, error: type[Exception]
):
    """R2-ERR."""
    async with session_of_two(tmp_path) as (session, wire), anyio.create_task_group() as tasks:

        async def work() -> None:
            with pytest.raises(error):
                await session.send_prompt(REPLY)

        tasks.start_soon(work)
        prompt = await wire.expect("session/prompt")
        failed = {**IDLE, "stopReason": "error", "error": {"code": code, "message": "no"}}
        await wire.send(response(prompt["id"], {"messageId": "u"}), *told(RUNNING, failed))


async def test_a_prompt_held_back_and_cancelled_ends_its_turn(tmp_path: Path):
    """R2-QUEUE."""
    async with session_of_two(tmp_path) as (session, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send_prompt, REPLY)
            prompt = await wire.expect("session/prompt")
            session.cancel()
            await wire.expect("session/cancel")
            await wire.refuse(prompt, -32800, "cancelled")
        assert session.conversation.last_stop_reason == "cancelled"


async def test_a_further_prompt_is_left_to_the_agent(tmp_path: Path):
    """R2-QUEUE: it is sent while the turn runs, and the last idle ends both."""
    async with session_of_two(tmp_path) as (session, wire):
        taken: list[bool] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send_prompt, REPLY)
            first = await wire.expect("session/prompt")
            await wire.send(response(first["id"], {"messageId": "1"}), *told(RUNNING))
            await settle()

            async def send_another() -> None:
                taken.append(await session.steer([Text("also")]))

            tasks.start_soon(send_another)
            second = await wire.expect("session/prompt")
            await wire.send(*told(IDLE), response(second["id"], {"messageId": "2"}), *told(RUNNING))
            await settle()
            assert session.conversation.turn is TurnPhase.RUNNING
            await wire.send(*told(IDLE))
        assert taken == [True]
        assert session.conversation.is_idle
        assert not await session.steer([Text("too late")])


async def test_a_further_prompt_that_is_refused_is_told_and_the_turn_goes_on(tmp_path: Path):
    """R2-QUEUE."""
    async with session_of_two(tmp_path) as (session, wire), turn_of_two(session, wire):
        async with anyio.create_task_group() as tasks:

            async def send_another() -> None:
                with pytest.raises(AgentRefused, match="busy"):
                    await session.steer([Text("also")])

            tasks.start_soon(send_another)
            await wire.refuse(await wire.expect("session/prompt"), -32600, "busy")
        assert session.conversation.turn is TurnPhase.RUNNING


async def test_an_agent_that_goes_ends_the_wait_for_its_idle(tmp_path: Path):
    """R2-TURN."""
    async with session_of_two(tmp_path) as (session, wire):
        async with anyio.create_task_group() as tasks:

            async def work() -> None:
                with pytest.raises(Exception, match="closed its output"):
                    await session.send_prompt(REPLY)

            tasks.start_soon(work)
            prompt = await wire.expect("session/prompt")
            await wire.send(response(prompt["id"], {"messageId": "u"}), *told(RUNNING))
            await settle()
            await wire.close_output()
        assert not session.conversation.is_connected


# Tool calls, diffs, terminals


async def test_reports_of_a_tool_call_keep_clear_and_append(tmp_path: Path):
    """R2-TOOL, R2-META: absent keeps, null clears, `_meta` is merged key by key."""
    text = {"type": "content", "content": {"type": "text", "text": "t"}}
    async with session_of_two(tmp_path) as (session, wire):
        first = {"title": "T", "kind": "edit", "status": "_odd", "rawInput": {"a": 1}, "content": [text]}
        call = {"sessionUpdate": "tool_call_update", "toolCallId": "c"}
        await wire.send(*told({**call, **first, "_meta": {"a": 1, "b": 1}}))
        chunk = {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": text}
        await wire.send(*told(chunk, {**call, "rawInput": None, "kind": None, "_meta": {"b": 2}}))
        await settle()
        found = only_call(session)
        assert (found.title, found.kind, found.status, len(found.content)) == ("T", "other", "_odd", 2)
        assert (repr(found.raw_input), found.meta, found.is_settled) == ("UNSET", {"a": 1, "b": 2}, False)
        await wire.send(*told({**call, "title": None, "content": None, "status": "cancelled"}))
        await settle()
        assert (found.title, found.content, found.is_settled) == ("", (), True)


async def test_a_diff_is_read_from_its_patch_and_its_changes(tmp_path: Path):
    """R2-DIFF: one item per file, with or without its text."""
    patch = (
        "diff --git /w/a /w/a\n--- /w/a\n+++ /w/a\n@@ -7,2 +7,3 @@\n one\n-two\n+2\n+3\n"
        "diff --git /w/new /w/new\nnew file mode 100644\n--- /dev/null\n+++ /w/new\n@@ -0,0 +1 @@\n+n\n"
        "\\ No newline at end of file\n"
    )
    changes = [
        {"operation": "modify", "path": "/w/a", "fileType": "text"},
        {"operation": "add", "path": "/w/new"},
        {"operation": "move", "oldPath": "/w/x", "path": "/w/y"},
        {"operation": "_shred", "path": "/w/z"},
    ]
    diff = {"type": "diff", "changes": changes, "patch": {"format": "git_patch", "text": patch}}
    async with session_of_two(tmp_path) as (session, wire):
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [diff]}
        await wire.send(*told(update, {**update, "toolCallId": "d", "content": [{**diff, "patch": None}]}))
        await settle()
        edited, new, *others = only_call(session).content
        assert isinstance(edited, TextDiff)
        assert (edited.path, edited.old_text, edited.new_text) == ("/w/a", "one\ntwo\n", "one\n2\n3\n")
        assert [(hunk.old_line, hunk.new_line) for hunk in edited.hunks] == [(7, 7)]
        assert new == TextDiff("/w/new", "n", None)
        assert [item.words for item in others if isinstance(item, FileChange)] == [
            "move /w/x → /w/y",
            "_shred /w/z",
        ]
        assert all(isinstance(item, FileChange) for item in only_call(session, "d").content)


async def test_a_terminal_of_the_agents_prints_its_bytes_and_its_snapshot_replaces_them(tmp_path: Path):
    """R2-TERM: a character may arrive in two pieces."""
    printed = "é\n".encode()
    pieces = [b64encode(part).decode() for part in (printed[:1], printed[1:])]
    async with session_of_two(tmp_path) as (session, wire):
        terminal = {"sessionUpdate": "terminal_update", "terminalId": "t"}
        chunk = {"sessionUpdate": "terminal_output_chunk", "terminalId": "t"}
        begun = {**terminal, "command": "make", "cwd": "/w", "size": {"cols": 100, "rows": 0}}
        await wire.send(*told(begun, *({**chunk, "data": piece} for piece in pieces)))
        await settle()
        state = session.conversation.terminals[TerminalId("t")]
        assert (state.command, state.output.tail_text(), state.columns, state.is_ours) == (
            "make",
            "é\n",
            120,
            False,
        )
        snapshot = {**terminal, "output": {"data": b64encode(b"all of it").decode()}}
        await wire.send(*told({**snapshot, "size": {"cols": 90, "rows": 20}, "exitStatus": {"exitCode": 3}}))
        await settle()
        assert (state.output.tail_text(), state.columns, state.exit_code) == ("all of it", 90, 3)
        await wire.send(*told({**terminal, "exitStatus": None, "output": None, "command": None}))
        await settle()
        assert (state.has_exited, state.output.tail_text(), state.command) == (False, "", None)


async def test_a_tool_call_and_a_terminal_are_stopped_alone_where_the_agent_offers_it(tmp_path: Path):
    """R2-CANC1."""
    async with session_of_two(tmp_path) as (session, wire), turn_of_two(session, wire):
        cancel = {"capabilities": {"cancel": {}}}
        call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress"}
        terminal = {"sessionUpdate": "terminal_update", "terminalId": "t", "command": "sleep 9"}
        await wire.send(*told(call, terminal))
        await settle()
        with pytest.raises(Unsupported):
            await session.cancel_tool_call(ToolCallId("c"))
        with pytest.raises(Unsupported):
            await session.cancel_terminal(TerminalId("t"))
        await wire.send(*told({**call, **cancel}, {**terminal, **cancel}))
        await settle()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.cancel_tool_call, ToolCallId("c"))
            request = await wire.expect("tool_call/cancel")
            await wire.answer(request, {})
            tasks.start_soon(session.cancel_terminal, TerminalId("t"))
            other = await wire.expect("terminal/cancel")
            await wire.answer(other, {})
        assert request["params"] == {"sessionId": "s1", "toolCallId": "c"}
        assert other["params"] == {"sessionId": "s1", "terminalId": "t"}
        assert session.conversation.turn is TurnPhase.RUNNING


async def test_files_and_terminals_are_not_served(tmp_path: Path):
    """R2-FS: these methods no longer exist."""
    async with session_of_two(tmp_path) as (_, wire):
        for number, method in enumerate(("fs/read_text_file", "fs/write_text_file", "terminal/create")):
            params = {"sessionId": "s1", "path": "/etc/passwd", "content": "", "command": "true"}
            await wire.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            assert (await wire.receive())["error"]["code"] == -32601


# Questions


async def test_a_question_about_a_tool_call_has_its_own_title(tmp_path: Path):
    """R2-PERM."""
    call = {"toolCallId": "c", "title": "Edit files", "kind": "edit"}
    async with session_of_two(tmp_path) as (session, wire), turn_of_two(session, wire):
        subject = {"type": "tool_call", "toolCall": call}
        await wire.send(asked(7, title="Make edits?", description="For tests", subject=subject))
        await settle()
        (request,) = session.conversation.permissions.values()
        assert (request.title, request.description, request.is_alone) == ("Make edits?", "For tests", False)
        assert only_call(session).title == "Edit files"
        session.answer_permission(request.key, "y")
        answer = await wire.receive()
    assert answer["result"] == {"outcome": {"outcome": "selected", "optionId": "y"}}


@pytest.mark.parametrize(
    "subject",
    [
        {"type": "command", "command": "make", "cwd": "/w"},
        {"type": "_spend", "amount": 5},
        {"type": {"type": "command"}, "command": "make"},
        None,
    ],
)
async def test_a_question_about_no_tool_call_stands_for_itself(tmp_path: Path, subject: Any):
    """R2-PERM: the answer settles it."""
    async with session_of_two(tmp_path) as (session, wire), turn_of_two(session, wire):
        await wire.send(asked(7, subject=subject))
        await settle()
        (request,) = session.conversation.permissions.values()
        call = only_call(session, request.tool_call_id)
        if subject is not None and subject["type"] == "command":
            assert request.command == AskedCommand("make", "/w")
            assert (call.title, call.kind) == ("make", "execute")
        else:
            assert call.title == "May I?"
        session.answer_permission(request.key, "y")
        await wire.receive()
        assert call.status == "completed"


@pytest.mark.parametrize(
    "subject",
    [
        {"type": "command", "command": "make", "cwd": "/w"},
        {"type": "command", "command": "make", "cwd": "/w", "toolCallId": "c"},
        {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Make"}},
    ],
)
async def test_fields_of_a_subject_that_are_unknown_are_shown(tmp_path: Path, subject: Any):
    """R2-PERM, R-RPC-9: whatever is allowed is shown, even if only newer clients know what it means."""
    more = {"runsAs": "root", "sandbox": {"network": "all of it"}, "_meta": {"for": "programs"}}
    async with session_of_two(tmp_path) as (session, wire), turn_of_two(session, wire):
        await wire.send(asked(7, subject={**subject, **more}))
        await settle()
        (request,) = session.conversation.permissions.values()
        call = only_call(session, request.tool_call_id)
        shown = ShownRequest(request, call)
        drawn = SubjectDrawing().draw(shown, SubjectStyle(80, PLAIN)).lines
        for text in ("\n".join(strip.text for strip in drawn), question_text(shown)):
            lines = [line.strip() for line in text.split("\n")]
            at = lines.index("subject:")
            assert lines[at : at + 4] == ["subject:", "runsAs: root", "sandbox:", "network: all of it"]
            assert "programs" not in text
        raw = SubjectDrawing().draw(shown, SubjectStyle(80, PLAIN, shows_raw=True)).lines
        assert "programs" in "\n".join(strip.text for strip in raw)
        session.answer_permission(request.key, "n")
        await wire.receive()


async def test_a_rule_of_the_users_refuses_the_command_that_is_asked_for(tmp_path: Path):
    """R2-PERM: even if the tool call says nothing about it."""
    rule = RefusalRule(kind="execute", command="rm")
    policy = Policy(refuse=(rule,))
    async with session_of_two(tmp_path, policy=policy) as (session, wire), turn_of_two(session, wire):
        await wire.send(*told({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Tidy up"}))
        subject = {"type": "command", "command": "rm -rf /w", "cwd": "/w", "toolCallId": "c"}
        await wire.send(asked(7, title="Tidy up?", subject=subject))
        assert (await wire.receive())["result"]["outcome"]["optionId"] == "n"


async def test_the_first_question_says_that_the_agent_is_not_confined(tmp_path: Path):
    """R2-FS."""
    async with session_of_two(tmp_path) as (session, wire), turn_of_two(session, wire):
        await wire.send(asked(7), asked(8))
        await settle()
        first, second = session.conversation.permissions.values()
        assert (first.note, second.note) == (WHY_ACTS_ITSELF, None)
        for request in (first, second):
            session.answer_permission(request.key, "n")
        await wire.receive_all()


async def test_a_question_that_is_taken_back_goes_and_says_so(tmp_path: Path):
    """R2-CANC."""
    async with session_of_two(tmp_path) as (session, wire), turn_of_two(session, wire):
        await wire.send(asked(7, subject={"type": "tool_call", "toolCall": {"toolCallId": "c"}}))
        await until(session, lambda: bool(session.conversation.permissions))
        await wire.send(notification("$/cancel_request", {"requestId": 7}))
        assert (await wire.receive())["error"]["code"] == -32800
        assert not session.conversation.permissions
        (decision,) = session.conversation.tool_call(ToolCallId("c")).decisions
        assert (decision.is_withdrawn, decision.option_name) == (True, None)


async def test_questions_of_background_work_survive_a_cancel(tmp_path: Path):
    """R2-CANC: the agent withdraws the turn's own questions."""
    async with session_of_two(tmp_path) as (session, wire), turn_of_two(session, wire):
        await wire.send(asked(7))
        await settle()
        session.cancel()
        await wire.expect("session/cancel")
        await wire.send(asked(8))
        await wire.send(*told({**IDLE, "stopReason": "cancelled"}))
        await settle()
        assert session.conversation.turn is TurnPhase.IDLE
        assert await wire.receive_all() == []
        first, second = session.conversation.permissions.values()
        session.answer_permission(first.key, "n")
        session.answer_permission(second.key, "y")
        answers = [message["result"]["outcome"]["optionId"] for message in await wire.receive_all()]
    assert answers == ["n", "y"]


async def test_forms_are_asked_as_before(tmp_path: Path):
    """R2-ELIC."""
    schema = {"type": "object", "properties": {"who": {"type": "string"}, "odd": {"type": "_odd"}}}
    params = {"mode": "form", "sessionId": "s1", "message": "Who?", "requestedSchema": schema}
    offer = ClientOffer(elicitation_form=True)
    async with session_of_two(tmp_path, offer) as (session, wire):
        await wire.send({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params})
        await until(session, lambda: bool(session.conversation.elicitations))
        (key,) = session.conversation.elicitations
        session.questions.answer(key, "decline")
        assert (await wire.receive())["result"] == {"action": "decline"}
        assert any(isinstance(entry, Question) for entry in session.conversation.entries)


# Other reports


async def test_several_plans_stand_side_by_side_and_go_by_their_ids(tmp_path: Path):
    """R2-PLAN: steps, words, and files."""
    step = {"content": "test", "priority": "high", "status": "in_progress"}
    async with session_of_two(tmp_path) as (session, wire):
        plan = {"sessionUpdate": "plan_update"}
        words = {"type": "markdown", "planId": "b", "content": "# Plan\n\n- [x] one\n- [ ] two\n"}
        await wire.send(
            *told(
                {**plan, "plan": {"type": "items", "planId": "a", "entries": [step, {"bad": 1}]}},
                {**plan, "plan": words},
                {**plan, "plan": {"type": "file", "planId": "f", "uri": "file:///w/plan.md"}},
                {**plan, "plan": {"type": "_new", "planId": "n"}},
            )
        )
        await settle()
        plans = session.conversation.plans
        assert list(plans) == ["a", "b", "f"]
        assert [(one.content, one.status) for one in plans["b"].steps] == [
            ("Plan", "pending"),
            ("one", "completed"),
            ("two", "pending"),
        ]
        await wire.send(*told({"sessionUpdate": "plan_removed", "planId": "b"}))
        await settle()
        assert list(plans) == ["a", "f"]


async def test_notices_compactions_and_usage_are_read_as_ever(tmp_path: Path):
    """R2-NOTE."""
    async with session_of_two(tmp_path) as (session, wire):
        await wire.send(
            *told(
                {"sessionUpdate": "notice", "severity": "_odd", "title": "Look"},
                {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"},
                {"sessionUpdate": "usage_update", "used": 5, "size": 10},
                {"sessionUpdate": "session_info_update", "title": "Named", "updatedAt": None},
            )
        )
        await settle()
    conversation = session.conversation
    assert (conversation.notices[0].title, conversation.title) == ("Look", "Named")
    assert conversation.usage is not None
    assert len(conversation.entries) == 1
