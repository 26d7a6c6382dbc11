"""A question that comes while the user writes takes none of the letters for an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.screen import ModalScreen

from acp_tui.client.agents.command import AgentCommand, Package
from acp_tui.client.settings.mcp import StdioServer
from acp_tui.conversation.elicitation import BooleanField, Form, TextField
from acp_tui.conversation.facts import RequestKey
from acp_tui.ui.screens.first_run import FirstRunDialog
from acp_tui.ui.screens.form import FormDialog
from acp_tui.ui.screens.question_screen import QuestionScreen
from acp_tui.ui.screens.run_question import RunQuestion
from acp_tui.ui.screens.trust import TrustDialog
from acp_tui.ui.widgets.answer_guard import REPEAT_S
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
    """Each by which something of others would run."""
    questions = {
        "servers": lambda: TrustDialog(Path("/project/.mcp.json"), []),
        "package": lambda: FirstRunDialog(PACKAGE),
        "recorded command": lambda: RunQuestion(("agent",), Path("/project")),
    }
    return questions[request.param]()


@pytest.mark.parametrize("keys", [("y",), ("n",), ("enter",), ("escape",), ("right", "enter")])
async def test_keys_that_were_on_their_way_answer_nothing(
    question: ModalScreen[bool], clock: Clock, keys: tuple[str, ...]
) -> None:
    async with open_dialog(question) as page:
        await page.press(*keys)
        assert page.result is NOTHING
        assert "Too soon to count" in page.words


async def test_a_letter_in_a_word_is_no_answer_however_late_it_comes(
    question: ModalScreen[bool], clock: Clock
) -> None:
    async with open_dialog(question) as page:
        clock.pass_guard()
        await page.press(*"try")
        assert page.result is NOTHING
        clock.pass_guard()
        await page.press("y")
        assert page.result is True


async def test_no_field_of_a_form_takes_a_letter_before_the_user_has_gone_to_it(clock: Clock) -> None:
    typed: list[str] = []
    form = Form(RequestKey(1), "Who?", fields=(TextField("name"),))
    async with open_dialog(FormDialog(form, "Agent", typed.append)) as page:
        clock.pass_guard()
        await page.press(*"on and", "space", *"on", "tab", "x", "escape", "enter")
        assert "".join(typed) == "on and onx"  # the keys right behind the letters counted for nothing
        assert page.result is NOTHING
        clock.pass_guard()
        await page.press("tab", "x", "enter")
        assert page.result == ("accept", {"name": "x"}), "who writes into a field means the Enter behind it"


async def test_an_enter_that_was_on_its_way_sends_no_form(clock: Clock) -> None:
    form = Form(RequestKey(1), "Proceed?", fields=(BooleanField("yes", default=True),))
    async with open_dialog(FormDialog(form, "Agent")) as page:
        await page.press("ctrl+enter", "enter")
        assert page.result is NOTHING
        clock.now_s += REPEAT_S
        await page.press("ctrl+enter")
        assert page.result == ("accept", {"yes": True})


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
