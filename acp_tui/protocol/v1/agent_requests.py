"""What an agent asks of the client: permissions, files, terminals. Strict, since it decides what is touched and run."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from acp_tui.protocol.schemas import Discriminator, field
from acp_tui.protocol.v1.content import ToolCallUpdate
from acp_tui.protocol.v1.session import EnvVariable
from acp_tui.protocol.wire import Lenient, NullIsEmpty, UInt32, UInt64, Variant, WireModel


class CreateTerminalRequest(WireModel):
    """`terminal/create`: start a command; `output_byte_limit` is how much of its output to keep."""

    session_id: str
    command: str
    args: NullIsEmpty[str] = field(default_factory=list)
    env: NullIsEmpty[EnvVariable] = field(default_factory=list)
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


class ReadTextFileRequest(WireModel):
    """`fs/read_text_file`: a file, or `limit` lines of it from the 1-based `line` on."""

    session_id: str
    path: str
    line: UInt32 | None = None
    limit: UInt32 | None = None


class ReadTextFileResponse(WireModel):
    """The text."""

    content: str


class WriteTextFileRequest(WireModel):
    """`fs/write_text_file`: the whole new text of a file."""

    session_id: str
    path: str
    content: str


class WriteTextFileResponse(WireModel):
    """Nothing: written."""


class PermissionOption(WireModel):
    """One of the answers to choose from; its kind is a hint only."""

    option_id: str
    name: str
    kind: str


class RequestPermissionRequest(WireModel):
    """The question; all of its options must be well-formed, since a missing one would change it (R-LEN-3)."""

    session_id: str
    tool_call: ToolCallUpdate
    options: list[PermissionOption]


class CancelledPermissionOutcome(Variant):
    """The turn was cancelled before the user chose."""

    discriminator: ClassVar[str] = "outcome"
    outcome: Literal["cancelled"] = "cancelled"


class SelectedPermissionOutcome(Variant):
    """The user chose."""

    discriminator: ClassVar[str] = "outcome"
    outcome: Literal["selected"] = "selected"
    option_id: str


RequestPermissionOutcome: TypeAlias = Annotated[
    CancelledPermissionOutcome | SelectedPermissionOutcome, Discriminator("outcome")
]


class RequestPermissionResponse(WireModel):
    """The answer."""

    outcome: RequestPermissionOutcome
