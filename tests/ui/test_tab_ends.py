"""Tabs end and begin anew whatever their agents do meanwhile, and nothing is left of what nobody uses any more."""

from __future__ import annotations

from pathlib import Path

from support.agents import our_children
from support.desks import SESSION, Desk, OpenDesk
from support.recordings import demo, play
from acp_tui.client.sessions.recordings import recording_store
from acp_tui.client.settings.tree import RecordingSettings
from acp_tui.client.transcript.plan import RecordingPlan

TWO = 'answer(expect("session/new"), sessionId="s2")\n'
IDLE = "serve_until_closed()"
CLOSES = 'handshake(agentCapabilities={"sessionCapabilities": {"close": {}}})\n'


async def record_demo(cwd):
    plan = RecordingPlan(cwd, store=recording_store(RecordingSettings()))
    await play(demo("markdown"), plan, prompts=("How are zebras made?",))


async def reread_beside(desk: Desk) -> None:
    """The session of the past is in a tab of its own."""
    await desk.has_session()
    await desk.press("f3")
    await desk.shows("How are zebras made?")
    await desk.press("enter")
    await desk.shows("only to be read", "Re-read from its recording")


async def test_the_last_tab_stays_where_its_agent_cannot_begin_another_session(open_desk: OpenDesk) -> None:
    script = 'refuse(expect("session/new"), -32603, "no more of them")'
    async with open_desk(SESSION, script, IDLE) as desk:
        await desk.has_session()
        await desk.press("alt+w")
        await desk.shows("no more of them")
        assert len(desk.tabs) == 1


async def test_the_last_tab_tries_again_where_it_got_no_session(open_desk: OpenDesk) -> None:
    script = 'handshake()\nrefuse(expect("session/new"), -32603, "not yet")\n'
    script += 'answer(expect("session/new"), sessionId="s1")\n'
    async with open_desk(script, IDLE) as desk:
        await desk.shows("not yet")
        await desk.press("alt+w")
        await desk.has_session()


async def test_the_last_tab_of_what_can_only_be_read_stays(open_desk: OpenDesk, tmp_path: Path) -> None:
    await record_demo(tmp_path)
    async with open_desk(SESSION, IDLE) as desk:
        await reread_beside(desk)
        await desk.press("alt+1")
        await desk.has_session()
        await desk.press("alt+w")
        await desk.until(lambda: len(desk.tabs) == 1)
        await desk.press("alt+w")
        await desk.shows("no agent")
        assert len(desk.tabs) == 1


async def test_where_nothing_can_be_started_no_session_is_begun(open_desk: OpenDesk, tmp_path: Path) -> None:
    await record_demo(tmp_path)
    async with open_desk(SESSION, IDLE) as desk:
        await reread_beside(desk)
        await desk.press("f3")
        await desk.shows("n new")
        await desk.press("n")
        await desk.shows("no agent")
        assert len(desk.tabs) == 2


async def test_a_tab_that_is_closed_while_its_agent_starts_takes_the_agent_along(open_desk: OpenDesk) -> None:
    script = """
    import pathlib
    mark = pathlib.Path("ran")
    expect("initialize")
    serve_until_closed()
    """
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        (first,) = our_children()
        from support.agents import scripted

        app = desk.pilot.app
        await app.open_tab(app.link_to(scripted(script)), first.cwd() and desk.tabs[0].cwd)  # type: ignore[attr-defined]
        await desk.until(lambda: len(our_children()) == 2)
        await desk.press("alt+w")
        await desk.until(lambda: our_children() == [first])


async def test_an_agent_that_does_not_answer_a_close_is_ended_with_its_last_tab(open_desk: OpenDesk) -> None:
    from support.agents import scripted

    script = CLOSES + 'answer(expect("session/new"), sessionId="s1")\nexpect("session/close")\n' + IDLE
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        (first,) = our_children()
        app = desk.pilot.app
        await app.open_tab(app.link_to(scripted(script)), desk.tabs[0].cwd)  # type: ignore[attr-defined]
        await desk.has_session()
        await desk.press("alt+w")
        await desk.until(lambda: our_children() == [first])


async def test_a_process_with_which_no_handshake_is_agreed_is_ended(open_desk: OpenDesk) -> None:
    script = 'answer(expect("initialize"), protocolVersion=7)\n' + IDLE
    async with open_desk(script) as desk:
        await desk.shows("speaks version 7")
        await desk.until(lambda: our_children() == [])


async def test_a_second_restart_in_a_hurry_leaves_one_process(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("alt+r")
        await desk.shows("Stop the agent")
        await desk.press("enter", "alt+r")
        await desk.shows("You have stopped the agent", "it knows nothing of what stands above")
        await desk.until(lambda: len(our_children()) == 1)


async def test_a_restart_while_the_agent_starts_begins_no_second_session(open_desk: OpenDesk) -> None:
    script = """
    asked = expect("initialize")
    import time
    time.sleep(0.3)
    answer(asked, protocolVersion=1)
    answer(expect("session/new"), sessionId="s1")
    serve_until_closed()
    """
    async with open_desk(script) as desk:
        await desk.until(lambda: len(our_children()) == 1)
        await desk.press("alt+r")
        await desk.has_session()
        assert len(desk.sent("session/new")) == 1


async def test_of_a_closed_tab_the_agent_is_asked_nothing_more(open_desk: OpenDesk) -> None:
    """The agent offers no close."""
    script = 'asked = expect("session/prompt")\n' + TWO + 'expect("session/cancel")\nask("allow_once")\n' + IDLE
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("Tidy up")
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.press("alt+1", "alt+w")
        await desk.shows("The agent is at work")
        await desk.press("enter")
        await desk.gets_answers()
        assert "result" not in str(desk.answers())
