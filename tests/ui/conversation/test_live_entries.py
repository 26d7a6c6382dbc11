"""Entries as widgets: one of the right kind for each entry in view, bound again as the conversation moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Entry, Message
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId, TextDiff
from acp_tui.conversation.updates import MessageChunk, SessionUpdate
from acp_tui.ui.conversation.entry_views import (
    DiffView,
    EntryView,
    MessageView,
    TerminalView,
    ThoughtView,
    ToolCallView,
)
from acp_tui.ui.conversation.view import ConversationView
from support.folding import agent, call, fold, user
from support.screens import Page, open_page
from support.settling import until_so


def _thought(text: str) -> SessionUpdate:
    return MessageChunk("thought", Text(text))


def _views(page: Page) -> list[EntryView[Entry]]:
    """The entry widgets in the DOM, from top to bottom."""
    return sorted(page.pilot.app.query(EntryView).results(), key=lambda view: view.index)


MIXED = (
    user("why?", "u"),
    _thought("because\nof that"),
    call("a", title="Read it", kind="read", status="in_progress"),
    call("b", title="Run it", kind="execute", status="failed"),
    agent("done", "m"),
)


async def test_each_entry_in_view_is_a_widget_of_its_kind_where_it_is_seen() -> None:
    async with open_page(*MIXED) as page:
        views = _views(page)
        assert [type(view) for view in views] == [
            MessageView,
            ThoughtView,
            ToolCallView,
            ToolCallView,
            MessageView,
        ]
        for view, text in zip(views, ("why?", "because", "Read it", "Run it", "done"), strict=True):
            (row,) = (number for number, line in enumerate(page.lines) if text in line)
            assert view.region.y == row
            assert page.pilot.app.screen.get_widget_at(5, row)[0] is view


async def test_states_are_classes_that_follow_the_entry() -> None:
    async with open_page(*MIXED) as page:
        app = page.pilot.app
        assert app.query_one("ToolCallView.-failed", ToolCallView).entry.call.title == "Run it"
        assert app.query_one("ToolCallView.-read.-in-progress", ToolCallView).entry.call.title == "Read it"
        await page.apply(call("a", status="completed"))
        assert not app.query("ToolCallView.-in-progress")
        assert app.query("ToolCallView.-completed")


async def test_a_status_that_an_agent_made_up_becomes_no_class() -> None:
    async with open_page(call("a", title="Odd", kind="x y", status="-failed .b {}")) as page:
        assert page.pilot.app.query_one(ToolCallView).classes == {"-other"}


async def test_widgets_are_as_many_as_entries_in_view_however_long_the_conversation_is() -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(500))) as page:
        for keys, seen in (((), 499), (("pageup",) * 3, None), (("ctrl+home",), 0), (("ctrl+end",), 499)):
            await page.press(*keys)
            shown = [line for line in page.lines if "entry" in line]
            assert seen is None or any(line.strip(" ▐") == f"entry {seen}" for line in shown), keys
            views = [view for view in _views(page) if view.region]
            assert [view.entry.text for view in views if isinstance(view.entry, Message)] == [
                line.strip(" ▐") for line in shown
            ]


async def test_scrolling_binds_the_same_widgets_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(500))) as page:
        await page.press("pageup", "pagedown")
        made = _made(monkeypatch)
        for _ in range(10):
            await page.press("pageup")
        assert not made


async def test_chunks_make_no_widget_and_lay_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(50))) as page:
        await page.apply(agent("begins ", "long"))
        made, layouts = _made(monkeypatch), _layouts(monkeypatch)
        for _ in range(50):
            await page.apply(agent("and goes on and on ", "long"))
        assert "goes on" in page.text
        assert not made
        assert not layouts


def _made(monkeypatch: pytest.MonkeyPatch) -> list[Widget]:
    return _noted(monkeypatch, EntryView, "__init__")


def _layouts(monkeypatch: pytest.MonkeyPatch) -> list[Widget]:
    return _noted(monkeypatch, Screen, "_refresh_layout")


def _noted(monkeypatch: pytest.MonkeyPatch, kind: type[Any], name: str) -> list[Widget]:
    noted: list[Widget] = []
    method: Callable[..., Any] = getattr(kind, name)

    def note(self: Widget, *words: Any, **named: Any) -> Any:
        noted.append(self)
        return method(self, *words, **named)

    monkeypatch.setattr(kind, name, note)
    return noted


async def test_a_call_with_a_diff_or_a_terminal_has_a_widget_of_its_own_kind() -> None:
    diff = TextDiff("/w/a.py", "new\n", "old\n")
    terminal = TerminalContent(TerminalId("t1"))
    async with open_page(
        call("a", title="Edit", kind="edit", status="completed", content=(diff,)),
        call("b", title="Run", kind="execute", status="failed", content=(terminal,)),
    ) as page:
        app = page.pilot.app
        assert app.query_one("DiffView.-completed", DiffView).diffs == (diff,)
        assert app.query_one("ToolCallView.-failed", TerminalView).terminal is None
        assert len(app.query(ToolCallView)) == 2


async def test_the_focus_stays_with_a_call_that_becomes_a_diff() -> None:
    async with open_page(*MIXED) as page:
        app = page.pilot.app
        await page.press("tab", "up")
        assert type(app.focused) is ToolCallView
        await page.apply(call("b", content=(TextDiff("/w/a.py", "new\n", "old\n"),)))
        assert isinstance(app.focused, DiffView)
        assert app.focused.entry is page.view.entry_under_cursor
        await page.press("up")
        assert isinstance(app.focused, ToolCallView)
        assert app.focused.index == 2


# Keys and mouse


async def test_the_cursor_goes_along_to_the_ends_and_to_prompts() -> None:
    said = [(user if at in (0, 7) else agent)(f"{at} " * 400, f"m{at}") for at in range(12)]
    async with open_page(*said) as page:
        entries = [*page.view.conversation.entries]
        await page.press("tab")
        for key, at in (("ctrl+home", 0), ("ctrl+end", 11), ("ctrl+up", 7), ("ctrl+up", 0), ("ctrl+down", 7)):
            await page.press(key)
            assert page.view.entry_under_cursor == entries[at], key


async def test_the_focus_goes_from_entry_to_entry_and_tab_leads_out_of_all() -> None:
    async with open_page(*MIXED) as page:
        app = page.pilot.app
        await page.press("tab")
        assert isinstance(app.focused, MessageView)
        await page.press("up")
        assert isinstance(app.focused, ToolCallView)
        assert app.focused.entry is page.view.entry_under_cursor
        assert app.query("ToolCallView:focus")
        await page.press("tab")
        assert page.prompt.has_focus


async def test_the_focus_stays_with_an_entry_that_has_left_the_view() -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(100))) as page:
        await page.press("tab")
        focused = page.pilot.app.focused
        await page.press("pageup", "pageup")
        assert page.pilot.app.focused is focused
        assert isinstance(focused, MessageView)
        assert focused.index == 99
        assert not focused.region
        await page.press("up")
        assert "▎ entry 98" in page.text


class _Listener:
    """Records what entries report."""

    def __init__(self, page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: list[tuple[str, int]] = []

        def note(_: object, message: EntryView.Chosen) -> None:
            self.told.append((type(message).__name__, message.control.index))

        for name in ("on_entry_view_chosen", "on_entry_view_toggled"):
            monkeypatch.setattr(type(page.view), name, note, raising=False)


async def test_a_click_chooses_and_folds_an_entry_which_tells_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page(*MIXED) as page:
        told = _Listener(page, monkeypatch).told
        thought = page.pilot.app.query_one(ThoughtView)
        assert not thought.is_open
        await page.pilot.click(ThoughtView)
        await page.settled()
        assert thought.is_open
        assert "of that" in page.text
        assert ("Chosen", 1) in told
        assert ("Toggled", 1) in told


async def test_an_entry_under_the_mouse_has_another_ground() -> None:
    async with open_page(*MIXED) as page:
        view = page.pilot.app.query_one("ToolCallView.-failed", ToolCallView)
        await page.pilot.hover(ToolCallView)
        await page.settled()
        await page.pilot.hover("ToolCallView.-failed")
        await page.until(lambda: view.ground is not None)
        await page.settled()
        assert view.mouse_hover
        surface = page.pilot.app.screen.styles.background
        assert view.ground is not None
        assert view.ground.bgcolor != surface.rich_color


async def test_the_tooltip_says_what_is_cut_without_markup() -> None:
    long = "[b]" + "word " * 40
    async with open_page(_thought(long), _thought("short")) as page:
        view = page.pilot.app.query(ThoughtView).first()
        assert view.tooltip is not None
        assert view.tooltip.plain.startswith("[b]word word")
        view.toggle()
        await page.settled()
        assert view.tooltip is None


# Looks


class _Guest(App[None]):
    """Someone else's app, with its own stylesheet."""

    CSS = """
    ToolCallView.-failed { background: #102030; }
    ToolCallView.-failed > .entry--status { color: #ff00ff; }
    MessageView.-agent { color: #00ffff; text-style: italic; }
    """

    def compose(self) -> ComposeResult:
        yield ConversationView()


