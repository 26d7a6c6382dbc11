"""The whole screen without colors, motion, or Unicode."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import pytest
from textual.strip import Strip

from acp_tui.cli import screen
from acp_tui.client.settings.settings import Appearance
from acp_tui.ui.kit.row_list import RowList
from acp_tui.ui.kit.themes import ANSI_DARK, ANSI_LIGHT, DARK, LIGHT, theme_for
from acp_tui.ui.rendering.ascii import STAND_INS
from acp_tui.ui.rendering.wrapping import width_cells
from support.folding import agent
from support.scenes import SCENES, STATES
from support.screens import Page, ScreenApp, new_session, open_page, rows, settled, show

LETTERS = set("ü")
"""Non-ASCII text in the scenes."""
UTF8 = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}


class LookingApp(ScreenApp):
    """A terminal with the given looks."""

    def __init__(self, appearance: Appearance) -> None:
        super().__init__()
        self.looks.use(appearance)


@pytest.fixture(autouse=True)
def _in_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


# The theme


@pytest.mark.parametrize(
    ("shade", "environ", "theme"),
    [
        (None, {"TERM": "xterm-256color"}, DARK.name),
        ("dark", {"TERM": "xterm", "COLORTERM": "truecolor"}, DARK.name),
        ("light", {"TERM": "xterm", "COLORTERM": "truecolor"}, LIGHT.name),
        ("dark", {"TERM": "xterm"}, ANSI_DARK),
        ("light", {"TERM": "linux"}, ANSI_LIGHT),
    ],
)
def test_the_theme_fits_the_terminal(shade: str | None, environ: dict[str, str], theme: str) -> None:
    assert theme_for(shade, environ) == theme  # type: ignore[arg-type]


def _fitted(appearance: Appearance, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Appearance:
    monkeypatch.setattr("os.environ", environ)
    monkeypatch.setattr(screen, "ask_terminal", lambda _: b"\x1b]11;rgb:ff/ff/ff\x07")
    return screen.fitted(appearance)


def test_what_is_not_set_is_made_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _fitted(Appearance(), UTF8, monkeypatch) == Appearance(LIGHT.name)
    assert _fitted(Appearance(), {**UTF8, "LC_ALL": "C"}, monkeypatch).ascii


def test_what_is_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    appearance = Appearance("nord", reduced_motion=True, ascii=True)
    assert _fitted(appearance, UTF8, monkeypatch) == appearance


def test_the_terminal_is_asked_before_the_screen_is_loaded() -> None:
    code = "import sys, acp_tui.cli.screen; print('textual' in sys.modules)"
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == "False"


# No colors


async def _open(page: Page, scene: str) -> None:
    updates, keys = {**SCENES, **STATES}[scene]
    await page.apply(*updates())
    await page.press(*keys)


def _colors(strips: Iterable[Strip]) -> set[str]:
    return {
        color.name
        for strip in strips
        for segment in strip
        if segment.style is not None
        for color in (segment.style.color, segment.style.bgcolor)
        if color is not None and not color.is_default
    }


@pytest.mark.parametrize("scene", ["streaming", "permission", "diffs", "help", "terminals"])
async def test_with_no_color_there_are_no_colors(scene: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_page(theme=LIGHT.name) as page:
        await _open(page, scene)
        assert _colors(rows(page.pilot)) == set()


async def test_an_empty_no_color_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    async with open_page() as page:
        assert len(_colors(rows(page.pilot))) > 2


async def test_without_colors_the_cursor_of_the_palette_is_told_by_attributes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_page() as page:
        await page.press("ctrl+p")
        rows = page.pilot.app.screen.query_one(RowList)
        await page.until(lambda: len(rows.rows) > 1)
        await page.press("down")
        looks = {
            tuple((style.bold, style.underline, style.reverse) for _, style, _ in rows.render_line(y) if style)
            for y in range(rows.size.height)
        }
        assert len(looks) > 1


# No motion


def test_with_reduced_motion_nothing_is_animated() -> None:
    assert LookingApp(Appearance()).animation_level == "full"
    assert LookingApp(Appearance(reduced_motion=True)).animation_level == "none"


def test_the_environment_can_ask_for_reduced_motion_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    assert LookingApp(Appearance()).animation_level == "none"


# ASCII only


def test_every_stand_in_is_as_wide_as_what_it_stands_for() -> None:
    for characters, stand_in in STAND_INS.items():
        assert {width_cells(character) for character in characters} == {len(stand_in)}
        assert stand_in.isascii()


@pytest.mark.parametrize("scene", ["streaming", "permission", "failure", "tool_call_kinds", "plan_open", "help"])
async def test_lines_and_icons_are_drawn_in_ascii(scene: str) -> None:
    updates, keys = {**SCENES, **STATES}[scene]
    app = LookingApp(Appearance(ascii=True))
    async with app.run_test(size=(100, 60)) as pilot:
        await show(pilot, new_session(*updates()))
        await pilot.press(*keys)
        await settled(pilot)
        assert {character for strip in rows(pilot) for character in strip.text if ord(character) > 127} <= LETTERS
        assert {strip.cell_length for strip in rows(pilot)} == {100}


async def test_letters_stay_as_they_are() -> None:
    text = "Grüße, 你好 🙂"
    app = LookingApp(Appearance(ascii=True))
    async with app.run_test() as pilot:
        await show(pilot, new_session(agent(text)))
        assert any(text in strip.text for strip in rows(pilot))
