"""The parts of drawn lines, and how to break styled text into lines of a given width.

Knows nothing of what the text means. Some lines are drawn when first viewed, and some segments aren't part of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias, cast, overload

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


class Gutter(Segment):
    """A segment next to the text that isn't part of it: an indentation, a quote bar, or a line number."""

    __slots__ = ()


class Joint(Segment):
    """Begins a line that continues the text of the line above, which was broken at a space. Has no width."""

    __slots__ = ()


class Cut(Joint):
    """Begins a line that continues a word cut in the line above."""

    __slots__ = ()


JOINT: Final = Joint("")
CUT: Final = Cut("")


class Lines(Sequence[Strip]):
    """Lines by index, or as a list by slice."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: int) -> Strip: ...

    @overload
    def __getitem__(self, index: slice) -> list[Strip]: ...

    def __getitem__(self, index: int | slice) -> Strip | list[Strip]:
        if isinstance(index, slice):
            return self._some(range(*index.indices(len(self))))
        return self._line(range(len(self))[index])

    def _line(self, at: int) -> Strip:
        """Return the line at this index, which is in range. Override it, or `_some` if drawing several is cheaper."""
        return self._some(range(at, at + 1))[0]

    def _some(self, indexes: range) -> list[Strip]:
        return [self._line(at) for at in indexes]


Row: TypeAlias = Strip | Callable[[], Strip]
"""A drawn line, or a function that draws it."""

BLANK: Final = Strip((), 0)


class UndrawnSection:
    """Rows that are drawn together when they come into view, since a flood of text mostly scrolls by unseen."""

    __slots__ = ("count", "draw", "start")

    def __init__(self, draw: Callable[[], list[Row]], count: int) -> None:
        self.draw = draw
        self.count = count
        """The number of rows. A guess until it's measured."""
        self.start: int | None = None
        """The first row; None once it's measured."""


class Rows(Lines):
    """Strips of natural length, never wider than requested. A lazy one is drawn once and then stays the same object.

    The rows of a section that isn't measured yet are blank.
    """

    __slots__ = ("_guesses", "_rows")

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows: list[Row | UndrawnSection] = list(rows)
        self._guesses: list[UndrawnSection] = []
        """The sections that aren't measured yet, from top to bottom."""

    def __len__(self) -> int:
        return len(self._rows)

    def extend(self, rows: Iterable[Row]) -> None:
        self._rows.extend(rows)

    def extend_unseen(self, section: UndrawnSection) -> None:
        """Add a section that isn't measured yet."""
        section.start = len(self._rows)
        self._rows += [section] * section.count
        self._guesses.append(section)

    @property
    def undrawn(self) -> list[Row]:
        """The rows as they are, if there are no sections: lazy ones aren't drawn."""
        return cast("list[Row]", self._rows)

    def truncate(self, length: int) -> None:
        """Keep the first `length` lines. Sections are never cut."""
        del self._rows[length:]

    @property
    def is_measured(self) -> bool:
        return not self._guesses

    def measure(self, rows: range, place: int) -> int:
        """Measure the sections in these rows, and keep what was drawn. Returns where the row `place` is now."""
        at = bisect_left(self._guesses, rows.stop, key=_start)
        while at and _start(section := self._guesses[at - 1]) + section.count > rows.start:
            at -= 1
            place = self._replace(at, section.draw(), place)
        return place

    def measure_last(self, place: int) -> int:
        """Measure the last section, but draw it again when it comes into view. Returns where the row `place` is now."""
        section = self._guesses[-1]
        return self._replace(len(self._guesses) - 1, [section] * len(section.draw()), place)

    def _replace(self, guess: int, rows: Sequence[Row | UndrawnSection], place: int) -> int:
        section = self._guesses.pop(guess)
        start, before = _start(section), section.count
        section.start, section.count = None, len(rows)
        self._rows[start : start + before] = rows
        for below in self._guesses[guess:]:
            below.start = _start(below) + len(rows) - before
        if place >= start + before:
            return place + len(rows) - before
        return min(place, start + max(len(rows) - 1, 0))

    def _line(self, at: int) -> Strip:
        row = self._rows[at]
        if isinstance(row, UndrawnSection):
            if row.start is not None:
                return BLANK
            start = at
            while start and self._rows[start - 1] is row:
                start -= 1
            self._rows[start : start + row.count] = row.draw()
            return self._line(at)
        if not isinstance(row, Strip):
            row = self._rows[at] = row()
        return row


def _start(guess: UndrawnSection) -> int:
    assert guess.start is not None
    return guess.start


Span: TypeAlias = tuple[str, Style]
"""A run of text in one style, without newlines, tabs, and control characters."""

