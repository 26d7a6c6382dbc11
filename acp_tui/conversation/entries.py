"""The entries of a conversation: what stands in it from top to bottom. Only the reducer changes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any, Final, NewType, TypeAlias

from acp_tui.conversation.buffers import ByteRing, TextBuffer
from acp_tui.conversation.content import ContentBlock, Text, is_for_user
from acp_tui.conversation.elicitation import FilledIn
from acp_tui.conversation.tool_calls import TerminalId, ToolCall
from acp_tui.conversation.updates import ElicitationAction, Role
from acp_tui.values import dataclass

EntryId = NewType("EntryId", int)
"""The entry's place in the conversation, from 0; entries are never removed."""

TERMINAL_SCROLLBACK_BYTES: Final = 1 << 20


@dataclass(slots=True, weakref_slot=True)
class Message:
    """What one side said: runs of text, and other blocks between them; text not for the user counts as another."""

    role: Role
    message_id: str | None = None
    parts: list[TextBuffer | ContentBlock] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    """What the user should know of this prompt of theirs, one sentence each."""

    def append(self, block: ContentBlock) -> None:
        """Text joins the text before it without a separator; any other block stands alone.

        What the user does not see tears no text apart.
        """
        if not isinstance(block, Text) or not is_for_user(block):
            self.parts.append(block)
            return
        last = next((part for part in reversed(self.parts) if _is_seen(part)), None)
        if isinstance(last, TextBuffer):
            last.append(block.text)
        else:
            self.parts.append(TextBuffer(block.text))

    def replace(self, blocks: Iterable[ContentBlock]) -> None:
        """Hold these in place of what was said."""
        self.parts = []  # another list, by which whoever draws it knows
        for block in blocks:
            self.append(block)

    @property
    def text(self) -> str:
        """The text of the message, as far as it is for the user, without its other blocks."""
        return "".join(part.text for part in self.parts if isinstance(part, TextBuffer))


def _is_seen(part: TextBuffer | ContentBlock) -> bool:
    return isinstance(part, TextBuffer) or is_for_user(part)


@dataclass(frozen=True, slots=True)
class Decision:
    """How a permission request about a tool call ended."""

    option_name: str | None
    """As the agent named it; None: cancelled with the turn."""
    option_kind: str | None
    at: float | None = None
    """Seconds since the epoch, where it is known."""
    rule: str | None = None
    """The standing rule that decided, in a line; None: the user did."""
    is_withdrawn: bool = False
    """The agent took its question back."""


@dataclass(slots=True, weakref_slot=True)
class ToolCallEntry:
    """A tool call, where it was first mentioned."""

    call: ToolCall
    decisions: tuple[Decision, ...] = ()
    waiting: int = 0
    """Permission requests about it that the user has not answered."""


@dataclass(frozen=True, slots=True)
class Question:
    """A form or a page that the agent asked for, where it was answered."""

    message: str
    action: ElicitationAction
    url: str | None = None
    """Where the page is, without what such an address may carry, such as tokens; None: it was a form."""
    values: tuple[FilledIn, ...] = ()
    at: float | None = None
    """Seconds since the epoch, where it is known."""


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """A command that the user runs beside the agent."""

    line: str
    terminal_id: TerminalId


@dataclass(slots=True, weakref_slot=True)
class Compaction:
    """The agent shortened its context here."""

    compaction_id: str
    status: str = "in_progress"
    summary: list[ContentBlock] = field(default_factory=list)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Subagent:
    """Another agent that works for this one, where it was begun; `Conversation.subagents` has what it says."""

    session_id: str


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A turn ended in another way than by being done."""

    stop_reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Something went wrong: the agent's own error, or the loss of the agent."""

    message: str
    detail: str | None = None
    stderr_tail: str = ""


@dataclass(frozen=True, slots=True)
class Restart:
    """From here on another process speaks for the agent, or the same one over another connection."""

    remembers: bool
    """Whether it knows what stands above."""
    is_loaded: bool = False
    """What was said stands here as the agent kept it."""
    why: str = ""
    """Why it remembers nothing though it was asked to, or what it has said unheard."""
    forked_from: str = ""
    """The title of the session that this one is a fork of from here on; "" for none."""
    is_same: bool = False
    """Only the connection is another one."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A word of the client's about the session."""

    text: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """An update of a kind we do not know."""

    kind: str
    raw: Any


Entry: TypeAlias = (
    Message
    | ToolCallEntry
    | Question
    | OwnCommand
    | Compaction
    | Subagent
    | TurnEnd
    | Failure
    | Restart
    | Remark
    | Unknown
)


@dataclass(slots=True)
class TerminalState:
    """What is known of one terminal; kept after its release."""

    terminal_id: TerminalId
    command: str | None = None
    cwd: str | None = None
    is_ours: bool = True
    columns: int = 120
    rows: int = 30
    output: ByteRing = field(default_factory=lambda: ByteRing(TERMINAL_SCROLLBACK_BYTES))
    is_waiting: bool = False
    """Its command waits for the user to type."""
    is_cancellable: bool = False
    """Whether the agent can be asked to stop its command."""
    has_exited: bool = False
    exit_code: int | None = None
    signal: str | None = None
    seconds: float | None = None
    """How long the command ran; None while it runs, and where nobody has measured it."""
