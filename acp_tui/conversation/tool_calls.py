"""Tool calls: their content, the patches the wire sends, and the state that patches build up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any, Final, NamedTuple, NewType, TypeAlias

from acp_tui.conversation import UNSET, UnsetType, or_else
from acp_tui.conversation.content import ContentBlock, Meta
from acp_tui.values import dataclass

ToolCallId = NewType("ToolCallId", str)
TerminalId = NewType("TerminalId", str)

# An open enum: an agent may send others, which are kept unchanged.
PENDING: Final = "pending"
IN_PROGRESS: Final = "in_progress"
COMPLETED: Final = "completed"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"
"""Also set when the user cancels the turn. Any later report replaces it."""
UNFINISHED: Final = "unfinished"
"""Set when a turn ends and the agent didn't tell the call's end. Any later report replaces it."""
SETTLED: Final = frozenset({COMPLETED, FAILED, CANCELLED, UNFINISHED})


@dataclass(frozen=True, slots=True)
class BlockContent:
    block: ContentBlock
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class TextDiff:
    path: str
    new_text: str
    old_text: str | None = None
    """None if the file is new."""
    meta: Meta | None = None
    hunks: tuple[HunkStart, ...] = ()
    """The parts' line numbers in the file; empty if the texts are the whole file, or the agent doesn't say."""

    @property
    def parts(self) -> tuple[HunkStart, ...]:
        """The same, or NOWHERE for texts that end in the middle of a line, as parts do, and files rarely."""
        texts = (self.old_text or "", self.new_text)
        is_part = all(texts) and not any(text.endswith("\n") for text in texts)
        return self.hunks or (NOWHERE if is_part else ())

    def placed(self, part: FilePart) -> TextDiff:
        if not part.line:
            return replace(self, old_text=None)
        old, new = (f"{part.before}{text}{part.after}" for text in (self.old_text or "", self.new_text))
        return replace(self, old_text=old, new_text=new, hunks=(HunkStart(0, part.line, 0, part.line),))


class HunkStart(NamedTuple):
    """Where a part of a file begins. Lines of the texts count from 0, lines of the file from 1."""

    old_at: int
    old_line: int
    new_at: int
    new_line: int


NOWHERE: Final = (HunkStart(0, 0, 0, 0),)
"""The hunks of a part of a file whose place isn't known."""


def line_in_file(hunks: Sequence[HunkStart], number: int, *, is_old: bool) -> int:
    """Convert a line number of a text to that in the file. Both count from 1."""
    if not hunks:
        return number
    starts = [(hunk.old_at, hunk.old_line) if is_old else (hunk.new_at, hunk.new_line) for hunk in hunks]
    at, line = starts[max(bisect_right(starts, number - 1, key=lambda start: start[0]) - 1, 0)]
    return number - 1 - at + line


@dataclass(frozen=True, slots=True)
class FilePart:
    """Where the texts of a diff are in the file, and what is around them."""

    item: int
    """The index of the diff in the content of its call."""
    line: int
    """Where `before` begins in the file, from 1; 0 if there is no file."""
    before: str
    """A few lines before the texts, and the beginning of the line they begin in."""
    after: str
    """The end of the line they end in, and a few lines after that."""


@dataclass(frozen=True, slots=True)
class FileChange:
    operation: str
    """add, modify, delete, move, copy, or an unknown one."""
    path: str
    """Absolute. For a moved or copied file, the new path."""
    old_path: str | None = None
    file_type: str | None = None
    """text, binary, directory, symlink, or an unknown one; None if not reported."""
    meta: Meta | None = None

    @property
    def words(self) -> str:
        where = self.path if self.old_path is None else f"{self.old_path} → {self.path}"
        kind = "" if self.file_type in (None, "text") else f" ({self.file_type})"
        return f"{self.operation} {where}{kind}"

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path,) if self.old_path is None else (self.old_path, self.path)


@dataclass(frozen=True, slots=True)
class TerminalContent:
    """A terminal shown in the tool call. The ID may be the client's or the agent's own."""

    terminal_id: TerminalId
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class UnknownContent:
    kind: str
    raw: Any


