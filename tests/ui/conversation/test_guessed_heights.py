"""Right after a resize, when most entries aren't laid out yet, the user's actions apply to what is visible."""

from __future__ import annotations

import pytest
from textual import events

from acp_tui.conversation.updates import SessionUpdate
from acp_tui.ui.conversation.column import Column
from support.folding import agent, user
from support.screens import Page, open_page
from support.settling import settle

NARROW = (50, 30)


def _said(count: int) -> list[SessionUpdate]:
    """Questions and answers, one and twenty lines high on a narrow screen, where a guess says four."""
    return [
        update
        for number in range(count)
        for update in (
            user(f"question {number}", f"u{number}"),
            agent(f"answer {number} " + "word " * 140 + f"needle{number}", f"a{number}"),
        )
    ]


async def _narrow(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the screen narrow, without time to lay out what is out of view."""
    monkeypatch.setattr(Column, "read_dirty", lambda _column, _is_time_up: False)
    await page.pilot.resize_terminal(*NARROW)
    await settle(page.pilot)


def _first_row(page: Page) -> str:
    return page.lines[page.view.region.y]


async def test_going_from_prompt_to_prompt_puts_each_on_the_first_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_page(*_said(40)) as page:
        await _narrow(page, monkeypatch)
        for number in range(38, 0, -1):
            page.view.action_to_prompt(-1)
            await settle(page.pilot)
            assert f"question {number}" in _first_row(page)
        page.view.action_to_prompt(1)
        await settle(page.pilot)
        assert "question 2" in _first_row(page)


@pytest.mark.parametrize("direction", [1, -1])
async def test_the_match_that_one_goes_to_is_in_view_and_marked(
    direction: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_page(*_said(40)) as page:
        page.view.look_for("needle13")
        await page.settled()
        await _narrow(page, monkeypatch)
        page.view.action_find(direction)
        await page.until(lambda: "needle13" in page.text)
        assert _marked(page) == "needle13"


async def test_what_is_in_view_is_marked_where_it_stands_now(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page(*_said(40)) as page:
        page.view.look_for("needle39")
        page.view.action_find(1)
        await page.settled()
        await _narrow(page, monkeypatch)
        assert _marked(page) == "needle39"


async def test_no_match_is_passed_over_that_was_not_looked_for_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page(*_said(40)) as page:
        page.view.action_go_to_end(-1)
        monkeypatch.setattr(page.view, "work_ahead", lambda _is_time_up: True)
        page.view.look_for("needle")
        for direction, number in ((0, 0), (1, 1), (-1, 0), (-1, 39)):
            if direction:
                page.view.action_find(direction)
            await page.settled()
            row = next(y for y in range(page.view.size.height) if _marked(page, range(y, y + 1)))
            assert f"needle{number}" in page.view.render_line(row).text


async def test_the_end_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page(*_said(40)) as page:
        page.view.action_go_to_end(-1)
        await _narrow(page, monkeypatch)
        page.view.action_follow()
        await settle(page.pilot)
        assert "needle39" in page.text
        assert "below" not in page.status


async def test_the_mouse_selects_what_is_seen_although_a_frame_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_page(*_said(40)) as page:
        await _narrow(page, monkeypatch)
        row = next(index for index, line in enumerate(page.lines) if "needle39" in line)
        column = page.lines[row].index("needle39")
        monkeypatch.undo()
        # Entries above are laid out, and the frame at the new end hasn't been shown yet.
        page.view.frames.shown_at = page.view.frames.now + 1_000
        page.view.frames.run()
        view = page.view
        x, y = column - view.region.x, row - view.region.y
        for handle, kind, at in (
            (view.on_mouse_down, events.MouseDown, x),
            (view.on_mouse_move, events.MouseMove, x + len("needle39")),
        ):
            handle(kind(view, at, y, 0, 0, 1, False, False, False, view.region.x + at, view.region.y + y))
        assert view.selected_text == "needle39"


async def test_all_of_a_conversation_is_copied_that_was_not_read_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page() as page:
        monkeypatch.setattr(Column, "read_dirty", _open_only)
        for update in _said(10):
            page.session.apply(update)
        await page.until(lambda: "needle9" in page.text)
        page.view.action_select_all()
        text = page.view.selected_text
        assert text.startswith("question 0\n\nanswer 0 word")
        assert text.endswith("needle9")


def _open_only(column: Column, _is_time_up: object) -> bool:
    column.open_to(max(column.dirty, default=-1))
    return False


def _marked(page: Page, rows: range | None = None) -> str:
    """The current match, as marked in these rows of the view; in all rows by default."""
    return "".join(
        segment.text
        for y in (rows or range(page.view.size.height))
        for segment in page.view.render_line(y)
        if segment.style is not None and segment.style.reverse
    )
