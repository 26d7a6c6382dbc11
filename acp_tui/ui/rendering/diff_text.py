"""Spells, highlights, and styles the lines of a diff. Its callers place them in one or two columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style

from acp_tui.client.line_comparison import NO_NEWLINE
from acp_tui.conversation.visible import make_visible
from acp_tui.ui.rendering.diff_model import Diff, DiffHunk, DiffLine, LineKind, Ranges
from acp_tui.ui.rendering.highlight import Lexed, LexedText, syntax_style
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, TextRange, fold, slice_spans, width_cells
from acp_tui.values import dataclass

MAX_LINES_ABOVE: Final = 24
"""Lines to lex above the first visible one. They take 5 ms, and a page has several hunks."""
MAX_CHARACTERS_ABOVE: Final = 4_000

_SIMILAR: Final = {
    "cc": "cpp",
    "h": "c",
    "hpp": "cpp",
    "htm": "html",
    "kt": "kotlin",
    "mjs": "javascript",
    "ml": "ocaml",
    "pyi": "python",
    "svelte": "html",
    "tcss": "css",
    "txt": "",
    "vue": "html",
}
"""Languages of file endings that Pygments doesn't know by the ending itself."""


def language_of(path: str) -> str:
    """The language for a file name, which may be unknown; "" if it has none."""
    ending = PurePosixPath(path).name.lower().rpartition(".")[2]
    return _SIMILAR.get(ending, ending)


class DiffSyntax:
    """Lexes the lines of both texts."""

    def __init__(self, diff: Diff, language: str) -> None:
        self._changes = diff.changes
        self._old = LexedText(diff.old, language, MAX_LINES_ABOVE, MAX_CHARACTERS_ABOVE)
        self._new = LexedText(diff.new, language, MAX_LINES_ABOVE, MAX_CHARACTERS_ABOVE)

    def lexed(self, line: DiffLine) -> Lexed:
        if line.new_number is not None:
            return self._new.lexed(line.new_number - 1)
        assert line.old_number is not None, "a line of a diff is in one of the texts"
        at = line.old_number - 1
        change = self._changes[bisect_right(self._changes, at, key=lambda change: change.old_from) - 1]
        # Above the change both texts are the same, and the new one is usually lexed already.
        return self._old.lexed(at, change.old_from, lambda: self._new.state_before(change.new_from))


TAB: Final = "→   "
"""Stands for a tab, so that whitespace changes are visible. It has a fixed width, because the line may be cut."""
SIGNS: Final[dict[LineKind, str]] = {"context": " ", "added": "+", "removed": "-"}
MAX_CHARACTERS: Final = 4_000
"""The maximum number of characters to show of a line, around what has changed in it."""
MAX_CHARACTERS_OF_WHOLE: Final = 50_000
"""The same limit when the whole file is shown."""
CHARACTERS_BEFORE: Final = 200
"""How many characters to show before the change in a cut line."""


class ShownLine(NamedTuple):
    line: DiffLine
    text: str
    changed: Ranges
    """Ranges of `text` that its counterpart lacks."""
    notes: tuple[str, ...]
    folds_evenly: bool
    """Whether each row gets as many characters as fit at any width, because measuring would take too long."""
    syntax: DiffSyntax | None

    def segments(self, part: TextRange, room: int, palette: Palette, padding: type[Segment] = Segment) -> list[Segment]:
        style, _ = line_styles(self.line.kind, palette)
        cells = width_cells(self.text[part.start : part.stop]) if self.folds_evenly else part.cells
        return [*slice_spans(self._spans(part, palette), part.start, part.stop), padding(" " * (room - cells), style)]

    def parts(self, room: int) -> list[TextRange]:
        """Where to fold the line so that each part fits."""
        if not self.folds_evenly:
            return fold(self.text, room)
        step = even_step(room)
        return [TextRange(at, min(at + step, len(self.text)), 0) for at in range(0, len(self.text) or 1, step)]

    def _spans(self, part: TextRange, palette: Palette) -> list[Span]:
        """The text up to the end of `part`: each piece in its style, with the changed words marked."""
        style, word_style = line_styles(self.line.kind, palette)
        spans: list[Span] = []
        at = 0
        for text, field in self._pieces():
            own = style + syntax_style(palette, field)
            spans += _marked(text, at, self.changed, own, own + word_style)
            at += len(text)
            if at >= part.stop:
                break
        return spans

    def _pieces(self) -> Lexed:
        """The text, split into pieces by syntax."""
        if self.syntax is None:
            return [(self.text, None)]
        pieces = [(show(piece), field) for piece, field in self.syntax.lexed(self.line)]
        lexed = "".join([piece for piece, _ in pieces])
        # Visible forms depend on neighboring characters. If the pieces don't add up to the text, the line stays plain.
        if not self.text.startswith(lexed):
            return [(self.text, None)]
        return [*pieces, (self.text[len(lexed) :], None)]


