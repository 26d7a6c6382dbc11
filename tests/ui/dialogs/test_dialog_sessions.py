"""The list of sessions: paging, searching, opening, deleting."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from acp_tui.client.errors import AgentRefused, ClientError
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
    """Gives these pages in turn, and keeps which cursors were asked for."""

    def __init__(self, *pages: Page) -> None:
        self.pages = list(pages)
        self.cursors: list[str | None] = []

    async def __call__(self, cursor: str | None) -> tuple[Sequence[Listed], str | None]:
        self.cursors.append(cursor)
        page = self.pages.pop(0)
        if isinstance(page, ClientError):
            raise page
        return page


ONE = [Listed("s1", "Mend the parser"), Listed("s2"), Listed("s3", "Write tests")]


async def loaded(page: DialogPage, words: str = "in all") -> None:
    await page.until(lambda: words in page.words)
    await page.settled()


async def test_the_first_page_is_loaded_at_once_and_enter_opens() -> None:
    pages = Pages((ONE, None))
    async with open_dialog(SessionsDialog("Agent", pages, current="s2")) as page:
        await loaded(page)
        assert pages.cursors == [None]
        assert "● s2" in page.words  # without a title its id stands for it
        assert "yesterday, 10:00 · /project" in page.words
        await page.press("down", "down", "enter")
        assert page.result == ("open", "s3")


async def test_going_on_at_the_end_loads_more_with_the_agents_cursor() -> None:
    pages = Pages((ONE, "c/1="), ([Listed("s4", "The fourth")], None))
    async with open_dialog(SessionsDialog("Agent", pages)) as page:
        await loaded(page, "3 so far")
        await page.press("down", "down", "down")
        await loaded(page, "4 in all")
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
        await loaded(page, "0 so far")
        assert len(pages.cursors) == EMPTY_PAGES_IN_A_ROW


async def test_a_refused_cursor_leads_back_to_the_first_page_once() -> None:
    pages = Pages((ONE, "old"), BAD_CURSOR, ([Listed("new")], "older"), BAD_CURSOR)
    async with open_dialog(SessionsDialog("Agent", pages)) as page:
        await loaded(page, "3 so far")
        await page.press("ctrl+end", "down")
        await loaded(page, "1 so far")
        assert pages.cursors == [None, "old", None]
        await page.press("down")
        await loaded(page, "invalid cursor")
        assert "new" in page.words


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