def changed_paths(content: Iterable[ToolCallContent]) -> list[str]:
    return [
        path
        for item in content
        if isinstance(item, TextDiff | FileChange)
        for path in ((item.path,) if isinstance(item, TextDiff) else item.paths)
    ]


ToolCallContent: TypeAlias = BlockContent | TextDiff | FileChange | TerminalContent | UnknownContent


@dataclass(frozen=True, slots=True)
class Location:
    path: str
    line: int | None = None
    """1-based."""
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class ToolCallPatch:
    """One report about a tool call. UNSET fields stay unchanged."""

    tool_call_id: ToolCallId
    title: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    content: tuple[ToolCallContent, ...] | UnsetType = UNSET
    locations: tuple[Location, ...] | UnsetType = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    name: str | None | UnsetType = UNSET
    """The tool's programmatic name, as the agent says: informational, and never a reason to allow anything."""
    is_cancellable: bool | UnsetType = UNSET
    """Whether the agent can be asked to stop only this call."""
    meta: Meta | None = None
    cleared: frozenset[str] = frozenset()
    """Raw values to remove: `raw_input`, `raw_output`. None is an ordinary value."""


@dataclass(slots=True)
class ToolCall:
    """The state of one tool call; only the reducer changes it."""

    tool_call_id: ToolCallId
    title: str = ""
    kind: str = "other"
    status: str = PENDING
    content: tuple[ToolCallContent, ...] = ()
    """At most `MAX_ITEMS`, and a mark for the rest."""
    locations: tuple[Location, ...] = ()
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    name: str | None = None
    is_cancellable: bool = False
    """Whether the agent can be asked to stop only this call."""
    meta: dict[str, Any] = field(default_factory=dict)
    """All `_meta` received for this call; later keys override earlier ones."""
    places: dict[int, FilePart] = field(default_factory=dict)
    """Where the diffs are that are parts of files, by their index, as far as acp-tui has found them."""

    def apply(self, patch: ToolCallPatch) -> None:
        """Apply the fields the patch sets. Lists are replaced, never appended to."""
        self.title = or_else(patch.title, self.title)
        self.kind = or_else(patch.kind, self.kind)
        self.status = or_else(patch.status, self.status)
        if patch.content is not UNSET:
            kept = {at for at, (old, new) in enumerate(zip(self.content, patch.content, strict=False)) if old == new}
            self.places = {at: part for at, part in self.places.items() if at in kept}
            self.content = patch.content
        self.locations = or_else(patch.locations, self.locations)
        self.raw_input = UNSET if "raw_input" in patch.cleared else or_else(patch.raw_input, self.raw_input)
        self.raw_output = UNSET if "raw_output" in patch.cleared else or_else(patch.raw_output, self.raw_output)
        self.name = or_else(patch.name, self.name)
        self.is_cancellable = or_else(patch.is_cancellable, self.is_cancellable)
        if patch.meta:
            self.meta.update(patch.meta)

    @property
    def shown_content(self) -> tuple[ToolCallContent, ...]:
        if not self.places:
            return self.content
        places = map(self.places.get, range(len(self.content)))
        return tuple(
            item.placed(part) if part is not None and isinstance(item, TextDiff) else item
            for item, part in zip(self.content, places, strict=True)
        )

    @property
    def is_settled(self) -> bool:
        """Whether no more work is expected. A late report may still come."""
        return self.status in SETTLED

    @property
    def shown_title(self) -> str:
        """The title, or whatever else identifies the call if the agent gave none."""
        return self.title or self.name or (self.kind if self.kind != "other" else self.tool_call_id)

    @property
    def raw_parts(self) -> tuple[tuple[str, Any], ...]:
        """What the agent reported of its input and output, by these names, as far as there is anything in them."""
        parts = ("input", self.raw_input), ("output", self.raw_output)
        return tuple((name, value) for name, value in parts if value is not UNSET and value not in (None, "", [], {}))

    @property
    def untold_name(self) -> str:
        """The tool's name if the title doesn't contain it; otherwise ""."""
        return self.name if self.name and self.name not in self.shown_title else ""
