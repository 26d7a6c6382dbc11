"""What the terminal shows: a frame sends only what has changed, and scrolls rows that moved.

Textual sends every row of a changed region; while an answer streams, all rows move but few are new.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, TypeAlias

from rich.console import Console, RenderableType
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.geometry import Size
from textual.strip import Strip

from acp_tui.values import dataclass

MIN_SAVED: Final = 3
"""Scroll only if it saves sending at least this many rows."""

RESET: Final = "\x1b[0m"
STYLE: Final = re.compile(r"\x1b\[[\d;]+m")
"""A style begins with this, and ends with `RESET`: see Rich's `Style.render`."""

Piece: TypeAlias = tuple[int, Strip]
"""A part of a row, and its first column."""


@dataclass(frozen=True, slots=True)
class RowPart:
    end: int
    """The column after it."""
    text: str
    """The characters sent for it."""
    strip: Strip = field(compare=False)

    @classmethod
    def at(cls, x: int, strip: Strip, console: Console) -> RowPart:
        """Create the part for a strip at a column."""
        return cls(x + strip.cell_length, _joined(strip.render(console)), strip)


Row: TypeAlias = Mapping[int, RowPart]
"""The parts of a row by their first column."""


class ShownRows:
    """The content of the terminal, row by row."""

    def __init__(self) -> None:
        self._size = Size()
        self._rows: list[Row | None] = []
        """None for a row that isn't fully known."""
        self.with_graphics: Callable[[Strip, Console], str | None] = lambda _, __: None
        """What shows a strip with graphics; None if it has none, and "" if they aren't ready."""
        self._pictured: dict[int, bool] = {}
        """Rows that have graphics: whether those are still to be drawn."""
        self.room = math.inf
        """After so many characters of graphics, a frame draws no more of them."""
        self.graphics_sent = 0
        """How many the last one has sent."""
        self.lacks_room = False
        """Whether it had more."""

    def __len__(self) -> int:
        """How many rows the terminal has; 0 before anything was shown."""
        return len(self._rows)

    def forget(self) -> None:
        """Forget everything: something else may have written to the terminal or cleared it."""
        self._rows = [None] * len(self._rows)

    @property
    def blurred(self) -> Sequence[int]:
        """The rows without their graphics."""
        return [y for y, is_blurred in self._pictured.items() if is_blurred]

    def lean(self, update: RenderableType, size: Size) -> RenderableType:
        """Wrap a screen update so that it sends as few characters as possible. Other updates stay as they are."""
        if size != self._size:
            self._size, self._rows, self._pictured = size, [None] * size.height, {}
        return LeanUpdate(self, update) if isinstance(update, LayoutUpdate | ChopsUpdate) else update

    def written(self, update: LayoutUpdate | ChopsUpdate, console: Console) -> str:
        """Return the characters to send for an update, and record it as shown."""
        self.graphics_sent, self.lacks_room = 0, False
        changed = {y: row for y, pieces in _pieces_of(update) if (row := self._merged(y, pieces, console))}
        is_layout = isinstance(update, LayoutUpdate)  # Textual requests a full redraw
        written, moved = ("", {}) if is_layout else self._scrolled(changed)
        for y, row in {**moved, **changed}.items():
            shown = {} if is_layout else self._shown(y) or {}
            new = [(x, part.text) for x, part in row.items() if shown.get(x) != part]
            written += "".join(f"\x1b[{y + 1};{x + 1}H{text}" for x, text in new)
            if y < len(self._rows):  # a growing window may be laid out before its size is known here
                self._rows[y] = row if self._is_whole(row) else None
        return written

    def _merged(self, y: int, pieces: Iterable[Piece], console: Console) -> Row:
        """The row with these pieces in it, or only the pieces if the rest isn't known."""
        self._pictured.pop(y, None)
        new = {x: self._part(y, x, strip, console) for x, strip in pieces if strip.cell_length}
        row = {**new}
        for x, part in (self._shown(y) or {}).items():
            for at, strip in _uncovered(x, part, new):
                row[at] = self._part(y, at, strip, console)
        row = dict(sorted(row.items()))
        return row if self._is_whole(row) else new

    def _part(self, y: int, x: int, strip: Strip, console: Console) -> RowPart:
        """The part for a strip: with graphics, unless the frame has no room for them."""
        part = RowPart.at(x, strip, console)
        text = self.with_graphics(strip, console)
        if text is None or y >= self._size.height - 1:  # below a graphic in the last row, a terminal scrolls
            return part
        drawn = RowPart(part.end, text, strip)
        is_shown = (self._shown(y) or {}).get(x) == drawn
        is_drawn = is_shown or (text != "" and self.graphics_sent < self.room)
        self.graphics_sent += len(text) * (is_drawn and not is_shown)
        self.lacks_room |= text != "" and not is_drawn
        self._pictured[y] = self._pictured.get(y, False) or not is_drawn
        return drawn if is_drawn else part

    def _is_whole(self, row: Row) -> bool:
        """Whether its parts cover the whole width without gaps."""
        return [*row, self._size.width] == [0, *(part.end for part in row.values())]

    def _scrolled(self, changed: Mapping[int, Row]) -> tuple[str, Mapping[int, Row]]:
        """Return a sequence that scrolls a part of the screen, and the rows wanted there; nothing if it saves little.

        To scroll, it sets margins, feeds lines at the bottom or in reverse at the top, and resets the margins.
        """
        step = self._step_of_most(changed) if not self._pictured else 0  # xterm would move graphics all over the screen
        moved = [y for y, row in changed.items() if step and row == self._shown(y + step)]
        if not moved:
            return "", {}
        region = range(min(moved) + min(step, 0), max(moved) + max(step, 0) + 1)
        before = {y: row for y in region if (row := self._shown(y)) is not None}
        after = {y: before.get(y + step) for y in region}
        wanted = {y: changed.get(y, row) for y, row in before.items()}
        saved = sum(row != before[y] for y, row in wanted.items()) - sum(row != after[y] for y, row in wanted.items())
        if saved < MIN_SAVED or len(before) < len(region):
            return "", {}
        self._rows[region.start : region.stop] = after.values()
        at, feed = (region.stop, "\n") if step > 0 else (region.start + 1, "\x1bM")
        margins = f"\x1b[{region.start + 1};{region.stop}r"
        return f"{margins}\x1b[{at};1H{feed * abs(step)}\x1b[r", wanted

    def _shown(self, y: int) -> Row | None:
        return self._rows[y] if 0 <= y < len(self._rows) else None

    def _step_of_most(self, changed: Mapping[int, Row]) -> int:
        """By how many rows most of them have moved up; negative for down, 0 if none have moved."""
        keys = [row and _key(row) for row in self._rows]
        counts = Counter(keys)
        places = {key: y for y, key in enumerate(keys) if key is not None and counts[key] == 1}
        steps = Counter(places[key] - y for y, row in changed.items() if (key := _key(row)) in places)
        return steps.most_common(1)[0][0] if steps else 0


