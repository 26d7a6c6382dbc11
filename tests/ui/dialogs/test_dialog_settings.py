"""The settings screen: finding, explaining, changing, and restoring settings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.widgets import Input

from acp_tui.client.settings.location import leaves
from acp_tui.client.settings.project_settings import FILE_NAME, ProjectSettings
from acp_tui.client.settings.reader import SettingsRead
from acp_tui.client.settings.settings import Settings
from acp_tui.ui.app.settings.follower import LiveSettings
from acp_tui.ui.app.settings.screen import SettingsScreen, explanation, item_rows
from acp_tui.ui.commands.keymap import BY_ID, DEFAULT_KEYMAP
from support.dialogs import SIZE, DialogPage, open_dialog


class App:
    """Accepts any settings, and trusts any project."""

    def use_settings(self, settings: Settings) -> tuple[str, ...]:
        """Report no problems."""
        return ()

    def say(self, text: str, *, is_wrong: bool = False) -> None:
        """Nobody hears it."""

    def tell_notes(self, notes: Sequence[str]) -> None:
        """Nobody hears it."""

    async def trusts(self, project: ProjectSettings, user: SettingsRead) -> bool:
        """Always."""
        return True


@pytest.fixture
def desk(tmp_path: Path) -> LiveSettings:
    return LiveSettings(App(), tmp_path / "settings.toml", tmp_path)


async def _choose_no_theme(chosen: str, keep: Callable[[str], Awaitable[None]]) -> None:
    """The theme stays as it is."""


@asynccontextmanager
async def opened(desk: LiveSettings, size: tuple[int, int] = SIZE) -> AsyncIterator[DialogPage]:
    await desk.open()
    async with open_dialog(SettingsScreen(desk, _choose_no_theme), size=size) as page:
        yield page


async def look_for(page: DialogPage, words: str) -> None:
    page.app.screen.query_one(Input).value = words
    await page.settled()


# What shows


def test_every_setting_and_every_commands_keys_have_a_row(desk: LiveSettings) -> None:
    items = {row.value.key for row in item_rows(desk, Settings(), DEFAULT_KEYMAP)}

    assert {key for key, _ in leaves()} - items == {"keys"}
    assert {f"keys.{id_}" for id_, command in BY_ID.items() if not command.fixed_characters} <= items


def test_an_empty_value_is_told_in_words(desk: LiveSettings) -> None:
    rows = {row.value.key: row.aside for row in item_rows(desk, Settings(), DEFAULT_KEYMAP)}

    assert rows["appearance.theme"] == "match the terminal"
    assert rows["agent.trace_context.baggage"] == "none"


def test_every_row_says_what_it_is_about(desk: LiveSettings) -> None:
    rows = list(item_rows(desk, Settings(), DEFAULT_KEYMAP))

    assert all(row.aside and explanation(row.value, desk)[0] for row in rows)


@pytest.mark.parametrize("size", [(40, 24), (80, 24), SIZE])
async def test_a_setting_is_found_with_its_limits_its_default_and_when_it_counts(
    size: tuple[int, int], desk: LiveSettings
) -> None:
    async with opened(desk, size) as page:
        await look_for(page, "workspace.write")
        assert "Files an agent writes through acp-tui." in page.words
        assert '"on", "ask-if-unasked", "ask" or "off"' in page.words
        assert 'default: "ask-if-unasked"' in page.words


async def test_a_long_description_is_cut_and_says_so_above_what_is_allowed(desk: LiveSettings) -> None:
    async with opened(desk, (80, 24)) as page:
        await look_for(page, "notifications.command")
        assert "ACP_TUI_TITLE… a list of strings · default: []" in page.words


async def test_it_is_said_whose_a_value_is(desk: LiveSettings) -> None:
    desk.file.write_text("workspace.read = 'ask'\nworkspace.write = 'ask'")
    (desk.file.parent / FILE_NAME).write_text("workspace.write = 'off'")
    async with opened(desk) as page:
        await look_for(page, "through acp-tui")
        assert "ask · yours" in page.text
        assert "off · the project's" in page.text
        await page.press("down")
        assert 'yours: "ask"' in page.words


async def test_on_a_narrow_screen_a_value_is_shown_before_whose_it_is(desk: LiveSettings) -> None:
    desk.file.write_text("appearance.theme = 'acp-light'")
    async with opened(desk, (40, 24)) as page:
        await look_for(page, "appearance.theme")
        assert "appearance.theme acp-light" in page.words


async def test_what_is_wrong_stands_on_top_and_can_be_read_whole(desk: LiveSettings) -> None:
    desk.file.write_text("workspace.read = 3\nappearance.asci = true")
    async with opened(desk) as page:
        assert "workspace.read is 3" in page.words
        assert "2 problems (Ctrl+N)" in page.text
        await page.press("ctrl+n")
        assert "did you mean ascii?" in page.words


# What the user changes


async def test_a_choice_is_written(desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, "agent writes")
        await page.press("enter", "down", "enter")
        await page.until(lambda: "ask · yours" in page.text)
        assert desk.file.read_text() == '[workspace]\nwrite = "ask"\n'


async def test_a_number_out_of_its_limits_is_refused_where_it_is_written(desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, "of a diff")
        await page.press("enter", "9", "9", "9", "9")
        await page.press("enter")
        assert "is 249999; allowed: a whole number of lines, at least 0, at most 10_000" in page.words
        await page.press("backspace", "backspace", "backspace", "enter")
        await page.until(lambda: "249 · yours" in page.text)


async def test_a_list_has_an_item_a_line(desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, "addition to the session")
        await page.press("enter")
        await page.write("/a\n\n /b c ")
        await page.press("ctrl+s")
        await page.until(lambda: "/a, /b c · yours" in page.text)


async def test_several_of_some_are_chosen_with_space(desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, "calls to fold")
        await page.press("enter", "space", "enter")
        await page.until(lambda: "yours" in page.text)
        assert 'fold_kinds = ["search", "think", "fetch"]' in desk.file.read_text()


@pytest.mark.parametrize("words", ["vim", "preset"])
async def test_the_keys_of_vim_are_found_and_chosen(words: str, desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, words)
        assert "Often changed keys.preset none" in page.words
        await page.press("enter", "1", "enter")
        await page.until(lambda: 'preset = ["vim"]' in (desk.file.read_text() if desk.file.exists() else ""))
        assert [(choice.command, choice.keys) for choice in desk.settings.keys] == [("preset", ("vim",))]


async def test_the_keys_that_check_are_told_and_space_is_for_the_first_row(desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, "preset")
        await page.press("enter")
        await page.until(lambda: "Space or 1-2 checks · Enter write" in page.text)
        await page.press("space", "enter")
        await page.until(lambda: desk.file.exists() and 'preset = ["vim"]' in desk.file.read_text())


async def test_enter_on_an_unchecked_row_says_which_key_checks_it(desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, "preset")
        await page.press("enter", "down", "enter")
        await page.until(lambda: "Nothing has changed: Space checks vim-prompt" in page.text)
        await page.press("space", "enter")
        await page.until(lambda: desk.file.exists() and 'preset = ["vim-prompt"]' in desk.file.read_text())


@pytest.mark.parametrize("words", ["preset", "calls to fold", "toggle_plan", "needs_you"])
async def test_enter_without_a_change_writes_nothing(words: str, desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, words)
        await page.press("enter")
        await page.until(lambda: "leave it unchanged" in page.text)
        await page.press("enter")
        await page.until(lambda: "leave it unchanged" not in page.text)
        assert not desk.file.exists()


async def test_keys_are_changed_and_a_conflict_is_named(desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, "toggle_plan")
        await page.press("enter", "ctrl+u")
        await page.write("ctrl+q")
        await page.press("enter")
        assert "quit would be left no key" in page.words
        await page.press("ctrl+u")
        await page.write("f3 ctrl+x")
        await page.press("enter")
        await page.until(lambda: desk.origin("keys.toggle_plan") == "yours")
        assert 'toggle_plan = ["f3", "ctrl+x"]' in desk.file.read_text()


@pytest.mark.parametrize("keys", [("ctrl+r",), ("enter", "ctrl+r")])
async def test_a_reset_takes_it_out_of_the_file_again(keys: tuple[str, ...], desk: LiveSettings) -> None:
    desk.file.write_text('[workspace]\nwrite = "ask"\n')
    async with opened(desk) as page:
        await look_for(page, "agent writes")
        await page.press(*keys)
        await page.until(lambda: desk.file.read_text() == "[workspace]\n")
        await page.until(lambda: "yours" not in page.text)


async def test_escape_leaves_everything_as_it_is(desk: LiveSettings) -> None:
    async with opened(desk) as page:
        await look_for(page, "agent writes")
        await page.press("enter", "down", "escape", "escape", "escape")
        assert page.result is None
        assert not desk.file.exists()


async def test_a_file_that_cannot_be_changed_is_said(desk: LiveSettings) -> None:
    desk.file.write_text("[")
    async with opened(desk) as page:
        await look_for(page, "agent writes")
        await page.press("enter", "down", "enter")
        await page.until(lambda: "editor first" in page.words)
        [said] = page.app.said
        assert "can't be changed" in said
        assert said.endswith("fix it in an editor first")
