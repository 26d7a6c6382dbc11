"""Decodes a picture into lines of half blocks. The first picture imports Pillow, in the decoding thread."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from io import BytesIO
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.ui.rendering.wrapping import Rows

if TYPE_CHECKING:
    from PIL.Image import Image

Size: TypeAlias = tuple[int, int]
"""Width and height."""
Pixel: TypeAlias = tuple[int, int, int, int]
"""Red, green, blue, and alpha, each up to 255."""

FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
MAX_BYTES: Final = 20_000_000
MAX_PIXELS: Final = 32_000_000
"""About a good camera's photo. Decoding it takes 128 MB."""
MAX_COLUMNS: Final = 120
MAX_ROWS: Final = 20
HALF_BLOCKS: Final = (MAX_COLUMNS, 2 * MAX_ROWS)
"""The most pixels that half blocks can show: each cell has an upper and a lower one."""
KEPT_WIDTHS: Final = 4
"""Messages and tool calls have different widths, and both change when the screen is resized."""
LANCZOS: Final = 1
"""The number of Pillow's filter, so that this module needn't import Pillow."""
OPAQUE: Final = 128
"""A pixel with less alpha shows the background: a cell can't blend its colors."""
CLEAR: Final[Pixel] = (0, 0, 0, 0)
TURNED: Final = frozenset({5, 6, 7, 8})
"""The EXIF orientations that swap width and height."""


class NotAPicture(Exception):
    """The picture can't be shown. `str()` gives the reason, as the end of a sentence."""


class Picture:
    """A decoded picture that can be drawn at any width."""

    def __init__(self, size: Size, draw: Callable[[int, int], Sequence[Strip]]) -> None:
        """`draw` returns lines of at most this many cells, and, if it can't show detail, at most this many."""
        self.size = size
        """Its own size in pixels."""
        self._draw = draw
        self._drawn: dict[tuple[int, int], Sequence[Strip]] = {}

    def lines(self, width: int, rows: int = MAX_ROWS) -> Sequence[Strip]:
        """Lines of at most `width` cells; at most `rows`, or MAX_ROWS where the terminal draws the picture itself.

        The same room returns the same object.
        """
        room = (max(1, min(width, MAX_COLUMNS)), rows)
        if room not in self._drawn:
            for old in list(self._drawn)[: 1 - KEPT_WIDTHS]:
                del self._drawn[old]
            self._drawn[room] = self._draw(*room)
        return self._drawn[room]


def block_picture(data: str) -> Picture:
    """Decode a base64 picture to draw as half blocks. Takes up to a second, so don't call it in the event loop.

    Raises: NotAPicture.
    """
    size, pixels = decode(data, HALF_BLOCKS)
    return Picture(size, lambda width, rows: _half_blocks(resized(pixels, fit(size, (width, 2 * rows)))))


def fit(size: Size, room: Size) -> Size:
    """Shrink `size` in proportion until it fits into `room`. No side is less than 1."""
    scale = min(1.0, room[0] / size[0], room[1] / size[1])
    width, height = (max(1, min(round(side * scale), most)) for side, most in zip(size, room, strict=True))
    return width, height


def decode(data: str, room: Size) -> tuple[Size, Image]:
    """Return a picture's own size, and its RGBA pixels shrunk to fit into `room`. Raises NotAPicture."""
    try:
        return _decode(_bytes_of(data), room)
    except NotAPicture:
        raise
    except Exception as error:
        # With an agent's data, decoders raise almost anything.
        raise NotAPicture("its data is corrupt") from error


def _bytes_of(data: str) -> bytes:
    if len(data) > MAX_BYTES // 3 * 4:
        raise NotAPicture(f"it is larger than {MAX_BYTES // 1_000_000} MB")
    try:
        return b64decode(data, validate=True)
    except ValueError as error:
        raise NotAPicture("its data isn't base64") from error


def _decode(data: bytes, room: Size) -> tuple[Size, Image]:
    from PIL import Image, ImageOps, UnidentifiedImageError

    # Our limit is stricter, and Pillow would only write a warning over the screen.
    Image.MAX_IMAGE_PIXELS = None
    try:
        image = Image.open(BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError as error:
        raise NotAPicture("not PNG, JPEG, GIF, or WebP") from error
    with image:
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise NotAPicture(f"{width} × {height} pixels are too many")
        if image.getexif().get(0x0112) in TURNED:
            width, height = height, width
        image.draft(None, room)  # lets JPEG decode no more detail than needed
        ImageOps.exif_transpose(image, in_place=True)
        return (width, height), resized(image, fit((width, height), room))


def resized(image: Image, size: Size) -> Image:
    if image.mode == "I;16":  # converting it directly would clip everything brighter than the darkest 256th
        image = image.point(lambda value: value / 256).convert("L")
    rgba = image.convert("RGBA")
    return rgba if rgba.size == size else rgba.resize(size, LANCZOS)


def _half_blocks(image: Image) -> Rows:
    # Styles are expensive, so make only those in view.
    return Rows(partial(row_of, upper, lower) for upper, lower in pixel_pairs(image))


def pixel_pairs(image: Image) -> Iterator[tuple[list[Pixel], list[Pixel]]]:
    """The upper and the lower pixels of each row of cells."""
    width = image.width
    values = iter(image.tobytes())
    pixels: list[Pixel] = list(zip(values, values, values, values, strict=True))
    rows = [pixels[at : at + width] for at in range(0, len(pixels), width)]
    return zip_longest(rows[::2], rows[1::2], fillvalue=[CLEAR] * width)


def row_of(upper: list[Pixel], lower: list[Pixel]) -> Strip:
    return Strip([_segment(*cell, len(list(run))) for cell, run in groupby(zip(upper, lower, strict=True))], len(upper))


def _segment(upper: Pixel, lower: Pixel, count: int) -> Segment:
    glyph, style = half_block(upper, lower)
    return Segment(glyph * count, style)


@lru_cache(maxsize=8_192)
def half_block(upper: Pixel, lower: Pixel) -> tuple[str, Style | None]:
    has_upper, has_lower = upper[3] >= OPAQUE, lower[3] >= OPAQUE
    if has_upper and has_lower:
        return "▀", Style.from_color(_color(upper), _color(lower))
    if has_upper:
        return "▀", Style.from_color(_color(upper))
    return ("▄", Style.from_color(_color(lower))) if has_lower else (" ", None)


def _color(pixel: Pixel) -> Color:
    return Color.from_rgb(*pixel[:3])
