"""Pictures as sixel graphics: which pixels a terminal gets for which cells, and for which it gets none."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from typing import cast

import pytest
from PIL import Image, ImageDraw
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI
from textual.color import Color as TextualColor
from textual.renderables.tint import Tint
from textual.strip import Strip

from acp_tui.client.desktop import draws_sixel
from acp_tui.ui.rendering.kitty import PLACEHOLDER
from acp_tui.ui.rendering.pictures import MAX_ROWS, Picture, Size
from acp_tui.ui.rendering.sixel import COLORS, MAX_COLUMNS, encoded, sixel_picture, with_graphics
from acp_tui.ui.textual_gaps.driver import FramePacer
from support.scenes import RED
from support.scenes import encoded as data_of
from support.waiting import until

CELL = (10, 20)
GROUND = Style.parse("on #102030")
GRAPHIC = re.compile('\x1bP0;1q"1;1;(\\d+);(\\d+)([^\x1b]*)\x1b\\\\')
COMMAND = re.compile(r"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|([$-])")

Pixels = dict[tuple[int, int], tuple[int, int, int]]
"""Levels of red, green, and blue, up to 100, by place."""


def pixels_of(graphic: str) -> Pixels:
    """What a terminal draws; fails if that is more than the size that was told."""
    found = GRAPHIC.fullmatch(graphic)
    assert found is not None, graphic[:80]
    width, height, commands = int(found[1]), int(found[2]), found[3]
    colors: dict[int, tuple[int, int, int]] = {}
    pixels: Pixels = {}
    x = y = color = end = 0
    for command in COMMAND.finditer(commands):
        assert command.start() == end, commands[end : end + 20]
        end = command.end()
        number, red, green, blue, chosen, count, repeated, single, move = command.groups()
        if number is not None:
            colors[int(number)] = (int(red), int(green), int(blue))
        elif chosen is not None:
            color = int(chosen)
        elif move is not None:
            x, y = 0, y + 6 * (move == "-")
        else:
            after = x + int(count or 1)
            bits = [bit for bit in range(6) if ord(repeated or single) - ord("?") >> bit & 1]
            pixels.update({(at, y + bit): colors[color] for at in range(x, after) for bit in bits})
            x = after
    assert end == len(commands)
    assert all(x < width and y < height for x, y in pixels)
    return pixels


def percents(color: Sequence[int]) -> tuple[int, ...]:
    return tuple(round(level * 100 / 255) for level in color)


class Screen:
    """Draws pictures in cells of a size, and decodes what is sent for a strip."""

    def __init__(self, cell: Size | None = CELL) -> None:
        self.cell = cell
        self.encoded = 0
        self.pictures: list[Picture] = []
        self._console = Console(color_system="truecolor", legacy_windows=False)

    def cell_size(self) -> Size | None:
        return self.cell

    def send_missed_later(self) -> None:
        self.encoded += 1

    def picture(self, image: Image.Image) -> Picture:
        self.pictures.append(sixel_picture(cast(FramePacer, self), data_of(image)))
        return self.pictures[-1]

    def sent(self, strip: Strip) -> str | None:
        return with_graphics(strip, self._console)

    async def finally_sent(self, strip: Strip) -> str:
        """What is sent for a strip that has graphics, once they are encoded."""
        await until(lambda: self.sent(strip) != "", lambda: asyncio.sleep(0))
        sent = self.sent(strip)
        assert sent
        return sent

    async def pixels(self, strip: Strip) -> Pixels:
        """The pixels drawn in a row, from the left edge of the screen."""
        assert self.cell is not None
        pixels: Pixels = {}
        column = saved = 0
        for graphic, save, restore, ahead, text in re.findall(
            "(\x1bP[^\x1b]*\x1b\\\\)|(\x1b7)|(\x1b8)|\x1b\\[(\\d+)C|\x1b\\[[\\d;]*m|([^\x1b]+)",
            await self.finally_sent(strip),
        ):
            if graphic:
                left = column * self.cell[0]
                drawn = pixels_of(graphic)
                assert all(y < self.cell[1] for _, y in drawn), "below its row"
                pixels.update({(left + x, y): color for (x, y), color in drawn.items()})
            saved = column if save else saved
            column = saved if restore else column + int(ahead or 0) + len(text)
        assert column == strip.cell_length, "the cursor isn't behind the row"
        return pixels


def shown(strip: Strip) -> Strip:
    """The strip as a widget paints it: on its background."""
    return Strip(Segment(text, GROUND + (style or Style.null())) for text, style, _ in strip)


def noise(rng: random.Random, size: Size) -> Image.Image:
    """A few colors without any order, some of them clear."""
    colors = [(*(rng.randrange(256) for _ in range(3)), rng.choice([0, 255, 255])) for _ in range(rng.randint(1, 40))]
    image = Image.new("RGBA", size)
    image.putdata([rng.choice(colors) for _ in range(size[0] * size[1])])
    return image


@pytest.mark.parametrize("seed", range(20))
def test_a_terminal_draws_the_pixels_that_were_encoded(seed: int) -> None:
    rng = random.Random(seed)
    size = (rng.randint(1, 90), rng.randint(1, 40))
    image = noise(rng, size).convert("RGB").quantize(COLORS)
    clear = {(rng.randrange(size[0]), rng.randrange(size[1])) for _ in range(rng.choice([0, 50]))}
    for place in clear:
        image.putpixel(place, COLORS)
    colors = image.convert("RGB")
    wanted = {
        (x, y): percents(cast("Sequence[int]", colors.getpixel((x, y))))
        for x in range(size[0])
        for y in range(size[1])
        if (x, y) not in clear
    }
    assert pixels_of(encoded(image)) == wanted


@pytest.mark.parametrize("seed", range(12))
async def test_a_part_of_a_row_has_the_pixels_that_it_has_in_the_whole_picture(seed: int) -> None:
    rng = random.Random(seed)
    screen = Screen((rng.randint(6, 13), rng.randint(11, 25)))
    columns = rng.randint(1, 2 * MAX_COLUMNS)
    lines = screen.picture(noise(rng, (10 * columns - rng.randrange(10), rng.randint(21, 60)))).lines(columns)
    row = rng.randrange(len(lines))
    whole = await screen.pixels(shown(lines[row]))
    left = rng.randrange(columns)
    right = rng.randint(left + 1, columns)
    before, after = Strip([Segment("text " * 3, GROUND)]), Strip([Segment("x", GROUND)])
    part = Strip.join([before, shown(lines[row]).crop(left, right), after])
    width = cast(Size, screen.cell)[0]
    assert await screen.pixels(part) == {
        (x + (15 - left) * width, y): color for (x, y), color in whole.items() if left * width <= x < right * width
    }


async def test_a_picture_is_drawn_pixel_by_pixel() -> None:
    image = Image.new("RGB", (100, 60), RED)
    ImageDraw.Draw(image).line((0, 0, 99, 59), (0, 0, 255))
    screen = Screen()
    for y, line in enumerate(screen.picture(image).lines(80)):
        pixels = await screen.pixels(shown(line))
        assert pixels == {
            (x, row): percents(cast("Sequence[int]", image.getpixel((x, 20 * y + row))))
            for x in range(100)
            for row in range(20)
        }


async def test_cells_of_another_size_are_filled_by_the_same_picture() -> None:
    screen = Screen()
    (line,) = screen.picture(Image.new("RGB", (30, 20), RED)).lines(80)
    assert set(await screen.pixels(shown(line))) == {(x, y) for x in range(30) for y in range(20)}
    screen.cell = (14, 28)
    assert set(await screen.pixels(shown(line))) == {(x, y) for x in range(42) for y in range(28)}


async def test_until_a_row_is_encoded_it_is_blocks_and_then_its_terminal_is_told() -> None:
    screen = Screen()
    lines = screen.picture(Image.new("RGB", (100, 40), RED)).lines(80)
    assert [line.text for line in lines] == ["▀" * 9 + "█", "█" * 10]
    assert screen.sent(shown(lines[0])) == ""
    await until(lambda: screen.encoded, lambda: asyncio.sleep(0))
    assert screen.sent(shown(lines[0]))
    assert screen.encoded == 1


async def test_the_background_is_seen_where_a_picture_is_clear() -> None:
    image = Image.new("RGBA", (40, 20))
    image.paste((*RED, 255), (0, 0, 15, 20))
    screen = Screen()
    (line,) = screen.picture(image).lines(80)
    sent = await screen.finally_sent(shown(line))
    assert set(await screen.pixels(shown(line))) == {(x, y) for x in range(15) for y in range(20)}
    assert sent.startswith("\x1b7\x1b[48;2;16;32;48m    \x1b[0m\x1b8")


def _red_line() -> tuple[Screen, Strip]:
    screen = Screen()
    return screen, shown(screen.picture(Image.new("RGB", (40, 20), RED)).lines(80)[0])


async def test_what_a_dialog_dims_is_no_graphic() -> None:
    screen, line = _red_line()
    assert await screen.finally_sent(line)
    dimmed = Strip(Tint.process_segments(line, TextualColor(0, 0, 0, 0.5), DIMMED_MONOKAI))
    assert screen.sent(dimmed) is None


async def test_a_terminal_that_tells_no_size_gets_no_graphic() -> None:
    screen, line = _red_line()
    screen.cell = None
    assert screen.sent(line) is None


async def test_no_text_becomes_a_graphic() -> None:
    screen, line = _red_line()
    assert await screen.finally_sent(line)
    red = Style.from_color(Color.from_rgb(*RED), Color.from_rgb(*RED))
    hostile: list[Segment] = [
        Segment(line.text, red),
        Segment(PLACEHOLDER * 4, Style.from_color(Color.from_rgb(0, 0, 1))),
        *(Segment(text, Style(color=style.color, bgcolor=style.bgcolor)) for text, style, _ in line if style),
        Segment("▀", Style(link="place in a picture")),
    ]
    assert screen.sent(Strip(hostile)) is None


async def test_a_picture_that_is_gone_is_drawn_no_more() -> None:
    screen, line = _red_line()
    assert await screen.finally_sent(line)
    screen.pictures.clear()
    assert screen.sent(line) is None


def test_a_picture_is_as_large_as_in_other_terminals() -> None:
    lines = Screen().picture(Image.new("RGB", (2_000, 2_000), RED)).lines(80)
    assert (lines[0].cell_length, len(lines)) == (40, MAX_ROWS)


@pytest.mark.parametrize(
    ("answer", "is_drawn"),
    [
        ("\x1b[?63;1;2;4;6;9;15;16;22;28c", True),
        ("\x1b[?65;4c", True),
        ("\x1b[?62;22c", False),
        ("\x1b[?4c", False),
        ("\x1b[?62;14;44c", False),
        ("", False),
    ],
)
def test_a_terminal_says_that_it_draws_graphics(answer: str, is_drawn: bool) -> None:
    assert draws_sixel(answer) is is_drawn
