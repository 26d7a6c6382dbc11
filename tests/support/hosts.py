"""Hosts: in memory, where the test plays the agent and clients are like acp-tui or played; and as processes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import psutil  # type: ignore[import-untyped]
import pytest
from anyio.abc import ByteStream, TaskGroup

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.hosting.finding import HostPaths, attached, watching
from acp_tui.client.hosting.host import LOCAL, ClientAccess, Host
from acp_tui.client.sandbox.sandbox import Sandbox
from acp_tui.client.sessions import agent as agent_module
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import INTERACTIVE, Policy
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import SessionId
from acp_tui.rpc.memory_stream import connected_pair
from support.agents import Counterpart, MemoryProcess, connected, exchange, shake_hands
from support.command_line import one_after_the_other
from support.terminals import environment
from support.waiting import LIMIT_S, TEST_LIMIT_S

# In memory


class Link:
    """How late a client's connection is, in each direction: what isn't open holds back what is sent."""

    def __init__(self) -> None:
        self.to_host, self.to_client = anyio.Event(), anyio.Event()
        self.open()

    def hold(self, *directions: str) -> None:
        """Hold back everything in these directions: "to_host", "to_client"."""
        for each in directions:
            setattr(self, each, anyio.Event())

    def open(self) -> None:
        """Let everything through."""
        self.to_host.set()
        self.to_client.set()


class LateStream(ByteStream):
    """A client's end of a connection, as late as its link."""

    def __init__(self, stream: ByteStream, link: Link) -> None:
        self._stream = stream
        self._link = link

    async def send(self, item: bytes) -> None:
        await self._link.to_host.wait()
        await self._stream.send(item)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        data = await self._stream.receive(max_bytes)
        await self._link.to_client.wait()
        return data

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def aclose(self) -> None:
        await self._stream.aclose()


@dataclass
class Hosted:
    """A host, and what a test can do with it."""

    host: Host
    session: Session
    wire: Counterpart
    """The far end of the agent's connection."""
    _hub: SessionHub
    _tasks: TaskGroup
    _streams: dict[str, ByteStream]
    _scopes: list[anyio.CancelScope] = field(default_factory=list)

    async def attach(self, name: str = "client", link: Link | None = None, access: ClientAccess = LOCAL) -> Session:
        """The session as another client sees it."""
        agent = await self.connect(name, link, access)
        return await agent.load_session(SessionId(self.session.session_id), self.session.cwd)

    async def connect(self, name: str = "client", link: Link | None = None, access: ClientAccess = LOCAL) -> Agent:
        """Another client, over a connection that `link` may delay."""
        near, far = connected_pair()
        self._streams[name] = near if link is None else LateStream(near, link)
        self._tasks.start_soon(self.host.serve, far, access)
        agent = await attached(self._hub, AgentCommand(name, (name,), is_host=True))
        await agent.initialize()
        return agent

    @asynccontextmanager
    async def played(self, access: ClientAccess = LOCAL) -> AsyncIterator[Counterpart]:
        """A client that the test plays, which knows only ACP."""
        with connected() as (wire, stream):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.host.serve, stream, access)
                yield wire
                tasks.cancel_scope.cancel()


@asynccontextmanager
async def hosted(
    cwd: Path,
    policy: Policy | None = None,
    *,
    version: int = 1,
    offers: dict[str, Any] | None = None,
    capabilities: dict[str, Any] | None = None,
    ways: Sequence[Any] = (),
    sandbox: Sandbox | None = None,
    **setup: Any,
) -> AsyncIterator[Hosted]:
    """A host with one session, which the agent, of this version of ACP, opens with `setup`.

    `offers` is the `_meta` of its answer to initialize, and `ways` are its login methods. It runs in `sandbox`.
    """
    with connected() as (wire, stream), anyio.fail_after(TEST_LIMIT_S), pytest.MonkeyPatch.context() as patch:
        streams: dict[str, ByteStream] = {"played": stream}

        @asynccontextmanager
        async def open_channel(command: AgentCommand, *_: Any) -> AsyncIterator[MemoryProcess]:
            async with streams[command.name] as opened:
                yield MemoryProcess(opened, sandbox=sandbox if command.name == "played" else None)

        patch.setattr(agent_module, "open_channel", open_channel)
        async with open_hub() as hub, anyio.create_task_group() as tasks:
            command = AgentCommand("played", ("played",))
            agent = await hub.start_agent(command, offer=INTERACTIVE, policy=policy)
            agreed = {"protocolVersion": version, "authMethods": list(ways), "_meta": offers or {}}
            agreed["capabilities" if version == 2 else "agentCapabilities"] = capabilities or {}
            agreed |= {"info": {"name": "played", "version": "1"}} if version == 2 else {}
            await shake_hands(agent, wire, answer=agreed)
            host = Host(agent, tasks)
            opened = {"sessionId": "s1", **setup}
            session = await exchange(agent.new_session(cwd, host.attend), wire, "session/new", **opened)
            yield Hosted(host, session, wire, hub, tasks, streams)
            await hub.aclose()
            tasks.cancel_scope.cancel()


# As real processes with their own home, for tests that attach to them


@dataclass(frozen=True)
class User:
    """A user with a short home path, since a socket's address has little room."""

    home: Path

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run an acp-tui command to its end."""
        return self._run([sys.executable, "-m", "acp_tui", *words], variables)

    def run_each(self, *commands: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
        """Run acp-tui commands to their end, in one process."""
        return self._run(one_after_the_other(*commands), variables)

    def _run(self, argv: Sequence[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            env={**environment(self.home), **variables},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TEST_LIMIT_S,
            check=False,
        )

    def host(self, *words: str, **variables: str) -> HostPaths:
        """Start a host in the background; the last of the words is its agent."""
        done = self.run("host", *words, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        (name,) = (line.split()[0] for line in done.stdout.splitlines() if " is hosted: " in line)
        return HostPaths(name, self.home / "state" / "acp-tui" / "hosts")


@contextmanager
def a_user() -> Iterator[User]:
    """A user whose hosts end with the block."""
    home = Path(tempfile.mkdtemp(prefix="u"))
    user = User(home)
    try:
        yield user
    finally:
        if any((home / "state" / "acp-tui" / "hosts").glob("*.sock")):
            user.run("host", "--stop")
        shutil.rmtree(home)


def process_of(place: HostPaths) -> psutil.Process:
    """The host's process."""
    for process in psutil.process_iter(["cmdline"]):
        if "host" in (process.info["cmdline"] or ()) and _listens(process, place.socket):
            return process
    raise AssertionError(f"no process listens on {place.socket}")


def _listens(process: psutil.Process, path: Path) -> bool:
    try:
        return any(each.laddr == str(path) for each in process.net_connections("unix"))
    except psutil.NoSuchProcess:  # the host of another test, which ends just now
        return False


@asynccontextmanager
async def attached_to(
    place: HostPaths, session_id: str = "s1", *, is_read_only: bool = False
) -> AsyncIterator[tuple[Agent, Session]]:
    """The host's session, seen by another client."""
    command = watching(place.command) if is_read_only else place.command
    with anyio.fail_after(TEST_LIMIT_S):
        async with open_hub() as hub:
            agent = await attached(hub, command)
            await agent.initialize(LIMIT_S)
            yield agent, await agent.load_session(SessionId(session_id), Path("/"))
