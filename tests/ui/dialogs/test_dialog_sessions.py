"""The list of sessions: paging, searching, opening, deleting, and what a row says."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import pytest

from acp_tui.client.errors import AgentRefused, ClientError
from acp_tui.ui.screens.session_rows import MOST_FOLDER_CELLS, session_rows, short_folder, short_time
from acp_tui.ui.screens.sessions import EMPTY_PAGES_IN_A_ROW, SessionsDialog
from support.dialogs import NOTHING, DialogPage, open_dialog


@dataclass(frozen=True)
class Listed:
    session_id: str
    title: str | None = None
    cwd: Path = Path("/project")
    updated_at: str | None = "yesterday, 10:00"


Page = tuple[Sequence[Listed], str | None] | ClientError
BAD_CURSOR = AgentRefused("the agent refused: invalid cursor", code=-32602)


class Pages:
    """Gives these pages in turn, and keeps which cursors were asked for, and for which of them everywhere."""

    def __init__(self, *pages: Page) -> None:
        self.pages = list(pages)
        self.cursors: list[str | None] = []
        self.everywhere: list[bool] = []

    async def __call__(self, cursor: str | None, is_everywhere: bool) -> tuple[Sequence[Listed], str | None]:
        self.cursors.append(cursor)
        self.everywhere.append(is_everywhere)
        page = self.pages.pop(0)
        if isinstance(page, ClientError):
            raise page
        return page


ONE = [Listed("s1", "Mend the parser"), Listed("s2"), Listed("s3", "Write tests")]


async def loaded(page: DialogPage, words: str = "in this folder") -> None:
    await page.until(lambda: words in page.words)
    await page.settled()


async def test_the_first_page_is_loaded_at_once_and_enter_opens() -> None:
    pages = Pages((ONE, None))
    async with open_dialog(SessionsDialog("Agent", pages, current="s2")) as page:
        await loaded(page)
        assert pages.cursors == [None]
        assert pages.everywhere == [False]
        assert "● s2" in page.words  # without a title its id stands for it
        assert "yesterday, 10:00 · /project · s1" in page.words
        await page.press("down", "down", "enter")
        assert page.result == ("open", "s3")


async def test_going_on_at_the_end_loads_more_with_the_agents_cursor() -> None:
    pages = Pages((ONE, "c/1="), ([Listed("s4", "The fourth")], None))
    async with open_dialog(SessionsDialog("Agent", pages)) as page:
        await loaded(page, "3 in this folder so far")
        await page.press("down", "down", "down")
        await loaded(page, "4 in this folder")
        await page.press("down", "down", "down")
        assert pages.cursors == [None, "c/1="]
        assert "The fourth" in page.words


async def test_an_empty_page_with_a_cursor_is_not_the_end() -> None:
    pages = Pages(([], "a"), ([], "b"), (ONE, None))
    async with open_dialog(SessionsDialog("Agent", pages)) as page:
        await loaded(page)
        assert pages.cursors == [None, "a", "b"]


async def test_an_agent_that_sends_only_empty_pages_is_not_asked_for_ever() -> None:
    pages = Pages(*[([], "again")] * (EMPTY_PAGES_IN_A_ROW + 5))
    async with open_dialog(SessionsDialog("Agent", pages)) as page:
        await loaded(page, "0 in this folder so far")
        assert len(pages.cursors) == EMPTY_PAGES_IN_A_ROW


async def test_a_refused_cursor_leads_back_to_the_first_page_once() -> None:
    pages = Pages((ONE, "old"), BAD_CURSOR, ([Listed("new")], "older"), BAD_CURSOR)
    async with open_dialog(SessionsDialog("Agent", pages)) as page:
        await loaded(page, "3 in this folder so far")
        await page.press("ctrl+end", "down")
        await loaded(page, "1 in this folder so far")
        assert pages.cursors == [None, "old", None]
        await page.press("down")
        await loaded(page, "invalid cursor")
        assert "new" in page.words


async def test_a_switches_to_the_sessions_of_all_folders_and_back() -> None:
    elsewhere = Listed("s9", "Another project", Path("/elsewhere"))
    pages = Pages((ONE, "more"), ([elsewhere], "c"), ([*ONE, elsewhere], None), (ONE, None))
    async with open_dialog(SessionsDialog("Agent", pages, here=Path("/project"))) as page:
        await loaded(page, "3 in this folder so far")
        await page.press("a")
        await loaded(page, "1 in all folders so far")
        assert "Mend the parser" not in page.words
        assert "/elsewhere" in page.words
        await page.press("down")
        await loaded(page, "4 in all folders")
        await page.press("a")
        await loaded(page, "3 in this folder")
        assert pages.cursors == [None, None, "c", None]
        assert pages.everywhere == [False, True, True, False]


async def test_the_folders_can_be_switched_while_an_agent_keeps_the_list_to_itself() -> None:
    async def load(cursor: str | None, is_everywhere: bool) -> tuple[Sequence[Listed], str | None]:
        if not is_everywhere:
            await anyio.sleep_forever()
        return ([Listed("s4")], "more") if cursor is None else (ONE, None)

    async with open_dialog(SessionsDialog("Agent", load)) as page:
        await page.press("a")
        await loaded(page, "1 in all folders so far")
        await page.press("down")
        await loaded(page, "4 in all folders")


async def test_without_a_session_in_this_folder_the_others_are_pointed_to() -> None:
    async with open_dialog(SessionsDialog("Agent", Pages(([], None), ([], None)))) as page:
        await loaded(page, "There is no session yet in this folder; a lists those in all folders")
        await page.press("a")
        await loaded(page, "There is no session yet, n makes one")


async def test_an_error_stands_in_its_place_and_r_loads_again() -> None:
    pages = Pages(ClientError("the agent is busy", hint="wait a moment"), (ONE, None))
    async with open_dialog(SessionsDialog("Agent", pages)) as page:
        await loaded(page, "the agent is busy")
        assert "wait a moment" in page.words
        await page.press("r")
        await loaded(page)


async def test_searching_narrows_by_title_and_id() -> None:
    async with open_dialog(SessionsDialog("Agent", Pages((ONE, None)))) as page:
        await loaded(page)
        await page.press("slash", "t", "e", "s", "t")
        assert "Mend the parser" not in page.words
        await page.press("escape", "enter")
        assert page.result == ("open", "s3")


async def test_letters_that_are_keys_can_be_searched_for() -> None:
    async with open_dialog(SessionsDialog("Agent", Pages((ONE, None)))) as page:
        await loaded(page)
        await page.press("slash", "n", "d")
        assert page.result is NOTHING
        assert "Mend the parser" in page.words


async def test_deleting_asks_first() -> None:
    async with open_dialog(SessionsDialog("Agent", Pages((ONE, None)))) as page:
        await loaded(page)
        await page.press("y", "d")
        assert "Delete “Mend the parser”?" in page.words
        await page.press("n", "d", "escape", "d", "enter")
        assert page.result is NOTHING
        await page.press("y", "d", "y")
        assert page.result == ("delete", "s1")


async def test_what_the_agent_cannot_do_is_said() -> None:
    dialog = SessionsDialog(
        "Agent", Pages((ONE, None)), no_delete="It cannot delete.", no_open="It cannot load."
    )
    async with open_dialog(dialog) as page:
        await loaded(page)
        await page.press("d")
        assert "It cannot delete." in page.words
        await page.press("enter")
        assert "It cannot load." in page.words
        assert page.result is NOTHING


async def test_n_makes_a_new_session_and_esc_none() -> None:
    async with open_dialog(SessionsDialog("Agent", Pages(([], None)))) as page:
        await loaded(page, "There is no session yet")
        await page.press("n")
        assert page.result == ("new", "")
    async with open_dialog(SessionsDialog("Agent", Pages((ONE, None)))) as page:
        await page.press("escape")
        assert page.result is None


# What a row says

NOW = datetime(2026, 11, 21, 16, 0).astimezone()
HERE = Path("/home/me/project")


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=6, hours=23), "6 days ago"),
        (timedelta(days=7), "2026-11-14"),
        (timedelta(days=-3), "2026-11-24"),
    ],
)
def test_a_time_is_told_as_an_age_within_a_week_and_as_a_day_else(age: timedelta, words: str) -> None:
    assert short_time((NOW - age).isoformat(), NOW) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, ""),
        ("", ""),
        ("yesterday", "yesterday"),
        ("x" * 100, "x" * 15 + "…"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:0…"),
    ],
)
def test_what_is_no_time_is_shown_as_it_is(text: str | None, shown: str) -> None:
    assert short_time(text, NOW) == shown


@pytest.mark.parametrize(
    ("folder", "shown"),
    [
        ("/home/me/project", ""),
        ("/home/me/project/ci", "/home/me/project/ci"),
        ("/home/me/work/durations/packages/parser", "…/packages/parser"),
        ("/srv/" + "x" * 100, "…/" + "x" * 21 + "…"),
        ("/srv/" + "a/" * 100_000 + "b", "…" + "/a" * 10 + "/b"),
        ("/", "/"),
    ],
)
def test_a_folder_is_shortened_from_the_left_and_left_out_where_it_is_this_one(
    folder: str, shown: str
) -> None:
    assert short_folder(Path(folder), HERE) == shown
    assert len(shown) <= MOST_FOLDER_CELLS


def test_times_and_folders_stand_in_columns() -> None:
    listed = [
        Listed("a", cwd=HERE, updated_at=(NOW - timedelta(days=2)).isoformat()),
        Listed("b", cwd=Path("/srv"), updated_at=None),
    ]
    rows = session_rows(listed, current="a", here=HERE, now=NOW)
    assert [row.aside for row in rows] == ["2 days ago       ", "             /srv"]
    assert session_rows(listed[:1], current="", here=HERE, now=NOW)[0].aside == "2 days ago"


async def test_at_80_columns_a_long_title_leaves_the_time_and_the_folder_in_view() -> None:
    session = Listed("a", "Mend the parser of durations " * 5, Path("/elsewhere"))
    async with open_dialog(SessionsDialog("Agent", Pages(([session], None))), size=(80, 24)) as page:
        await loaded(page)
        (row,) = (line for line in page.lines if "Mend the parser" in line)
        assert row.rstrip("│ ").endswith("…   yesterday, 10:00   /elsewhere")
