"""Pictures for terminals that draw sixel graphics, as the VT340 did.

The cells are half blocks that know their place. Where a frame shows them as they are, each row is a graphic of its own,
so they scroll, are cut, and are covered like text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import count, groupby, starmap
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.terminals.feeder import Feeder
from acp_tui.ui.rendering.kitty import CELL, cells_of
from acp_tui.ui.rendering.pictures import (
    CLEAR,
    HALF_BLOCKS,
    OPAQUE,
    Picture,
    Pixel,
    Size,
    decode,
    half_block,
    pixel_pairs,
    resized,
)
from acp_tui.ui.rendering.wrapping import Rows

if TYPE_CHECKING:
    from PIL.Image import Image

    from acp_tui.ui.textual_gaps.driver import FramePacer

PLACE: Final = "place in a picture"
"""The key of a cell's place in the meta data of its style, which no text has: the picture's number, row, and column."""
MAX_KEPT: Final = 1_000
"""So many graphics are kept, more than a screen shows."""
MAX_COLUMNS: Final = 40
"""Of a graphic: xterm draws none that is wider than 1,000 pixels."""
COLORS: Final = 255
"""The most colors of a picture. The next number is that of pixels that show the background."""
BAND: Final = 6
"""How many rows of pixels a character of a graphic has."""

_numbers: Final = count(1)
_pictures: Final[WeakValueDictionary[int, SixelRows]] = WeakValueDictionary()
_encoder: Final = Feeder()


def sixel_picture(pacer: FramePacer, data: str) -> Picture:
    """Decode a base64 picture. Takes up to a second, so don't call it in the event loop. Raises: NotAPicture."""
    size, small = decode(data, HALF_BLOCKS)
    return Picture(size, lambda width, _: SixelRows(pacer, data, small, *cells_of(size, width)))


