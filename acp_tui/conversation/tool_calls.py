"""Tool calls: their content, the patch that the wire sends, and the state that patches build up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NewType, TypeAlias

from acp_tui.conversation import UNSET, UnsetType, or_else
from acp_tui.conversation.content import ContentBlock, Meta

ToolCallId = NewType("ToolCallId", str)
TerminalId = NewType("TerminalId", str)

# An open enum: an agent may send others, which are kept as they came.
PENDING: Final = "pending"
IN_PROGRESS: Final = "in_progress"
COMPLETED: Final = "completed"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"
"""Not on the wire in v1: set here when the turn is cancelled, replaced by any later report."""
SETTLED: Final = frozenset({COMPLETED, FAILED, CANCELLED})


@dataclass(frozen=True, slots=True)
class BlockContent:
    """A content block as part of a tool call."""

    block: ContentBlock
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class TextDiff:
    """A change of one file, whole before and whole after."""

    path: str
    new_text: str
    old_text: str | None = None
    """None: the file is new."""
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class TerminalContent:
    """A terminal shown inside the tool call; the id may be the client's or the agent's own."""

    terminal_id: TerminalId
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class UnknownContent:
    """Content of a kind we do not know, whole."""

    kind: str
    raw: Any


ToolCallContent: TypeAlias = BlockContent | TextDiff | TerminalContent | UnknownContent


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file that the tool call works on."""

    path: str
    line: int | None = None
    """1-based."""
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class ToolCallPatch:
    """One report about a tool call: what it leaves UNSET stays as it was."""

    tool_call_id: ToolCallId
    title: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    content: tuple[ToolCallContent, ...] | UnsetType = UNSET
    locations: tuple[Location, ...] | UnsetType = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    name: str | UnsetType = UNSET
    """The tool's programmatic name; informational."""
    meta: Meta | None = None


@dataclass(slots=True)
class ToolCall:
    """The state of one tool call; only the reducer changes it."""

    tool_call_id: ToolCallId
    title: str = ""
    kind: str = "other"
    status: str = PENDING
    content: tuple[ToolCallContent, ...] = ()
    locations: tuple[Location, ...] = ()
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    name: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    """All `_meta` received for this call, later keys over earlier ones."""

    def apply(self, patch: ToolCallPatch) -> None:
        """Take over what the patch sets; lists replace, they never append."""
        self.title = or_else(patch.title, self.title)
        self.kind = or_else(patch.kind, self.kind)
        self.status = or_else(patch.status, self.status)
        self.content = or_else(patch.content, self.content)
        self.locations = or_else(patch.locations, self.locations)
        self.raw_input = or_else(patch.raw_input, self.raw_input)
        self.raw_output = or_else(patch.raw_output, self.raw_output)
        self.name = self.name if patch.name is UNSET else patch.name
        if patch.meta:
            self.meta.update(patch.meta)

    @property
    def is_settled(self) -> bool:
        """True once no more work is expected; a late report may still come."""
        return self.status in SETTLED

    @property
    def shown_title(self) -> str:
        """The title, or what else names the call where an agent gave none."""
        return self.title or self.name or (self.kind if self.kind != "other" else self.tool_call_id)