@dataclass(frozen=True, slots=True)
class Spelling:
    """Makes the lines of a diff visible, all in the same way."""

    syntax: DiffSyntax | None
    crlf: bool
    """Whether all lines end with CRLF, so that lines needn't show it."""
    max_characters: int
    """Longer lines are cut."""

    def shown(self, line: DiffLine, *, folds_evenly: bool) -> ShownLine:
        """Return `line` with invisible characters made visible."""
        raw = line.text + ("\r" if line.end == "\r\n" and not self.crlf else "")
        start, stop = _window(raw, line.changed, self.max_characters)
        part = raw[start:stop]
        text = show(part)
        changed = tuple((max(begin - start, 0), end - start) for begin, end in line.changed if end > start)
        if text != part:  # visible forms shift the ranges
            changed = tuple((len(show(part[:begin])), len(show(part[:end]))) for begin, end in changed)
        hidden = len(raw) - len(part)
        notes = [f"… {hidden:,} more characters, not shown"] * bool(hidden) + [NO_NEWLINE] * (not line.end)
        return ShownLine(line, text, changed, tuple(notes), folds_evenly, None if hidden else self.syntax)


def _window(text: str, changed: Ranges, most: int) -> tuple[int, int]:
    """The part of a line to show."""
    if len(text) <= most:
        return 0, len(text)
    start = max(changed[0][0] - CHARACTERS_BEFORE, 0) if changed else 0
    start = min(start, len(text) - most)
    return start, start + most


def even_step(room: int) -> int:
    """The number of characters that fit into `room` cells, whatever they are."""
    return max(room // 2, 1)


def line_styles(kind: LineKind, palette: Palette) -> tuple[Style, Style]:
    """The styles of a line and, on top of it, of its changed words."""
    match kind:
        case "added":
            return palette.diff_added, palette.diff_added_word
        case "removed":
            return palette.diff_removed, palette.diff_removed_word
        case "context":
            return palette.diff_context, palette.diff_context


def note_style(note: str, palette: Palette) -> Style:
    """The style of a note. Hidden characters get a warning, so that nobody overlooks them."""
    return palette.diff_hunk if note == NO_NEWLINE else palette.warning


def number_cells(diff: Diff) -> int:
    last = (diff.number_in_file(len(lines), is_old=lines is diff.old) for lines in (diff.old, diff.new))
    return len(str(max(last)))


def hunk_header(diff: Diff, hunk: DiffHunk) -> str:
    """The position of the hunk, if it's known, and how many lines before it aren't shown."""
    skipped = skipped_lines(hunk.skipped_before) if hunk.skipped_before else ""
    if not diff.is_placed:
        return skipped
    old_start = diff.number_in_file(hunk.old_start, is_old=True)
    new_start = diff.number_in_file(hunk.new_start, is_old=False)
    ranges = f"@@ -{_range(old_start, hunk.old_count)} +{_range(new_start, hunk.new_count)} @@"
    return f"{ranges}  {skipped}".rstrip()


def skipped_lines(count: int) -> str:
    return f"… {count:,} unchanged line{'s' if count > 1 else ''}"


def _range(start: int, count: int) -> str:
    """A hunk's range as `diff` writes it: an empty range names the line before it."""
    return f"{start if count else start - 1},{count}"


def show(text: str) -> str:
    return make_visible(text).replace("\t", TAB)


def _marked(text: str, begin: int, changed: Iterable[tuple[int, int]], style: Style, marked: Style) -> list[Span]:
    """Split a piece that begins at `begin` of its line at the borders of changed words."""
    spans: list[Span] = []
    at, end = begin, begin + len(text)
    for start, stop in changed:
        start, stop = max(start, at), min(stop, end)
        if start < stop:
            spans += [(text[at - begin : start - begin], style), (text[start - begin : stop - begin], marked)]
            at = stop
    return [*spans, (text[at - begin :], style)]
