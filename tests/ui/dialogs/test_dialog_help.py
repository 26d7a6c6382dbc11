"""Help: every command with its keys, the current place's first, with search."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from acp_tui.client.settings.settings import KeyChoice
from acp_tui.docs import topics
from acp_tui.ui.commands.command import PLACES, Place
from acp_tui.ui.commands.help import TOGETHER, HelpScreen, help_rows, palette_rows
from acp_tui.ui.commands.keymap import DEFAULT_KEYMAP, SEVERAL, keymap_of
from acp_tui.ui.commands.table import COMMANDS
from acp_tui.ui.kit.filtered_list import matching
from acp_tui.ui.kit.row_list import GAP, RowList
from support.dialogs import NOTHING, SIZE, open_dialog

MAY_NOT_ARRIVE = {
    *("f10", "f11", "ctrl+b", "ctrl+z", "ctrl+backslash", "alt+enter", "shift+pageup", "shift+pagedown"),
    *("ctrl+up", "ctrl+down", "ctrl+pageup", "ctrl+pagedown", "ctrl+enter", "shift+enter", "ctrl+i", "ctrl+m"),
}
"""Terminals, shells, tmux, and macOS use these, or they need Kitty's protocol."""


@pytest.mark.parametrize("size", [(40, 24), (80, 24), SIZE])
async def test_a_command_is_found_by_its_title(size: tuple[int, int]) -> None:
    async with open_dialog(HelpScreen(), size=size) as page:
        await page.write("Take the keyboard back")
        assert "Ctrl+]" in page.text
        assert "While a terminal has the keyboard" in page.words


def test_every_command_that_can_be_reached_has_a_row_with_all_its_keys() -> None:
    rows = list(help_rows(DEFAULT_KEYMAP, is_each=True))

    reached = [one.id for one in COMMANDS if one.keys or one.fixed_characters or one.where in ("session", "app")]
    assert sorted(row.value.id for row in rows) == sorted({*reached})
    assert {row.value.id: row.aside for row in rows}["new_line"] == "Ctrl+J Shift+Enter Alt+Enter"


def test_what_few_agents_can_do_is_found_but_not_suggested() -> None:
    rows = {row.value.id: row for row in help_rows(DEFAULT_KEYMAP, ("prompt", "session", "app"))}
    assert rows["steer"].is_rare
    assert not rows["send"].is_rare


def test_commands_that_differ_in_a_direction_share_a_row() -> None:
    each = {row.value.id: row for row in help_rows(DEFAULT_KEYMAP, is_each=True)}
    rows = list(help_rows(DEFAULT_KEYMAP))
    assert len(rows) < len(each) * 0.85
    assert all(id_ in each for ids in TOGETHER.values() for id_ in ids)
    [moving] = [row for row in rows if row.value.id == "move_up"]
    assert (moving.label, moving.aside) == (
        "Move, scroll, page, or go to an end",
        "↑ ↓ PgUp PgDn Home End",
    )
    assert "page_down" in moving.names


@pytest.mark.parametrize(
    ("typed", "id_"),
    [
        ("ctrl+o", "toggle_all"),
        ("Alt+W", "close_tab"),
        ("F1", "help"),  # before those with F10, F11, and F12
        ("escape", "cancel"),
        ("esc", "cancel"),
        ("shift+tab", "next_mode"),
        ("PgUp", "page_up"),
        ("alt", "steer"),
        ("shot", "screenshot"),
    ],
)
def test_a_command_is_found_by_its_keys_as_they_are_shown_or_written(typed: str, id_: str) -> None:
    found = [row.value.id for row in matching(list(help_rows(DEFAULT_KEYMAP, is_each=True)), typed)]
    assert id_ in found
    assert typed != "F1" or found[0] == id_
    offered = [row.value.id for row in matching(list(palette_rows(COMMANDS, DEFAULT_KEYMAP, (), ())), typed)]
    assert id_ in offered


def test_a_chosen_key_finds_its_command() -> None:
    rows = list(help_rows(keymap_of([KeyChoice("toggle_all", ("ctrl+shift+y",))])))
    assert [row.value.id for row in matching(rows, "ctrl+shift+y")] == ["toggle_all"]


def test_each_row_is_whole_in_80_columns() -> None:
    room = 80 - len("│    ") - len("    │")
    assert all(cell_len(f"{row.label}{GAP}{row.aside}") <= room for row in help_rows(DEFAULT_KEYMAP))


