"""Text that is typed or pasted where no text can be written goes to the draft."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from textual.events import Paste

from acp_tui.conversation.facts import PlanStep
from acp_tui.conversation.updates import PlanReplaced
from acp_tui.ui.kit.question_screen import QuestionScreen
from support.desks import SESSION, OpenDesk
from support.folding import prompt
from support.screens import open_page
from support.terminals import environment, on_terminal
from ui.tab.test_worktrees import TWO, open_worktree

PLAN = PlanReplaced((PlanStep("Read the parser"),))


@pytest.mark.parametrize(("columns", "plan_in"), [(120, "PlanView"), (160, "Sidebar")])
async def test_typed_text_goes_to_the_draft_from_every_place_of_a_session(columns: int, plan_in: str) -> None:
    async with open_page(size=(columns, 40)) as page:
        await page.send("at work")
        await page.send("queued")
        await page.apply(PLAN)
        screen = page.tab.screen
        places = [place for place in screen.query("*") if place.focusable and place is not page.prompt]
        assert {"MessageView", "QueueLines", plan_in} <= {type(place).__name__ for place in places}
        for at, place in enumerate(places):
            screen.set_focus(place)
            await page.press(*"xyZz")
            assert page.draft == "xyZz" * (at + 1)
            assert page.prompt.has_focus


async def test_a_paste_goes_to_the_draft_from_every_place_of_a_session() -> None:
    async with open_page(prompt("go"), PLAN, size=(160, 40)) as page:
        for at, place in enumerate([*page.tab.screen.focus_chain]):
            page.tab.screen.set_focus(place)
            page.pilot.app.post_message(Paste("pasted "))
            await page.settled()
            assert page.draft == "pasted " * (at + 1)


async def test_what_is_typed_and_pasted_while_something_is_asked_goes_to_the_draft() -> None:
    async with open_page() as page:
        page.pilot.app.push_screen(QuestionScreen("Really?", ()))
        await page.settled()
        await page.press(*"typed", "ctrl+j", *"and ")
        page.pilot.app.post_message(Paste("pasted"))
        await page.until(lambda: page.draft == "typed\nand pasted")


def test_what_is_written_while_a_session_may_be_removed_is_searched_for(tmp_path: Path) -> None:
    columns, lines = size = (100, 30)  # the list of sessions doesn't cover the prompt
    environ = {**environment(tmp_path), "COLUMNS": f"{columns}", "LINES": f"{lines}"}
    with on_terminal(tmp_path, "demo", "sessions", size=size, environ=environ) as terminal:
        terminal.prompt("hello")
        terminal.wait_for("done in")
        terminal.type("\x1bOR")
        terminal.wait_for("Fix the duration parser")
        terminal.type("\x1b[B")
        terminal.wait_for("Ctrl+X remove")
        terminal.type("\x18")
        terminal.wait_for("Remove “")
        terminal.type("why so")
        terminal.wait_for("│   why so ")


async def test_a_character_that_is_a_key_in_the_sidebar_stays_one() -> None:
    async with open_page(prompt("go"), size=(160, 40)) as page:
        await page.press("alt+s", "space")
        assert page.draft == ""
        assert not page.prompt.has_focus


@pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")
async def test_who_types_on_instead_of_answering_about_a_worktree_decides_nothing(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        await desk.press("alt+w")
        await desk.shows("Nothing changed in it")
        await desk.press_at_once(*"now", "enter")
        assert "Nothing changed in it" in desk.words
        await desk.press("escape")
        await desk.hides("Nothing changed in it")
        assert desk.draft == "now"
        assert (len(desk.tabs), folder.exists()) == (2, True)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
@pytest.mark.parametrize("key", ["f1", "f2", "f3", "f4", "f5", "f12", "alt+a", "ctrl+p", "ctrl+r"])
@pytest.mark.parametrize("moved", [(), ("tab",)])
async def test_text_never_goes_where_it_cannot_be_seen(size: tuple[int, int], key: str, moved: tuple[str, ...]) -> None:
    async with open_page(prompt("go"), size=size) as page:
        await page.press(key, *moved)
        await page.settled()
        await page.press(*"{find}")
        await page.settled()
        assert page.draft in page.text


async def test_text_typed_in_a_list_is_searched_for_wherever_the_keyboard_is() -> None:
    async with open_page() as page:
        await page.press("f12", "tab")
        await page.press(*"wrap")
        assert "   wrap" in page.text
        assert page.draft == ""
