"""What every drawing of an entry can do, what it draws with, and how many lines are shown when folded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.settings.settings import ConversationSettings
from acp_tui.conversation import conversation, entries, facts, tool_calls
from acp_tui.conversation.wording import retry_words
from acp_tui.ui.conversation.images import Pictures
from acp_tui.ui.conversation.terminals import TerminalScreens
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Lines
from acp_tui.values import dataclass

DEFAULT_FOLDS: Final = ConversationSettings()


def folded(lines: Sequence[Strip], limit: int, palette: Palette, *, keep_end: bool = False) -> list[Sequence[Strip]]:
    """The first (or last) `limit` lines and a note about the hidden ones; all lines if only one would be hidden."""
    hidden = len(lines) - limit
    if hidden <= 1:
        return [lines]
    unit = "lines" if limit == 0 else "more lines"
    note = [Strip([Segment(f"… {hidden} {unit} ", palette.muted)])]
    return [note, lines[hidden:]] if keep_end else [lines[:limit], note]


@dataclass(frozen=True, slots=True, eq=False)
class DrawContext:
    """What drawings share: the available width, the colors, and facts from outside the entry."""

    width: int
    """In cells."""
    palette: Palette
    terminals: Mapping[tool_calls.TerminalId, entries.TerminalState]
    screens: TerminalScreens
    cwd: str
    """The session's directory. Paths inside it are shown relative to it."""
    pictures: Pictures | None = None
    """None if pictures are only named, not shown."""
    folds: ConversationSettings = DEFAULT_FOLDS
    subagents: Mapping[facts.SessionId, conversation.SubagentState] = field(default_factory=dict)
    take_over_key: str = ""
    """The key with which the user types into a running command; "" if there is none."""
    retry_words: Callable[[entries.Failure], str] = lambda failure: retry_words(failure.said) if failure.said else ""
    """What there is to say of another try after a failure; "" for nothing."""

    def is_laid_out_as(self, other: DrawContext) -> bool:
        """Whether only the colors differ, so that every entry has the same height in both."""
        mine = self.width, self.folds, self.cwd, self.take_over_key
        others = other.width, other.folds, other.cwd, other.take_over_key
        return mine == others and self.pictures is other.pictures and self.terminals is other.terminals


class Drawing(ABC):
    """One entry as lines. It keeps what it has drawn, and redraws only what changed. This one doesn't fold."""

    cut_text = ""
    """The full text of the line that was cut off in the last drawing; "" if none was."""

    @property
    def is_open(self) -> bool:
        """Whether the entry is unfolded, or has nothing to fold."""
        return True

    def refresh(self) -> bool:
        """Read what changed in the entry, or part of it. Returns False if there is more to read."""
        return True

    def settle(self, context: DrawContext) -> None:  # noqa: B027 - not every drawing is made in pieces
        """Draw what was read and can't change anymore. The next part is read before `lines` is called."""

    def close(self) -> None:  # noqa: B027 - not every drawing has something to close
        """Nothing more will be added to the entry, but it may still change."""

    @property
    def is_measured(self) -> bool:
        """Whether the number of lines is exact. What scrolls by unseen is only counted roughly."""
        return True

    def measure(self, rows: range | None, place: int) -> int:
        """Draw the lines in `rows` that aren't measured, or without `rows` measure some, from the end.

        Returns where the row `place` is now.
        """
        return place

    @abstractmethod
    def lines(self, context: DrawContext) -> Sequence[Strip]:
        """The lines, at their natural length and at most as wide as the context."""

    def whole(self, context: DrawContext) -> Sequence[Strip]:
        """The lines when the entry is unfolded; the same as `lines` if it is, or if it doesn't fold."""
        return self.lines(context)

    @property
    def folds(self) -> bool:
        """Whether it has more to show."""
        return False

    def toggle(self) -> bool:
        """Fold or unfold the entry. Returns False if it doesn't fold."""
        return False

    def set_open(self, is_open: bool) -> None:  # noqa: B027 - not every drawing folds
        """Unfold or fold the entry."""


class KeptDrawing(Drawing):
    """A drawing that is redrawn as a whole when its entry, context, or fold changes, and cached until then."""

    def __init__(self) -> None:
        self._is_open = False
        self._drawn: tuple[DrawContext, Sequence[Strip]] | None = None

    @property
    def is_open(self) -> bool:
        return self._is_open

    @abstractmethod
    def _draw(self, context: DrawContext) -> Sequence[Strip]:
        """Draw the lines as they are now."""

    def refresh(self) -> bool:
        self._drawn = None
        return True

    def lines(self, context: DrawContext) -> Sequence[Strip]:
        if self._drawn is None or self._drawn[0] is not context:
            self._drawn = (context, self._draw(context))
        return self._drawn[1]

    def whole(self, context: DrawContext) -> Sequence[Strip]:
        if self._is_open:
            return self.lines(context)
        self._is_open = True
        try:
            return self._draw(context)
        finally:
            self._is_open = False

    @property
    def folds(self) -> bool:
        return True

    def toggle(self) -> bool:
        if self.folds:
            self.set_open(not self._is_open)
        return self.folds

    def set_open(self, is_open: bool) -> None:
        self._is_open = is_open
        self._drawn = None


MAX_MADE: Final = 500
"""Drawn lines of one message that are kept: at least half a dozen screens."""


class Indented(Lines):
    """Lines with the same segment before each. A line is made when it is needed, and kept for a while."""

    def __init__(
        self,
        lines: Sequence[Strip],
        indent: Segment,
        *,
        first: Segment | None = None,
        ground: Style | None = None,
        width: int = 0,
    ) -> None:
        """`first` replaces `indent` on the first line and has the same width.

        With a `ground`, text without a background gets it, and lines are padded to `width` cells.
        """
        self._lines = lines
        self._indent = indent
        self._first = first or indent
        self._ground = ground
        self._width = width
        self.made: dict[int, tuple[Strip, Strip]] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def _line(self, at: int) -> Strip:
        line = self._lines[at]
        made = self.made.get(at)
        if made is None or made[0] is not line:
            if len(self.made) >= MAX_MADE:
                # Drop the oldest half, and Textual's caches with it: a long answer streams by only once.
                for old in list(self.made)[: MAX_MADE // 2]:
                    del self.made[old]
            made = self.made[at] = (line, self._indented(line, self._indent if at else self._first))
        return made[1]

    def _indented(self, line: Strip, indent: Segment) -> Strip:
        cells = line.cell_length + indent.cell_length
        if self._ground is None:
            return Strip([indent, *line], cells)
        ground = self._ground.background_style
        # Each segment keeps its type.
        segments = [type(one)(one.text, ground + (one.style or Style.null())) for one in (indent, *line)]
        return Strip(segments, cells).adjust_cell_length(self._width, self._ground)


class Joined(Lines):
    """Several runs of lines, stacked."""

    def __init__(self, *runs: Sequence[Strip]) -> None:
        self._runs = runs

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def _line(self, at: int) -> Strip:
        for run in self._runs:
            if at < len(run):
                return run[at]
            at -= len(run)
        raise IndexError(at)

    def _some(self, indexes: range) -> list[Strip]:
        if indexes.step != 1:
            return super()._some(indexes)
        found: list[Strip] = []
        top = 0
        for run in self._runs:
            size = len(run)
            if top + size > indexes.start:
                found += run[max(indexes.start - top, 0) : max(indexes.stop - top, 0)]
            top += size
            if top >= indexes.stop:
                break
        return found
