"""Draws a `Diff` as one column: old and new line numbers, a sign, the line; what differs is the model's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.rendering.diff_model import Diff, DiffLine, Hunk, LineKind, compare
from acp_tui.ui.rendering.palette import PLAIN, Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.rows import Row, Rows
from acp_tui.ui.rendering.wrapping import LineRange, Span, fold, slice_spans

TAB: Final = "→   "
"""A tab where a change of white space would not be seen otherwise; of fixed width, since the line may be cut."""
MIN_CODE_CELLS: Final = 12
"""Where less would be left for the lines, the numbers go."""

_SIGNS: Final[dict[LineKind, str]] = {"context": " ", "added": "+", "removed": "-"}
_TOO_LONG: Final = "Too much differs to compare line by line: shown as replaced."


class DiffRenderer:
    """The change of one file. The first use of `diff` compares, which may be done in a thread."""

    def __init__(self, path: str, old_text: str | None, new_text: str | None, context: int = 3) -> None:
        """`old_text` is None for a new file, `new_text` for a deleted one."""
        self._path = make_visible_line(path)
        self._old_text = old_text
        self._new_text = new_text
        self._context = context
        self._width = 0
        self._palette = PLAIN
        self._rows: Rows | None = None

    @cached_property
    def diff(self) -> Diff:
        """What differs."""
        return compare(self._old_text or "", self._new_text or "", self._context)

    @property
    def added(self) -> int:
        """How many lines are new."""
        return self.diff.added

    @property
    def removed(self) -> int:
        """How many lines are gone."""
        return self.diff.removed

    def lines(self, width: int, palette: Palette) -> Rows:
        """The diff in lines of at most `width` cells; the lines of either text fill the width."""
        if (
            self._rows is None
            or width != self._width
            or (palette is not self._palette and palette != self._palette)
        ):
            self._width, self._palette = width, palette
            self._rows = Rows([*self._title(width, palette), *_Drawing(self.diff, width, palette).rows()])
        return self._rows

    def line_count(self, width: int) -> int:
        """How many lines there are at `width`."""
        return len(self.lines(width, self._palette))

    def release(self) -> None:
        """Give back the memory of everything drawn."""
        self._rows = None

    def _title(self, width: int, palette: Palette) -> list[Strip]:
        counts = [f"+{self.added}"] * bool(self.added) + [f"-{self.removed}"] * bool(self.removed)
        notes = [note for note in (self._what_happened(), *counts) if note]
        if self.diff.crlf:
            notes.append("CRLF line ends")
        strips = plain_lines("  ".join([self._path, *notes]), width, palette.diff_title)
        if self.diff.approximate:
            strips += plain_lines(_TOO_LONG, width, palette.warning)
        return strips

    def _what_happened(self) -> str:
        if self._old_text is None:
            return "new file"
        if self._new_text is None:
            return "deleted"
        return "" if self.diff.hunks else "no change"


class _Drawing:
    """The rows of one diff at one width; a line is drawn when it is looked at."""

    def __init__(self, diff: Diff, width: int, palette: Palette) -> None:
        self._diff = diff
        self._width = width
        self._palette = palette
        last = diff.hunks[-1] if diff.hunks else None
        highest = max(last.old_start + last.old_count, last.new_start + last.new_count) if last else 0
        self._digits = len(str(highest))
        gutter = 2 * self._digits + 3
        self._numbered = width - gutter - 2 >= MIN_CODE_CELLS
        self._gutter_cells = (gutter if self._numbered else 0) + 2
        self._room = max(width - self._gutter_cells, 1)

    def rows(self) -> Iterator[Row]:
        for hunk in self._diff.hunks:
            yield from self._hunk(hunk)
        if self._diff.hunks and self._diff.skipped_after:
            yield from self._note(_skipped(self._diff.skipped_after))

    def _hunk(self, hunk: Hunk) -> Iterator[Row]:
        if self._diff.has_both:
            yield from self._note(_header(hunk))
        for line in hunk.lines:
            yield from self._line(line)

    def _note(self, text: str) -> list[Strip]:
        return plain_lines(text, self._width, self._palette.diff_hunk)

    def _line(self, line: DiffLine) -> Iterator[Row]:
        text, changed = _visible(line, self._diff.crlf)
        for index, part in enumerate(fold(text, self._room)):
            yield partial(self._strip, line, text, changed, part, index > 0)
        if not line.end:
            yield Strip([Segment(" " * self._gutter_cells), *self._no_newline()], self._width)

    def _no_newline(self) -> list[Segment]:
        """A note that the last line has no newline, as `diff` gives it."""
        text = "\\ No newline at end of file"[: self._room].ljust(self._room)
        return [Segment(text, self._palette.diff_hunk)]

    def _strip(
        self, line: DiffLine, text: str, changed: Sequence[tuple[int, int]], part: LineRange, continues: bool
    ) -> Strip:
        style, word_style = self._styles(line.kind)
        segments = [*self._gutter(line, style, continues)]
        segments += slice_spans(_spans(text, changed, style, style + word_style), part.start, part.stop)
        segments.append(Segment(" " * (self._room - part.cells), style))
        return Strip(segments, self._gutter_cells + max(self._room, part.cells))

    def _styles(self, kind: LineKind) -> tuple[Style, Style]:
        """The styles of a line and, laid over it, of its changed words."""
        palette = self._palette
        match kind:
            case "added":
                return palette.diff_added, palette.diff_added_word
            case "removed":
                return palette.diff_removed, palette.diff_removed_word
            case "context":
                return palette.diff_context, palette.diff_context

    def _gutter(self, line: DiffLine, style: Style, continues: bool) -> list[Segment]:
        sign = Segment(f"{' ' if continues else _SIGNS[line.kind]} ", style)
        if not self._numbered:
            return [sign]
        numbers = ["" if continues or at is None else str(at) for at in (line.old_number, line.new_number)]
        text = " ".join([number.rjust(self._digits) for number in numbers])
        return [Segment(f"{text}  ", style + self._palette.diff_number), sign]


def _visible(line: DiffLine, crlf: bool) -> tuple[str, Sequence[tuple[int, int]]]:
    """The line as it is shown, and its changed ranges moved to where they are then."""
    raw = line.text + ("\r" if line.end == "\r\n" and not crlf else "")
    text = _show(raw)
    if text == raw:
        return text, line.changed
    return text, [(len(_show(raw[:start])), len(_show(raw[:stop]))) for start, stop in line.changed]


def _show(text: str) -> str:
    return make_visible(text).replace("\t", TAB)


def _spans(text: str, changed: Sequence[tuple[int, int]], style: Style, word_style: Style) -> list[Span]:
    spans: list[Span] = []
    at = 0
    for start, stop in changed:
        spans += [(text[at:start], style), (text[start:stop], word_style)]
        at = stop
    return [*spans, (text[at:], style)]


def _header(hunk: Hunk) -> str:
    """Where the hunk is, and how much of what is before it is not shown."""
    ranges = f"@@ -{_range(hunk.old_start, hunk.old_count)} +{_range(hunk.new_start, hunk.new_count)} @@"
    return f"{ranges}  {_skipped(hunk.skipped_before)}" if hunk.skipped_before else ranges


def _range(start: int, count: int) -> str:
    """A hunk's lines as `diff` writes them: an empty range names the line before it."""
    return f"{start if count else start - 1},{count}"


def _skipped(count: int) -> str:
    return f"… {count} unchanged line{'s' if count > 1 else ''}"
