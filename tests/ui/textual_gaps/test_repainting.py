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


# Graphics over cells


class Graphics:
    """Draws rows of which the text begins with `Picture`, if they are ready."""

    def __init__(self, terminal: Terminal) -> None:
        terminal.shown.with_graphics = self
        self.is_ready = True

    def __call__(self, strip: Strip, _: Console) -> str | None:
        if not strip.text.startswith("Picture"):
            return None
        return f"<{strip.text.strip()}>".ljust(strip.cell_length) if self.is_ready else ""


def test_a_picture_is_text_until_its_graphics_are_ready() -> None:
    terminal = Terminal()
    graphics = Graphics(terminal)
    graphics.is_ready = False
    rows = [*lines_from(0, 5), "Picture 1", "Picture 2", *lines_from(5, 13)]
    terminal.draw(layout(rows))
    assert terminal.rows == rows
    assert terminal.shown.blurred == [5, 6]

    graphics.is_ready = True
    sent = terminal.draw(chops(dict(enumerate(rows))))

    assert sent.count("<Picture") == 2
    assert "of a long answer" not in sent
    assert not terminal.shown.blurred


def test_graphics_that_are_shown_are_not_sent_again_even_without_room() -> None:
    terminal = Terminal()
    Graphics(terminal)
    rows = ["Picture 1", *lines_from(0, 19)]
    terminal.draw(layout(rows))
    terminal.shown.room = 0

    sent = terminal.draw(chops({0: "Picture 1", 1: "Another"}))

    assert "Picture" not in sent
    assert terminal.rows[:2] == ["<Picture 1>", "Another"]
    assert not terminal.shown.lacks_room


def test_a_frame_sends_graphics_until_it_has_no_room() -> None:
    terminal = Terminal()
    Graphics(terminal)
    terminal.shown.room = SIDE + 1
    rows = [*(f"Picture {number}" for number in range(5)), *lines_from(0, 15)]
    sent = terminal.draw(layout(rows))
    assert sent.count("<Picture") == 2
    assert terminal.shown.graphics_sent == 2 * SIDE
    assert terminal.shown.lacks_room
    assert terminal.shown.blurred == [2, 3, 4]

    terminal.draw(chops({2: "Picture 2", 3: "a line", 4: "Picture 4"}))
    assert terminal.rows[:5] == ["<Picture 0>", "<Picture 1>", "<Picture 2>", "a line", "<Picture 4>"]
    assert not terminal.shown.lacks_room
    assert not terminal.shown.blurred


def test_nothing_is_scrolled_while_there_are_graphics() -> None:
    terminal = Terminal()
    Graphics(terminal)
    terminal.draw(layout(["Picture", *lines_from(0, 19)]))
    moved = dict(enumerate(lines_from(1, 19), 1))

    assert "\x1b[r" not in terminal.draw(chops(moved))
    assert terminal.rows == ["<Picture>", *lines_from(1, 19)]

    terminal.draw(chops({0: "line"}))
    assert "\x1b[r" in terminal.draw(chops(dict(enumerate(lines_from(2, 19), 1))))


def test_there_are_no_graphics_in_the_last_row_where_a_terminal_would_scroll() -> None:
    terminal = Terminal()
    Graphics(terminal)
    terminal.draw(layout([*lines_from(0, 18), "Picture", "Picture"]))
    assert terminal.rows[-2:] == ["<Picture>", "Picture"]
    assert not terminal.shown.blurred


@pytest.mark.parametrize("seed", range(20))
def test_what_is_shown_with_graphics_is_the_last_frame(seed: int) -> None:
    rng = random.Random(seed)
    terminal = Terminal()
    graphics = Graphics(terminal)
    rows = lines_from(0)
    terminal.draw(layout(rows))
    for _ in range(30):
        graphics.is_ready = rng.random() < 0.7
        terminal.shown.room = rng.choice([0, 1, 2 * SIDE, 1_000])
        changed = {
            y: rng.choice(["Picture", "line", f"line {y}", rows[(y + 1) % 20]])
            for y in range(HEIGHT)
            if rng.random() < 0.5
        }
        terminal.draw(chops(changed))
        rows = [changed.get(y, row) for y, row in enumerate(rows)]
        assert [row.strip("<>") for row in terminal.rows] == rows
    graphics.is_ready, terminal.shown.room = True, 10_000
    terminal.draw(chops({y: rows[y] for y in terminal.shown.blurred}))
    assert terminal.rows[:-1] == [f"<{row}>" if row == "Picture" else row for row in rows[:-1]]
