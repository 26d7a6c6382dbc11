"""The key that sends a prompt into the running turn, the setting that gives it to Enter, and the queue instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acp_tui.client.settings.settings import Settings
from support.desks import SESSION, OpenDesk

OFFERED = SESSION.replace("handshake()", 'handshake(_meta={"steering": {"supported": True}})')
TURN = 'prompt = expect("session/prompt")\nsay("so far")\n'
TAKEN = 'answer(expect("_session/steering"), outcome="injected")\nsay("as you say")\n'
END = 'answer(prompt, stopReason="end_turn")\nserve_until_closed()'
STEERING = replace(Settings(), agent=replace(Settings().agent, enter_while_working="steer"))


async def test_a_key_sends_the_draft_into_the_turn(open_desk: OpenDesk) -> None:
    async with open_desk(OFFERED, TURN + TAKEN + END) as desk:
        await desk.has_session()
        await desk.send("walk")
        await desk.shows("so far")
        await desk.write("left")
        await desk.press("alt+t")
        await desk.shows("so far", "left", "as you say")
        assert desk.draft == ""
        assert not desk.shown_session.queue.prompts


async def test_enter_steers_where_the_setting_says_so_and_the_key_queues(open_desk: OpenDesk) -> None:
    script = TURN + TAKEN + 'expect("_go_on")\n' + 'answer(prompt, stopReason="end_turn")\n'
    script += 'answer(expect("session/prompt"), stopReason="end_turn")\nserve_until_closed()'
    async with open_desk(OFFERED, script, settings=STEERING) as desk:
        await desk.has_session()
        await desk.send("walk")
        await desk.shows("so far")
        await desk.write("later")
        await desk.press("alt+t")
        await desk.until(lambda: len(desk.shown_session.queue.prompts) == 1)
        await desk.send("left")
        await desk.shows("as you say")
        desk.let_go_on()
        await desk.gets("session/prompt", times=2)


@pytest.mark.parametrize("answer", ['outcome="promptRequired"', 'outcome="failed"'])
async def test_what_no_turn_takes_is_queued_and_it_is_said(open_desk: OpenDesk, answer: str) -> None:
    script = TURN + f'answer(expect("_session/steering"), {answer})\nexpect("_go_on")\n'
    script += 'answer(prompt, stopReason="end_turn")\nanswer(expect("session/prompt"), stopReason="end_turn")\n'
    async with open_desk(OFFERED, script + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("walk")
        await desk.shows("so far")
        await desk.write("left")
        await desk.press("alt+t")
        await desk.shows("Your prompt is queued")
        desk.let_go_on()
        await desk.gets("session/prompt", times=2)


async def test_an_agent_that_takes_none_gets_it_after_the_turn(open_desk: OpenDesk) -> None:
    script = TURN + 'expect("_go_on")\nanswer(prompt, stopReason="end_turn")\n'
    script += 'answer(expect("session/prompt"), stopReason="end_turn")\nserve_until_closed()'
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("walk")
        await desk.shows("so far")
        await desk.write("left")
        await desk.press("alt+t")
        await desk.shows("doesn't accept prompts while it works")
        desk.let_go_on()
        await desk.gets("session/prompt", times=2)
        assert desk.sent("_session/steering") == []
