"""Entries under the cursor and under the mouse."""

from __future__ import annotations

from typing import Any

import pytest
from rich.style import Style
from textual.screen import Screen
from textual.widget import Widget

from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Message, ToolCallEntry
from acp_tui.conversation.tool_calls import TextDiff
from acp_tui.conversation.updates import MessageChunk, SessionUpdate
from acp_tui.ui.conversation.view import ConversationView
from support.folding import agent, call, fold, user
from support.screens import Page, open_page
from support.settling import until_so


def _thought(text: str) -> SessionUpdate:
    return MessageChunk("thought", Text(text))


def _row_of(page: Page, text: str) -> int:
    """The row of the view that has this text."""
    (row,) = (number for number, line in enumerate(page.lines) if text in line)
    return row - page.view.region.y


def _style_of(page: Page, text: str) -> Style:
    """How the view draws the segment with this text."""
    for segment in page.view.render_line(_row_of(page, text)):
        if text in segment.text and segment.style is not None:
            return segment.style
    raise AssertionError(text)


MIXED = (
    user("why?", "u"),
    _thought("because\nof that"),
    call("a", title="Read it", kind="read", status="in_progress"),
    call("b", title="Run it", kind="execute", status="failed"),
    agent("done", "m"),
)


async def test_chunks_lay_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(50))) as page:
        await page.apply(agent("begins ", "long"))
        layouts: list[Widget] = []
        layout = Screen._refresh_layout

        def note(self: Screen[Any], *words: Any, **named: Any) -> Any:
            layouts.append(self)
            return layout(self, *words, **named)

        monkeypatch.setattr(Screen, "_refresh_layout", note)
        for _ in range(50):
            await page.apply(agent("and goes on and on ", "long"))
        assert "goes on" in page.text
        assert not layouts


# Keys and mouse


async def test_the_cursor_stays_with_a_call_that_becomes_a_diff() -> None:
    async with open_page(*MIXED) as page:
        await page.press("tab", "up")
        await page.apply(call("b", content=(TextDiff("/w/a.py", "new\n", "old\n"),)))
        entry = page.view.entry_under_cursor
        assert isinstance(entry, ToolCallEntry)
        assert entry.call.title == "Run it"
        assert "▎ ✗ $ Run it" in page.text
        await page.press("up")
        assert page.view.entry_under_cursor is page.view.conversation.entries[2]


async def test_the_cursor_goes_from_entry_to_entry_and_tab_leads_out_of_all() -> None:
    async with open_page(*MIXED) as page:
        await page.press("tab")
        assert isinstance(page.view.entry_under_cursor, Message)
        assert "▎ done" in page.text
        await page.press("up")
        assert isinstance(page.view.entry_under_cursor, ToolCallEntry)
        assert page.view.has_focus
        await page.press("tab")
        assert page.prompt.has_focus
        assert page.view.entry_under_cursor is None
        assert "▎" not in page.text


async def test_the_cursor_stays_with_an_entry_that_has_left_the_view() -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(100))) as page:
        await page.press("tab")
        await page.press("pageup", "pageup")
        assert page.view.has_focus
        assert "▎" not in page.text
        await page.press("up")
        assert "▎ entry 98" in page.text


async def test_tab_leads_to_an_entry_in_view() -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(100))) as page:
        await page.press("tab", "pageup", "pageup", "tab")
        assert page.prompt.has_focus
        await page.press("tab")
        assert "▎ entry" in page.text


async def test_a_click_chooses_and_folds_an_entry() -> None:
    async with open_page(*MIXED) as page:
        assert not page.view.column.is_open(1)
        await page.pilot.click(ConversationView, offset=(5, _row_of(page, "because")))
        await page.settled()
        assert page.view.column.is_open(1)
        assert "of that" in page.text
        assert page.view.entry_under_cursor is page.view.conversation.entries[1]


async def test_an_entry_under_the_mouse_has_another_background_if_a_click_folds_it() -> None:
    async with open_page(*MIXED) as page:
        surface = page.pilot.app.theme_variables["surface"].lower()
        for text, expected in (("Read it", True), ("Run it", True), ("because", True), ("done", False)):
            await page.pilot.hover(ConversationView, offset=(5, _row_of(page, text)))
            await page.settled()
            named = {
                other
                for other in ("Read it", "Run it", "because", "done")
                if (color := _style_of(page, other).bgcolor) is not None and color.name == surface
            }
            assert named == ({text} if expected else set())
        await page.pilot.hover(ConversationView, offset=(5, _row_of(page, "Run it")))
        await page.pilot.hover("#prompt-frame")
        await page.settled()
        ground = _style_of(page, "Run it").bgcolor
        assert ground is not None
        assert ground.name != surface


async def test_the_tooltip_says_what_is_cut_without_markup() -> None:
    long = "[b]" + "word " * 40
    async with open_page(_thought(long), _thought("short")) as page:
        assert page.view.tooltip is None
        await page.pilot.hover(ConversationView, offset=(5, _row_of(page, "word word")))
        assert page.view.tooltip is not None
        assert page.view.tooltip.plain.startswith("[b]word word")
        page.view.toggle(0)
        await page.settled()
        assert page.view.tooltip is None


# Looks


async def test_another_theme_reaches_entries_that_come_into_view_later() -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(100))) as page:
        await page.press("pageup")
        page.pilot.app.theme = "acp-light"
        await page.settled()
        await page.press("ctrl+end")
        grounds = {
            segment.style.bgcolor.name
            for row, line in enumerate(page.lines[: page.view.size.height])
            if "entry" in line
            for segment in page.view.render_line(row)
            if segment.style is not None and segment.style.bgcolor is not None
        }
        assert grounds == {page.pilot.app.current_theme.background}


async def test_a_view_that_is_not_mounted_yet_can_follow_and_shows_it_then() -> None:
    async with open_page() as page:
        view = ConversationView()
        view.show(fold(user("why?", "u"), agent("done", "m")), "")
        view.action_follow()  # the user sends a prompt while the session's panel is being made
        await page.view.parent.mount(view)
        await until_so(page.pilot, lambda: any("done" in strip.text for strip in view.render_lines(view.size.region)))
