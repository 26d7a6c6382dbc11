"""What can go wrong with a terminal, each said so that an agent can act on it.

    TerminalError
    ├── UnknownTerminal       no such terminal in this session, or it was released
    ├── TerminalSpawnFailed   the command could not be started; `reason` says why
    ├── TerminalInputFull     what was typed is not taken: the program reads nothing
    └── TerminalsClosed       the session has ended

It does not know how an error is told on the wire.
"""

from __future__ import annotations


class TerminalError(Exception):
    """`str()` of it says what failed, on what."""


class UnknownTerminal(TerminalError):
    """There is no terminal of that id in this session."""

    def __init__(self, terminal_id: str) -> None:
        super().__init__(f"No terminal {terminal_id!r} in this session: it never existed, or it was released")
        self.terminal_id = terminal_id


class TerminalSpawnFailed(TerminalError):
    """The command could not be started; nothing of it is left running."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(f"Cannot start {command!r}: {reason}")
        self.command = command
        self.reason = reason


class TerminalInputFull(TerminalError):
    """So much waits to be read by the program that nothing more is taken; this piece was dropped, whole."""

    def __init__(self, waiting_bytes: int) -> None:
        super().__init__(
            f"The program reads nothing: {waiting_bytes:,} bytes that were typed wait for it already"
        )


class TerminalsClosed(TerminalError):
    """The session has ended, and starts no more commands."""

    def __init__(self, command: str) -> None:
        super().__init__(f"Cannot start {command!r}: its session has ended")