def test_what_a_terminal_may_keep_for_itself_has_another_way() -> None:
    in_palette = {command.id for command in COMMANDS if command.action}
    only = {
        command.id
        for command in COMMANDS
        if command.keys and command.id not in in_palette and "," not in command.keys
        if command.keys in MAY_NOT_ARRIVE or command.keys.startswith(("ctrl+shift", "super"))
    }
    assert not only


def test_what_counts_where_the_user_is_comes_first() -> None:
    groups = list(dict.fromkeys(row.group for row in help_rows(DEFAULT_KEYMAP, ("card", "session", "app"))))

    assert groups[:3] == [PLACES["card"], PLACES["session"], PLACES["app"]]
    assert set(groups) <= {*PLACES.values(), SEVERAL}


def test_it_says_what_a_new_line_by_enter_needs() -> None:
    about = {row.value.id: row.description for row in help_rows(DEFAULT_KEYMAP)}

    assert "with Enter only if the terminal has Kitty's keyboard protocol" in about["new_line"]
    assert "extended-keys" in about["new_line"]


def test_a_chosen_key_is_shown_with_the_usual_one() -> None:
    keymap = keymap_of([KeyChoice("toggle_plan", ("f11",))])
    row = next(row for row in help_rows(keymap) if row.value.id == "toggle_plan")

    assert row.aside == "F11"
    assert "usually Ctrl+T" in row.description


async def test_of_other_places_it_shows_the_basic_keys_and_all_after_a_space() -> None:
    async with open_dialog(HelpScreen(("find", "session", "app"))) as page:
        rows = page.pilot.app.screen.query_one(RowList)
        common = {row.label for row in rows.rows}
        assert {"Next or previous match", "Write the conversation to a file"} <= common
        assert "Show the session's MCP servers" not in common
        await page.write(" ")
        assert {row.label for row in rows.rows} > common | {"Show the session's MCP servers"}


async def test_enter_does_what_is_under_the_cursor() -> None:
    async with open_dialog(HelpScreen()) as page:
        await page.write("what has changed")
        await page.until(lambda: "Enter run" in page.text)
        await page.press("enter")
        assert page.result == "do('show_changes')"


async def test_what_needs_the_focus_elsewhere_is_only_read() -> None:
    async with open_dialog(HelpScreen()) as page:
        await page.write("select everything")
        await page.until(lambda: "↑ ↓ move · Esc clear" in page.text)
        await page.press("enter")
        assert page.result is NOTHING


@pytest.mark.parametrize("key", ["f1", "escape"])
async def test_it_closes_by_the_key_that_opened_it_and_by_escape(key: str) -> None:
    async with open_dialog(HelpScreen()) as page:
        await page.press(key)
        assert page.result is None


@pytest.mark.parametrize("size", [(40, 24), (80, 24), SIZE])
async def test_a_topic_is_read_above_the_help(size: tuple[int, int]) -> None:
    async with open_dialog(HelpScreen(), size=size) as page:
        await page.write(topics()["security"])
        await page.until(lambda: "Enter read" in page.text)
        await page.press("enter")
        assert "what doesn't, and who decides" in page.words
        await page.press("pagedown", "escape")
        assert isinstance(page.pilot.app.screen, HelpScreen)


async def test_a_topic_says_what_it_is_about() -> None:
    async with open_dialog(HelpScreen()) as page:
        await page.write("recordings")
        assert "Recordings Replays and pictures, What was sent, Sharing a recording" in page.words


@pytest.mark.parametrize("size", [(40, 24), (80, 24), SIZE])
async def test_what_a_page_says_is_found_and_opened_at_its_heading(size: tuple[int, int]) -> None:
    async with open_dialog(HelpScreen(), size=size) as page:
        await page.write("Landlock sandbox-exec")
        assert "Permissions: In a sandbox" in page.words
        await page.press("enter")
        await page.until(lambda: "acp-tui --sandbox claude" in page.text)
        assert "What you can rely on" not in page.text


def test_a_key_stands_only_with_what_it_does_from_here() -> None:
    here: tuple[Place, ...] = ("prompt", "session", "app")
    rows = [row for row in help_rows(DEFAULT_KEYMAP, here) if row.value.where in here]
    assert [row.label for row in rows if row.aside == "Esc"] == ["Close what is open, or cancel the turn"]
