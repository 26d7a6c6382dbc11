"""MCP servers that run here for an agent elsewhere: real processes, behind an agent that the test plays."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.agents import mcp_over_acp
from acp_tui.client.agents.command import AgentCommand, Sandboxes
from acp_tui.client.errors import AgentLost, Unsupported
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import Policy
from acp_tui.client.sessions.driver import usable_servers
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.mcp import ServerList
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.conversation.facts import StdioServer
from acp_tui.conversation.updates import ClientRemark
from acp_tui.protocol.roles import AgentCapabilities
from support.agents import Counterpart, exchange, in_memory, notification, our_children, refused, request, shake_hands
from support.schema import is_valid, needs_schema

PROGRAM = str(Path(__file__).parents[2] / "data" / "mcp_server.py")
ELSEWHERE = AgentCommand("played", ("played",), is_elsewhere=True)
AGREEMENTS: dict[int, dict[str, Any]] = {
    1: {"protocolVersion": 1, "agentCapabilities": {"loadSession": True, "mcpCapabilities": {"acp": True}}},
    2: {
        "protocolVersion": 2,
        "info": {"name": "a", "version": "1"},
        "capabilities": {"session": {"mcp": {"stdio": {}, "acp": {}}}},
    },
}


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No process we started outlives its test, not even as a zombie."""
    yield
    assert our_children() == []


def server(*args: str, name: str = "tools") -> StdioServer:
    return StdioServer(name, sys.executable, ("-I", "-S", PROGRAM, *args), runs_here=True)


class Elsewhere:
    """An agent elsewhere that was given servers, and what it does with them."""

    def __init__(self, agent: Agent, wire: Counterpart, opened: dict[str, Any], session: Session) -> None:
        self.agent = agent
        self.wire = wire
        self.opened = opened
        """The params its session was opened with."""
        self.session = session
        self.server_id = opened["mcpServers"][0].get("serverId")

    @property
    def remarks(self) -> list[str]:
        """What the user was told in the session."""
        return [entry.text for entry in self.session.conversation.entries if isinstance(entry, ClientRemark)]

    async def asks(self, method: str, params: Any = None, *, request_id: str = "r1", outer: Any = "a1") -> None:
        """Send a request to the server."""
        envelope = {"serverId": self.server_id, "requestId": request_id, "method": method}
        await self.wire.send(
            request(outer, "mcp/message", {**envelope, **({} if params is None else {"params": params})})
        )

    async def gets(self, method: str, params: Any = None) -> Any:
        """Send a request to the server, and return the result or the error of the answer."""
        await self.asks(method, params)
        answer = await self.wire.receive()
        assert answer["id"] == "a1"
        return answer.get("result", answer.get("error"))


async def open_with(agent: Agent, wire: Counterpart, cwd: Path, servers: Sequence[StdioServer]) -> Elsewhere:
    sessions: list[Session] = []

    async def open_it() -> None:
        sessions.append(await agent.new_session(cwd, mcp_servers=servers))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(open_it)
        asked = await wire.expect("session/new")
        await wire.answer(asked, {"sessionId": "s1"})
    return Elsewhere(agent, wire, asked["params"], sessions[0])


@asynccontextmanager
async def lent(
    cwd: Path,
    *servers: StdioServer,
    version: int = 1,
    policy: Policy | None = None,
    recordings: RecordingPlan | None = None,
) -> AsyncIterator[Elsewhere]:
    async with in_memory(command=ELSEWHERE, policy=policy, recordings=recordings) as (agent, wire):
        await shake_hands(agent, wire, answer=AGREEMENTS[version])
        yield await open_with(agent, wire, cwd, servers or [server()])


