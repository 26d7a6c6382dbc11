"""Hosts as real processes with their own home, for tests that attach to them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil  # type: ignore[import-untyped]

from acp_tui.client.hosting.finding import HostPaths, attached, watching
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import SessionId
from support.command_line import one_after_the_other
from support.terminals import environment
from support.waiting import LIMIT_S, TEST_LIMIT_S


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
