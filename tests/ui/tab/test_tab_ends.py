"""Tabs end and start again whatever their agents do, and nothing unused is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.sessions import agent as agent_module
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.ui.commands.keymap import BY_ID
from support.agents import our_children, scripted
from support.desks import SESSION
from support.recordings import demo, play
from support.tabs import OpenTabs, TabDesk

SECOND = 'answer(expect("session/new"), sessionId="s2")\n'
IDLE = "serve_until_closed()"


@pytest.fixture
async def past(tmp_path: Path) -> None:
    """A session of the demo in the desk's folder that can't be reopened."""
    plan = RecordingPlan(tmp_path, store=recording_store(RecordingSettings()))
    await play(demo("markdown"), plan, prompts=("How are zebras made?",))


async def read_again(desk: TabDesk) -> None:
    """The past session is in a second tab."""
    await desk.has_session()
    await desk.open_row("How are zebras made?")
    await desk.shows("This session is read-only")
    await desk.until(lambda: desk.tab.writing.recall is not None)  # the start is over


async def open_other(desk: TabDesk, script: str) -> None:
    """A second tab, with another agent."""
    await desk.app.open_tab(desk.app.link_to(scripted(script), desk.tabs[0].cwd), desk.tabs[0].cwd)


# Closing


@pytest.mark.parametrize("then", ["1", "2"])
async def test_the_tab_that_the_key_was_pressed_in_is_closed_whatever_follows(open_tabs: OpenTabs, then: str) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        for _ in range(2):
            await open_other(desk, "handshake()\n" + SESSION + IDLE)
        first, second, third = desk.tabs
        for action in (BY_ID["close_tab"].action, BY_ID["go_to_tab"].action_by(then), BY_ID["close_tab"].action):
            await third.screen.run_action(action)
        await desk.until(lambda: [*desk.tabs] == [first, second])


async def test_the_last_tab_stays_where_its_agent_begins_no_other_session(open_tabs: OpenTabs) -> None:
    script = 'refuse(expect("session/new"), -32603, "no more of them")'
    async with open_tabs(SESSION, script, IDLE) as desk:
        await desk.has_session()
        await desk.do("close_tab")
        await desk.shows("no more of them")
        assert len(desk.tabs) == 1


async def test_the_last_tab_tries_again_where_it_got_no_session(open_tabs: OpenTabs) -> None:
    refusal = 'refuse(expect("session/new"), -32603, "not yet")'
    async with open_tabs("handshake()", refusal, 'answer(expect("session/new"), sessionId="s1")', IDLE) as desk:
        await desk.shows("not yet")
        await desk.do("close_tab")
        await desk.has_session()


async def test_the_last_tab_of_what_can_only_be_read_stays(past: None, open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await read_again(desk)
        await desk.go_to(1)
        await desk.has_session()
        await desk.do("close_tab")
        await desk.until(lambda: len(desk.tabs) == 1)
        await desk.do("close_tab")
        await desk.shows("There is no agent here")
        assert len(desk.tabs) == 1


async def test_where_there_is_no_agent_no_session_is_begun(past: None, open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await read_again(desk)
        await desk.tab.actions.history.begin()
        await desk.shows("There is no agent here")
        assert len(desk.tabs) == 2


async def test_a_tab_that_is_closed_while_its_agent_starts_takes_the_agent_along(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        others = our_children()
        await open_other(desk, IDLE)
        await desk.until(lambda: len(our_children()) == 2)
        await desk.do("close_tab")
        await desk.until(lambda: set(our_children()) <= set(others))


async def test_an_agent_that_does_not_answer_a_close_ends_with_its_last_tab(
    open_tabs: OpenTabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "CLOSE_LIMIT_S", 0.01)
    script = 'handshake(agentCapabilities={"sessionCapabilities": {"close": {}}})\n'
    script += 'answer(expect("session/new"), sessionId="s1")\n' + IDLE
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        others = our_children()
        await open_other(desk, script)
        await desk.has_session()
        await desk.do("close_tab")
        await desk.until(lambda: our_children() == others)


# Starting again


async def test_a_process_with_which_no_handshake_is_agreed_is_ended(open_tabs: OpenTabs) -> None:
    async with open_tabs('answer(expect("initialize"), protocolVersion=7)', IDLE) as desk:
        await desk.shows("speaks version 7")
        await desk.until(lambda: our_children() == [])


async def test_a_second_restart_in_a_hurry_leaves_one_process(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.do("restart")
        await desk.shows("Restart the agent")
        await desk.answer(True)
        await desk.do("restart")
        await desk.until(lambda: "The agent was restarted; this is a new session" in desk.words)
        await desk.until(lambda: len(our_children()) == 1)


async def test_a_restart_while_the_session_is_opened_opens_no_second_one(open_tabs: OpenTabs) -> None:
    script = 'opening = expect("session/new")\nexpect("_go_on")\nanswer(opening, sessionId="s1")\n'
    async with open_tabs("handshake()", script, IDLE) as desk:
        await desk.gets("session/new")
        await desk.do("restart")
        await desk.do("close_tab")
        await desk.shows("still being opened")
        desk.let_go_on()
        await desk.has_session()
        assert len(desk.sent("session/new")) == 1


async def test_the_files_of_a_folder_are_followed_until_the_last_of_its_tabs_is_closed(
    open_tabs: OpenTabs, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        app = desk.app
        link = app.link_to(scripted(SESSION + SECOND + IDLE), elsewhere)
        await app.open_tab(link, elsewhere)
        await desk.has_session()
        await app.open_tab(link, elsewhere)
        await desk.has_session()
        followed = app.changes_in(elsewhere)
        following = followed.following
        assert following is not None
        await desk.do("close_tab")
        await desk.until(lambda: len(desk.tabs) == 2)
        assert not following.done()
        await desk.do("close_tab")
        await desk.until(following.done)
        assert app.changes_in(desk.tabs[0].cwd) is desk.tabs[0].changes
        assert app.changes_in(elsewhere) is not followed
