"""The sidebar: when it shows, what it contains, and which keys lead into it and out again."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from acp_tui.client.changes import ChangedPath, Review
from acp_tui.client.sessions.session import Listener
from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.conversation.facts import Choice, Plan, PlanStep, SelectOption, Usage
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import (
    OptionsReplaced,
    PlanReplaced,
    TerminalExited,
    TerminalOpened,
    UsageReported,
)
from acp_tui.ui.changes.follower import FolderChanges, summary_of
from acp_tui.ui.changes.review import ReviewScreen
from acp_tui.ui.rendering.palette import PLAIN
from acp_tui.ui.session.sidebar import MAX_FILES, Sidebar, SidebarSection, SidebarState, section_lines
from support.screens import Page, open_page

WIDE = (160, 40)
PLAN = PlanReplaced((PlanStep("Read the parser", status="completed"), PlanStep("Mend it", "high")))
EFFORT = SelectOption("effort", "Effort", "auto", (Choice("auto", "As needed"),))
MODE = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask first"),), "mode")


class KnownChanges(FolderChanges):
    """Lists what a test says, and never finishes reading a file."""

    listed: tuple[ChangedPath, ...] = ()

    @property
    def changes(self) -> dict[str, ChangedPath]:
        return {change.path: change for change in self.listed}

    def summary(self) -> str:
        return summary_of(self.listed)

    async def review(self, path: str) -> Review:
        await anyio.sleep_forever()
        raise AssertionError


async def _change(page: Page, *changes: ChangedPath) -> None:
    """The files below the session's folder have changed like this."""
    if not isinstance(page.tab.changes, KnownChanges):
        page.tab.changes = KnownChanges(page.pilot.app, Path("/project"))
    page.tab.changes.listed = changes
    page.tab.screen.post_message(FolderChanges.Changed())
    await page.settled()


def _has_sidebar(page: Page) -> bool:
    return any(sidebar.display for sidebar in page.pilot.app.screen_stack[0].query(Sidebar))


def _cursor(page: Page) -> object:
    cursor = page.pilot.app.screen_stack[0].query_one(Sidebar).cursor
    return cursor.path if isinstance(cursor, ChangedPath) else cursor


# When it is shown


@pytest.mark.parametrize(("columns", "is_shown"), [(149, False), (150, True)])
async def test_it_is_shown_by_itself_where_there_is_room(columns: int, is_shown: bool) -> None:
    async with open_page(size=(columns, 30)) as page:
        assert _has_sidebar(page) is is_shown
        assert page.prompt.has_focus


async def test_it_comes_and_goes_with_the_width() -> None:
    async with open_page(size=WIDE) as page:
        for columns, is_shown in ((100, False), (170, True)):
            await page.pilot.resize_terminal(columns, 30)
            await page.settled()
            assert _has_sidebar(page) is is_shown


async def test_one_key_shows_it_then_goes_there_then_hides_it() -> None:
    async with open_page(size=(120, 40)) as page:
        await page.press("alt+s")
        assert _has_sidebar(page)
        assert page.prompt.has_focus
        await page.press("alt+s")
        assert isinstance(page.pilot.app.focused, Sidebar)
        await page.press("alt+s")
        assert not _has_sidebar(page)
        assert page.prompt.has_focus


async def test_escape_leads_back_to_the_draft_and_leaves_it_open() -> None:
    async with open_page(size=WIDE) as page:
        await page.write("a draft")
        await page.press("alt+s", "escape")
        assert page.prompt.has_focus
        assert page.draft == "a draft"
        assert _has_sidebar(page)


async def test_on_a_narrow_screen_it_says_how_much_room_it_needs() -> None:
    async with open_page(size=(60, 20)) as page:
        await page.press("alt+s")
        assert not _has_sidebar(page)
        assert "needs 72 columns" in page.text


async def test_what_is_written_as_a_slash_command_shows_it() -> None:
    async with open_page(size=(120, 40)) as page:
        await page.send("/sidebar")
        await page.until(lambda: _has_sidebar(page))


# What it contains


async def test_it_shows_plan_and_session_and_follows_them() -> None:
    async with open_page(PLAN, OptionsReplaced((EFFORT,)), size=WIDE) as page:
        for text in ("▾ Plan", "1/2", "✓ Read the parser", "○ Mend it\u00a0·\u00a0high", "Effort", "As needed"):
            assert text in page.text
        await page.apply(PlanReplaced((PlanStep("Another", status="in_progress"),)))
        for text in ("0/1", "◐ Another"):
            assert text in page.text


async def test_it_and_the_status_line_say_each_thing_once() -> None:
    async with open_page(OptionsReplaced((MODE,)), _usage(1200), size=WIDE) as page:
        await _change(page, ChangedPath("a.py", "modified", added=2, removed=1))
        assert page.text.count("Ask first") == 1
        assert "1k/20k $0.50" in page.status
        assert "Usage" not in page.text
        assert "1 file" not in page.status
        await page.press("alt+s", "alt+s")
        assert "1 file" in page.status
        page.tab.use_settings(Settings(appearance=Appearance(status=("changes",), sidebar="on")))
        await page.press("alt+s")
        for text in ("Ask first", "1,200 of 20,000 tokens"):
            assert text in page.text


def _usage(used: int) -> UsageReported:
    return UsageReported(Usage(used, 20_000, 0.5, "USD"))


async def test_the_plan_line_makes_room_for_it_and_its_key_folds_the_plan_there() -> None:
    async with open_page(PLAN, size=WIDE) as page:
        assert page.text.count("Plan") == 1
        await page.press("ctrl+t")
        assert "▸ Plan" in page.text
        assert "Mend it" not in page.text
        await page.press("alt+s", "alt+s")
        assert "Plan 1/2  Mend it" in page.text


