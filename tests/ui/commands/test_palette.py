"""The command palette: what it offers, in which order; and the theme list with its preview."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

import anyio
import pytest

from acp_tui.client.sessions.hub import open_hub
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.commands.command import PLACES
from acp_tui.ui.commands.help import SUGGESTED, CommandPicker, palette_rows
from acp_tui.ui.commands.keymap import DEFAULT_KEYMAP
from acp_tui.ui.commands.table import COMMANDS
from acp_tui.ui.kit.filtered_list import matching
from acp_tui.ui.kit.row_list import RowList
from acp_tui.ui.kit.themes import DARK, LIGHT
from support.desks import SESSION, OpenDesk
from support.screens import open_page
from support.settling import until_so
from support.waiting import LIMIT_S


@pytest.mark.parametrize("folder", ["pictures", "."])
async def test_a_picture_of_the_screen_is_written_among_the_users_pictures_or_at_home(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_PICTURES_DIR", str(tmp_path / "pictures"))
    (tmp_path / folder).mkdir(exist_ok=True)
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, None, tmp_path)
            async with app.run_test(notifications=True) as pilot:
                app.deliver_screenshot("it.svg")
                told = f"The picture is saved as {Path('~', folder, 'it.svg')}"
                await until_so(pilot, lambda: told in [each.message for each in app.notices.shown])
                for theme in (LIGHT, DARK):
                    app.theme = theme.name
                    await pilot.pause()
                    app.deliver_screenshot("it.svg")
                    frame = f'<rect fill="{app.theme_variables["surface"]}"'
                    assert frame in (tmp_path / folder / "it.svg").read_text()


async def test_no_command_stands_in_the_palette_twice_also_after_it_was_used(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.choose("Sessions")
        await desk.press("escape")
        titles = Counter(await desk.offers())
        assert "Quit" in titles
        assert max(titles.values()) == 1


async def test_what_was_used_last_comes_first(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        assert (await desk.offers())[0] != "Change the settings"
        await desk.choose("Change the settings")
        await desk.press("escape", "ctrl+p")
        await desk.shows("Suggested", "Change the settings F12")
        await desk.press("escape")
        assert (await desk.offers())[0] == "Change the settings"


async def test_it_begins_with_what_fits_the_moment_and_a_space_shows_the_rest(open_desk: OpenDesk) -> None:
    script = 'prompt = expect("session/prompt")\nsay("Yes.")\nanswer(prompt, stopReason="end_turn")\n'
    async with open_desk(SESSION, script, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("ctrl+p")
        assert [row.label for row in desk.rows if row.group == SUGGESTED] == [
            "Sessions",
            "Start another agent",
            "Start a session in a new git worktree",
        ]
        await desk.press("escape")
        await desk.send("Is it?")
        await desk.shows("Yes.")
        await desk.press("ctrl+p")
        common = desk.rows
        suggested = [row.label for row in common if row.group == SUGGESTED]
        assert suggested == [
            "Show what has changed in the workspace",
            "Go back to a prompt",
            "Copy the agent's last reply",
        ]
        await desk.press("space")
        assert {row.label for row in desk.rows} > {row.label for row in common}
        assert "Go to the end of the conversation" in {row.label for row in desk.rows}


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("screenshot", "Save a picture of the screen"),
        ("svg", "Save a picture of the screen"),
        ("resume", "Sessions"),
        ("model", "Change mode, model, or another option"),
    ],
)
def test_a_command_is_found_by_its_title_first_and_by_its_other_names(words: str, title: str) -> None:
    rows = list(palette_rows(COMMANDS, DEFAULT_KEYMAP, ("session", "app"), ()))
    assert matching(rows, words)[0].label == title


async def test_what_is_said_of_a_command_fits_beside_it() -> None:
    async with open_page(size=(80, 24)) as page:
        page.pilot.app.push_screen(CommandPicker("Commands", list(palette_rows(COMMANDS, DEFAULT_KEYMAP, (), ()))))
        await page.settled()
        rows = page.pilot.app.screen.query_one(RowList)
        keyless = [row for row in rows.rows if not row.aside]
        assert len(keyless) > 10
        assert [row.label for row in keyless if not rows.shows_whole(row)] == []


def test_places_come_from_the_focus_outwards() -> None:
    rows = palette_rows(COMMANDS, DEFAULT_KEYMAP, ("queue", "session", "app"), ("find",))
    groups = [group for group, _ in groupby(row.group for row in rows)]
    assert groups[:2] == [SUGGESTED, PLACES["queue"]]
    assert groups.index(PLACES["session"]) == 2
    assert groups[-1] == PLACES["app"]


async def test_only_what_can_be_done_now_is_offered(open_desk: OpenDesk) -> None:
    script = 'prompt = expect("session/prompt")\nsay("Well, **yes**.")\nanswer(prompt, stopReason="end_turn")\n'
    async with open_desk(SESSION, script, "serve_until_closed()") as desk:
        await desk.has_session()
        empty = set(await desk.offers())
        assert empty >= {
            "Start another session",
            "Sessions",
            "Change the settings",
        }
        assert not empty & {
            "Unfold or fold the plan",
            "Type into a running command",
            "Change mode, model, or another option",
            "Next agent mode",
            "Find in the conversation",
            "Go to the next tab",
            "Go to tab 2",
            "Log out of the agent",
            "Clear the pages you opened for the agent",
        }
        await desk.send("Is it?")
        await desk.shows("Well, yes.")
        assert set(await desk.offers()) - empty >= {"Find in the conversation", "Copy the agent's last reply"}


async def test_without_an_agent_nothing_of_an_agents_is_offered(open_desk: OpenDesk) -> None:
    async with open_desk("import sys; sys.exit(3)") as desk:
        await desk.shows("exited with code 3")
        offered = await desk.offers()
        assert "Restart the agent" in offered
        assert "Show what this agent can do" not in offered


async def test_ctrl_p_in_the_palette_opens_no_other() -> None:
    async with open_page() as page:
        await page.press("ctrl+p", "ctrl+p", "escape")
        assert "Commands" not in page.text


async def test_over_a_dialog_it_offers_what_concerns_all_of_acp_tui() -> None:
    async with open_page() as page:
        await page.press("f1", "ctrl+p")
        rows = page.pilot.app.screen.query_one(RowList).rows
        assert {row.label for row in rows} == {"Change the theme", "Save a picture of the screen", "Quit"}


# Themes


async def test_a_theme_is_shown_as_one_moves_to_it_and_escape_brings_the_old_one_back() -> None:
    async with open_page() as page:
        app = page.pilot.app
        await page.send("/theme")
        await page.until(lambda: "◉ match the terminal" in page.text)
        assert app.theme == DARK.name
        await page.press("down", "down")
        assert app.theme == LIGHT.name
        await page.press("escape")
        await page.until(lambda: app.theme == DARK.name)


async def test_the_theme_that_is_chosen_is_written_into_the_settings(home: Path) -> None:
    async with open_page() as page:
        app = page.pilot.app
        await page.send("/theme")
        await page.until(lambda: "Theme" in page.text)
        await page.press("down", "down", "enter")
        file = home / "config" / "acp-tui" / "settings.toml"
        await page.until(lambda: file.exists() and LIGHT.name in file.read_text())
        await page.settled()
        assert app.theme == LIGHT.name
        await page.send("/theme")
        await page.until(lambda: f"◉ {LIGHT.name}" in page.text)


async def test_a_theme_is_chosen_by_its_name_and_without_one_of_that_name_from_the_list(home: Path) -> None:
    async with open_page() as page:
        app = page.pilot.app
        await page.send(f"/theme {LIGHT.name}")
        await page.until(lambda: app.theme == LIGHT.name)
        assert LIGHT.name in (home / "config" / "acp-tui" / "settings.toml").read_text()
        await page.send("/theme lihgt")
        await page.until(lambda: f"◉ {LIGHT.name}" in page.text and DARK.name in page.text)
        await page.until(lambda: "There is no theme 'lihgt'" in page.text)
        await page.press("escape")


async def test_a_part_of_a_themes_name_opens_the_list_with_what_contains_it() -> None:
    async with open_page() as page:
        await page.send("/theme light")
        await page.until(lambda: LIGHT.name in page.text and "match the terminal" not in page.text)
        assert DARK.name not in page.text
        await page.press("escape")
        await page.until(lambda: "match the terminal" in page.text)


async def test_a_theme_in_the_settings_is_tried_on_too() -> None:
    async with open_page() as page:
        app = page.pilot.app
        await page.press("f12")
        await page.until(lambda: "Settings" in page.text)
        await page.press(*"appearance.theme", "enter")
        await page.until(lambda: "match the terminal" in page.text)
        await page.press("down", "down")
        assert app.theme == LIGHT.name
        await page.press("escape")
        await page.until(lambda: app.theme == DARK.name)
        assert "Settings" in page.text
