"""A frame's update shows the same as the whole frame would, in far fewer characters."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pyte
import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.geometry import Region, Size
from textual.strip import Strip

from acp_tui.ui.textual_gaps.shown_rows import ShownRows

WIDTH, HEIGHT = 60, 20
SIDE = 50
"""The first column to the right of the conversation."""


class Terminal:
    """A screen that receives frames relative to what it is known to show."""

    def __init__(self) -> None:
        self.shown = ShownRows()
        self._screen = pyte.Screen(WIDTH, HEIGHT)
        self._stream = pyte.Stream(self._screen)
        self._console = Console(color_system="truecolor", legacy_windows=False)

    def draw(self, update: CompositorUpdate, height: int = HEIGHT) -> str:
        lean = self.shown.lean(update, Size(WIDTH, height))
        assert isinstance(lean, CompositorUpdate)
        sent = lean.render_segments(self._console)
        self._stream.feed(sent)
        return sent

    @property
    def rows(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]


def strip_of(text: str, width: int) -> Strip:
    return Strip([Segment(text.ljust(width), Style(bold=text[:1].isupper()))], width)


def layout(rows: Sequence[str], side: str = "") -> LayoutUpdate:
    strips = [[strip_of(row, SIDE), strip_of(side, WIDTH - SIDE)] for row in rows]
    return LayoutUpdate(strips, Region(0, 0, WIDTH, HEIGHT))


def chops(rows: Mapping[int, str], *, x: int = 0, end: int = SIDE) -> ChopsUpdate:
    lines: list[dict[int, Strip | None]] = [{0: None, SIDE: None} for _ in range(HEIGHT)]
    for y, row in rows.items():
        lines[y] = {0: None, x: strip_of(row, end - x), SIDE: None}
    ends = [[*sorted({*line} - {0}), WIDTH] for line in lines]
    return ChopsUpdate(lines, [(y, x, end) for y in rows], ends)


def lines_from(first: int, count: int = HEIGHT) -> list[str]:
    return [f"line {number} of a long answer" for number in range(first, first + count)]


def test_rows_that_moved_up_are_scrolled() -> None:
    terminal = Terminal()
    terminal.draw(layout(lines_from(0), "side"))

    sent = terminal.draw(chops(dict(enumerate(lines_from(1)))))

    assert "\x1b[1;20r" in sent
    assert terminal.rows == [f"{line:<{SIDE}}side" for line in lines_from(1)]


def test_the_side_stays_where_it_is() -> None:
    terminal = Terminal()
    sides = [f"side {y}" for y in range(HEIGHT)]
    strips = [[strip_of(row, SIDE), strip_of(side, 10)] for row, side in zip(lines_from(0), sides, strict=True)]
    terminal.draw(LayoutUpdate(strips, Region(0, 0, WIDTH, HEIGHT)))

    terminal.draw(chops(dict(enumerate(lines_from(1)))))

    assert terminal.rows == [f"{row:<{SIDE}}{side}" for row, side in zip(lines_from(1), sides, strict=True)]


@pytest.mark.parametrize("step", [1, 3, -1, -3])
def test_a_frame_that_scrolls_sends_the_rows_that_are_new(step: int) -> None:
    terminal = Terminal()
    terminal.draw(layout(lines_from(10)))

    sent = terminal.draw(chops(dict(enumerate(lines_from(10 + step, 15)))))

    assert sent.count("of a long answer") == abs(step)
    assert terminal.rows == [*lines_from(10 + step, 15), *lines_from(25, 5)]


def test_a_row_that_stays_is_not_sent_again() -> None:
    terminal = Terminal()
    terminal.draw(layout(lines_from(0)))

    sent = terminal.draw(chops({**dict(enumerate(lines_from(0))), 5: "Another"}))

    assert "Another" in sent
    assert "of a long answer" not in sent


def test_all_is_sent_to_a_terminal_that_shows_something_else() -> None:
    terminal = Terminal()
    terminal.draw(layout(lines_from(0)))
    terminal.shown.forget()

    sent = terminal.draw(chops(dict(enumerate(lines_from(0)))))

    assert sent.count("of a long answer") == HEIGHT


def test_rows_below_the_size_that_is_known_are_sent_too() -> None:
    terminal = Terminal()

    terminal.draw(layout(lines_from(0)), HEIGHT - 5)
    terminal.draw(chops(dict(enumerate(lines_from(1)))), HEIGHT - 5)

    assert terminal.rows == lines_from(1)


def test_a_layout_is_sent_whole() -> None:
    terminal = Terminal()
    terminal.draw(layout(lines_from(0)))

    assert terminal.draw(layout(lines_from(0))).count("of a long answer") == HEIGHT


@pytest.mark.parametrize("seed", range(20))
def test_any_frames_show_what_they_would_show_without_it(seed: int) -> None:
    chance, terminal = random.Random(seed), Terminal()
    wanted = [f"{row:<{WIDTH}}" for row in lines_from(0)]
    terminal.draw(layout([row[:SIDE] for row in wanted]))
    for frame in range(100):
        match chance.randrange(5):
            case 0:  # something scrolls
                first, last = sorted(chance.sample(range(HEIGHT + 1), 2))
                step = chance.choice([-4, -2, -1, 1, 1, 1, 2, 5])
                part = [row[:SIDE] for row in wanted]
                new = {y: part[y + step] if first <= y + step < last else f"new {frame}" for y in range(first, last)}
            case 1:  # some rows change
                new = {y: chance.choice(["", "Same", f"row {frame}"]) for y in chance.sample(range(HEIGHT), 4)}
            case 2:  # a part of some rows
                x, end = sorted(chance.sample(range(SIDE), 2))
                for y in chance.sample(range(HEIGHT), 3):
                    text = f"part {frame}"[: end - x]
                    terminal.draw(chops({y: text}, x=x, end=end))
                    wanted[y] = wanted[y][:x] + text.ljust(end - x) + wanted[y][end:]
                new = {}
            case 3:
                terminal.shown.forget()
                new = {}
            case _:
                new = {y: wanted[y][:SIDE] for y in range(HEIGHT)}
        if new:
            terminal.draw(chops(new))
        for y, row in new.items():
            wanted[y] = row.ljust(SIDE) + wanted[y][SIDE:]
        assert terminal.rows == [row.rstrip() for row in wanted]


def test_a_style_is_sent_once_for_neighbors_that_share_it() -> None:
    styles = [Style.parse("bold #a0b0c0 on #101820"), Style.parse("#a0b0c0 on #101820"), Style.null()]
    styles += [Style(meta={"@click": "a"}) + styles[1], Style(link="https://example.org") + styles[1]]
    rng = random.Random(5)
    segments = [Segment(rng.choice(("ab", "  ", "m1m", "[0m")), rng.choice(styles)) for _ in range(200)]
    cells = sum(segment.cell_length for segment in segments)
    screens = [pyte.Screen(cells, 1) for _ in range(2)]
    whole, lean = (pyte.Stream(screen) for screen in screens)
    console = Console(color_system="truecolor", legacy_windows=False)
    strip = Strip(segments, cells)

    update = ShownRows().lean(LayoutUpdate([[strip]], Region(0, 0, cells, 1)), Size(cells, 1))
    assert isinstance(update, CompositorUpdate)
    sent = update.render_segments(console)
    lean.feed(sent)
    whole.feed(strip.render(console))

    assert screens[0].buffer[0] == screens[1].buffer[0]
    assert len(sent) < len(strip.render(console))
    assert "ab  " in ShownRows().written(
        LayoutUpdate([[Strip([Segment("ab", styles[1]), Segment("  ", styles[3])], 4)]], Region(0, 0, 4, 1)), console
    )
