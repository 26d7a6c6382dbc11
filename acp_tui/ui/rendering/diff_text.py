"""How the lines of a `Diff` are spelled and styled; where they stand is the business of one column or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style

from acp_tui.conversation.visible import make_visible
from acp_tui.ui.rendering.diff_model import Diff, DiffLine, Hunk, LineKind
from acp_tui.ui.rendering.diff_words import Ranges
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import LineRange, Span, fold, slice_spans

TAB: Final = "→   "
"""A tab where a change of white space would not be seen otherwise; of fixed width, since the line may be cut."""
NO_NEWLINE: Final = "\\ No newline at end of file"
"""Stands below a last line that has no newline, as `diff` gives it."""
SIGNS: Final[dict[LineKind, str]] = {"context": " ", "added": "+", "removed": "-"}


class ShownLine(NamedTuple):
    """A line as it is shown."""

    kind: LineKind
    text: str
    changed: Ranges
    """Ranges of `text` that its counterpart does not have."""

    def segments(self, part: LineRange, room: int, palette: Palette) -> list[Segment]:
        """A part of it, filled up to `room` cells."""
        style, word_style = line_styles(self.kind, palette)
        spans = _spans(self.text, self.changed, style, style + word_style)
        fill = Segment(" " * (room - part.cells), style)
        return [*slice_spans(spans, part.start, part.stop), fill]

    def parts(self, room: int) -> list[LineRange]:
        """Where it is folded so that each part fits."""
        return fold(self.text, room)


def shown_line(line: DiffLine, *, crlf: bool) -> ShownLine:
    """`line` with what cannot be seen made visible; with `crlf` its carriage return needs no saying."""
    raw = line.text + ("\r" if line.end == "\r\n" and not crlf else "")
    text = _show(raw)
    if text == raw:
        return ShownLine(line.kind, text, line.changed)
    # The stand-ins move the changed ranges.
    changed = tuple((len(_show(raw[:start])), len(_show(raw[:stop]))) for start, stop in line.changed)
    return ShownLine(line.kind, text, changed)


def line_styles(kind: LineKind, palette: Palette) -> tuple[Style, Style]:
    """The styles of a line and, laid over it, of its changed words."""
    match kind:
        case "added":
            return palette.diff_added, palette.diff_added_word
        case "removed":
            return palette.diff_removed, palette.diff_removed_word
        case "context":
            return palette.diff_context, palette.diff_context


def number_cells(diff: Diff) -> int:
    """How wide the highest line number is."""
    last = diff.hunks[-1] if diff.hunks else None
    highest = max(last.old_start + last.old_count, last.new_start + last.new_count) if last else 0
    return len(str(highest))


def hunk_header(hunk: Hunk) -> str:
    """Where the hunk is, and how much of what is before it is not shown."""
    ranges = f"@@ -{_range(hunk.old_start, hunk.old_count)} +{_range(hunk.new_start, hunk.new_count)} @@"
    return f"{ranges}  {skipped_lines(hunk.skipped_before)}" if hunk.skipped_before else ranges


def skipped_lines(count: int) -> str:
    """How much is not shown."""
    return f"… {count} unchanged line{'s' if count > 1 else ''}"


def _range(start: int, count: int) -> str:
    """A hunk's lines as `diff` writes them: an empty range names the line before it."""
    return f"{start if count else start - 1},{count}"


def _show(text: str) -> str:
    return make_visible(text).replace("\t", TAB)


def _spans(text: str, changed: Sequence[tuple[int, int]], style: Style, word_style: Style) -> list[Span]:
    spans: list[Span] = []
    at = 0
    for start, stop in changed:
        spans += [(text[at:start], style), (text[start:stop], word_style)]
        at = stop
    return [*spans, (text[at:], style)]