@needs_schema
@pytest.mark.parametrize("version", AGREEMENTS)
async def test_the_agent_is_given_an_id_instead_of_a_command(tmp_path: Path, version: int) -> None:
    async with lent(tmp_path, server(), server(name="more"), version=version) as its:
        given = its.opened["mcpServers"]
        assert [(one["type"], one["name"], one.keys()) for one in given] == [
            ("acp", name, {"type", "name", "serverId"}) for name in ("tools", "more")
        ]
        assert len({one["serverId"] for one in given}) == len(given)
        assert is_valid(version, "NewSessionRequest", its.opened)


@needs_schema
@pytest.mark.parametrize("version", AGREEMENTS)
@pytest.mark.parametrize(
    ("method", "outcome"),
    [
        ("tools/list", {"result": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}}),
        ("x/null", {"result": None}),
        ("x/error", {"error": {"code": -32000, "message": "no", "data": None, "own": 1}}),
        ("x/unknown", {"error": {"code": -32601, "message": "Method not found"}}),
    ],
)
async def test_what_the_server_answers_comes_back_unchanged(
    tmp_path: Path, version: int, method: str, outcome: dict[str, Any]
) -> None:
    async with lent(tmp_path, version=version) as its:
        answer = await its.gets(method)
        assert answer == outcome
        assert is_valid(version, "MessageMcpResponse", answer)


@needs_schema
@pytest.mark.parametrize("version", AGREEMENTS)
async def test_progress_goes_to_the_request_that_it_is_about(tmp_path: Path, version: int) -> None:
    async with lent(tmp_path, version=version) as its:
        params = {"name": "echo", "arguments": {"a": ["é"]}, "_meta": {"progressToken": "t"}}
        await its.asks("tools/call", params, request_id="of the agent")
        told = await its.wire.expect("mcp/message")
        progress = {"progressToken": "t", "progress": 1}
        envelope = {"serverId": its.server_id, "requestId": "of the agent"}
        assert told["params"] == {**envelope, "method": "notifications/progress", "params": progress}
        assert "id" not in told
        assert is_valid(version, "MessageMcpNotification", told["params"])
        answer = await its.wire.receive()
        assert answer["result"]["result"]["content"] == [{"type": "text", "text": '{"a": ["\\u00e9"]}'}]
        assert "MCP server tools: called" in its.agent.log


async def test_a_subscription_has_the_id_that_the_agent_chose(tmp_path: Path) -> None:
    async with lent(tmp_path) as its:
        await its.asks("subscriptions/listen", {"notifications": {}}, request_id="mine")
        meta = {"_meta": {mcp_over_acp.SUBSCRIPTION: "mine"}}
        acknowledged, cancelled, answer = [await its.wire.receive() for _ in range(3)]
        assert acknowledged["params"]["params"] == meta
        assert cancelled["params"]["params"] == {"requestId": "mine"}
        assert answer["result"] == {"result": {"resultType": "complete", **meta}}


