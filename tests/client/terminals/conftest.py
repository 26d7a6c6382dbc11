"""A session's terminals in a new folder, with everything they report recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from acp_tui.client.terminals.terminals import Terminals
from acp_tui.conversation.updates import TerminalExit
from acp_tui.protocol.roles import TerminalSnapshot
from support.waiting import LIMIT_S


@dataclass(slots=True)
class Session:
    """What a session is to its terminals: it owns them and hears their events. A test may hear them instead."""

    cwd: Path
    heard: dict[str, bytearray] = field(default_factory=dict)
    exits: list[tuple[str, TerminalExit]] = field(default_factory=list)
    spoke: anyio.Event = field(default_factory=anyio.Event)
    terminals: Terminals = field(init=False)
    on_output: Callable[[str, bytes], None] = field(init=False)
    on_waiting: Callable[[str, bool], None] = field(init=False)

    def __post_init__(self) -> None:
        self.on_output = self._hear
        self.on_waiting = lambda _id, _is_waiting: None
        self.terminals = Terminals(
            self.cwd,
            on_output=lambda terminal_id, data: self.on_output(terminal_id, data),
            on_exit=self._on_exit,
            on_waiting=lambda terminal_id, is_waiting: self.on_waiting(terminal_id, is_waiting),
        )

    def _hear(self, terminal_id: str, data: bytes) -> None:
        self.heard.setdefault(terminal_id, bytearray()).extend(data)
        self.spoke.set()
        self.spoke = anyio.Event()

    def _on_exit(self, terminal_id: str, status: TerminalExit) -> None:
        self.exits.append((terminal_id, status))

    async def run(
        self,
        command: str,
        *args: str,
        env: Sequence[tuple[str, str]] = (),
        cwd: Path | None = None,
        limit: int | None = None,
    ) -> TerminalSnapshot:
        """Run a command to its end."""
        with anyio.fail_after(LIMIT_S):
            terminal_id = await self.terminals.create(command, args, env, cwd, limit)
            await self.terminals.get(terminal_id).wait_for_exit()
        return self.terminals.get(terminal_id).output()

    async def shell(self, script: str) -> str:
        """Start a script, and return right away."""
        return await self.terminals.create("/bin/sh", ["-c", script])

    async def until_heard(self, terminal_id: str, what: bytes) -> None:
        """Wait until the terminal has printed `what`."""
        with anyio.fail_after(LIMIT_S):
            while what not in self.heard.get(terminal_id, b""):
                await self.spoke.wait()


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    opened = Session(tmp_path)
    yield opened
    with anyio.fail_after(LIMIT_S):
        await opened.terminals.close()