async def test_a_stylesheet_of_ones_own_overrides_the_looks() -> None:
    app = _Guest()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.query_one(ConversationView)
        view.show(fold(*MIXED))
        await until_so(pilot, lambda: bool(app.query(MessageView)) and view.is_settled)
        failed = app.query_one("ToolCallView.-failed", ToolCallView)
        await until_so(pilot, lambda: failed.ground is not None)
        await until_so(pilot, lambda: bool(failed.region))
        styles = {segment.text.strip(): segment.style for segment in failed.render_line(0) if segment.style is not None}
        assert styles["✗"].color is not None
        assert styles["✗"].color.name == "#ff00ff"
        assert styles["✗"].bgcolor is not None
        assert styles["✗"].bgcolor.name == "#102030"

        def said() -> list[Any]:
            views = [view for view in app.query("MessageView.-agent") if view.region]
            segments = [segment for view in views for segment in view.render_line(0)]
            return [segment.style for segment in segments if segment.text.strip() == "done"]

        await until_so(pilot, said)  # a widget shows other entries in turn
        (word,) = said()
        assert word is not None
        assert word.color is not None
        assert (word.color.name, word.italic) == ("#00ffff", True)


async def test_another_theme_reaches_entries_that_come_into_view_later() -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(100))) as page:
        await page.press("pageup")
        page.pilot.app.theme = "acp-light"
        await page.settled()
        await page.press("ctrl+end")
        grounds = {
            segment.style.bgcolor.name
            for view in _views(page)
            for segment in view.render_line(0)
            if segment.style is not None and segment.style.bgcolor is not None
        }
        assert grounds == {page.pilot.app.current_theme.background}


async def test_a_widget_that_starts_when_its_conversation_has_closed_is_not_placed() -> None:
    async with open_page(*MIXED) as page:
        view = page.view
        await view.remove()
        late = MessageView()
        late._attach(view)  # as Textual does before it starts a widget
        late.key = 0
        late.on_mount()
        view.frames.run()


async def test_a_view_that_is_not_mounted_yet_can_follow_and_shows_it_then() -> None:
    async with open_page() as page:
        view = ConversationView()
        view.show(fold(user("why?", "u"), agent("done", "m")), "")
        view.action_follow()  # the user sends a prompt while the session's panel is being made
        await page.view.parent.mount(view)
        await until_so(page.pilot, lambda: any("done" in strip.text for strip in view.render_lines(view.size.region)))
