"""The list of sessions: paging, searching, opening, deleting, and the contents of a row."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from acp_tui.client.errors import AgentRefused, ClientError
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.conversation.facts import SessionId, SessionPage, SessionSummary
from acp_tui.ui.dialogs.session_rows import NEEDS_YOU, OPEN, WORKING, OpenMode, SessionRow, row_of, session_rows
from acp_tui.ui.kit.row_list import GAP, MAX_FOLDER_CELLS, MIN_LABEL_CELLS, MOST_ROWS, RowList, short_folder, short_time
from acp_tui.ui.tab.sessions_dialog import EMPTY_PAGES_IN_A_ROW, SessionList, SessionsDialog
from support.dialogs import NOTHING, DialogPage, NoSessions, open_dialog, recorded

PROJECT = Path("/project")


def listed(
    session_id: str, title: str | None = None, cwd: Path = PROJECT, told: str = "yesterday, 10:00"
) -> SessionSummary:
    """As listed by the agent."""
    return SessionSummary(SessionId(session_id), cwd, title, told)


Page = tuple[Sequence[SessionSummary], str | None] | ClientError
BAD_CURSOR = AgentRefused("the agent refused: invalid cursor", code=-32602)


class Pages(NoSessions):
    """Returns these pages in turn; records the requested cursors, and which requests were for all folders."""

    def __init__(self, *pages: Page, recordings: Sequence[PastSession] = (), current: str = "") -> None:
        self.pages = list(pages)
        self.recordings = list(recordings)
        self.current = current
        self.cursors: list[str | None] = []
        self.everywhere: list[bool] = []
        self.sought: list[str] = []
        self.done: list[tuple[str, str]] = []
        self.ways: dict[str, tuple[OpenMode, str]] = {}
        self.deleting: Sequence[str] = ("agent deletes it",)
        """What deleting a session would do."""
        self.failure: ClientError | None = None

    async def open(self, row: SessionRow) -> None:
        assert row.past is not None
        self.done.append(("open", row.past.session_id))

    async def begin(self) -> None:
        self.done.append(("begin", "new"))

    def in_tabs(self) -> Sequence[SessionRow]:
        row = SessionRow("tab", "On the screen", OPEN, None, "agent", PROJECT, None, is_tab=True, is_current=True)
        return (row,) if self.current else ()

    def key_in_tabs(self, session: PastSession) -> str:
        return "tab" if session.session_id == self.current else ""

    async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
        self.cursors.append(cursor)
        self.everywhere.append(is_everywhere)
        page = self.pages.pop(0) if self.pages else ((), None)
        if isinstance(page, ClientError):
            raise page
        return SessionPage(tuple(page[0]), page[1])

    async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        self.sought.append(words)
        if self.failure is not None:
            raise self.failure
        return [one for one in self.recordings if words in f"{one.title} roars in {one.session_id}"]

    async def line_with(self, session: PastSession, words: str) -> str:
        return f"the *line*: {words}"

    def judge(self, session: PastSession) -> tuple[OpenMode, str]:
        return self.ways.get(session.session_id, (OpenMode.AGENT, ""))

    async def fate(self, session: PastSession) -> Sequence[str]:
        return self.deleting

    def marked(self, past: Iterable[PastSession]) -> list[PastSession]:
        done = {session_id: what for what, session_id in self.done}
        return [
            replace(one, is_archived=done.get(one.session_id, "archive" * one.is_archived) == "archive") for one in past
        ]

    async def delete(self, session: PastSession) -> None:
        self.recordings = [one for one in self.recordings if one.key != session.key]
        self.done.append(("delete", session.session_id))

    async def archive(self, session: PastSession) -> None:
        self.done.append(("restore" if session.is_archived else "archive", session.session_id))


async def chosen(page: DialogPage, pages: Pages) -> str:
    """The id of the session that was chosen; "new" for a new one."""
    await page.result()
    return pages.done[-1][1]


ONE = [listed("s1", "Mend the parser"), listed("s2"), listed("s3", "Write tests")]
MANY = [*ONE, *(listed(f"more-{number}") for number in range(MOST_ROWS - 3))]
"""Fill the screen."""


async def loaded(page: DialogPage, words: str = "in this project") -> None:
    await page.until(lambda: words in page.words)
    await page.settled()


async def test_the_first_page_is_loaded_at_once_and_enter_opens() -> None:
    pages = Pages((ONE, None))
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        assert pages.cursors == [None]
        assert pages.everywhere == [False]
        assert "s2 " in page.words  # without a title, its ID is shown
        assert "yesterday, 10:00 · /project · s1 · agent" in page.words
        await page.press("down", "down", "enter")
        assert await chosen(page, pages) == "s3"


async def test_a_listed_session_in_a_tab_is_that_tabs_row() -> None:
    pages = Pages((ONE, None), current="s2")
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "2 earlier in this project")
        assert page.words.split().count("s2") == 1, "below the list"
        assert page.words.index("Open") < page.words.index("◉ On the screen") < page.words.index("Earlier")
        await page.press("enter")
        assert await chosen(page, pages) == "s2"


async def test_the_keys_are_those_of_the_row() -> None:
    pages = Pages((ONE, None), current="s2")
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "2 earlier in this project")
        assert "Enter open · Alt+W close tab · Ctrl+T rename · Ctrl+O pin" in page.words
        await page.press("ctrl+x")
        await page.until(lambda: "It's open; Alt+W closes its tab" in page.words)
        await page.press("down")
        assert "Enter open · Ctrl+X remove · Ctrl+T rename · Ctrl+O pin" in page.words
        assert pages.done == []


async def test_going_on_at_the_end_loads_more_with_the_agents_cursor() -> None:
    pages = Pages((MANY, "c/1="), ([listed("s4", "The fourth")], None))
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "20 earlier in this project, and more: ↓ at the end of the list")
        await page.press("ctrl+end", "down")
        await loaded(page, "21 earlier in this project")
        await page.press("ctrl+end")
        assert pages.cursors == [None, "c/1="]
        assert "The fourth" in page.words


async def test_pages_are_loaded_until_they_fill_the_screen_or_bring_nothing_new() -> None:
    async with open_dialog(SessionsDialog(Pages((ONE, "a"), ([listed("s4")], "b"), ([], None)))) as page:
        await loaded(page, "4 earlier in this project Enter open")
    repeating = Pages(*[(ONE, "again")] * 9)
    async with open_dialog(SessionsDialog(repeating)) as page:
        await loaded(page, "3 earlier in this project, and more")
        assert repeating.cursors == [None, "again"]


async def test_an_empty_page_with_a_cursor_is_not_the_end() -> None:
    pages = Pages(([], "a"), ([], "b"), (ONE, None))
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        assert pages.cursors == [None, "a", "b"]


async def test_an_agent_that_sends_only_empty_pages_is_not_asked_for_ever() -> None:
    pages = Pages(*[([], "again")] * (EMPTY_PAGES_IN_A_ROW + 5))
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "None earlier in this project yet: ↓ looks further")
        assert len(pages.cursors) == EMPTY_PAGES_IN_A_ROW


async def test_a_refused_cursor_leads_back_to_the_first_page_once() -> None:
    pages = Pages((MANY, "old"), BAD_CURSOR, ([listed("new")], "older"), BAD_CURSOR)
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "20 earlier in this project, and more: ↓ at the end of the list")
        await page.press("ctrl+end", "down")
        await loaded(page, "1 earlier in this project, and more: ↓ at the end of the list")
        assert pages.cursors == [None, "old", None]
        await page.press("down")
        await loaded(page, "invalid cursor")
        assert "new" in page.words


async def test_ctrl_f_switches_to_the_sessions_of_all_folders_and_back() -> None:
    elsewhere = listed("s9", "Another project", Path("/elsewhere"))
    pages = Pages((MANY, "more"), ([elsewhere], "c"), ([*ONE, elsewhere], None), (ONE, None))
    async with open_dialog(SessionsDialog(pages, here=Path("/project"))) as page:
        await loaded(page, "20 earlier in this project, and more: ↓ at the end of the list")
        await page.press("ctrl+f")
        await loaded(page, "4 earlier in all projects")
        assert "/elsewhere" in page.words
        await page.press("ctrl+f")
        await loaded(page, "3 earlier in this project")
        assert pages.cursors == [None, None, "c", None]
        assert pages.everywhere == [False, True, True, False]


async def test_the_folders_can_be_switched_while_an_agent_keeps_the_list_to_itself() -> None:
    class Slow(Pages):
        async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
            if not is_everywhere:
                await anyio.sleep_forever()
            return await super().page(cursor, is_everywhere)

    async with open_dialog(SessionsDialog(Slow(([listed("s4")], "more"), (ONE, None)))) as page:
        await page.press("ctrl+f")
        await loaded(page, "4 earlier in all projects")


async def test_without_a_session_in_this_folder_the_others_are_pointed_to() -> None:
    async with open_dialog(SessionsDialog(Pages(([], None), ([], None)))) as page:
        await loaded(page, "No sessions yet")
        assert "None earlier in this project" in page.words
        await page.press("ctrl+f")
        await loaded(page, "None earlier in all projects")


async def test_an_error_stands_in_its_place_and_f5_loads_again() -> None:
    pages = Pages(ClientError("the agent is busy", hint="wait a moment"), (ONE, None))
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "the agent is busy")
        assert "wait a moment" in page.words
        await page.press("f5")
        await loaded(page)


async def test_searching_narrows_by_title_and_id() -> None:
    pages = Pages((ONE, None))
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press(*"test")
        assert "Mend the parser" not in page.words
        await page.press("enter")
        assert await chosen(page, pages) == "s3"


async def test_searching_finds_the_name_of_an_agent_whose_command_is_another() -> None:
    one = recorded("a", "Mend the parser", agent="gemini", command=("node", "index.js"))
    async with open_dialog(SessionsDialog(Pages((ONE, None), recordings=[one]))) as page:
        await loaded(page)
        await page.press(*"gemini")
        await page.until(lambda: "Write tests" not in page.words)
        assert "Mend the parser" in page.words
        assert "Nothing matches" not in page.words


async def test_one_key_removes_a_session_as_the_user_chooses_and_the_dialog_stays() -> None:
    pages = Pages((ONE, None), recordings=[recorded("s1", "Mine", agent="agent")])
    pages.deleting = ("deletes its recording", "agent keeps it, as it can't")
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press("ctrl+x")
        assert "Remove “Mine” from this list" in page.words
        await page.press("escape")
        assert pages.done == []
        await page.press("ctrl+x", "down")
        assert "can't be undone · deletes its recording · agent keeps it, as it can't" in page.words
        await page.press("enter")
        assert pages.done == [("delete", "s1")]
        assert page.app.said == ["Removed the session."]
        assert page.result is NOTHING


async def test_neither_a_letter_nor_a_key_held_down_deletes_a_session() -> None:
    pages = Pages((ONE, None))
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press("ctrl+x", "y")
        assert pages.done == []
        await page.press("escape", *["ctrl+x"] * 3, *["enter"] * 3)
        assert [what for what, _ in pages.done] == ["archive"]


async def test_where_nothing_can_be_deleted_the_key_archives_at_once() -> None:
    pages = Pages(([ONE[0]], None))
    pages.deleting = ()
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press("ctrl+x")
        await page.until(lambda: "Archived “Mend the parser”. Ctrl+X brings it back" in page.words)
        assert "Ctrl+X bring back" in page.words
        await page.press("ctrl+x")
        await page.until(lambda: pages.done == [("archive", "s1"), ("restore", "s1")])
        await page.until(lambda: "Brought the session back." in page.words)
        assert "Archived “" not in page.words


async def test_the_question_about_an_archived_session_says_that_it_is() -> None:
    pages = Pages(((), None), recordings=[replace(recorded("r1", "About zebras"), is_archived=True)])
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press("space", "ctrl+x")
        assert "“About zebras” is archived" in page.words
        assert "Bring it back" in page.words
        assert "Remove “About" not in page.words


async def test_what_is_archived_here_stays_in_its_place_for_the_same_key() -> None:
    pages = Pages(([listed("s1", "First"), listed("s2", "Second"), listed("s3", "Third")], None))
    pages.deleting = ()
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press("down", "ctrl+x")
        await page.until(lambda: "archived" in page.words)
        assert page.words.index("First") < page.words.index("Second") < page.words.index("Third")
        await page.press("ctrl+x")
        await page.until(lambda: pages.done == [("archive", "s2"), ("restore", "s2")])


async def test_a_session_that_is_open_elsewhere_is_not_removed() -> None:
    pages = Pages((ONE, None))
    pages.ways["s1"] = (OpenMode.ELSEWHERE, "open in another acp-tui")
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press("ctrl+x")
        assert "It's open in another acp-tui" in page.words
        assert pages.done == []


async def test_what_is_removed_is_what_was_at_the_cursor_whatever_follows() -> None:
    pages = Pages(([listed("s1", "First"), listed("s2", "Second")], None))
    pages.deleting = ()
    pages.ways["s2"] = (OpenMode.ELSEWHERE, "open in another acp-tui")
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press_at_once("ctrl+x", "down")
        await page.until(lambda: pages.done == [("archive", "s1")])


async def test_archived_sessions_are_listed_while_the_user_searches() -> None:
    pages = Pages((ONE, None), recordings=[replace(recorded("r1", "About zebras"), is_archived=True)])
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        assert "About zebras" not in page.words
        await page.press("space")
        assert "About zebras" in page.words
        await page.press("backspace", *"zebra")
        assert "About zebras" in page.words
        await page.press("ctrl+x", "enter")
        await page.until(lambda: "Brought the session back." in page.words)


async def test_esc_takes_back_a_space_before_it_closes_the_dialog() -> None:
    pages = Pages((ONE, None), recordings=[replace(recorded("r1", "About zebras"), is_archived=True)])
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        assert "a space shows archived ones, too" in page.words
        await page.press("space", "escape")
        assert page.result is NOTHING
        assert "About zebras" not in page.words
        await page.press("escape")
        assert page.result is None


async def test_what_cannot_be_done_is_said() -> None:
    pages = Pages((ONE, None))
    pages.ways["s1"] = (OpenMode.NONE, "It can't load.")
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press("enter")
        assert "It can't load." in page.words
        assert page.result is NOTHING


async def test_recorded_sessions_stand_among_the_agents_with_agent_prompts_and_way() -> None:
    pages = Pages((ONE, None), recordings=[recorded("r1", "From elsewhere"), recorded("s1", "Mine", agent="agent")])
    pages.ways["r1"] = (OpenMode.RECORDING, "its folder is gone")
    async with open_dialog(SessionsDialog(pages, here=PROJECT)) as page:
        await loaded(page, "4 earlier in this project")
        (row,) = (line for line in page.lines if "From elsewhere" in line)
        assert row.split()[3:9] == ["read-only", "2", "prompts", "other", "1970-01-01", "│"]
        assert "read-only: its folder is gone" in page.words
        assert "can't be opened" not in page.words
        assert "Mine" in page.words and "Mend the parser" not in page.words  # the recorded title wins


async def test_recordings_are_listed_while_the_agent_says_nothing() -> None:
    class Silent(Pages):
        async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
            await anyio.sleep_forever()
            raise AssertionError

    pages = Silent(recordings=[recorded("r1", "From elsewhere")])
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "From elsewhere")
        await page.press("enter")
        assert await chosen(page, pages) == "r1"


async def test_recordings_that_cannot_be_read_keep_the_agents_sessions_from_nobody() -> None:
    pages = Pages((ONE, None))
    pages.failure = ClientError("the index can't be used", hint="delete it")
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "the index can't be used")
        assert "Mend the parser" in page.words
        pages.failure, pages.recordings = None, [recorded("r1", "From elsewhere")]
        await page.press("f5")
        await loaded(page, "From elsewhere")


async def test_what_was_said_is_searched_too_and_its_line_shown() -> None:
    titles = [recorded("r1", "About zebras"), recorded("r2", "About lions")]
    pages = Pages(recordings=titles)
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "2 earlier in this project")
        await page.press(*"roars in r2")
        await loaded(page, "In the conversations")
        assert "About zebras" not in page.words
        await loaded(page, "the line: roars in r2")
        await page.press("enter")
        assert await chosen(page, pages) == "r2"


async def test_each_session_found_shows_its_line_as_it_reads() -> None:
    pages = Pages(recordings=[recorded("r1", "About zebras"), recorded("r2", "About lions")])
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "2 earlier in this project")
        await page.press(*"roars")
        await loaded(page, "In the conversations")
        await page.until(lambda: page.words.count("the line: roars") == 2)
        await page.press("ctrl+u", *"zebras")
        await page.until(lambda: "About lions" not in page.words)
        assert page.words.count("zebras") == 2, "in the search and in the title"


async def test_ctrl_n_makes_a_new_session_and_esc_none() -> None:
    pages = Pages(([], None))
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page, "No sessions yet")
        await page.press("ctrl+n")
        assert await chosen(page, pages) == "new"
    async with open_dialog(SessionsDialog(Pages((ONE, None)))) as page:
        await page.press("escape")
        assert page.result is None


# The contents of a row

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
    assert short_time(NOW - age, NOW) == words


def rows_of(*sessions: PastSession, cells: int = 100) -> list[str]:
    """The text at the end of each row."""
    rows = session_rows([row_of(one, OpenMode.RECORDING, "why") for one in sessions], here=HERE, now=NOW, cells=cells)
    return [row.aside for row in rows]


def labels_of(*sessions: PastSession) -> list[str]:
    rows = session_rows([row_of(one, OpenMode.RECORDING, "why") for one in sessions], here=HERE, now=NOW, cells=64)
    return [row.label for row in rows]


def test_rows_of_one_title_are_told_apart_by_the_folder_that_has_no_column() -> None:
    one = recorded("1", "Write the tests of the parser", agent="a" * 14)
    red, blue = (replace(one, cwd=Path(f"/work/{name}")) for name in ("red", "blue"))
    assert labels_of(red, blue) == ["Write the tests of t… · /work/red", "Write the tests of … · /work/blue"]


def test_rows_whose_titles_begin_alike_show_what_follows() -> None:
    begin = "Find out why the tests of the parser are slow in "
    assert labels_of(recorded("1", f"{begin}May"), recorded("2", f"{begin}June")) == ["…May", "…June"]


def test_what_is_no_time_is_shown_as_it_is() -> None:
    past = PastSession("agent", SessionId("a"), HERE, told_time="x" * 100)
    assert rows_of(past) == ["read-only   agent   " + "x" * 15 + "…"]


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
def test_a_folder_is_shortened_from_the_left_and_left_out_where_it_is_this_one(folder: str, shown: str) -> None:
    assert short_folder(Path(folder), HERE) == shown
    assert short_folder(Path.home() / "other", HERE) == "~/other"
    assert len(shown) <= MAX_FOLDER_CELLS


def test_columns_that_there_is_no_room_for_are_left_out_the_least_important_first() -> None:
    one = replace(recorded("a", "A", agent="gemini"), cwd=HERE, last_at=(NOW - timedelta(days=2)).timestamp())
    other = PastSession("claude", SessionId("b"), Path("/srv"))
    assert rows_of(one, other) == [
        "read-only   2 prompts   gemini   2 days ago",
        "/srv   read-only               claude             ",
    ]
    assert rows_of(one, other, cells=54) == rows_of(one, other)
    assert rows_of(one, other, cells=53) == [
        "read-only   gemini   2 days ago",
        "/srv   read-only   claude             ",
    ]
    assert rows_of(one, other, cells=41) == [
        "read-only   gemini   2 days ago",
        "read-only   claude             ",
    ]
    assert rows_of(one, other, cells=34) == ["gemini   2 days ago", "claude             "]
    assert rows_of(one, other, cells=22) == ["gemini   2 days", "claude         "]
    assert rows_of(one, replace(other, agent="gemini"), cells=22) == ["2 days ago", " "]


TITLES = st.sampled_from(["A", "HELLO all", "Mend the parser", "Fix the duration parser of the build tool", "例" * 20])
STATES_SHOWN = ("read-only", "open elsewhere", "can't be opened", "archived")
TIMES_SHOWN = ("just now", "1970-01-01")
FOLDERS = st.sampled_from(["/project", "/srv", "/home/me/work/durations/packages/parser"])
AGENTS = st.sampled_from(["a", "OpenCode", "Claude Agent", "an agent with a long name"])


@given(
    st.lists(
        st.builds(
            SessionRow,
            key=st.just("key"),
            title=TITLES,
            group=st.just(OPEN),
            past=st.builds(
                PastSession, st.just("a"), st.just(SessionId("s")), st.just(HERE), is_archived=st.booleans()
            ),
            agent=AGENTS,
            folder=st.builds(Path, FOLDERS),
            when=st.sampled_from([None, 0.0, NOW.timestamp()]),
            branch=st.sampled_from(["", "acp-tui/t9", f"acp-tui/{'b' * 30}"]),
            changes=st.sampled_from(["", "+1 -20"]),
            mark=st.sampled_from(["", " 2 ●"]),
            state=st.sampled_from(["", *STATES_SHOWN[:3]]),
            prompts=st.sampled_from([0, 1, 12]),
        ),
        min_size=1,
    ),
    st.sampled_from([36, 56, 72, 92, 140]),
)
def test_each_column_starts_at_one_cell_in_all_rows(rows: list[SessionRow], cells: int) -> None:
    drawn = session_rows(rows, here=PROJECT, now=NOW, cells=cells)
    starts: dict[str, set[int]] = {}
    for picked in drawn:
        aside = picked.aside
        assert cell_len(aside) + len(GAP) <= cells - min(cell_len(picked.label), MIN_LABEL_CELLS), "none is cut"
        columns = {"state": STATES_SHOWN, "agent": ["OpenCode", "Claude Agent", "an agent with"], "when": TIMES_SHOWN}
        for column, facts in columns.items():
            starts.setdefault(column, set()).update(len(aside) - aside.index(fact) for fact in facts if fact in aside)
    assert all(len(at) <= 1 for at in starts.values())


def test_what_has_no_room_in_a_row_stands_below_it_and_agent_and_age_are_brief() -> None:
    rows = [
        replace(
            row_of(recorded(str(hours), title, agent=agent)),
            folder=HERE,
            when=(NOW - timedelta(hours=hours)).timestamp(),
            last="Read a.py",
        )
        for hours, title, agent in (
            (2, "Find out why the printer stops", "Claude Code"),
            (300, "Say what changed", "↱ Gemini CLI"),
            (0, "Hi", "opencode"),
        )
    ]
    rows[0] = replace(rows[0], changes="+12 -3", branch="printer", folder=Path("/work/printer"))

    def drawn(cells: int, *, is_low: bool = False) -> list[tuple[str, str]]:
        shown = session_rows(rows, here=HERE, now=NOW, cells=cells, is_low=is_low)
        return [(" ".join(row.aside.split()), row.below) for row in shown]

    day = (NOW - timedelta(hours=300)).date().isoformat()
    below = ("+12 -3 · Read a.py", "Read a.py", "Read a.py")
    asides = ("printer Claude Code 2 h ago", f"↱ Gemini CLI {day}", "opencode just now")
    assert drawn(74) == list(zip(asides, below, strict=True))
    below = ("printer · +12 -3 · Read a.py", "Read a.py", "Read a.py")
    asides = ("Claude 2 h", f"↱ Gem… {day[5:]}", "openc… now")
    assert drawn(34) == list(zip(asides, below, strict=True))
    assert drawn(34, is_low=True) == [(aside, "") for aside in asides]


async def test_at_80_columns_a_short_title_leaves_room_for_every_column() -> None:
    one = replace(
        recorded("a", "Hello", agent="Claude Agent"), cwd=Path("/x"), branch="acp-tui/t9", last_at=NOW.timestamp()
    )
    pages = Pages(((), None), recordings=[one])
    pages.ways["a"] = OpenMode.RECORDING, "its folder is gone"
    async with open_dialog(SessionsDialog(pages, here=PROJECT, now=lambda: NOW), size=(80, 24)) as page:
        await loaded(page)
        (row,) = (line for line in page.lines if "Hello" in line)
        assert all(word in row for word in ("read-only", "Claude Agent", "2 prompts", "   t9"))
        assert "read-only: its folder is gone" in page.words


async def test_beside_the_scroll_bar_no_row_loses_its_columns() -> None:
    few = [replace(recorded(f"{number}", "Hello"), last_at=NOW.timestamp()) for number in range(30)]
    full = replace(few[0], title="Hello!!", cwd=Path("/x"), branch=f"acp-tui/{'b' * 22}")
    pages = Pages(((), None), recordings=[replace(full, agent="a" * 14), *few[1:]])
    async with open_dialog(SessionsDialog(pages, here=PROJECT, now=lambda: NOW), size=(80, 24)) as page:
        await loaded(page)
        (row,) = (line for line in page.lines if "Hello!!" in line)
        assert f"   {'a' * 14}   just now" in row


async def test_at_80_columns_a_long_title_leaves_the_time_and_the_folder_in_view() -> None:
    session = listed("a", "Mend the parser of durations " * 5, Path("/elsewhere"))
    async with open_dialog(SessionsDialog(Pages(([session], None))), size=(80, 24)) as page:
        await loaded(page)
        (row,) = (line for line in page.lines if "Mend the parser" in line)
        assert row.rstrip("│ ").endswith("…   /elsewhere   agent   yesterday, 10:00")


async def test_a_fact_that_few_rows_have_takes_no_room_in_the_others() -> None:
    title = "Fix the duration parser of the build tool"
    sessions = [listed("a", title), listed("b", "B", Path("/a/worktree/of/the/project"))]
    async with open_dialog(SessionsDialog(Pages((sessions, None)), here=PROJECT), size=(80, 24)) as page:
        await loaded(page)
        (row,) = (line for line in page.lines if "Fix the duration" in line)
        assert title in row
        assert "project agent yesterday, 10:00" in page.words


async def test_the_title_takes_the_room_of_a_state_that_its_row_does_not_have() -> None:
    read, open_one = listed("a", "A session with quite a long title"), recorded("b", "B")
    pages = Pages(([read], None), recordings=[open_one])
    pages.ways["b"] = OpenMode.ELSEWHERE, ""
    async with open_dialog(SessionsDialog(pages), size=(80, 24)) as page:
        await loaded(page)
        assert "A session with quite a long title" in page.words
        assert "open elsewhere" in page.words


async def test_what_is_read_while_the_dialog_goes_away_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = anyio.Event()

    class Late(Pages):
        async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
            await gone.wait()
            return [recorded("r", "Late")]

    monkeypatch.setattr(SessionList, "on_unmount", lambda _: gone.set(), raising=False)
    async with open_dialog(SessionsDialog(Late(((listed("old"),), None)))) as page:
        await page.press("escape")
        await page.until(gone.is_set)
        await page.settled()


class Told(Pages):
    """Three tabs and some earlier sessions; records which key was told to act on which."""

    def in_tabs(self) -> Sequence[SessionRow]:
        names = [f"t{number}" for number in range(3)]
        return [SessionRow(one, one, OPEN, recorded(one, one), "agent", PROJECT, None, is_tab=True) for one in names]

    async def close(self, key: str) -> None:
        self.done.append(("close", key))

    def move(self, key: str, direction: int) -> None:
        self.done.append((f"move {direction}", key))

    async def rename(self, session: PastSession, name: str) -> None:
        self.done.append((f"rename to {name}", session.session_id))

    async def pin(self, session: PastSession) -> None:
        self.done.append(("pin", session.session_id))

    async def open(self, row: SessionRow) -> None:
        self.done.append(("open", row.key))


ACTS = ("ctrl+x", "ctrl+t", "ctrl+o", "alt+w", "alt+up", "alt+down", "enter")


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("seed", range(3))
async def test_a_key_acts_on_the_row_where_the_keys_right_before_it_lead(seed: int, act: str) -> None:
    random = Random(f"{seed} {act}")
    moves = random.choices(("down", "down", "up", "pagedown", "pageup", "home", "end", *"aot1"), k=random.randint(1, 6))
    outcomes = []
    for is_burst in (False, True):
        pages = Told((MANY, None))
        pages.deleting = ()
        async with open_dialog(SessionsDialog(pages)) as page:
            await loaded(page)
            name = ("n", "e", "w", "enter") if act == "ctrl+t" else ()
            await (page.press_at_once if is_burst else page.press)(*moves, act, *name)
            outcomes.append(pages.done)
    assert outcomes[0] == outcomes[1], moves


class Restless(Pages):
    """Tabs and earlier sessions about which something changes at random."""

    def __init__(self, random: Random) -> None:
        super().__init__((ONE, None), recordings=[recorded(f"r{number}", f"told {number}") for number in range(3)])
        self.listeners = []  # type: ignore[misc]  # its own, not those of the class
        self._random = random
        self._tabs = [self._row(f"t{number}") for number in range(4)]

    def in_tabs(self) -> Sequence[SessionRow]:
        return self._tabs

    def marked(self, past: Iterable[PastSession]) -> list[PastSession]:
        return sorted(past, key=lambda _: self._random.random())

    def change(self) -> None:
        """Tabs are opened, closed, and moved, and their sessions do something else."""
        names = [row.key for row in self._tabs]
        closed = self._random.choice([*names, "", ""])
        opened = f"t{self._random.randrange(100)}"
        self._tabs = [self._row(name) for name in {*names, opened} - {closed}]
        self._random.shuffle(self._tabs)
        for listener in self.listeners:
            listener()

    def _row(self, key: str) -> SessionRow:
        group = self._random.choice((NEEDS_YOU, WORKING, OPEN))
        title = self._random.choice(("told", "untold", key))
        return SessionRow(key, title, group, recorded(key, title), "agent", PROJECT, None, is_tab=True)


@pytest.mark.parametrize("words", ["", "told"])
@pytest.mark.parametrize("seed", range(8))
async def test_whatever_changes_the_cursor_stays_on_its_row(seed: int, words: str) -> None:
    random = Random(f"{seed} {words}")
    pages = Restless(random)
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        rows = page.app.screen.query_one(RowList)
        await page.press(*words)
        for _ in range(12):
            if random.random() < 0.3:
                await page.press(random.choice(("home", "up", "down", "pagedown")))
            before = rows.row
            pages.change()
            await page.settled()
            now = [row.value for row in rows.rows]
            assert before is None or rows.row is None or before.value not in now or rows.row.value == before.value


async def test_the_cursor_stays_on_a_session_whose_recording_is_found_later() -> None:
    has_moved = anyio.Event()

    class Late(Pages):
        async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
            await has_moved.wait()
            return await super().recorded(words, is_everywhere)

    newer = [recorded(f"new{number}", "Newer", last_at=9.0) for number in range(3)]
    recordings = [*newer, recorded("s2", "Mine", agent="agent")]
    async with open_dialog(SessionsDialog(Late((ONE, None), recordings=recordings))) as page:
        await page.until(lambda: "Write tests" in page.words)
        await page.press("down")
        rows = page.app.screen.query_one(RowList)
        assert rows.row is not None
        assert rows.row.label == "s2"
        has_moved.set()
        await loaded(page)
        assert rows.row is not None
        assert rows.row.label == "Mine"


async def test_a_pinned_session_is_not_removed_without_a_question_that_says_so() -> None:
    pages = Pages(((), None), recordings=[replace(recorded("s1", "Mine"), is_pinned=True)])
    pages.deleting = ()
    async with open_dialog(SessionsDialog(pages)) as page:
        await loaded(page)
        await page.press("ctrl+x")
        assert "Remove the pinned “Mine” from this list" in page.words
        assert pages.done == []
        await page.press("enter")
        await page.until(lambda: pages.done == [("archive", "s1")])
