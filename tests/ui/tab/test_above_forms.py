"""However many forms an agent opens, one key quits, stops it, closes the tab, or goes to another."""

from __future__ import annotations

import os

import pytest
from textual.events import Key

from acp_tui.rpc.peer import MAX_UNDER_WAY
from support.desks import SESSION, Desk, OpenDesk
from support.folding import texts

MANY = MAX_UNDER_WAY + 100
SEEDS = int(os.environ.get("ACP_TUI_WITHDRAWN_FORMS", "1"))
ASKING = """
import random, time

def ask_form(request_id, message, **scope):
    schema = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}}
    send(id=request_id, method="elicitation/create",
         params={"mode": "form", "message": message, "requestedSchema": schema, **(scope or {"sessionId": "s1"})})

MANY = """ + str(MANY)
AT_ONCE = """
for number in range(MANY):
    ask_form(number, f"Form number {number}")
serve_until_closed()
"""
IN_A_TURN = """
prompt = expect("session/prompt")
for number in range(MANY):
    ask_form(100 + number, f"Form number {number}")
expect("session/cancel")
end(prompt, "cancelled")
serve_until_closed()
"""
OUTSIDE = """
for number in range(MANY):
    ask_form(number, f"Form number {number}", requestId=7)
serve_until_closed()
"""
ONE_AFTER_ANOTHER = """
number = 0
while True:
    ask_form(number, f"Form number {number}")
    if "result" in read():
        number += 1
"""
WITHDRAWN = """
chance = random.Random({seed})
waiting = []
for number in range(24):
    ask_form(number, f"Form number {{number}}")
    waiting.append(number)
    if chance.random() < 0.6:
        time.sleep(chance.choice([0, 0.001, 0.005, 0.02, 0.05]))
    while waiting and chance.random() < 0.6:
        send(method="$/cancel_request", params={{"requestId": waiting.pop(chance.randrange(len(waiting)))}})
for number in waiting:
    send(method="$/cancel_request", params={{"requestId": number}})
say("all of them are withdrawn")
serve_until_closed()
"""


@pytest.mark.parametrize("key", ["", "escape", "ctrl+c"])
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_forms_that_are_withdrawn_while_they_open_do_not_end_the_app(
    open_desk: OpenDesk, seed: int, key: str
) -> None:
    async with open_desk(SESSION, ASKING, WITHDRAWN.format(seed=seed)) as desk:
        await desk.has_session()

        def press_until_told() -> bool:
            if key:
                # Where no form is open, Ctrl+C has a draft to clear: without one, the second Ctrl+C quits.
                desk.tab.prompt.text = desk.tab.prompt.text or "a draft"
                desk.pilot.app.post_message(Key(key, None))
            # Earlier, withdrawn forms may be below it, and push it out of view.
            session = desk.tab.session
            told = [] if session is None else texts(session.conversation)
            return ("agent", "all of them are withdrawn") in told

        await desk.until(press_until_told)
        await desk.hides("scripted asks")
        assert desk.pilot.app.is_running


async def test_ctrl_c_takes_back_hundreds_of_forms_that_wait(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, ASKING, AT_ONCE) as desk:
        await _all_wait(desk)
        await desk.gets_answers(MANY - MAX_UNDER_WAY)
        await desk.press("ctrl+c")
        await desk.hides("scripted asks")
        answers = await desk.gets_answers(MANY)
    refused = [answer for answer in answers if answer != {"action": "cancel"}]
    assert len(refused) == len(answers) - MAX_UNDER_WAY == MANY - MAX_UNDER_WAY
    assert {answer["message"] for answer in refused} == {
        f"Too many requests at once: {MAX_UNDER_WAY} others are waiting for answers"
    }


async def test_ctrl_c_stops_a_turn_that_asks_one_form_after_the_other(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, ASKING, IN_A_TURN) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("Form number 0")
        await desk.write("a draft below")
        await desk.press("ctrl+c")
        await desk.gets("session/cancel")
        await desk.hides("scripted asks")
        assert desk.draft == "a draft below"


async def test_ctrl_c_takes_back_forms_that_belong_to_no_session(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, ASKING, OUTSIDE) as desk:
        await desk.shows("Form number 0")
        link = desk.tabs[0].link
        assert link is not None
        await desk.until(lambda: link.agent is not None and len(link.agent.elicitations) == MAX_UNDER_WAY)
        await desk.press("ctrl+c")
        await desk.gets_answers(MAX_UNDER_WAY)  # the rest may come only then
        await desk.hides("Form number 0")


@pytest.mark.parametrize("script", [AT_ONCE, ONE_AFTER_ANOTHER], ids=["at once", "one after another"])
async def test_quit_works_above_any_form(open_desk: OpenDesk, script: str) -> None:
    async with open_desk(SESSION, ASKING, script) as desk:
        await desk.shows("Form number 0")
        await desk.press("ctrl+q", "ctrl+q")
        await desk.until(lambda: not desk.pilot.app.is_running or desk.pilot.app._exit)


@pytest.mark.parametrize("script", [AT_ONCE, ONE_AFTER_ANOTHER], ids=["at once", "one after another"])
async def test_another_tab_is_one_key_away_and_the_one_with_the_forms_can_be_closed(
    open_desk: OpenDesk, script: str
) -> None:
    async with open_desk(SESSION, ASKING, script) as desk:
        await desk.shows("Form number 0")
        first = desk.tabs[0]
        await desk.pilot.app.open_tab(None, first.cwd)  # type: ignore[attr-defined]
        await desk.settled()
        assert "scripted asks" not in desk.words
        await desk.press("alt+1")
        await desk.shows("scripted asks")
        await desk.press("alt+2")
        await desk.hides("scripted asks")
        await desk.press("alt+1")
        await desk.shows("scripted asks")
        await desk.press("alt+w")
        await desk.until(lambda: first not in desk.tabs)
        await desk.hides("scripted asks")


async def test_the_agent_can_be_started_again_above_its_forms(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, ASKING, AT_ONCE) as desk:
        await desk.shows("Form number 0")
        await desk.press("alt+r")
        await desk.shows("Restart the agent?")
        await desk.press_slowly("y")
        await desk.hides("Restart the agent?")
        await desk.until(lambda: len(desk.sent("initialize")) == 2)


async def test_while_the_user_is_asked_whether_to_stop_no_form_comes_above_that(open_desk: OpenDesk) -> None:
    script = """
    ask_form(1, "The first")
    expect("_go_on")
    send(method="$/cancel_request", params={"requestId": 1})
    ask_form(2, "The second")
    say("asked again")
    serve_until_closed()
    """
    async with open_desk(SESSION, ASKING, script) as desk:
        await desk.shows("The first")
        await desk.press("alt+r")
        await desk.shows("Restart the agent?")
        desk.let_go_on()
        await desk.hears("asked again")
        assert "Restart the agent?" in desk.words
        await desk.press("escape")
        await desk.shows("The second")


async def _all_wait(desk: Desk) -> None:
    await desk.shows("Form number 0")
    await desk.until(lambda: len(desk.shown_session.conversation.elicitations) == MAX_UNDER_WAY)


async def test_in_a_field_the_status_line_does_not_lead_to_the_conversation(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, ASKING, 'ask_form(1, "Who are you?")', "serve_until_closed()") as desk:
        await desk.shows("Who are you?", "Tab to answer")
        await desk.press("tab", "tab")  # to the card, if the first came too soon for a field
        await desk.shows("Tab next · Esc back")
        assert "conversation" not in desk.status