async def test_a_command_is_listed_while_it_runs() -> None:
    name = TerminalId("t")
    async with open_page(TerminalOpened(name, "make test", "/project", True, 80, 24), size=WIDE) as page:
        assert "Running    make test" in page.text
        await page.apply(TerminalExited(name, 0, None, 1.0))
        assert "Running" not in page.text
        await page.apply(TerminalOpened(TerminalId("u"), "make lint", "/project", True, 80, 24))
        assert "Running    make lint" in page.text


async def test_shown_or_hidden_only_the_panel_listens_to_the_session(subscriptions: list[Listener]) -> None:
    async with open_page(size=WIDE) as page:
        [panel] = subscriptions
        await page.press("alt+s", "alt+s")
        assert subscriptions == [panel]
        await page.press("alt+s")
        assert subscriptions == [panel]


async def test_what_an_agent_calls_things_is_made_visible() -> None:
    async with open_page(PlanReplaced((PlanStep("a\x1b[2Jb\u202ec"),)), size=WIDE) as page:
        assert "\x1b[2J" not in page.text
        assert "\u202e" not in page.text


# Changed files


async def test_the_file_that_changed_last_stands_first() -> None:
    async with open_page(size=WIDE) as page:
        one, two = (ChangedPath(f"{name}.py", "modified", added=12, removed=3) for name in ("one", "two"))
        await _change(page, one)
        await _change(page, one, two)
        assert page.text.index("+12 -3 two.py") < page.text.index("+12 -3 one.py")
        await _change(page, ChangedPath("one.py", "modified", added=13, removed=3), two)
        assert page.text.index("+13 -3 one.py") < page.text.index("+12 -3 two.py")


async def test_enter_on_a_file_opens_its_review_and_so_does_a_click() -> None:
    async with open_page(size=WIDE) as page:
        await _change(page, ChangedPath("one.py", "modified", added=12, removed=3))
        await page.press("alt+s", "down")
        assert _cursor(page) == "one.py"
        await page.press("enter")
        assert isinstance(page.pilot.app.screen, ReviewScreen)
        await page.press("escape", "escape")
        await page.click("one.py")
        assert isinstance(page.pilot.app.screen, ReviewScreen)
        await page.press("escape")
        assert page.prompt.has_focus


async def test_the_cursor_stays_with_its_file_and_falls_back_to_a_heading() -> None:
    async with open_page(size=WIDE) as page:
        await _change(page, ChangedPath("one.py", "modified", added=1))
        await page.press("alt+s", "down")
        await _change(page, ChangedPath("one.py", "modified", added=2), ChangedPath("two.py", "added", added=1))
        assert _cursor(page) == "one.py"
        await _change(page)
        assert _cursor(page) is SidebarSection.SESSION


async def test_only_sections_that_say_something_are_shown() -> None:
    async with open_page(size=WIDE) as page:
        assert "▾ Session" in page.text
        assert not any(heading in page.text for heading in ("Plan", "Changed files", "Subagents"))
        await page.apply(PLAN)
        await _change(page, ChangedPath("one.py", "modified", added=1))
        assert all(heading in page.text for heading in ("▾ Plan", "▾ Changed files"))


async def test_a_click_on_a_heading_folds_the_section_and_leaves_the_focus() -> None:
    async with open_page(PLAN, size=WIDE) as page:
        await page.click("▾ Plan")
        assert "Mend it" not in page.text
        assert page.prompt.has_focus


# Drawing


@pytest.mark.parametrize("width", [24, 28, 44])
def test_no_line_is_wider_than_there_is_room(width: int) -> None:
    changes = (
        ChangedPath("a/long/path/of/a/file/that/does/not/fit/解析器.py", "modified", added=123_456, removed=7),
        ChangedPath("b", "modified", before_unknown="a reason " * 20),
        ChangedPath("c.png", "deleted", is_binary=True),
    )
    plans = (Plan((PlanStep("many words " * 9), PlanStep("解析器" * 20))), Plan((PlanStep("x"),)))
    state = SidebarState(plans, changes, "3 files +123,456 -7", (("A long name of an option", "word " * 20),))
    for section in SidebarSection:
        for line in section_lines(section, state, width, PLAIN, is_folded=False):
            assert line.strip.cell_length <= width


def test_a_label_is_whole_and_values_stand_in_one_column() -> None:
    state = SidebarState(facts=(("Agent", "Demo"), ("Permission mode", "Ask"), ("A label as long as a sentence", "x")))
    lines = section_lines(SidebarSection.SESSION, state, 40, PLAIN, is_folded=False)
    shown = [line.strip.text.rstrip() for line in lines[1:]]
    assert shown == ["  Agent                Demo", "  Permission mode      Ask", "  A label as long as…  x"]


def test_a_folder_is_broken_after_a_slash_and_its_names_stay_whole() -> None:
    state = SidebarState(facts=(("Folder", "/home/ada/projects/tea-timer"), ("MCP", "a/b, and many more servers")))
    lines = section_lines(SidebarSection.SESSION, state, 32, PLAIN, is_folded=False)
    shown = [line.strip.text.strip() for line in lines[1:]]
    assert shown == ["Folder     /home/ada/projects/", "tea-timer", "MCP        a/b, and many more", "servers"]


def test_the_newest_of_many_files_are_listed_and_the_rest_counted() -> None:
    changes = tuple(ChangedPath(f"{at}.py", "modified", added=1) for at in range(MAX_FILES + 7))
    lines = section_lines(SidebarSection.CHANGES, SidebarState(changes=changes), 30, PLAIN, is_folded=False)
    assert len(lines) == 1 + MAX_FILES + 1
    assert "and 7 more" in lines[-1].strip.text
