"""The entries of a conversation, from top to bottom. Only the reducer changes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Final, NewType, TypeAlias

from acp_tui.conversation import tool_calls
from acp_tui.conversation.buffers import ByteRing, TextBuffer
from acp_tui.conversation.content import ContentBlock, Text, is_for_user, label_of, typed_and_pasted
from acp_tui.conversation.elicitation import FieldAnswer
from acp_tui.conversation.facts import REJECTIONS, ErrorFacts
from acp_tui.conversation.updates import ClientRemark, ElicitationAction, Reconnected, Role, UnknownUpdate
from acp_tui.values import dataclass

EntryId = NewType("EntryId", int)
"""The entry's index in the conversation. Entries are never removed."""

TERMINAL_SCROLLBACK_BYTES: Final = 1 << 20


@dataclass(slots=True, weakref_slot=True)
class Message:
    """What one side said: runs of text with other blocks between them.

    Text that isn't for the user counts as another block, and so does what the user pasted.
    """

    role: Role
    message_id: str | None = None
    parts: list[TextBuffer | ContentBlock] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    """What the user should know about their prompt, one sentence each."""
    is_sent: bool = field(default=False, compare=False)
    """Whether the user sent it here. The agent told any other message of the user, also one that was sent before."""

    def append(self, block: ContentBlock) -> None:
        """Add a block. Text joins the text before it without a separator; any other block stays separate.

        Blocks the user doesn't see don't split the text.
        """
        if self.role == "user" and isinstance(block, Text):
            for piece in typed_and_pasted(block):
                self._append(piece)
        else:
            self._append(block)

    def _append(self, block: ContentBlock) -> None:
        if not isinstance(block, Text) or not is_for_user(block) or (self.role == "user" and label_of(block)):
            self.parts.append(block)
            return
        last = next((part for part in reversed(self.parts) if isinstance(part, TextBuffer) or is_for_user(part)), None)
        if isinstance(last, TextBuffer):
            last.append(block.text)
        else:
            self.parts.append(TextBuffer(block.text))

    def replace(self, blocks: Iterable[ContentBlock]) -> None:
        self.parts = []  # a new list, so that views notice
        for block in blocks:
            self.append(block)

    @property
    def text(self) -> str:
        """The message's text for the user, without other blocks."""
        return "".join(
            part.text
            for part in self.parts
            if isinstance(part, TextBuffer) or (isinstance(part, Text) and is_for_user(part))
        )

    @property
    def typed(self) -> str:
        """What the user typed, without what was pasted."""
        return "\n".join(part.text.strip() for part in self.parts if isinstance(part, TextBuffer)).strip()


def pasted_in(entry: Entry) -> list[str]:
    """What the user pasted into this prompt; nothing for another entry."""
    parts = entry.parts if isinstance(entry, Message) else ()
    return [part.text for part in parts if isinstance(part, Text) and label_of(part)]


@dataclass(frozen=True, slots=True)
class Decision:
    """How a permission request about a tool call ended."""

    option_name: str | None
    """The answer's name; None if canceled with the turn."""
    option_kind: str | None
    at: float | None = None
    """Seconds since the epoch, if known."""
    rule: str | None = None
    """The rule that decided, in one line; None if the user did."""
    is_withdrawn: bool = False
    """Whether the agent withdrew its question."""
    is_ours: bool = False
    """Whether acp-tui asked, so that the name is its own."""


@dataclass(slots=True, weakref_slot=True)
class ToolCallEntry:
    call: tool_calls.ToolCall
    decisions: tuple[Decision, ...] = ()
    waiting: int = 0
    """How many permission requests about it wait for the user."""
    decided_on: tuple[tool_calls.TextDiff, ...] = ()
    """The diffs that the last decision was about."""

    @property
    def shown_content(self) -> tuple[tool_calls.ToolCallContent, ...]:
        """The call's content, after the diffs that were decided on if an agent has replaced them with a text."""
        content = self.call.shown_content
        return content if tool_calls.changed_paths(content) else (*self.decided_on, *content)

    @property
    def is_rejected(self) -> bool:
        """Whether the user rejected it, and the agent told nothing more, or that it failed."""
        decided = self.decisions[-1].option_kind if self.decisions else None
        return self.call.status in (tool_calls.UNFINISHED, tool_calls.FAILED) and decided in REJECTIONS

    @property
    def shown_status(self) -> str:
        """The status as it looks: what the user rejected didn't fail."""
        return tool_calls.UNFINISHED if self.is_rejected else self.call.status

    @property
    def status_words(self) -> str:
        """The status in words. An unknown one is the agent's text."""
        if self.is_rejected:
            return "rejected"
        return "canceled" if self.call.status == tool_calls.CANCELLED else self.call.status.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Question:
    """A form or page the agent asked for, at the place where it was answered."""

    message: str
    action: ElicitationAction
    url: str | None = None
    """The page's address without parts that may carry secrets, such as tokens; None for a form."""
    values: tuple[FieldAnswer, ...] = ()
    at: float | None = None
    """Seconds since the epoch, if known."""


@dataclass(frozen=True, slots=True)
class OwnCommand:
    line: str
    terminal_id: tool_calls.TerminalId


@dataclass(slots=True, weakref_slot=True)
class Compaction:
    compaction_id: str
    status: str = "in_progress"
    summary: list[ContentBlock] = field(default_factory=list)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Subagent:
    """Where another agent started to work for this one. Its conversation is in `Conversation.subagents`."""

    session_id: str


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A turn ended without being done."""

    stop_reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """An error: the agent's own, or the loss of the agent."""

    message: str
    detail: str | None = None
    stderr_tail: str = ""
    said: ErrorFacts | None = None


Entry: TypeAlias = (
    Message
    | ToolCallEntry
    | Question
    | OwnCommand
    | Compaction
    | Subagent
    | TurnEnd
    | Failure
    | Reconnected
    | ClientRemark
    | UnknownUpdate
)


@dataclass(slots=True)
class TerminalState:
    terminal_id: tool_calls.TerminalId
    command: str | None = None
    cwd: str | None = None
    is_ours: bool = True
    columns: int = 120
    rows: int = 30
    output: ByteRing = field(default_factory=lambda: ByteRing(TERMINAL_SCROLLBACK_BYTES))
    is_waiting: bool = False
    """Whether its command waits for the user's input."""
    is_cancellable: bool = False
    """Whether the agent can be asked to stop its command."""
    has_exited: bool = False
    exit_code: int | None = None
    signal: str | None = None
    seconds: float | None = None
    """How long the command ran; None while it runs, or if not measured."""

    @property
    def has_failed(self) -> bool:
        """Whether the command is known to have failed. An agent may report an end without saying how."""
        return self.signal is not None or self.exit_code not in (0, None)