async def test_a_server_of_the_old_revision_is_greeted_for_the_agent(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with lent(tmp_path, server("old", str(log))) as its:
        found = (await its.gets("server/discover"))["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        assert found["capabilities"] == {"tools": {}}
        assert (await its.gets("tools/list"))["result"]["tools"]
        assert (await its.gets("x/junk"))["result"] == "still here"
    sent = log.read_text().splitlines()
    assert sent[:5] == ["server/discover", "initialize", "notifications/initialized", "tools/list", "x/junk"]
    assert '"code": -32601' in sent[5]


async def test_what_is_no_message_is_logged_and_skipped(tmp_path: Path) -> None:
    async with lent(tmp_path) as its:
        assert (await its.gets("x/junk"))["result"] == "still here"
        assert any("not a message" in line and line.startswith("MCP server tools: ") for line in its.agent.log)


async def test_a_server_that_dies_fails_its_requests_and_the_user_is_told(tmp_path: Path) -> None:
    async with lent(tmp_path) as its:
        for _ in range(2):
            error = await its.gets("x/die")
            assert (error["code"], error["message"]) == (-33002, "MCP server tools exited with code 3")
        assert its.remarks == ["MCP server tools exited with code 3, so the agent can't use it in this session"]


async def test_a_server_that_cannot_start_is_told_once_the_session_is_open(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("#!/no/such/program\n")
    (tmp_path / "broken").chmod(0o700)
    async with lent(tmp_path, StdioServer("b", str(tmp_path / "broken"), runs_here=True)) as its:
        error = await its.gets("tools/list")
        assert error["code"] == -33002
        assert "didn't start" in error["message"]
        assert len(its.remarks) == 1


async def test_a_program_that_speaks_no_mcp_is_told(tmp_path: Path) -> None:
    async with lent(tmp_path, server("foreign")) as its:
        error = await its.gets("tools/list")
        assert "neither server/discover nor initialize" in error["message"]


async def test_a_server_that_says_nothing_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_over_acp, "PROBE_LIMIT_S", 0.01)
    monkeypatch.setattr(mcp_over_acp, "GREETING_LIMIT_S", 0.01)
    async with lent(tmp_path, server("mute")) as its:
        assert (await its.gets("tools/list"))["code"] == -33002


async def test_an_answer_that_is_none_is_a_failure(tmp_path: Path) -> None:
    async with lent(tmp_path) as its:
        assert (await its.gets("x/no-error"))["code"] == -33002
        assert "result" in await its.gets("tools/list")


async def test_a_message_without_an_end_ends_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_over_acp, "MAX_MESSAGE_BYTES", 1 << 20)
    async with lent(tmp_path) as its:
        error = await its.gets("x/large", {"size": 2 << 20})
        assert error["code"] == -33002
        assert "1,048,576 bytes" in error["message"]


async def test_a_request_that_the_agent_cancels_is_cancelled_at_the_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with lent(tmp_path, server("", str(log))) as its:
        await its.asks("x/never")
        await its.asks("tools/list", request_id="r2", outer="a2")
        assert (await its.wire.receive())["id"] == "a2"
        await its.wire.send(notification("$/cancel_request", {"requestId": "a1"}))
        assert (await its.wire.receive())["error"]["code"] == -32800
        assert "result" in await its.gets("tools/list")  # the ID is free again
    assert "notifications/cancelled" in log.read_text().splitlines()


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, -32602),
        ({"serverId": 1, "requestId": "r", "method": "m"}, -32602),
        ({"serverId": "of another", "requestId": "r", "method": "m"}, -33001),
        ({"serverId": "", "requestId": "r", "method": "m", "params": [1]}, -32602),
        ({"serverId": "", "requestId": "r", "method": "m" * 10_000}, -32602),
    ],
    ids=["nothing", "no id", "unknown server", "a list", "a long name"],
)
async def test_a_message_that_is_for_no_server_is_refused(tmp_path: Path, params: Any, code: int) -> None:
    async with lent(tmp_path) as its:
        await its.wire.send(request("a1", "mcp/message", params))
        assert (await its.wire.receive())["error"]["code"] == code
        await its.wire.send(notification("mcp/message", params))
        assert "result" in await its.gets("tools/list")


async def test_requests_under_way_have_a_limit_and_ids_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_over_acp, "MAX_UNDER_WAY", 2)
    async with lent(tmp_path) as its:
        await its.asks("x/never")
        for request_id, code in (("r1", -32602), ("r2", None), ("r3", -33000)):
            await its.asks("x/never", request_id=request_id, outer=request_id)
            if code is not None:
                assert (await its.wire.receive())["error"]["code"] == code


async def test_a_server_ends_with_its_session(tmp_path: Path) -> None:
    async with lent(tmp_path) as its:
        await its.gets("tools/list")
        assert len(our_children()) == 1
        await its.agent.close_session(its.session)
        assert our_children() == []
        assert its.remarks == []
        assert (await its.gets("tools/list"))["code"] == -33001


