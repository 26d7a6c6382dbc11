"""The picker and a session's settings: choosing one of many, with the keyboard or the mouse."""

from typing import Any

import pytest
from textual import events

from acp_tui.client.agents.catalogue import Catalogue
from acp_tui.conversation.facts import BooleanOption, Choice, ConfigOption, SelectOption
from acp_tui.ui.dialogs.agent_offers import OptionsDialog
from acp_tui.ui.dialogs.agents import AgentsScreen
from acp_tui.ui.kit.dialog import Frame
from acp_tui.ui.kit.filtered_list import FilteredList, matching
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow
from support.dialogs import NOTHING, open_dialog

ROWS = [
    PickerRow("haiku", "Haiku", "small and quick", "Family A"),
    PickerRow("sonnet", "Sonnet", "for most things", "Family A", is_current=True),
    PickerRow("opus", "Opus", "for hard things", "Family B"),
    PickerRow("epic", "Epic", "the largest", "Family B", is_disabled_reason="not in your plan"),
]
OPTIONS: list[ConfigOption] = [
    SelectOption("m", "Mode", "ask", (Choice("ask", "Ask"), Choice("code", "Code", "changes files"))),
    SelectOption("model", "Model", "gone", (Choice("x", "X", None, "G"), Choice("y", "Y", None, "G"))),
    BooleanOption("fast", "Fast", True),
]


async def test_enter_chooses_the_row_under_the_cursor_which_begins_at_the_current_one() -> None:
    async with open_dialog(Picker("Model", ROWS)) as page:
        assert "Family A" in page.words
        assert "◉ Sonnet" in page.words
        await page.press("enter")
        assert page.result == "sonnet"


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("down",), "opus"),
        (("up",), "haiku"),
        (("up", "up", "up"), "haiku"),
        (("pageup",), "haiku"),
        (("home",), "haiku"),
        (("end", "up"), "opus"),
        (("t", "h", "end", "up", "home"), "sonnet"),  # also while something is sought
        (("o", "p"), "opus"),
        (("h", "a", "r", "d"), "opus"),  # a word of the description
    ],
)
async def test_keys_lead_to_every_row(keys: tuple[str, ...], value: str) -> None:
    async with open_dialog(Picker("Model", ROWS)) as page:
        await page.press(*keys, "enter")
        assert page.result == value


async def test_what_comes_once_the_parts_of_a_dialog_are_gone_is_no_failure() -> None:
    async with open_dialog(OptionsDialog(OPTIONS)) as page:
        dialog = page.pilot.app.screen
        await dialog.query(Frame).remove()
        dialog.post_message(events.ScreenSuspend())
        dialog.post_message(events.ScreenResume())
        await page.settled()
    async with open_dialog(AgentsScreen(lambda: Catalogue(()))) as page:
        dialog = page.pilot.app.screen
        await dialog.query(Frame).remove()
        dialog.post_message(FilteredList.Moved(has_row=False))
        await page.settled()


async def test_the_dialog_keeps_its_height_during_a_search() -> None:
    async with open_dialog(Picker("Model", ROWS)) as page:
        height = page.pilot.app.screen.query_one(Frame).size.height
        for key in ("o", "p", "z", "z"):
            await page.press(key)
            assert page.pilot.app.screen.query_one(Frame).size.height == height


async def test_a_click_chooses() -> None:
    async with open_dialog(Picker("Model", ROWS)) as page:
        await page.click("Opus")
        assert page.result == "opus"


async def test_esc_chooses_nothing() -> None:
    async with open_dialog(Picker("Model", ROWS)) as page:
        await page.press("o", "escape")
        assert page.result is NOTHING, "it cleared the search"
        await page.press("escape")
        assert page.result is None


async def test_a_row_that_cannot_be_chosen_says_why() -> None:
    async with open_dialog(Picker("Model", ROWS)) as page:
        await page.press("ctrl+end")
        assert page.words.count("not in your plan") == 1
        await page.press("enter")
        assert page.result is NOTHING
        assert page.words.count("not in your plan") == 2


async def test_a_text_that_its_row_cuts_is_shown_below_and_only_then() -> None:
    about = "What the agent may do without asking, in a sentence that a narrow row has to cut somewhere"
    rows = [PickerRow("a", "Mode", about), PickerRow("b", "Model", "short")]
    async with open_dialog(Picker("Model", rows), size=(100, 30)) as page:
        assert page.words.count("somewhere") == 1
        assert page.words.count("What the agent may do") == 2
        await page.press("down")
        assert page.words.count("short") == 1


