"""Only the beginning of a message of many megabytes is drawn, and an export has all of it."""

from __future__ import annotations

import re

import pytest

from acp_tui.conversation.conversation import snapshot
from acp_tui.conversation.entries import Message
from acp_tui.ui.conversation import messages
from acp_tui.ui.conversation.column import Column
from support.folding import agent
from support.screens import Page, open_page

SHOWN = 10_000


async def test_what_is_drawn_of_a_message_is_bounded_and_what_is_kept_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages, "MAX_SHOWN_CHARACTERS", SHOWN)
    async with open_page(agent("word " * SHOWN, "m")) as page:
        column = page.view.column
        drawn = len(column.lines(0))
        assert SHOWN // 120 <= drawn < SHOWN // 60
        assert "An export has all of them" in page.text
        await page.apply(agent("more " * SHOWN, "m"))
        assert len(column.lines(0)) == drawn
        [entry] = snapshot(page.session.conversation).entries
        assert isinstance(entry, Message)
        assert len(entry.text) == 10 * SHOWN


async def test_a_short_message_is_shown_whole() -> None:
    async with open_page(agent("word", "m")) as page:
        assert "an export" not in page.text


# A flood of text mostly scrolls by unseen: it's drawn when it comes into view, and measured at rest.

PARAGRAPHS = 200
FLOOD = "".join(f"Paragraph{number}x {'word ' * 40}\n\n" for number in range(PARAGRAPHS))


@pytest.fixture
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is never the time to measure what isn't in view."""
    monkeypatch.setattr(Column, "measure_rest", lambda _column, _is_time_up: True)
    monkeypatch.setattr(Column, "is_measured", True)


def _is_measured(page: Page) -> bool:
    drawing = page.view.column.drawings[0]
    return drawing is not None and drawing.is_measured


def _numbers(page: Page) -> list[int]:
    return [int(number) for number in re.findall(r"Paragraph(\d+)x", page.text)]


@pytest.mark.usefixtures("restless")
async def test_scrolling_shows_each_paragraph_that_scrolled_by_unseen() -> None:
    async with open_page(agent(FLOOD, "m")) as page:
        assert not _is_measured(page)
        seen = _numbers(page)
        while seen[0] > 0:
            await page.press("pageup")
            above = _numbers(page)
            assert above == list(range(above[0], above[-1] + 1))
            assert above[0] < seen[0] <= above[-1] + 1
            seen = above
        assert _is_measured(page)


@pytest.mark.usefixtures("restless")
async def test_what_scrolled_by_unseen_is_found_and_copied() -> None:
    async with open_page(agent(FLOOD, "m")) as page:
        page.view.selecting.select_all()
        assert page.view.selected_text.count("Paragraph") == PARAGRAPHS
        await page.apply(agent(FLOOD.replace("x ", "y "), "m"))
        assert not _is_measured(page)
        page.view.look_for("Paragraph77y")
        await page.until(lambda: "Paragraph77y" in page.text)


@pytest.mark.usefixtures("restless")
async def test_what_is_selected_stays_what_it_was_when_the_rest_is_measured() -> None:
    async with open_page(agent(FLOOD, "m")) as page:
        await page.press("pageup")
        number = _numbers(page)[1]
        row = next(y for y, line in enumerate(page.lines) if f"Paragraph{number}x" in line)
        await page.pilot.mouse_down(page.view, offset=(0, row - page.view.region.y))
        await page.pilot.hover(page.view, offset=(20, row - page.view.region.y))
        await page.pilot.mouse_up(page.view, offset=(20, row - page.view.region.y))
        assert f"Paragraph{number}x" in page.lines[row]
        assert page.view.selected_text.startswith(f"Paragraph{number}x")


async def test_at_rest_everything_is_measured_and_nothing_in_view_moves() -> None:
    async with open_page(agent("begins\n\n", "m")) as page:
        page.session.apply(agent(FLOOD, "m"))
        await page.settled()
        assert _is_measured(page)
        assert _numbers(page)[-1] == PARAGRAPHS - 1