async def test_a_session_that_is_not_opened_leaves_no_server(tmp_path: Path) -> None:
    async with in_memory(command=ELSEWHERE) as (agent, wire):
        await shake_hands(agent, wire, answer=AGREEMENTS[1])
        await refused(agent.new_session(tmp_path, mcp_servers=[server()]), wire, "session/new")
        assert our_children() == []


async def test_an_agent_that_is_gone_gets_no_server(tmp_path: Path) -> None:
    async with lent(tmp_path) as its:
        await its.wire.close_output()
        await its.agent.ended.wait()
        with pytest.raises(AgentLost):
            await its.agent.new_session(tmp_path, mcp_servers=[server()])
        assert our_children() == []


async def test_a_session_that_is_loaded_again_has_a_new_server_instead_of_the_old_one(tmp_path: Path) -> None:
    async with lent(tmp_path) as its:
        load = its.agent.load_session(its.session.session_id, tmp_path, mcp_servers=[server()])
        its.session = await exchange(load, its.wire, "session/load")
        assert (await its.gets("tools/list"))["code"] == -33001
        assert len(our_children()) == 1


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap isn't installed")
async def test_a_server_runs_in_the_sandbox_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, project, temporary = tmp_path / "home", tmp_path / "project", tmp_path / "tmp"
    for folder in (home, project, temporary):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    program = (sys.executable, "-I", "-S", PROGRAM)
    trying = StdioServer(
        "t", "/bin/sh", ("-c", f"touch {home}/a; touch {project}/b; exec {shlex.join(program)}"), runs_here=True
    )
    policy = Policy(sandboxes=Sandboxes(default="workspace"))
    async with lent(project, trying, policy=policy) as its:
        assert "result" in await its.gets("tools/list")
    assert [[path.name for path in folder.iterdir()] for folder in (home, project, temporary)] == [[], ["b"], []]


async def test_a_recording_has_no_secret_that_only_the_server_was_given(tmp_path: Path) -> None:
    secret = "an ordinary phrase"
    written = StdioServer("t", sys.executable, ("-I", "-S", PROGRAM), (("T_TOKEN", secret),), runs_here=True)
    file = tmp_path / "run.jsonl"
    async with lent(tmp_path, written, recordings=RecordingPlan(tmp_path, file=file)) as its:
        answer = await its.gets("x/environment", {"name": "T_TOKEN"})
        assert answer == {"result": secret}
    recorded = file.read_text()
    assert "x/environment" in recorded
    assert secret not in recorded
    assert its.server_id in recorded


async def test_an_agent_that_does_not_take_it_gets_no_such_server(tmp_path: Path) -> None:
    async with in_memory(command=ELSEWHERE) as (agent, wire):
        await shake_hands(agent, wire)
        assert not agent.runs_servers_here
        with pytest.raises(Unsupported, match="acp"):
            await agent.new_session(tmp_path, mcp_servers=[server()])


@pytest.mark.parametrize(
    ("command", "capabilities", "runs_here"),
    [
        (ELSEWHERE, AgentCapabilities(mcp_acp=True), True),
        (ELSEWHERE, AgentCapabilities(), False),
        (AgentCommand("here", ("here",)), AgentCapabilities(mcp_acp=True), False),
        (AgentCommand("here", ("here",)), AgentCapabilities(mcp_acp=True, mcp_stdio=False), True),
    ],
)
async def test_programs_run_here_if_the_agent_cannot_start_them(
    command: AgentCommand, capabilities: AgentCapabilities, runs_here: bool
) -> None:
    agent = Agent(command)
    agent.capabilities = capabilities
    assert agent.runs_servers_here is runs_here
    written = StdioServer("tools", sys.executable)
    usable, notes = usable_servers(capabilities, [ServerList((written,))], runs_here=agent.runs_servers_here)
    assert [(one.name, one.runs_here) for one in usable if isinstance(one, StdioServer)] == [("tools", runs_here)]
    assert notes == ()
