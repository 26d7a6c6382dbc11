"""Tabs end and start again whatever their agents do, and nothing unused is left behind."""

from __future__ import annotations

import gc
from inspect import CORO_CLOSED, getcoroutinestate
from pathlib import Path
from weakref import ref

import pytest

from acp_tui.client.sessions import agent as agent_module
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.ui.app.app import AcpTuiApp
from support.agents import our_children, scripted
from support.desks import SESSION, Desk, OpenDesk
from support.recordings import demo, play

SECOND = 'answer(expect("session/new"), sessionId="s2")\n'
IDLE = "serve_until_closed()"
FORM = (
    'send(id=7, method="elicitation/create", params={"sessionId": "s1", "mode": "form", "message": "Which name?",'
    ' "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}})\n'
)


@pytest.fixture
async def past(tmp_path: Path) -> None:
    """A session of the demo in the desk's folder that can't be reopened."""
    plan = RecordingPlan(tmp_path, store=recording_store(RecordingSettings()))
    await play(demo("markdown"), plan, prompts=("How are zebras made?",))


async def read_again(desk: Desk) -> None:
    """The past session is in a second tab."""
    await desk.has_session()
    await desk.press("f3")
    await desk.shows("Esc close")
    await desk.shows("How are zebras made?")
    await desk.press("down", "enter")
    await desk.shows("○ This session is read-only")


async def open_other(desk: Desk, script: str) -> None:
    """A second tab, with another agent."""
    app = desk.pilot.app
    assert isinstance(app, AcpTuiApp)
    await app.open_tab(app.link_to(scripted(script), desk.tabs[0].cwd), desk.tabs[0].cwd)


# Closing


async def test_the_last_tab_stays_where_its_agent_begins_no_other_session(open_desk: OpenDesk) -> None:
    script = 'refuse(expect("session/new"), -32603, "no more of them")'
    async with open_desk(SESSION, script, IDLE) as desk:
        await desk.has_session()
        await desk.press("alt+w")
        await desk.shows("no more of them")
        assert len(desk.tabs) == 1


async def test_the_last_tab_tries_again_where_it_got_no_session(open_desk: OpenDesk) -> None:
    refusal = 'refuse(expect("session/new"), -32603, "not yet")'
    async with open_desk("handshake()", refusal, 'answer(expect("session/new"), sessionId="s1")', IDLE) as desk:
        await desk.shows("not yet")
        await desk.press("alt+w")
        await desk.has_session()


async def test_the_last_tab_of_what_can_only_be_read_stays(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await read_again(desk)
        await desk.press("alt+1")
        await desk.has_session()
        await desk.press("alt+w")
        await desk.until(lambda: len(desk.tabs) == 1)
        await desk.press("alt+w")
        await desk.shows("There is no agent here")
        assert len(desk.tabs) == 1


async def test_where_there_is_no_agent_no_session_is_begun(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await read_again(desk)
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.press("ctrl+n")
        await desk.shows("There is no agent here")
        assert len(desk.tabs) == 2


async def test_a_tab_that_is_closed_while_its_agent_starts_takes_the_agent_along(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        others = our_children()
        await open_other(desk, IDLE)
        await desk.until(lambda: len(our_children()) == 2)
        await desk.press("alt+w")
        await desk.until(lambda: set(our_children()) <= set(others))


async def test_an_agent_that_does_not_answer_a_close_ends_with_its_last_tab(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "CLOSE_LIMIT_S", 0.01)
    script = 'handshake(agentCapabilities={"sessionCapabilities": {"close": {}}})\n'
    script += 'answer(expect("session/new"), sessionId="s1")\n' + IDLE
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        others = our_children()
        await open_other(desk, script)
        await desk.has_session()
        await desk.press("alt+w")
        await desk.until(lambda: our_children() == others)


async def test_a_closed_tab_leaves_nothing_behind(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, SECOND, IDLE) as desk:
        await desk.has_session()
        await desk.press("ctrl+n")
        await desk.has_session()
        screen = ref(desk.tabs[1].screen)
        await desk.press("alt+w", "a", "backspace")

        def is_gone() -> bool:
            gc.collect()
            return screen() is None

        await desk.until(is_gone)


# Starting again


async def test_a_process_with_which_no_handshake_is_agreed_is_ended(open_desk: OpenDesk) -> None:
    async with open_desk('answer(expect("initialize"), protocolVersion=7)', IDLE) as desk:
        await desk.shows("speaks version 7")
        await desk.until(lambda: our_children() == [])


async def test_a_second_restart_in_a_hurry_leaves_one_process(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("alt+r")
        await desk.shows("Restart the agent")
        await desk.press("y", "alt+r")
        await desk.until(lambda: "The agent was restarted; this is a new session" in desk.text)
        await desk.until(lambda: len(our_children()) == 1)


async def test_a_restart_while_the_session_is_opened_opens_no_second_one(open_desk: OpenDesk) -> None:
    script = 'opening = expect("session/new")\nexpect("_go_on")\nanswer(opening, sessionId="s1")\n'
    async with open_desk("handshake()", script, IDLE) as desk:
        await desk.gets("session/new")
        await desk.press("alt+r", "alt+w")
        await desk.shows("still being opened")
        desk.let_go_on()
        await desk.has_session()
        assert len(desk.sent("session/new")) == 1


# Questions


async def test_a_form_withdrawn_behind_another_tab_is_gone_on_return(
    open_desk: OpenDesk,
) -> None:
    withdrawal = 'expect("_go_on")\nsend(method="$/cancel_request", params={"requestId": 7})\n'
    async with open_desk(SESSION, SECOND, 'expect("_go_on")', FORM, withdrawal, IDLE) as desk:
        await desk.has_session()
        first = desk.tabs[0]
        await desk.press("ctrl+n")
        await desk.has_session()
        await desk.press("alt+1")
        await desk.has_session()
        desk.let_go_on()
        await desk.shows("Which name?")
        await desk.pilot.app.switch_mode(desk.tabs[1].mode)
        desk.let_go_on()
        await desk.until(lambda: first.state.value != "needs you")
        await desk.press("alt+1")
        await desk.shows("canceled without an answer")
        await desk.hides("scripted asks")


async def test_work_that_is_canceled_before_it_begins_is_closed(open_desk: OpenDesk) -> None:
    async def work() -> None:
        pass

    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        all_work = [work(), work()]
        for each in all_work:
            desk.tabs[0].run(each, group="the same")
        await desk.until(lambda: all(getcoroutinestate(each) == CORO_CLOSED for each in all_work))


async def test_the_files_of_a_folder_are_followed_until_the_last_of_its_tabs_is_closed(
    open_desk: OpenDesk, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        app = desk.pilot.app
        assert isinstance(app, AcpTuiApp)
        link = app.link_to(scripted(SESSION + SECOND + IDLE), elsewhere)
        await app.open_tab(link, elsewhere)
        await desk.has_session()
        await app.open_tab(link, elsewhere)
        await desk.has_session()
        followed = app.changes_in(elsewhere)
        following = followed.following
        assert following is not None
        await desk.press("alt+w")
        await desk.until(lambda: len(desk.tabs) == 2)
        assert not following.is_finished
        await desk.press("alt+w")
        await desk.until(lambda: following.is_finished)
        assert app.changes_in(desk.tabs[0].cwd) is desk.tabs[0].changes
        assert elsewhere not in app.followed_folders
