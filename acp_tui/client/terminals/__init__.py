"""Real terminals for an agent's commands, each on its own PTY. Plain values in and out, independent of the wire."""

from acp_tui.client.terminals.plain_text import plain_text
from acp_tui.client.terminals.pty import (
    TerminalError,
    TerminalInputFull,
    TerminalsClosed,
    TerminalSpawnFailed,
    UnknownTerminal,
)
from acp_tui.client.terminals.terminals import ExitStatus, TerminalOutputSnapshot, Terminals

__all__ = [
    "ExitStatus",
    "TerminalError",
    "TerminalInputFull",
    "TerminalOutputSnapshot",
    "TerminalSpawnFailed",
    "Terminals",
    "TerminalsClosed",
    "UnknownTerminal",
    "plain_text",
]
