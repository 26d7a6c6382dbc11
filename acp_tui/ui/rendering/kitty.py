"""Owns pictures in terminals that draw them by kitty's graphics protocol, in place of text; asks the terminal nothing.

A picture is sent once. Where it is to be seen stand cells with U+10EEEE, which name its id by their colour, and their
place in it by two combining characters: they scroll, are cut and are covered as text is ("Unicode placeholders" in
kitty's documentation).
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

from acp_tui.ui.rendering.pictures import MAX_COLUMNS, MAX_ROWS, Picture, Size, decode, fit
from acp_tui.ui.rendering.wrapping import Lines, Rows

TERMINALS: Final = frozenset({"xterm-kitty", "xterm-ghostty"})
PROGRAMS: Final = frozenset({"kitty", "ghostty"})
MULTIPLEXERS: Final = ("TMUX", "STY", "ZELLIJ")

CELL: Final = (10, 20)
"""Pixels that a cell is taken to have: what is smaller is shown in its own size, and more detail is not sent."""
MAX_HELD: Final = 100
"""Pictures that the terminal keeps for us; kitty has room for about 160 of the largest."""
CHUNK: Final = 4_096
"""Characters in one escape sequence, by the protocol."""
PLACEHOLDER: Final = "\U0010eeee"
# The combining characters that stand for 0, 1, 2 and so on, in the protocol's order.
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
    """Whether the terminal is known to draw pictures in place of text.

    WezTerm and Konsole know the protocol without this part of it; multiplexers pass it on only when told to.
    """
    if any(name in environ for name in MULTIPLEXERS):
        return False
    program = environ.get("TERM_PROGRAM")
    if environ.get("TERM") in TERMINALS or program in PROGRAMS:
        return True
    # Inherited by whatever is started from kitty, other terminals too; those mostly give their name.
    return "KITTY_WINDOW_ID" in environ and program is None


def through_tmux(sequence: str) -> str:
    """The sequence as tmux passes it on to its terminal, where `allow-passthrough` is on."""
    escaped = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{escaped}\x1b\\"


class KittyTerminal:
    """The pictures that the terminal holds: each is sent when a line of it is first looked at."""

    def __init__(self, write: Callable[[str], None], *, is_in_tmux: bool = False) -> None:
        self._write = write
        self._is_in_tmux = is_in_tmux
        # Other programs in the same window number their pictures too, mostly from 1.
        self._ids = count(random.randrange(1 << 16, 1 << 23))
        self._held: dict[int, None] = {}
        """By id, the one last looked at at the end."""

    def new_id(self) -> int:
        """An id for a picture of one size; it fits into a colour."""
        return next(self._ids)

    def hold(self, image_id: int, png: bytes, cells: Size) -> None:
        """Have the terminal hold this picture, to be shown on so many columns and rows."""
        if image_id not in self._held:
            self._send(*transmission(image_id, png), f"a=p,U=1,i={image_id},c={cells[0]},r={cells[1]},q=2")
        self._held.pop(image_id, None)
        self._held[image_id] = None
        if len(self._held) > MAX_HELD:
            self._release(next(iter(self._held)))

    def forget(self) -> None:
        """The terminal has lost them: it does when it shows another screen."""
        self._held.clear()

    def release_all(self) -> None:
        """Have the terminal free what it holds for us."""
        for image_id in list(self._held):
            self._release(image_id)

    def _release(self, image_id: int) -> None:
        del self._held[image_id]
        self._send(f"a=d,d=I,i={image_id},q=2")

    def _send(self, *commands: str) -> None:
        sequences = (f"\x1b_G{command}\x1b\\" for command in commands)
        # At once: a frame in between would split the picture's data.
        self._write("".join(map(through_tmux, sequences) if self._is_in_tmux else sequences))


def transmission(image_id: int, png: bytes) -> Iterator[str]:
    """The commands that bring a picture to the terminal without showing it, and without an answer to any of them."""
    data = b64encode(png).decode("ascii")
    for start in range(0, len(data), CHUNK):
        keys = "" if start else f"a=t,f=100,i={image_id},"
        yield f"{keys}q=2,m={int(start + CHUNK < len(data))};{data[start : start + CHUNK]}"


def kitty_picture(terminal: KittyTerminal, data: str) -> Picture:
    """Decode a picture from base64, to be drawn by the terminal. Takes up to a second: not for the event loop.

    What is sent is made here: the terminal never gets to decode an agent's bytes.

    Raises: NotAPicture.
    """
    size, pixels = decode(data, (MAX_COLUMNS * CELL[0], MAX_ROWS * CELL[1]))
    png = BytesIO()
    pixels.save(png, "PNG")
    return Picture(size, lambda width: _Placeholders(terminal, png.getvalue(), _cells(size, width)))


def _cells(size: Size, width: int) -> Size:
    """Columns and rows for a picture of this size in pixels."""
    pixels = fit(size, (width * CELL[0], MAX_ROWS * CELL[1]))
    return -(-pixels[0] // CELL[0]), -(-pixels[1] // CELL[1])


class _Placeholders(Lines):
    """Rows of placeholders; looking at one of them brings the picture to the terminal."""

    def __init__(self, terminal: KittyTerminal, png: bytes, cells: Size) -> None:
        self._terminal = terminal
        self._png = png
        self._cells = cells
        self._id = terminal.new_id()
        self._rows = Rows(partial(self._row, row) for row in range(cells[1]))

    def __len__(self) -> int:
        return len(self._rows)

    def _line(self, at: int) -> Strip:
        return self._some(range(at, at + 1))[0]

    def _some(self, indexes: range) -> list[Strip]:
        self._terminal.hold(self._id, self._png, self._cells)
        return [self._rows[at] for at in indexes]

    def _row(self, row: int) -> Strip:
        style = Style.from_color(Color.from_rgb(self._id >> 16, self._id >> 8 & 0xFF, self._id & 0xFF))
        text = "".join(PLACEHOLDER + NUMBERS[row] + NUMBERS[column] for column in range(self._cells[0]))
        return Strip([Segment(text, style)], self._cells[0])
