"""Answering a permission request of another tab in the sessions dialog: as on the tab's own card."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from acp_tui.ui.kit.row_list import RowList
from acp_tui.ui.tab.sessions_dialog import SessionsDialog
from acp_tui.ui.tab.tab import Tab
from acp_tui.ui.tab.tabs import Tabs
from support.desks import SESSION, Desk, OpenDesk

ASKING = 'expect("session/prompt")\nanswer(expect("session/new"), sessionId="s2")\n'
ONE = 'ask("allow_once", "reject_once")\n'
REST = "serve_until_closed()"


@asynccontextmanager
async def asking(open_desk: OpenDesk, *script: str) -> AsyncIterator[Desk]:
    """Tab 1 asks, tab 2 is in front, and the dialog is open on the row of tab 1."""
    async with open_desk(SESSION, ASKING, *script, REST) as desk:
        await desk.has_session()
        await desk.give("Tidy up")
        await desk.press("ctrl+n")
        await desk.until(lambda: "1 ▲" in desk.text)
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Needs you 1 ▲ Tidy up", "Delete everything", "Tab to answer")
        desk.clock.pass_guard()
        yield desk


def is_open(desk: Desk) -> bool:
    return isinstance(desk.pilot.app.screen, SessionsDialog)


async def test_the_cards_own_keys_answer_and_the_list_gets_the_keyboard_back(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.enter_card()
        await desk.shows("❯ 1 y")
        await desk.press("y")
        (answer,) = await desk.gets_answers()
        assert answer["outcome"]["optionId"] == "allow_once"
        await desk.shows("Working 1 ◐ Tidy up")
        assert "Permission" not in desk.words
        assert is_open(desk)
        await desk.press("z", "z")
        await desk.shows("Nothing matches “zz”")


async def test_after_the_answer_the_cursor_stays_on_the_session_that_got_it(open_desk: OpenDesk) -> None:
    second = """