def _joined(text: str) -> str:
    """The same characters in the same styles, without the end of a style that begins again right there."""
    styled = text.split(RESET)
    for at in range(len(styled) - 1, 0, -1):
        style = STYLE.match(styled[at])
        if style is not None and styled[at - 1].startswith(style[0]):
            styled[at - 1 : at + 1] = [styled[at - 1] + styled[at][style.end() :]]
    return RESET.join(styled)


def _key(row: Row) -> str:
    return "".join(part.text for part in row.values())


def _uncovered(x: int, part: RowPart, new: Row) -> Iterator[Piece]:
    """The pieces of a part that new ones, in ascending order, leave uncovered."""
    begin = x
    for start, above in new.items():
        if above.end > begin and start < part.end:
            if start > begin:
                yield begin, part.strip.crop(begin - x, start - x)
            begin = above.end
    if begin < part.end:
        yield begin, part.strip if begin == x else part.strip.crop(begin - x, part.end - x)


class LeanUpdate(CompositorUpdate):
    """An update whose text is created when it's sent."""

    def __init__(self, shown: ShownRows, update: LayoutUpdate | ChopsUpdate) -> None:
        self.update = update
        self._shown = shown

    def __rich__(self) -> RenderableType:
        """The original update, for consoles other than the terminal."""
        return self.update

    def render_segments(self, console: Console) -> str:
        """The characters to write to the terminal."""
        return self._shown.written(self.update, console)


def _pieces_of(update: LayoutUpdate | ChopsUpdate) -> Iterator[tuple[int, Iterable[Piece]]]:
    """The pieces to write in each row, as in Textual's `render_segments` (8.2.8)."""
    if isinstance(update, LayoutUpdate):
        for y, line in enumerate(update.strips, update.region.y):
            yield y, _side_by_side(update.region.x, line)
        return
    pieces: dict[int, list[Piece]] = {}
    for y, x1, x2 in update.spans:
        row = pieces.setdefault(y, [])
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < x2 and end > x1:
                row.append((x, strip if x >= x1 and end <= x2 else strip.crop(0, min(end, x2) - x)))
    yield from pieces.items()


def _side_by_side(x: int, strips: Iterable[Strip]) -> Iterator[Piece]:
    for strip in strips:
        yield x, strip
        x += strip.cell_length


def rows_of(renderable: RenderableType | None) -> set[int]:
    """The rows that a frame draws."""
    match renderable:
        case ChopsUpdate():
            return {y for y, _, _ in renderable.spans}
        case LayoutUpdate():
            return {*renderable.region.line_range}
        case LeanUpdate():
            return rows_of(renderable.update)
        case _:
            return set()
