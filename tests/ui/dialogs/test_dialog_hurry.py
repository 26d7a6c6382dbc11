"""A question that appears while the user types takes none of the letters as an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.content import Content
from textual.screen import ModalScreen

from acp_tui.client.agents.command import AgentCommand, Package
from acp_tui.conversation.facts import StdioServer
from acp_tui.ui.dialogs.trust import FirstRunDialog, TrustDialog
from acp_tui.ui.kit.question_screen import QuestionScreen
from support.dialogs import NOTHING, open_dialog
from support.screens import Clock

PACKAGE = AgentCommand("fetched", ("npx", "-y", "f@1.0"), package=Package("npx", "f@1.0", "1.0"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Stands still."""
    clock = Clock()
    monkeypatch.setattr(QuestionScreen, "clock", staticmethod(clock))
    return clock


@pytest.fixture(params=["servers", "package", "recorded command"])
def question(request: pytest.FixtureRequest, clock: Clock) -> ModalScreen[bool]:
    """Dialogs that would let someone else's program run."""
    questions = {
        "servers": lambda: TrustDialog(Path("/project/.mcp.json"), []),
        "package": lambda: FirstRunDialog(PACKAGE),
        "recorded command": lambda: FirstRunDialog(AgentCommand("agent", ("agent",), recorded_in=Path("/project"))),
    }
    return questions[request.param]()


@pytest.mark.parametrize("keys", [("y",), ("n",), ("enter",), ("escape",), ("right", "enter")])
async def test_keys_that_were_on_their_way_answer_nothing(
    question: ModalScreen[bool], clock: Clock, keys: tuple[str, ...]
) -> None:
    async with open_dialog(question) as page:
        await page.press(*keys)
        assert page.result is NOTHING
        assert "Too soon" in page.words


@pytest.mark.usefixtures("far_screen")
async def test_no_program_may_run_before_the_users_screen_shows_what_it_is(
    question: ModalScreen[bool], clock: Clock
) -> None:
    async with open_dialog(question) as page:
        for keys in (("y",), ("right", "enter")):
            clock.pass_guard()
            await page.press(*keys[:-1])
            clock.pass_guard()
            await page.press(keys[-1])
            assert page.result is NOTHING
            assert "Too soon" in page.words
        clock.pass_guard()
        await page.press("n")
        assert page.result is False


@pytest.mark.usefixtures("far_screen")
@pytest.mark.parametrize("answer", ["y", "n"])
async def test_what_the_user_has_asked_for_needs_only_the_pause(answer: str, clock: Clock) -> None:
    async with open_dialog(QuestionScreen("Delete it?", [Content("The agent deletes it")])) as page:
        await page.press(answer)
        assert "Too soon" in page.words
        clock.pass_guard()
        await page.press(answer)
        assert page.result is (answer == "y")


async def test_a_letter_in_a_word_is_no_answer_however_late_it_comes(question: ModalScreen[bool], clock: Clock) -> None:
    async with open_dialog(question) as page:
        clock.pass_guard()
        await page.press(*"try")
        assert page.result is NOTHING
        assert "What you write goes to your draft" in page.words
        clock.pass_guard()
        await page.press("y")
        assert page.result is NOTHING
        await page.press("tab")
        assert "What you write goes to your draft" not in page.words
        clock.pass_guard()
        await page.press("y")
        assert page.result is True


async def test_a_yes_to_servers_that_were_not_in_view_shows_more_of_them_instead(clock: Clock) -> None:
    servers = [StdioServer(f"server-{number}", "run", ("${HOME}",)) for number in range(12)]
    async with open_dialog(TrustDialog(Path("/project/.mcp.json"), servers), size=(80, 24)) as page:
        for _ in range(12):
            if "server-11" in page.words:
                break
            clock.pass_guard()
            await page.press("y")
            assert page.result is NOTHING
        assert "server-11" in page.words
        await page.press("end", "pagedown")
        clock.pass_guard()
        await page.press("y")
        assert page.result is True
