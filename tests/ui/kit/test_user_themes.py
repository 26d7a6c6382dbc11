"""Themes from files: what they change, how mistakes are reported, and that no color hides text."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from acp_tui.ui.kit.themes import DARK, LIGHT, OWN_THEMES, TEXT_CONTRAST, contrast, theme_notes
from acp_tui.ui.kit.user_themes import GROUNDS, KEYS, InvalidTheme, UserThemes, theme_from
from support.folding import agent
from support.screens import Page, open_page


def _ground(page: Page) -> str:
    return page.pilot.app.screen.styles.background.hex


def test_what_a_file_leaves_out_is_as_in_ours() -> None:
    mine = theme_from("mine", 'background = "#000000"')
    assert (mine.background, mine.primary, mine.dark) == ("#000000", DARK.primary, True)
    assert theme_from("mine", "dark = false").foreground == LIGHT.foreground


@pytest.mark.parametrize("own", OWN_THEMES, ids=lambda theme: theme.name)
def test_our_own_colors_make_a_theme(own: object) -> None:
    colors = (f'{key} = "{getattr(own, key)}"' for key in KEYS)
    dark = f"dark = {str(own is DARK).lower()}"
    mine = theme_from("mine", "\n".join((*colors, dark)))
    assert [getattr(mine, key).lower() for key in KEYS] == [getattr(own, key).lower() for key in KEYS]


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("mine", 'primary = "nonsense"', "primary must be an opaque color"),
        ("mine", "primary = 3", "primary must be an opaque color"),
        ("mine", 'error = "#ff000080"', "error must be an opaque color"),
        ("mine", 'error = "ansi_red"', "error must be an opaque color"),
        ("mine", 'variables = { text = "red" }', "variables can't be set"),
        ("mine", 'dark = "no"', "dark must be true or false"),
        ("mine", "primary =", "at end of document"),
        ("acp-dark", "", "another theme already has this name"),
        ("a b", "", "its name"),
        # What would hide a question:
        ("mine", 'foreground = "#16171d"', "background is too close to foreground"),
        ("mine", 'surface = "#d5d9e5"', "surface is too close to foreground"),
        ("mine", 'panel = "#d5d9e5"', "panel is too close to foreground"),
        ("mine", 'primary = "#ffffff"\nforeground = "#989898"', "primary is too close to foreground"),
        ("mine", 'success = "#ffffff"\nforeground = "#b0b0b0"', "success is too close to foreground"),
    ],
)
def test_a_mistake_is_named_with_its_key(name: str, text: str, wrong: str) -> None:
    with pytest.raises(InvalidTheme, match=wrong):
        theme_from(name, text)


def test_words_stand_out_in_whatever_color_was_chosen() -> None:
    theme = theme_from("mine", 'warning = "#1c1e26"\nerror = "#16171d"')
    grounds = [Color.parse(getattr(theme, each)) for each in GROUNDS]
    words = [Color.parse(theme.variables[each]) for each in ("text-warning", "text-error", "foreground-muted")]
    assert min(contrast(word, ground) for word in words for ground in grounds) >= TEXT_CONTRAST


async def test_an_edit_shows_at_once_and_after_a_mistake_the_theme_stays(tmp_path: Path) -> None:
    async with open_page(agent("hello")) as page:
        app, file = page.pilot.app, tmp_path / "mine.toml"
        themes = UserThemes(app, tmp_path)
        file.write_text('background = "#101010"')
        assert themes.use() == []
        app.theme = "mine"
        await page.until(lambda: _ground(page) == "#101010")
        file.write_text('background = "#000020"')
        assert themes.use() == []
        await page.until(lambda: _ground(page) == "#000020")
        file.write_text('background = "#00002"')
        (problem,) = themes.use()
        assert problem.startswith(f"{file}: background must be an opaque color")
        assert themes.use() == []  # it is reported once
        await page.settled()
        assert _ground(page) == "#000020"
        file.unlink()
        themes.use()
        await page.settled()
        assert _ground(page) == "#000020"  # until another is chosen
        assert theme_notes("mine", app.available_themes) == ()


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    class NoApp:
        pass

    (tmp_path / "mine.toml").write_bytes(b"\xff")
    (problem,) = UserThemes(NoApp(), tmp_path).use()  # type: ignore[arg-type]
    assert "mine.toml can't be read" in problem
