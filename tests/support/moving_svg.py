"""An animated SVG of painted screens, for README: it plays in browsers without a script.

Each row is drawn once for each time span in which it stays the same. With reduced motion, the last frame shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, TypeAlias

from rich.cells import cell_len
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.app import App
from textual.color import Color
from textual.strip import Strip

from acp_tui.ui.base.app import FONTS

SVG_CELL: Final = 12.2
ROW: Final = 24.4
BASELINE: Final = 18.6
MARGIN: Final = 12

Span: TypeAlias = tuple[float, float]
"""Start and end in seconds."""


@dataclass(frozen=True, slots=True)
class MovingFrame:
    """A screen, and when it appears."""

    at_s: float
    strips: Sequence[Strip]


def moving_svg(frames: Sequence[MovingFrame], size: tuple[int, int], theme: TerminalTheme, end_s: float) -> str:
    """Return the animated picture; `end_s` is when it starts over."""
    columns, rows = size
    width, height = columns * SVG_CELL + 2 * MARGIN, rows * ROW + 2 * MARGIN
    classes: dict[str, str] = {}
    spans: defaultdict[Span, list[str]] = defaultdict(list)
    for y in range(rows):
        for span, strip in _stretches(frames, y, end_s):
            spans[span].append("".join(_drawn(strip, y, theme, classes)))
    groups = []
    for index, (span, drawn) in enumerate(spans.items()):
        moves = "" if span == (0.0, end_s) else f' class="t{index}"'
        groups.append(f"<g{moves}>{''.join(drawn)}</g>")
    style = "\n".join((*_style_sheet(classes), *_animations(list(spans), end_s)))
    background = theme.background_color.hex
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">\n<style>\n{style}\n</style>\n'
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{background}"/>\n'
        f'<g transform="translate({MARGIN},{MARGIN})">\n' + "\n".join(groups) + "\n</g>\n</svg>\n"
    )


def _stretches(frames: Sequence[MovingFrame], y: int, end_s: float) -> Iterator[tuple[Span, Strip]]:
    """The successive contents of a row, each with its time span."""
    since_s, strip = 0.0, frames[0].strips[y]
    for frame in frames[1:]:
        if frame.strips[y] != strip:
            yield (since_s, frame.at_s), strip
            since_s, strip = frame.at_s, frame.strips[y]
    yield (since_s, end_s), strip


def _drawn(strip: Strip, y: int, theme: TerminalTheme, classes: dict[str, str]) -> Iterator[str]:
    x, background = 0, theme.background_color.hex
    for text, style, _ in strip:
        cells, style = cell_len(text), style or Style()
        fill, ink, look = _colors(style, theme)
        left, width = x * SVG_CELL, cells * SVG_CELL
        if fill != background:
            yield f'<rect x="{left:g}" y="{y * ROW:g}" width="{width:g}" height="{ROW + 0.3:g}" fill="{fill}"/>'
        if visible := text.strip():
            start = left + cell_len(text[: len(text) - len(text.lstrip())]) * SVG_CELL
            name = classes.setdefault(f"fill:{ink}{look}", f"c{len(classes)}")
            length, base = cell_len(visible) * SVG_CELL, y * ROW + BASELINE
            content = escape(visible, quote=False).replace(" ", "\N{NO-BREAK SPACE}")
            yield f'<text class="{name}" x="{start:g}" y="{base:g}" textLength="{length:g}">{content}</text>'
        x += cells


def _colors(style: Style, theme: TerminalTheme) -> tuple[str, str, str]:
    """The background color, the text color, and further text styles, as CSS."""
    ink = theme.foreground_color if style.color is None else style.color.get_truecolor(theme)
    fill = theme.background_color if style.bgcolor is None else style.bgcolor.get_truecolor(theme)
    if style.reverse:
        ink, fill = fill, ink
    look = ";font-weight:bold" if style.bold else ""
    look += ";font-style:italic" if style.italic else ""
    look += ";text-decoration:underline" if style.underline else ""
    look += ";text-decoration:line-through" if style.strike else ""
    return fill.hex, ink.hex, look


def _style_sheet(classes: dict[str, str]) -> Iterator[str]:
    yield f"text{{font:20px {FONTS};white-space:pre}}"
    yield from (f".{name}{{{css}}}" for css, name in classes.items())


def _animations(spans: Sequence[Span], end_s: float) -> Iterator[str]:
    for index, (start_s, stop_s) in enumerate(spans):
        if (start_s, stop_s) == (0.0, end_s):
            continue
        hidden, visible = "visibility:hidden", "visibility:visible"
        start, stop = (f"{100 * at_s / end_s:.4g}%" for at_s in (start_s, stop_s))
        before = "" if start == "0%" else f"0%{{{hidden}}}"
        behind = "" if stop_s == end_s else f"{stop}{{{hidden}}}"
        last = visible if stop_s == end_s else hidden
        yield f"@keyframes k{index}{{{before}{start}{{{visible}}}{behind}}}"
        yield f".t{index}{{{last};animation:k{index} {end_s:g}s step-end infinite}}"
    yield "@media(prefers-reduced-motion:reduce){g{animation:none!important}}"


def colors_of(app: App[object]) -> TerminalTheme:
    """The color values of the app's theme, with the screen's background."""
    background = Color.parse(app.theme_variables["background"]).rgb
    foreground = Color.parse(app.theme_variables["foreground"]).rgb
    ansi = app.ansi_theme.ansi_colors
    return TerminalTheme(background, foreground, [ansi[number] for number in range(16)])
