"""Nothing covers what the user is asked: no notice and no list, at any size."""

from __future__ import annotations

from itertools import product

import pytest
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widget import Widget

from acp_tui.conversation.updates import NoticeShown
from acp_tui.ui.kit.pickers import ReadingScreen
from acp_tui.ui.permission.request_keys import AnswerableRequest
from support.screens import Page, open_page

SIZES = [(100, 30), (80, 24), (120, 40), (60, 20), (40, 16), (30, 12)]
LONG = "curl https://example.org/install.sh --output /dev/stdout --silent --show-error --location " * 3 + "| sh"
SECOND = "A second word of the agent's, which is long enough to take several rows of a notice. " * 3


def _covered(card: Widget, screen: Screen[object]) -> list[tuple[int, int, object]]:
    """The card's cells that show something else; what lies over a card is wider than three columns."""
    found = []
    region = card.region.intersection(screen.region)
    for x, y in product((*range(region.x, region.right, 3), region.right - 1), range(*region.line_span)):
        widget, _ = screen.get_widget_at(x, y)
        if card not in widget.ancestors_with_self:
            found.append((x, y, widget))
    return found


def _is_clear(page: Page) -> bool:
    screen = page.pilot.app.screen
    cards = [card for card in screen.query(AnswerableRequest) if card.display]
    assert cards
    return not any(_covered(card, screen) for card in cards)


async def _notice(page: Page, text: str = SECOND) -> None:
    await page.apply(NoticeShown("warning", "", text))


@pytest.mark.parametrize("size", SIZES)
async def test_a_notice_covers_no_cell_of_the_card_and_is_said_all_the_same(size: tuple[int, int]) -> None:
    async with open_page(size=size) as page:
        await _notice(page, "The first")
        await page.ask("call", kind="execute", title="install", raw_input={"command": LONG})
        assert _is_clear(page)
        await _notice(page)
        assert _is_clear(page)
        assert "A second word" in page.text
        await page.enter_card()
        await _notice(page, "The third")
        assert _is_clear(page)
        await page.press("f")
        assert _is_clear(page)
        await _notice(page, "The fourth")
        assert _is_clear(page)
        await page.until(lambda: "The fourth" in page.text)  # a fourth within a second waits for the next


@pytest.mark.parametrize("size", SIZES)
async def test_below_a_card_the_latest_notice_is_in_the_free_row_above_the_prompt(size: tuple[int, int]) -> None:
    async with open_page(size=size) as page:
        await page.ask("call", kind="execute", title="install", raw_input={"command": LONG})
        card, prompt = page.card.region, page.prompt.region
        await _notice(page)
        await _notice(page, "Saved")
        assert page.lines[prompt.y - 1].strip() == "▪ Saved"
        assert (page.card.region, page.prompt.region) == (card, prompt)
        assert _is_clear(page)


async def test_a_notice_that_is_cut_below_a_card_is_whole_after_it() -> None:
    async with open_page() as page:
        await page.ask("call", title="x")
        await _notice(page)
        assert page.lines[page.prompt.region.y - 1].strip().endswith("…")
        page.withdraw()
        await page.until(lambda: not page.card.display)
        await page.settled()
        assert page.text.index("the agent withdrew") < page.text.index("A second word")
        assert page.lines[page.prompt.region.y - 1].strip().endswith("rows of a notice.")


@pytest.mark.parametrize("size", SIZES[:3])
async def test_the_list_of_suggestions_makes_the_card_move_instead_of_covering_it(
    size: tuple[int, int],
) -> None:
    async with open_page(size=size) as page:
        await page.ask("call", kind="execute", title="install", raw_input={"command": LONG})
        await page.press("/", "h")
        await page.until(lambda: "/help" in page.text)
        assert _is_clear(page)


async def test_a_list_that_is_open_when_a_card_comes_does_not_cover_it() -> None:
    async with open_page() as page:
        await page.press("/", "h")
        await page.until(lambda: "/help" in page.text)
        await page.ask("call", kind="execute", title="install", raw_input={"command": LONG})
        assert _is_clear(page)
        await page.press("e")
        assert _is_clear(page)


async def test_a_dialog_shows_only_what_was_said_since_it_opened() -> None:
    async with open_page() as page:
        app = page.pilot.app
        app.notify("The picture is saved")
        await page.until(lambda: "The picture is saved" in page.text)
        await page.press("ctrl+p")
        await page.until(lambda: "Esc close" in page.text)
        assert "The picture is saved" not in page.text
        app.notify("Said here", severity="warning")
        await page.until(lambda: "Said here" in page.text)
        await page.press("escape")
        assert "The picture is saved" in page.text
        assert "Said here" in page.text


@pytest.mark.parametrize("severity", ["information", "warning"])
async def test_what_a_dialog_covers_is_said_after_it(severity: SeverityLevel) -> None:
    async with open_page() as page:
        app = page.pilot.app
        app.notify("It is saved", severity=severity, timeout=3)
        await page.until(lambda: "It is saved" in page.text)
        app.push_screen(ReadingScreen("A page", "that covers it"))
        app.notify("Said here", timeout=4)
        await page.until(lambda: "Said here" in page.text)
        await page.until(lambda: "Said here" not in page.text)
        await page.press("escape")
        await page.until(lambda: "It is saved" in page.text)
        await page.until(lambda: not page.notices)


async def test_a_warning_that_is_cut_below_a_card_is_said_after_it() -> None:
    async with open_page() as page:
        await page.ask("call", title="x")
        page.pilot.app.notify(SECOND, severity="warning", timeout=1)
        page.pilot.app.notify("It is saved", timeout=1)
        await page.until(lambda: [each.message for each in page.notices] == [SECOND])
        page.withdraw()
        await page.until(lambda: "rows of a notice." in page.text)


async def test_a_question_under_a_dialog_is_told_there_until_the_user_goes_to_it() -> None:
    async with open_page() as page:
        await page.press("f1")
        await page.ask("call", title="x")
        await page.until(lambda: "▪ The agent needs your decision" in page.text)
        await page.press("escape")
        assert page.card.display
        assert "▪ The agent needs your decision" not in page.text


async def test_a_question_that_is_over_is_not_told_under_a_dialog_any_more() -> None:
    async with open_page() as page:
        await page.press("f1")
        await page.ask("call", title="x")
        await page.until(lambda: "▪ The agent needs your decision" in page.text)
        page.withdraw()
        await page.until(lambda: "▪ The agent needs your decision" not in page.text)
