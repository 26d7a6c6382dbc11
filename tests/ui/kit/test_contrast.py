"""Text is readable in both of our themes: WCAG 2 AA, on every background."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import NamedTuple

import pytest
from rich.color import Color as RichColor
from rich.style import Style
from textual.pilot import Pilot
from textual.theme import Theme

from acp_tui.ui.kit.dialog import Frame
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.kit.themes import DARK, LIGHT, palette_for
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.rendering.palette import Palette
from support.scenes import SCENES, STATES
from support.screens import ScreenApp, new_session, rows, settled, show

TEXT = 4.5
DECORATION = 3.0
WORDLESS = {"quote_bar", "table_border", "rule"}
"""Styles that draw no words: bars, lines, and the scroll bar's handle."""
GROUNDS = ("code_block", "diff_added", "diff_removed")
"""Styles with their own background, on which others are drawn."""
OF_PROGRAMS = {"terminal", "terminals", "terminal_long"}
"""Scenes in which programs chose the colors."""
ALL = {name: scene for name, scene in {**SCENES, **STATES}.items() if name not in OF_PROGRAMS}
THEMES = pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
Rgb = tuple[int, int, int]


def _luminance(rgb: Rgb) -> float:
    parts = (part / 255 for part in rgb)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: Rgb, other: Rgb) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_as_wcag_does() -> None:
    assert _contrast((0, 0, 0), (255, 255, 255)) == 21
    assert round(_contrast((0x77, 0x77, 0x77), (255, 255, 255)), 2) == 4.48


def _rgb(color: RichColor | None) -> Rgb:
    assert color is not None
    return color.get_truecolor()


def _grounds(theme: Theme, palette: Palette) -> Iterator[Rgb]:
    for name in ("background", "surface"):
        yield _rgb(RichColor.parse(theme.to_color_system().generate()[name].lower()))
    for name in GROUNDS:
        yield _rgb(getattr(palette, name).bgcolor)


def _too_weak(theme: Theme) -> Iterator[str]:
    palette = palette_for(theme)
    grounds = tuple(_grounds(theme, palette))
    styles = {each.name: getattr(palette, each.name) for each in fields(palette)}
    for name, style in styles.items():
        if not isinstance(style, Style) or style.color is None:
            continue
        own = (_rgb(style.bgcolor),) if style.bgcolor is not None else grounds
        least, on = (DECORATION, grounds[:3]) if name in WORDLESS else (TEXT, own)
        for ground in on:
            found = _contrast(_rgb(style.color), ground)
            if found < least:
                yield f"{name} on {ground}: {found:.2f} < {least}"


@THEMES
def test_every_style_can_be_read_on_every_ground(theme: Theme) -> None:
    assert list(_too_weak(theme)) == []


@THEMES
def test_changed_words_stand_out_from_their_line(theme: Theme) -> None:
    palette = palette_for(theme)
    for name in ("added", "removed"):
        line, word = getattr(palette, f"diff_{name}"), getattr(palette, f"diff_{name}_word")
        assert _contrast(_rgb(line.bgcolor), _rgb(word.bgcolor)) > 1.25


class Piece(NamedTuple):
    text: str
    ratio: float


def _pieces(pilot: Pilot[None]) -> Iterator[Piece]:
    """The words on the screen. Around a dialog everything is dimmed, because it isn't meant to be read then."""
    screen = pilot.app.screen
    frames = screen.query(Frame)
    region = frames.first().region if frames else screen.region
    for strip in rows(pilot)[region.y : region.bottom]:
        for text, style, _ in strip.crop(region.x, region.right):
            if style is not None and any(character.isalnum() for character in text):
                yield Piece(text, _contrast(_rgb(style.color), _rgb(style.bgcolor)))


@pytest.fixture(autouse=True)
def _in_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


async def test_everything_on_the_screen_can_be_read() -> None:
    app, themes = ScreenApp(theme=DARK.name), (DARK, LIGHT)
    async with app.run_test(size=(120, 60), notifications=True) as pilot:
        for name, (scene, keys) in ALL.items():
            await show(pilot, new_session(*scene()))
            app.screen.query_one(PromptInput).focus()
            await pilot.press(*keys)
            for theme in themes:
                app.theme = theme.name
                await settled(pilot)
                assert [piece for piece in _pieces(pilot) if piece.ratio < TEXT] == [], (name, theme.name)
            themes = themes[::-1]  # changing it costs more than drawing
            if len(app.screen_stack) > 1:
                await pilot.press("escape")


@THEMES
async def test_a_row_that_warns_can_be_read_under_the_cursor(theme: Theme) -> None:
    app = ScreenApp(theme=theme.name)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(Picker("Rows", [PickerRow(0, "Careful", "muted", needs_care=True)]))
        await settled(pilot)
        assert "Careful" in {piece.text.strip() for piece in _pieces(pilot)}
        assert [piece for piece in _pieces(pilot) if piece.ratio < TEXT] == []
