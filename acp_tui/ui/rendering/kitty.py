"""Manages pictures in terminals that support Unicode placeholders of kitty's graphics protocol.

Asks the terminal nothing. Sends a picture once. Where it appears, the cells hold U+10EEEE. Their color encodes the
picture's id, and two combining characters encode their place in it. So they scroll, are cut, and are covered like text
(see "Unicode placeholders" in kitty's documentation).
"""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BytesIO
from itertools import count
from typing import Final

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.desktop import MULTIPLEXERS
from acp_tui.ui.rendering.pictures import MAX_COLUMNS, MAX_ROWS, Picture, Size, decode, fit
from acp_tui.ui.rendering.wrapping import Lines, Rows

TERMINALS: Final = frozenset({"xterm-kitty", "xterm-ghostty"})
PROGRAMS: Final = frozenset({"kitty", "ghostty"})

CELL: Final = (10, 20)
"""The assumed size of a cell in pixels. Smaller pictures keep their size, and no more detail than this is sent."""
MAX_HELD: Final = 100
"""The number of pictures that the terminal keeps for us. kitty has room for about 160 of the largest."""
CHUNK: Final = 4_096
"""The maximum number of characters in one escape sequence, set by the protocol."""
PLACEHOLDER: Final = "\U0010eeee"
# The combining characters for 0, 1, 2, and so on, in the protocol's order.
_RANGES: Final = (
    "0305 030d-030e 0310 0312 033d-033f 0346 034a-034c 0350-0352 0357 035b 0363-036f 0483-0487 0592-0595 0597-0599"
    " 059c-05a1 05a8-05a9 05ab-05ac 05af 05c4 0610-0617 0657-065b 065d-065e 06d6-06dc 06df-06e2 06e4 06e7-06e8"
    " 06eb-06ec 0730 0732-0733 0735-0736 073a 073d 073f-0741 0743 0745 0747 0749-074a 07eb-07f1 07f3 0816-0819"
    " 081b-0822"
)


def _characters(ranges: str) -> Iterator[str]:
    for first, _, last in (each.partition("-") for each in ranges.split()):
        yield from map(chr, range(int(first, 16), int(last or first, 16) + 1))


NUMBERS: Final = tuple(_characters(_RANGES))
"""Enough for MAX_COLUMNS."""


def draws_placeholders(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is known to support placeholders.

    WezTerm and Konsole support the protocol without them. Multiplexers pass it on only if configured to.
    """
    if not MULTIPLEXERS.isdisjoint(environ):
        return False
    program = environ.get("TERM_PROGRAM")
    if environ.get("TERM") in TERMINALS or program in PROGRAMS:
        return True
    # Every process started from kitty inherits this variable, even other terminals; but most of those set TERM_PROGRAM.
    return "KITTY_WINDOW_ID" in environ and program is None


def through_tmux(sequence: str) -> str:
    """Wrap the sequence so that tmux passes it on to its terminal, if `allow-passthrough` is on."""
    escaped = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{escaped}\x1b\\"


class KittyTerminal:
    """The pictures that the terminal holds. Each is sent when one of its lines is first viewed."""

    def __init__(self, write: Callable[[str], None], *, is_in_tmux: bool = False) -> None:
        self._write = write
        self._is_in_tmux = is_in_tmux
        # Other programs in the same window number their pictures too, mostly from 1.
        self._ids = count(random.randrange(1 << 16, 1 << 23))
        self._held: dict[int, None] = {}
        """By id; the most recently viewed is last."""

    def new_id(self) -> int:
        """Return an id for a picture of one size. It fits into a color."""
        return next(self._ids)

    def hold(self, image_id: int, png: bytes, cells: Size) -> None:
        """Make the terminal hold this picture, to be shown with `cells` columns and rows."""
        if image_id not in self._held:
            self._send(*transmission(image_id, png), f"a=p,U=1,i={image_id},c={cells[0]},r={cells[1]},q=2")
        self._held.pop(image_id, None)
        self._held[image_id] = None
        if len(self._held) > MAX_HELD:
            self._release(next(iter(self._held)))

    def forget(self) -> None:
        """Note that the terminal has lost all pictures, as it does when it switches screens."""
        self._held.clear()

    def release_all(self) -> None:
        for image_id in list(self._held):
            self._release(image_id)

    def _release(self, image_id: int) -> None:
        del self._held[image_id]
        self._send(f"a=d,d=I,i={image_id},q=2")

    def _send(self, *commands: str) -> None:
        sequences = (f"\x1b_G{command}\x1b\\" for command in commands)
        # All in one write: a frame in between would split the picture's data.
        self._write("".join(map(through_tmux, sequences) if self._is_in_tmux else sequences))


def transmission(image_id: int, png: bytes) -> Iterator[str]:
    """The commands that send a picture to the terminal without showing it and without asking for a response."""
    data = b64encode(png).decode("ascii")
    for start in range(0, len(data), CHUNK):
        keys = "" if start else f"a=t,f=100,i={image_id},"
        yield f"{keys}q=2,m={int(start + CHUNK < len(data))};{data[start : start + CHUNK]}"


def kitty_picture(terminal: KittyTerminal, data: str) -> Picture:
    """Decode a base64 picture that the terminal draws. Takes up to a second, so don't call it in the event loop.

    The PNG sent is encoded here, so the terminal never decodes an agent's bytes. Raises: NotAPicture.
    """
    size, pixels = decode(data, (MAX_COLUMNS * CELL[0], MAX_ROWS * CELL[1]))
    png = BytesIO()
    pixels.save(png, "PNG")
    return Picture(size, lambda width, _: _Placeholders(terminal, png.getvalue(), cells_of(size, width)[1]))


def cells_of(size: Size, width: int) -> tuple[Size, Size]:
    """How large a picture of this size is shown: in pixels, and in columns and rows."""
    pixels = fit(size, (width * CELL[0], MAX_ROWS * CELL[1]))
    return pixels, (-(-pixels[0] // CELL[0]), -(-pixels[1] // CELL[1]))


class _Placeholders(Lines):
    """Rows of placeholders. Viewing one of them sends the picture to the terminal."""

    def __init__(self, terminal: KittyTerminal, png: bytes, cells: Size) -> None:
        self._terminal = terminal
        self._png = png
        self._cells = cells
        self._id = terminal.new_id()
        self._rows = Rows(partial(self._row, row) for row in range(cells[1]))

    def __len__(self) -> int:
        return len(self._rows)

    def _some(self, indexes: range) -> list[Strip]:
        self._terminal.hold(self._id, self._png, self._cells)
        return [self._rows[at] for at in indexes]

    def _row(self, row: int) -> Strip:
        style = Style.from_color(Color.from_rgb(self._id >> 16, self._id >> 8 & 0xFF, self._id & 0xFF))
        text = "".join(PLACEHOLDER + NUMBERS[row] + NUMBERS[column] for column in range(self._cells[0]))
        return Strip([Segment(text, style)], self._cells[0])
