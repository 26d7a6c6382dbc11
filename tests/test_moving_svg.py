"""An animated SVG shows, at each time, the rows of that time's frame and no others."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.strip import Strip

from make_screenshots import MovingFrame, moving_svg

THEME = TerminalTheme((0, 0, 0), (255, 255, 255), [(index, 0, 0) for index in range(16)])
SVG = "{http://www.w3.org/2000/svg}"
END_S = 4.0


def frame(at_s: float, *rows: str | Strip) -> MovingFrame:
    strips = [row if isinstance(row, Strip) else Strip([Segment(row)]) for row in rows]
    return MovingFrame(at_s, strips)


def picture(*frames: MovingFrame) -> str:
    return moving_svg(frames, (20, len(frames[0].strips)), THEME, END_S)


def shown(svg: str, at_s: float) -> set[str]:
    """What the picture's animations show at that time."""
    (group,) = ElementTree.fromstring(svg).findall(f"{SVG}g")
    texts = set()
    for each in group:
        if is_visible(svg, each.get("class"), 100 * at_s / END_S):
            texts |= {"".join(text.itertext()).replace("\N{NO-BREAK SPACE}", " ") for text in each}
    return texts


def is_visible(svg: str, name: str | None, percent: float) -> bool:
    if name is None:
        return True
    (steps,) = re.findall(rf"@keyframes k{name[1:]}\{{(.*)\}}$", svg, re.MULTILINE)
    states = [(float(at), state) for at, state in re.findall(r"([\d.]+)%\{visibility:(\w+)\}", steps)]
    return [state for at, state in states if at <= percent][-1] == "visible"


def test_each_time_has_the_rows_of_its_frame() -> None:
    svg = picture(frame(0, "same", "one"), frame(1, "same", "two"), frame(3, "same", "one"))

    assert [shown(svg, at_s) for at_s in (0, 0.9, 1, 2.9, 3, 3.9)] == [
        {"same", "one"},
        {"same", "one"},
        {"same", "two"},
        {"same", "two"},
        {"same", "one"},
        {"same", "one"},
    ]


def test_a_row_that_stays_is_drawn_once() -> None:
    svg = picture(frame(0, "same", "one"), frame(1, "same", "two"))
    assert svg.count(">same<") == 1


def test_without_motion_the_last_frame_is_there() -> None:
    svg = picture(frame(0, "one"), frame(1, "two"))
    assert re.findall(r"^\.t(\d)\{visibility:(\w+)", svg, re.MULTILINE) == [("0", "hidden"), ("1", "visible")]
    assert "prefers-reduced-motion" in svg


def test_colors_looks_and_markup_are_drawn_as_text() -> None:
    style = Style(color="#102030", bgcolor="#405060", bold=True)
    svg = picture(frame(0, Strip([Segment("  <b>&", style)])))
    assert 'fill="#405060"' in svg
    assert "fill:#102030;font-weight:bold" in svg
    assert shown(svg, 0) >= {"<b>&"}