class SixelRows(Rows):
    """The rows of a picture."""

    def __init__(self, pacer: FramePacer, data: str, small: Image, size: Size, cells: Size) -> None:
        """`size` is in pixels, if a cell has as many as CELL."""
        self._pacer = pacer
        self._data = data
        self._size = size
        self._number = next(_numbers)
        _pictures[self._number] = self
        pairs = pixel_pairs(resized(small, (cells[0], -(-2 * size[1] // CELL[1]))))
        super().__init__(partial(self._row, row, *pair) for row, pair in enumerate(pairs))

    def _row(self, row: int, upper: Sequence[Pixel], lower: Sequence[Pixel]) -> Strip:
        # The picture may end inside of the cells at its right and lower edge.
        edge = len(upper) - 1 if row < len(self) - 1 else 0
        pairs = enumerate(zip(upper, lower, strict=True))
        return Strip([_cell((self._number, row, at), *pair, is_edge=at >= edge) for at, pair in pairs], len(upper))

    def drawn(self, row: int, columns: range, cells: Sequence[Segment], console: Console) -> str | None:
        """What draws these cells, "" until that's encoded; None if they can't be drawn, or are dimmed by a dialog."""
        own = [*self[row]][columns.start : columns.stop]
        both = zip(cells, own, strict=True)
        styles = [(cell.style or Style.null(), as_it_is.style or Style.null()) for cell, as_it_is in both]
        cell_size = self._pacer.cell_size()
        if cell_size is None or any(as_it_is.color not in (None, cell.color) for cell, as_it_is in styles):
            return None
        made = _graphic(self._number, row, columns, cell_size)
        if not made:
            made.append("")
            _encoder.run(lambda: made.insert(0, self._encode(row, columns, cell_size)), self._pacer.send_missed_later)
        ground = next((cell.bgcolor for cell, as_it_is in styles if as_it_is.bgcolor is None), None)
        blank = Strip([Segment(" " * len(cells), Style(bgcolor=ground))]).render(console)
        return made[0] and f"\x1b7{blank}\x1b8{made[0]}\x1b8\x1b[{len(cells)}C"

    def _encode(self, row: int, columns: range, cell: Size) -> str:
        width, height = (-(-side * to // of) for side, to, of in zip(self._size, cell, CELL, strict=True))
        right, bottom = min(columns.stop * cell[0], width), min((row + 1) * cell[1], height)
        box = (columns.start * cell[0], row * cell[1], right, bottom)
        return encoded(_reduced(self._data, (width, height)).crop(box))


@lru_cache(maxsize=MAX_KEPT)
def _graphic(number: int, row: int, columns: range, cell: Size) -> list[str]:
    """The graphic of a part of a row; empty until it's wanted."""
    return []


def _cell(place: tuple[int, int, int], upper: Pixel, lower: Pixel, *, is_edge: bool) -> Segment:
    """A half block. It has a background of its own only where all pixels of the picture cover that."""
    glyph, style = half_block(upper, lower)
    alpha = min(upper[3], lower[3])
    if alpha >= OPAQUE and (is_edge or alpha < 255):
        glyph, style = "█", half_block(upper, CLEAR)[1]
    return Segment(glyph, (style or Style.null()) + Style.from_meta({PLACE: place}))


def with_graphics(strip: Strip, console: Console) -> str | None:
    """What shows a strip with graphics; None if it has none, and "" until all of them are encoded."""
    text, has_graphics = "", False
    if not _pictures:
        return None
    for (number, row, offset, _), numbered in groupby(enumerate(strip), _place):
        indexes, cells = zip(*numbered, strict=True)
        columns = range(indexes[0] + offset, indexes[0] + offset + len(cells))
        picture = _pictures.get(number)
        graphic = picture.drawn(row, columns, cells, console) if picture is not None else None
        if graphic == "":
            return graphic
        has_graphics |= graphic is not None
        text += graphic or Strip(cells).render(console)
    return text if has_graphics else None


def _place(numbered: tuple[int, Segment]) -> tuple[int, ...]:
    """The same for the cells of a graphic: picture, row, and how many columns they are before their indexes."""
    index, cell = numbered
    number, row, column = (cell.style and cell.style.meta.get(PLACE)) or (0, 0, index)
    return number, row, column - index, column // MAX_COLUMNS if number else 0


@lru_cache(maxsize=4)
def _reduced(data: str, size: Size) -> Image:
    """A picture of this size with few colors, the same in all of its rows."""
    pixels = resized(decode(data, (2 * size[0], 2 * size[1]))[1], size)
    image = pixels.convert("RGB").quantize(COLORS)
    image.paste(COLORS, mask=pixels.getchannel("A").point(lambda alpha: 255 * (alpha < OPAQUE)))
    return image


def encoded(image: Image) -> str:
    """What draws an image with a palette where the cursor is."""
    width, pixels = image.width, image.tobytes()
    rows = [pixels[at : at + width] for at in range(0, len(pixels), width)]
    levels = [round(level * 100 / 255) for level in image.getpalette() or ()]
    colors = (f"#{at};2;{levels[3 * at]};{levels[3 * at + 1]};{levels[3 * at + 2]}" for at in {*pixels} - {COLORS})
    bands = (_band(rows[at : at + BAND]) for at in range(0, len(rows), BAND))
    # 0;1: pixels are square, and what isn't drawn shows the background.
    return f'\x1bP0;1q"1;1;{width};{len(rows)}{"".join(colors)}{"-".join(bands)}\x1b\\'


def _band(rows: Sequence[bytes]) -> str:
    """Up to six rows of pixels, color by color."""
    runs: dict[int, list[tuple[int, int]]] = {}
    """The bits of a color's pixels in a column, and in how many columns they are the same."""
    ends: dict[int, int] = {}
    x = 0
    for column, same in groupby(zip(*rows, strict=True)):
        length = sum(1 for _ in same)
        bits: dict[int, int] = {}
        for y, color in enumerate(column):
            bits[color] = bits.get(color, 0) | 1 << y
        for color, mask in bits.items():
            of_color = runs.setdefault(color, [])
            of_color += [(0, x - ends.get(color, 0)), (mask, length)]
            ends[color] = x + length
        x += length
    runs.pop(COLORS, None)
    return "$".join(f"#{color}" + "".join(starmap(_run, of_color)) for color, of_color in runs.items())


def _run(mask: int, length: int) -> str:
    character = chr(ord("?") + mask)
    return character * length if length < 4 else f"!{length}{character}"