MIN_WIDTH: Final = 2
"""A narrower line couldn't hold one wide character."""

# Characters of one cell each that never combine with a neighbor, so that a string is as wide as it is long.
_ONE_CELL_EACH: Final = re.compile(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u0482\u048a-\u052f"
    "\u2010-\u2027\u2030-\u203b\u2190-\u2193\u2400-\u2421\u2500-\u257f\u27e8\u27e9]*"
)
PART: Final = 4_096
"""Characters of a long text that are broken at once."""
_LAST_SIGN: Final = re.compile(r"""(?s:.*)(?:[+&|=,;:.)\]}>([{/\\](?=[\w"'-])|(?<=\w)-(?=\w))""")
"""Ends where code can be cut between a sign and a word."""
_NOT_AT_LINE_START: Final = frozenset("、。，．：；？！）」』】》〉〕｝…")


class TextRange(NamedTuple):
    """A line as a range of a longer text."""

    start: int
    stop: int
    cells: int


def has_one_cell_each(text: str) -> bool:
    """Whether each character is known to take one cell. False means that it isn't known."""
    return _ONE_CELL_EACH.fullmatch(text) is not None


def width_cells(text: str) -> int:
    return len(text) if _ONE_CELL_EACH.fullmatch(text) else cell_len(text)


def wrap(spans: Sequence[Span], width: int) -> list[Strip]:
    """Break `spans` between words into strips of natural length; at least one. Joints mark continuation lines."""
    text = "".join([text for text, _ in spans])
    ranges = break_words(text, width)
    if len(ranges) == 1:
        return [Strip(slice_spans(spans, *ranges[0][:2]), ranges[0].cells)]
    strips = []
    before = -1
    for segments, line in zip(cut_spans(spans, ranges), ranges, strict=True):
        if before >= 0:
            segments.insert(0, JOINT if line.start > before else CUT)
        strips.append(Strip(segments, line.cells))
        before = line.stop
    return strips


SEPARATOR: Final = " · "


def pack(parts: Iterable[str], width: int) -> list[str]:
    """Return lines with as many of the parts as fit into each. A part wider than a line has its own."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{SEPARATOR}{part}" if lines else part
        if lines and width_cells(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def break_words(text: str, width: int) -> list[TextRange]:
    """Find where to break `text`. Spaces at a break are dropped; a word longer than a line is cut."""
    return _by_parts(text, max(width, MIN_WIDTH), _break_narrow, _break_graphemes)


def fold(text: str, width: int) -> list[TextRange]:
    """Find where to cut code so that nothing is dropped; at least one part.

    A part that would end in a word ends after a space or a sign in its last third, if there is one.
    """
    return _by_parts(text, max(width, MIN_WIDTH), _fold_narrow, _fold_graphemes)


def narrow_fold_count(text: str, width: int) -> int:
    """The number of parts that `fold` finds in text of which each character is known to take one cell."""
    return len(list(_fold_narrow(text, width)))


_Break: TypeAlias = Callable[[str, int], Iterator[TextRange]]


def _by_parts(text: str, width: int, narrow: _Break, other: _Break) -> list[TextRange]:
    """Break a long text part by part: most parts have only narrow characters, which take a tenth of the time."""
    lines: list[TextRange] = []
    at, length = 0, max(PART, 16 * width)
    while True:
        part = text[at : at + length]
        found = list((narrow if _ONE_CELL_EACH.fullmatch(part) else other)(part, width))
        if at + length >= len(text):
            return lines + [TextRange(at + start, at + stop, cells) for start, stop, cells in found]
        # What follows the part may change its last line, and the line before if a character is cut in two.
        if len(found) < 3:
            length *= 2
        else:
            lines += [TextRange(at + start, at + stop, cells) for start, stop, cells in found[:-2]]
            at, length = at + found[-2].start, max(PART, 16 * width)


def _fold_narrow(text: str, width: int) -> Iterator[TextRange]:
    start, length = 0, len(text)
    while length - start > width:
        least, most = start + width - width // 3, start + width
        stop = text.rfind(" ", least, most) + 1
        if not stop or text[start:stop].isspace():
            sign = _LAST_SIGN.match(text, least, most + 1)
            stop = sign.end() if sign else most
        yield TextRange(start, stop, stop - start)
        start = stop
    yield TextRange(start, length, length - start)


def _fold_graphemes(text: str, width: int) -> Iterator[TextRange]:
    start = cells = 0
    stop = stop_cells = stop_rank = 0  # the best place to end the line
    wide_before = False
    for begin, _, size in _graphemes(text):
        if cells > width - width // 3:
            rank = 2 if size > 1 or wide_before else _fold_rank(text, start, begin)
            if rank and rank >= stop_rank:
                stop, stop_cells, stop_rank = begin, cells, rank
        if cells + size > width:
            if not stop_rank:
                stop, stop_cells = begin, cells
            yield _measured(text, start, stop)
            start, cells, stop_rank = stop, cells - stop_cells, 0
        cells += size
        wide_before = size > 1
    yield _measured(text, start, len(text))


def _fold_rank(text: str, start: int, at: int) -> int:
    """How well code that begins at `start` is cut before `at`: 2 after a space, 1 after a sign, else 0."""
    if text[at - 1] == " ":
        return 0 if text[start:at].isspace() else 2
    return 1 if _LAST_SIGN.match(text, at - 1, at + 1) else 0


def cut(text: str, width: int) -> str:
    """Cut one line to `width` cells, ending with an ellipsis if it's longer."""
    text = text[: width * 8]  # measuring takes time in proportion to the length, and no row shows more
    if width_cells(text) <= width:
        return text
    width = max(width - 1, MIN_WIDTH)
    if _ONE_CELL_EACH.fullmatch(text):
        return f"{text[:width]}…"
    cells = 0
    for begin, _, size in _graphemes(text):
        cells += size
        if cells > width:
            return f"{text[:begin]}…"
    return text