answer(expect("session/new"), sessionId="s2")
asked = expect("session/prompt")
ask("allow_once", "reject_once", session="s2")
outcome()
end(asked)
"""
    async with open_desk(SESSION, second, REST) as desk:
        await desk.has_session()
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.give("Tidy up")
        await desk.until(lambda: "2 ▲" in desk.text)
        await desk.press("f3")
        await desk.shows("◉ 2 ▲ Tidy up", "Tab to answer")
        desk.clock.pass_guard()
        await desk.enter_card()
        await desk.press("y")
        await desk.shows("1 ● scripted", "◉ 2 ● Tidy up")
        row = desk.pilot.app.screen.query_one(RowList).row
        assert row is not None
        assert "Tidy up" in row.label


async def test_the_row_names_the_request_that_the_card_shows(open_desk: OpenDesk) -> None:
    two = """
    for number, title in enumerate(("Delete everything", "Keep the rest"), 1):
        call = {"toolCallId": f"c{number}", "title": title}
        options = [{"optionId": "a", "name": "Yes", "kind": "allow_once"}]
        params = {"sessionId": "s1", "toolCall": call, "options": options}
        send(id=number, method="session/request_permission", params=params)
    """
    async with asking(open_desk, two) as desk:
        await desk.shows("1 of 2 · Delete everything")
        await desk.enter_card()
        await desk.press("right_square_bracket")
        await desk.shows("2 of 2 · Keep the rest")
        await desk.hides("Delete everything")


async def test_the_card_names_the_tab_that_asks(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.until(lambda: "╭─ 1 ▲ scripted: Tidy up ─" in desk.text)


async def test_the_rows_are_in_view_from_the_first_frame_on(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    heights: list[int] = []
    mounted = SessionsDialog.on_mount

    def look(dialog: SessionsDialog) -> None:
        mounted(dialog)
        rows = dialog.query_one(RowList)
        dialog.screen_layout_refresh_signal.subscribe(dialog, lambda _: heights.append(rows.size.height))

    monkeypatch.setattr(SessionsDialog, "on_mount", look)
    async with asking(open_desk, ONE):
        assert min(heights[1:]) >= 3  # at the first layout, nothing was painted yet


async def test_the_foot_tells_the_keys_of_what_has_the_keyboard(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.shows("Enter open", "Alt+W close tab", "Esc close")
        await desk.press("tab")
        await desk.shows("Esc back to the list")
        await desk.hides("Enter open")
        await desk.hides("Esc close")
        await desk.press("escape")
        await desk.shows("Enter open", "Alt+W close tab", "Esc close", "Tab to answer")
        assert is_open(desk)


async def test_in_the_list_no_key_answers(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        for key in ("y", "a", "n", "1", "2"):
            await desk.press(key, "backspace")
            desk.clock.pass_guard()
        await desk.shows("Tab to answer")
        assert desk.answers() == []


async def test_a_letter_that_goes_into_the_search_is_told_with_the_way_to_answer(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.press("y")
        await desk.shows("y went into the search; press Tab, then y")
        await desk.press("backspace")
        await desk.shows("Tab to answer")
        assert desk.answers() == []


async def test_an_answer_counts_only_after_a_pause(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.press("tab", "y")
        await desk.shows("Too soon")
        assert desk.answers() == []
        desk.clock.pass_guard()
        await desk.press("y")
        await desk.gets_answers()


async def test_the_keyboard_stays_with_the_questions_while_one_waits(open_desk: OpenDesk) -> None:
    second = 'expect("_go_on")\nask("allow_once", "reject_once", session="s2")\n'
    async with asking(open_desk, ONE, second) as desk:
        desk.let_go_on()
        await desk.shows("2 ▲")
        await desk.enter_card()
        await desk.press("1")
        await desk.gets_answers()
        await desk.shows("Working 1 ◐ Tidy up", "❯ 1 y")
        await desk.press("1")
        await desk.shows("Too soon")
        assert len(desk.answers()) == 1
        desk.clock.pass_guard()
        await desk.press("1")
        await desk.gets_answers(2)


async def test_rejecting_with_a_reason_leads_to_the_sessions_own_prompt(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.enter_card()
        await desk.press("w")
        await desk.until(lambda: desk.tab is desk.tabs[0] and not is_open(desk))
        await desk.shows("Why not?")
        await desk.press(*"Later", "enter")
        (answer,) = await desk.gets_answers()
        assert answer["outcome"]["optionId"] == "reject_once"


@pytest.mark.parametrize("first", ["h", "z"])
async def test_text_goes_to_the_sessions_own_draft_whatever_it_means_in_the_list(
    open_desk: OpenDesk, first: str
) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.enter_card()
        await desk.press(first)
        await desk.until(lambda: desk.tab is desk.tabs[0] and not is_open(desk))
        await desk.press(*"ello")
        assert desk.draft == f"{first}ello"
        assert desk.answers() == []


async def test_a_question_that_is_gone_leaves_the_keyboard_to_the_list(open_desk: OpenDesk) -> None:
    gone = f'asked = {ONE}expect("_go_on")\nsend(method="$/cancel_request", params={{"requestId": asked}})\n'
    async with asking(open_desk, gone) as desk:
        await desk.enter_card()
        desk.let_go_on()
        await desk.hides("Permission")
        assert is_open(desk)
        desk.clock.pass_guard()
        await desk.press("down")
        await desk.press("enter")
        await desk.until(lambda: not is_open(desk))


async def test_the_full_screen_answers_too_and_leads_back_to_the_list(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.enter_card()
        await desk.press("f")
        await desk.shows("r raw · Esc back")
        desk.clock.pass_guard()
        await desk.press("n")
        (answer,) = await desk.gets_answers()
        assert answer["outcome"]["optionId"] == "reject_once"
        await desk.until(lambda: is_open(desk))
        await desk.shows("Working 1 ◐ Tidy up")


async def test_escape_leads_back_to_the_list_and_the_question_waits(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.enter_card()
        await desk.press("escape")
        await desk.shows("Tab to answer")
        assert is_open(desk)
        await desk.press("escape")
        await desk.until(lambda: not is_open(desk))
        assert desk.answers() == []


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_on_a_small_screen_rows_question_and_the_way_out_are_in_view(
    open_desk: OpenDesk, size: tuple[int, int]
) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.pilot.resize_terminal(*size)
        await desk.shows("1 ▲ Tidy up", "Delete everything", "Esc close", "Tab")


async def test_the_question_stands_right_below_the_list_and_moves_nothing(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.pilot.resize_terminal(120, 40)
        await desk.until(lambda: desk.text.count("\n") > 30)

        def lines() -> list[str]:
            return [line.strip(" │") for line in desk.text.splitlines()]

        await desk.until(lambda: any(line.startswith("╭─ 1 ▲") for line in lines()))
        await desk.settled()
        card = next(at for at, line in enumerate(lines()) if line.startswith("╭─ 1 ▲"))
        assert "2 ●" in "".join(lines()[card - 3 : card])
        keys = next(at for at, line in enumerate(lines()) if "Esc close" in line)
        await desk.press("down")
        await desk.hides("Permission")
        assert "Esc close" in lines()[keys]


async def test_at_80_by_24_five_tabs_stay_in_view_above_a_question(open_desk: OpenDesk) -> None:
    more = "".join(f'answer(expect("session/new"), sessionId="s{number}")\n' for number in (3, 4, 5))
    async with asking(open_desk, ONE, more) as desk:
        await desk.press("escape")
        for number in (3, 4, 5):
            await desk.press("ctrl+n")
            await desk.until(lambda number=number: len(desk.tabs) == number)  # type: ignore[misc]
            await desk.has_session()
        await desk.pilot.resize_terminal(80, 24)
        await desk.press("f3")
        await desk.shows("1 ▲ Tidy up", "2 ●", "3 ●", "4 ●", "5 ●", "Delete everything", "Esc close")


async def test_a_tab_that_needs_the_user_can_be_closed_from_the_list(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE) as desk:
        await desk.press("alt+w")
        await desk.shows("scripted: Tidy up waits for your answer. Close the tab anyway?")
        assert not is_open(desk)
        await desk.press_slowly("n")
        await desk.until(lambda: is_open(desk))
        await desk.shows("Alt+W close tab")
        await desk.press("alt+w")
        await desk.shows("waits for your answer. Close the tab anyway?")
        await desk.press_slowly("y")
        await desk.until(lambda: len(desk.tabs) == 1 and is_open(desk))
        await desk.shows("Open ◉ 1 ● scripted", "Earlier Tidy up")
        assert desk.shown_session.session_id == "s2"


async def test_the_list_stays_in_front_when_its_tab_or_another_is_closed(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, go_to = list[bool](), Tabs.go_to

    async def go_and_see(self: Tabs, tab: Tab) -> None:
        await go_to(self, tab)
        shown.append(is_open(desk))

    async with asking(open_desk, ONE, 'answer(expect("session/new"), sessionId="s3")\n') as desk:
        await desk.press("escape", "ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 3)
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("◉ 3 ●")
        monkeypatch.setattr(Tabs, "go_to", go_and_see)
        await desk.press("down", "alt+w")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.shows("Open ◉ 2 ●")
        await desk.press("alt+w")
        await desk.until(lambda: len(desk.tabs) == 1 and is_open(desk))
        await desk.shows("Needs you ◉ 1 ▲ Tidy up")
        assert all(shown)


async def test_a_form_is_answered_in_its_tab(open_desk: OpenDesk) -> None:
    form = (
        'expect("_go_on")\nsend(id=7, method="elicitation/create", params={"sessionId": "s2", "mode": "form",'
        ' "message": "Which name?", "requestedSchema": {"type": "object", "properties":'
        ' {"name": {"type": "string"}}}})\n'
    )
    async with asking(open_desk, ONE, form) as desk:
        desk.let_go_on()
        await desk.shows("2 ▲")
        await desk.press("down")
        await desk.hides("Permission")
        await desk.press("tab")
        await desk.shows("Enter opens it; answer there")
        await desk.press("enter")
        await desk.until(lambda: not is_open(desk))
        await desk.shows("Which name?")


async def test_the_other_requests_of_a_tab_can_be_answered_out_of_turn(open_desk: OpenDesk) -> None:
    async with asking(open_desk, ONE, ONE) as desk:
        await desk.shows("1 of 2 Delete everything")
        await desk.enter_card()
        await desk.press("right_square_bracket")
        await desk.shows("2 of 2 Delete everything", "[ ] other requests")
        desk.clock.pass_guard()
        await desk.press("n")
        await desk.shows("Permission Delete everything")
        assert [answer["outcome"]["optionId"] for answer in desk.answers()] == ["reject_once"]


async def test_whether_to_close_a_tab_is_asked_no_longer_than_its_agent_works(open_desk: OpenDesk) -> None:
    ends = """
asked = expect("session/prompt")
answer(expect("session/new"), sessionId="s2")
expect("session/cancel")
answer(asked, stopReason="cancelled")
serve_until_closed()
"""
    async with open_desk(SESSION, ends) as desk:
        await desk.has_session()
        await desk.give("Tidy up")
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.press("alt+1", "alt+w")
        await desk.shows("Tidy up is working. Close the tab anyway?")
        session = desk.tabs[0].session
        assert session is not None
        session.cancel()
        await desk.hides("Close the tab anyway?")
        await desk.shows("Tidy up is done. Its tab is open.")
        assert len(desk.tabs) == 2
