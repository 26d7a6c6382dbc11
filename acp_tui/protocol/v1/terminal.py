"""`terminal/*`: commands that the agent runs in the client's terminals; strict, since they decide what is run."""

from __future__ import annotations

from pydantic import Field

from acp_tui.protocol.v1.mcp import EnvVariable
from acp_tui.protocol.wire import Lenient, NullIsEmpty, UInt32, UInt64, WireModel


class CreateTerminalRequest(WireModel):
    """`terminal/create`: start a command; `output_byte_limit` is how much of its output to keep."""

    session_id: str
    command: str
    args: NullIsEmpty[str] = Field(default_factory=list)
    env: NullIsEmpty[EnvVariable] = Field(default_factory=list)
    cwd: str | None = None
    output_byte_limit: UInt64 | None = None


class CreateTerminalResponse(WireModel):
    """The command was started."""

    terminal_id: str


class TerminalRequest(WireModel):
    """A request about one terminal."""

    session_id: str
    terminal_id: str


class TerminalOutputRequest(TerminalRequest):
    """`terminal/output`."""


class TerminalExitStatus(WireModel):
    """How a command ended: by a code, or by a signal."""

    exit_code: Lenient[UInt32] = None
    signal: Lenient[str] = None


class TerminalOutputResponse(WireModel):
    """The output that was kept; with a status once the command has ended."""

    output: str
    truncated: bool
    exit_status: Lenient[TerminalExitStatus] = None


class WaitForTerminalExitRequest(TerminalRequest):
    """`terminal/wait_for_exit`."""


class WaitForTerminalExitResponse(TerminalExitStatus):
    """The command has ended."""


class KillTerminalRequest(TerminalRequest):
    """`terminal/kill`: end the command, keep the terminal."""


class KillTerminalResponse(WireModel):
    """Nothing: the command has ended."""


class ReleaseTerminalRequest(TerminalRequest):
    """`terminal/release`: end the command and forget the terminal."""


class ReleaseTerminalResponse(WireModel):
    """Nothing: the id is no longer valid."""