def cut_at_word(text: str, width: int) -> str:
    """Cut one line as `cut` does, but before the word that doesn't fit."""
    shown = cut(text, width)
    if shown == text:
        return text
    whole = shown[:-1] if text[len(shown) - 1 : len(shown)].isspace() else shown.rpartition(" ")[0]
    return f"{whole.rstrip(' ,;:.·')}…" if whole.strip() else shown


def _graphemes(text: str) -> Iterator[tuple[int, int, int]]:
    for begin, end, size in split_graphemes(text)[0]:
        # After a joiner that joins nothing, the splitter counts no cells although the screen uses some.
        yield begin, end, size if text[begin] != "\u200d" else cell_len(text[begin:end])


def _measured(text: str, start: int, stop: int) -> TextRange:
    # Measured again as a string: broken emoji sequences can be narrower than the sum of their graphemes.
    return TextRange(start, stop, cell_len(text[start:stop]))


def slice_spans(spans: Iterable[Span], start: int, stop: int) -> list[Segment]:
    return next(cut_spans(spans, [TextRange(start, stop, 0)]))


def cut_spans(spans: Iterable[Span], ranges: Iterable[TextRange]) -> Iterator[list[Segment]]:
    """Cut `spans` into a list of segments for each of `ranges`, which must ascend and not overlap."""
    source = iter(spans)
    text, style, begin, end = "", Style.null(), 0, 0
    for start, stop, _ in ranges:
        segments: list[Segment] = []
        while True:
            if begin < stop and end > start:
                segments.append(Segment(text[max(start - begin, 0) : stop - begin], style))
            if end >= stop or (following := next(source, None)) is None:
                break
            begin, (text, style) = end, following
            end = begin + len(text)
        yield segments


def _break_narrow(text: str, width: int) -> Iterator[TextRange]:
    """`break_words` for text of one-cell characters."""
    start, length = 0, len(text)
    while length - start > width:
        space = text.rfind(" ", start, start + width + 1)
        stop = start + len(text[start:space].rstrip(" ")) if space > start else start
        if stop == start:  # one long word, or one after a deep indentation
            stop = space = start + width
        yield TextRange(start, stop, stop - start)
        start = _skip_spaces(text, space)
    stop = start + len(text[start:].rstrip(" "))
    if stop > start or start == 0:
        yield TextRange(start, stop, stop - start)


def _skip_spaces(text: str, index: int) -> int:
    while index < len(text) and text[index] == " ":
        index += 1
    return index


def _break_graphemes(text: str, width: int) -> Iterator[TextRange]:
    """`break_words` for any text. A line may also end next to a wide character."""
    start = cells = 0
    break_at = break_cells = 0  # the last good place to end the line, and the cells before it
    wide_before = False
    text = text.rstrip(" ")
    for begin, end, size in _graphemes(text):
        blank, wide = text[begin:end] == " ", size > 1
        if (blank or wide or wide_before) and begin > start and text[begin] not in _NOT_AT_LINE_START:
            break_at, break_cells = begin, cells
        # Repeat, because the last good place may leave too much after it.
        while cells + size > width and not blank and begin > start:
            if break_at <= start:
                break_at, break_cells = begin, cells
            yield _measured(text, start, start + len(text[start:break_at].rstrip(" ")))
            start = _skip_spaces(text, break_at)
            cells -= break_cells + (start - break_at)
        cells += size
        wide_before = wide
    yield _measured(text, start, len(text))
