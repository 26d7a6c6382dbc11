"""Selecting with the mouse copies the text as it was written, not as it was laid out."""

from __future__ import annotations

from textual import events

from acp_tui.ui.conversation.selecting import word_at
from support.folding import agent, prompt
from support.screens import Page, open_page

WORDS = "the quick brown fox jumps over the lazy dog " * 8


async def drag(page: Page, start: tuple[int, int], stop: tuple[int, int]) -> None:
    """Press the button at one cell of the view, move, and release it."""
    view = page.view
    for kind, (x, y) in ((events.MouseDown, start), (events.MouseMove, stop), (events.MouseUp, stop)):
        view.post_message(kind(view, x, y, 0, 0, 1, False, False, False, view.region.x + x, view.region.y + y))
        await page.settled()


def place_of(page: Page, text: str) -> tuple[int, int]:
    """Where this text begins in the view."""
    row = next(index for index, line in enumerate(page.lines) if text in line)
    return page.lines[row].index(text) - page.view.region.x, row - page.view.region.y


async def test_text_that_was_wrapped_is_copied_as_one_line() -> None:
    async with open_page(agent(WORDS)) as page:
        await drag(page, (0, 0), (119, 8))
        assert page.view.selected_text == WORDS.strip()


async def test_a_part_of_a_line_is_copied_from_cell_to_cell() -> None:
    async with open_page(agent("the quick brown fox")) as page:
        column, row = place_of(page, "quick")
        await drag(page, (column, row), (column + 5, row))
        assert page.view.selected_text == "quick"


async def test_a_selection_goes_on_over_entries_and_beyond_what_is_in_view() -> None:
    async with open_page(prompt("go"), *(agent(f"answer {number}\n\n", f"m{number}") for number in range(60))) as page:
        page.view.action_go_to_end(-1)
        await page.settled()
        await drag(page, (0, 0), (60, 4))
        assert page.view.selected_text.startswith("go\n\nanswer 0")
        page.view.action_select_all()
        text = page.view.selected_text
        assert text.startswith("go\n\nanswer 0\n\nanswer 1")
        assert text.endswith("answer 59")


async def test_copying_a_long_prompt_copies_all_of_it() -> None:
    pasted = "\n".join(f"line {number}" for number in range(40))
    async with open_page(prompt(pasted), agent("I see.")) as page:
        column, row = place_of(page, "I see.")
        await drag(page, (0, 0), (column + 6, row))
        assert page.view.selected_text.startswith(pasted)
        page.view.action_select_all()
        assert page.view.selected_text == f"{pasted}\n\nI see."


async def test_what_is_selected_is_drawn_so() -> None:
    async with open_page(agent("the quick brown fox")) as page:
        column, row = place_of(page, "quick")
        await drag(page, (column, row), (column + 5, row))
        strip = page.view.render_line(row)
        reversed_text = "".join(
            segment.text for segment in strip if segment.style is not None and segment.style.reverse
        )
        assert reversed_text == "quick"


async def test_a_click_selects_nothing_and_moves_the_cursor() -> None:
    async with open_page(agent("the quick brown fox")) as page:
        await page.click("quick")
        assert page.view.selected_text == ""


async def test_ctrl_c_copies_what_is_selected_before_it_clears_a_draft() -> None:
    async with open_page(agent("the quick brown fox")) as page:
        await page.write("draft")
        page.view.action_select_all()
        await page.press("ctrl+c")
        await page.until(lambda: "19 characters" in page.text)
        assert page.draft == "draft"
        assert page.view.selected_text == ""


def test_a_word_is_what_a_path_or_an_option_is() -> None:
    text = "see ./a_b.py:10, then"
    starts = list(range(len(text) + 1))
    assert text[slice(*(lambda r: (r.start, r.stop))(word_at(text, starts, 6)))] == "./a_b.py:10"
    assert word_at(text, starts, 3) == range(3, 4)
    assert word_at("", [0], 0) == range(0)