async def test_without_a_match_it_says_so_and_enter_does_nothing() -> None:
    async with open_dialog(Picker("Model", ROWS)) as page:
        await page.press("z", "enter")
        assert "Nothing matches “z”" in page.words
        assert page.result is NOTHING


async def test_without_rows_it_says_so() -> None:
    async with open_dialog(Picker("Model", [], search=False, empty="No models")) as page:
        await page.press("down", "enter")
        assert "No models" in page.words
        assert page.result is NOTHING


async def test_only_the_visible_ones_of_thousands_of_rows_are_drawn() -> None:
    rows = [PickerRow(number, f"row {number}") for number in range(20_000)]
    async with open_dialog(Picker("Rows", rows)) as page:
        await page.press("ctrl+end")
        assert "row 19999" in page.words
        assert len(page.app.screen.query("*")) < 15
        await page.press("7", "7", "7", "7", "enter")
        assert page.result == 7777


@pytest.mark.parametrize("size", [(80, 24), (40, 24)])
async def test_it_fits_small_screens(size: tuple[int, int]) -> None:
    rows = [PickerRow(number, f"row {number}", "long " * 20) for number in range(100)]
    async with open_dialog(Picker("Rows", rows), size=size) as page:
        await page.press("ctrl+end")
        assert "row 99" in page.text
        assert "Esc close" in page.words


def test_better_matches_come_first_and_groups_stay_together() -> None:
    rows: list[PickerRow[Any]] = [
        PickerRow(1, "a cat", "", "one"),
        PickerRow(2, "dog", "not a cat", "two"),
        PickerRow(3, "cat", "", "two"),
        PickerRow(4, "c-a-t", "", "one"),
    ]
    assert [row.value for row in matching(rows, "cat")] == [3, 2, 1]
    assert [row.value for row in matching(rows, "cat", groups_keep_order=True)] == [1, 3, 2]
    assert not matching(rows, "ct"), "scattered letters"
    assert not matching([PickerRow(1, "dog", "a concatenation")], "cat")
    assert matching(rows, " ") is rows


def test_a_setting_is_found_by_its_own_name_as_soon_as_a_key() -> None:
    setting: PickerRow[Any] = PickerRow(1, "conversation.diff_lines", "", "often")
    key: PickerRow[Any] = PickerRow(2, "diff_edit", "", "keys")
    assert [row.value for row in matching([setting, key], "diff")] == [1, 2]


async def test_where_nothing_matches_no_key_is_said_to_choose() -> None:
    async with open_dialog(Picker("Rows", [PickerRow(1, "one")])) as page:
        assert "Enter choose" in page.words
        await page.press("x")
        assert "Enter" not in page.words
        assert "Esc clear" in page.words
        await page.press("backspace")
        assert "Enter choose" in page.words
        assert "Esc close" in page.words


def test_what_cannot_be_chosen_comes_behind_worse_matches_that_can() -> None:
    rows: list[PickerRow[Any]] = [
        PickerRow(1, "gem", "", "not here", is_disabled_reason="not on PATH"),
        PickerRow(2, "my gem", "", "ready"),
    ]
    assert [row.value for row in matching(rows, "gem")] == [2, 1]


# The settings of a session


async def test_a_setting_with_values_leads_to_them_with_the_current_one_marked() -> None:
    async with open_dialog(OptionsDialog(OPTIONS)) as page:
        assert "Mode: Ask" in page.words
        assert "Model: gone" in page.words  # not among its choices
        await page.press("enter")
        assert "◉ Ask" in page.words
        await page.press("down", "enter")
        assert page.result == ("m", "code")


async def test_groups_of_values_have_headings() -> None:
    async with open_dialog(OptionsDialog(OPTIONS)) as page:
        await page.press("down", "enter")
        assert any(line.strip(" │") == "G" for line in page.lines)
        await page.press("down", "enter")
        assert page.result == ("model", "y")


async def test_on_and_off_changes_at_once() -> None:
    async with open_dialog(OptionsDialog(OPTIONS)) as page:
        assert "Fast: on" in page.words
        await page.press("down", "down", "enter")
        assert page.result == ("fast", False)


async def test_esc_leads_from_the_values_to_the_settings_and_out() -> None:
    async with open_dialog(OptionsDialog(OPTIONS)) as page:
        await page.press("enter")
        assert page.text.count("╭") == 1, "the frame of the values alone"
        await page.press("escape")
        assert page.result is NOTHING
        assert "Options of the session" in page.text
        await page.press("escape")
        assert page.result is None


async def test_an_agent_without_settings_is_said_to_have_none() -> None:
    async with open_dialog(OptionsDialog([])) as page:
        assert "This agent has no options" in page.words
