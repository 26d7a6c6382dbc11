"""A session no agent can open is read from its recording; with an agent that can, it continues."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.agents.remembered import consent_file
from acp_tui.client.sessions.session_history import PastSession, recorded_sessions
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.client.transcript.recording_plan import recording_store
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.dialogs.naming import ExportDialog
from acp_tui.ui.tab.reopening import Reopening
from support.desks import SESSION
from support.pages import COMMENT, drafts_kept
from support.recordings import open_in_process, record
from support.tabs import OpenTabs, TabDesk

IDLE = "serve_until_closed()"


@pytest.fixture
async def past(tmp_path: Path) -> None:
    """One session of the demo, in the desk's folder."""
    await record(tmp_path)


async def test_a_recorded_session_is_read_again_in_a_tab_of_its_own(past: None, open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        why = "the demo forgets its sessions when it exits"
        row = await desk.row("How are zebras made?")
        assert (row.state, row.why, row.past.agent, row.past.recorded.prompts) == ("read-only", why, "demo", 1)
        await desk.open_row("How are zebras made?")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.shows(f"This session is read-only: {why}")
        row = await desk.row("How are zebras made?")
        assert (row.is_current, row.state, row.why, row.prompts) == (True, "read-only", why, 1)
        assert row.mark == " 2 ○", "as in the status line"
        await desk.restart()
        assert [one.message for one in desk.notices] == [f"{desk.tab.writing.why_not}."]
        await desk.send("And lions?")
        assert (
            desk.notices[-1].message
            == "This session is read-only: the demo forgets its sessions when it exits. Your draft stays."
        )
        assert desk.draft == "And lions?"


async def test_a_draft_written_in_a_read_only_recording_is_there_when_it_is_opened_again(
    past: None, open_tabs: OpenTabs
) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.open_row("How are zebras made?")
        await desk.shows("This session is read-only")
        await desk.send("And lions?")
        await desk.tab.writing.end()
        assert [*drafts_kept().values()] == ["And lions?"]
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        assert (await desk.row("How are zebras made?")).past.has_draft
        await desk.open_row("How are zebras made?")
        await desk.until(lambda: desk.draft == "And lions?")


async def test_a_recorded_session_is_exported_and_what_needs_an_agent_says_why_not(
    tmp_path: Path, past: None, open_tabs: OpenTabs
) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.open_row("How are zebras made?")
        await desk.shows("This session is read-only")
        for typed in ("/changes", "/options", "/mode", "/mcp", "/acp:later 20m And lions?", "/acp:model large"):
            told = len(desk.notices)
            await desk.send(typed)
            assert [one.message[:25] for one in desk.notices[told:]] == ["This session is read-only"], typed
            assert desk.draft == (typed if " " in typed else "")
            desk.tab.prompt.clear()
        await desk.send("/export zebras.md")
        dialog = await desk.asks(ExportDialog)
        await dialog.write(tmp_path / "zebras.md", False)
        assert "zebras" in (tmp_path / "zebras.md").read_text()


async def decline_its_agent(desk: TabDesk, *shown: str) -> None:
    """Open the recording, see this in the question whether its agent may run, and answer no."""
    await desk.has_session()
    assert (await desk.row("How are zebras made?")).past.agent == "somebody"
    await desk.open_row("How are zebras made?")
    await desk.shows(*shown)
    await desk.answer(False)
    await desk.shows("Alt+R continues this session with its agent")


async def test_a_command_that_only_a_recording_names_is_shown_before_it_runs(
    tmp_path: Path, open_tabs: OpenTabs
) -> None:
    await record(tmp_path, agent="somebody")
    consent_file().unlink()  # as if another program had written the recording
    async with open_tabs(SESSION, IDLE) as desk:
        await decline_its_agent(desk, "Run this command", "-m acp_tui.demo markdown --speed 0", f"in {tmp_path}")
        await desk.restart()
        await desk.shows("Run this command", "-m acp_tui.demo markdown --speed 0")
        await desk.answer(True)
        await desk.has_session()
    assert consent_file().exists()


async def test_a_session_that_is_open_elsewhere_is_opened_again_only_after_a_question(
    tmp_path: Path, open_tabs: OpenTabs
) -> None:
    await record(tmp_path, agent="somebody")
    with open_in_process(4711):
        async with open_tabs(SESSION, IDLE) as desk:
            await desk.has_session()
            row = await desk.row("How are zebras made?")
            assert (row.past.agent, row.state) == ("somebody", "open elsewhere")
            assert "open in another acp-tui (process 4711)" in row.why
            await desk.open_row("How are zebras made?")
            await desk.shows("Read its recording", "Open it here, too", "acp-tui (process 4711). Neither")
            await desk.answer(None)
            assert len(desk.tabs) == 1
            await desk.open_row("How are zebras made?")
            await desk.shows("Read its recording")
            await desk.choose("Read its recording")
            await desk.shows("Read back from its recording")
            await desk.restart()
            await desk.shows("Open it here, too?", "open in another acp-tui (process 4711)")
            await desk.answer(True)
            await desk.has_session()


async def test_one_that_is_open_elsewhere_and_not_recorded_is_not_opened_without_a_yes(
    tmp_path: Path, open_tabs: OpenTabs
) -> None:
    await record(tmp_path, agent="scripted")
    wanted = PastSession("scripted", SessionId("demo-1"), tmp_path, is_listed=True)
    opening = Reopening(wanted, SessionIndex(recording_store(RecordingSettings())))
    with open_in_process(4711):
        async with open_tabs(SESSION, IDLE, opening=opening) as desk:
            await desk.shows("Open it here, too?")
            await desk.answer(False)
            await desk.shows("The session wasn't opened")
            assert desk.sent("session/load") == []


async def test_a_session_that_is_being_opened_is_listed_once_and_not_opened_again(
    tmp_path: Path, open_tabs: OpenTabs
) -> None:
    await record(tmp_path, agent="scripted")
    index = SessionIndex(recording_store(RecordingSettings()))
    (past,) = recorded_sessions(index, tmp_path)
    script = """
    handshake(agentCapabilities={"loadSession": True})
    expect("session/load")
    """
    async with open_tabs(script, IDLE, opening=Reopening(past, index)) as desk:
        await desk.gets("session/load")
        assert [(row.is_tab, row.state) for row in await desk.rows()] == [(True, "starting")]
        await desk.tab.actions.history.reopen(past)
        assert len(desk.tabs) == 1


async def test_a_tab_in_which_something_is_written_stays(tmp_path: Path, open_tabs: OpenTabs) -> None:
    await record(tmp_path, agent="somebody")
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.write("And lions")
        await desk.open_row("How are zebras made?")
        await desk.shows("continues this session with its agent")
        assert len(desk.tabs) == 2


async def test_a_tab_with_comments_on_lines_stays(tmp_path: Path, open_tabs: OpenTabs) -> None:
    await record(tmp_path, agent="somebody")
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        desk.tab.prompt.comments.append(COMMENT)
        await desk.open_row("How are zebras made?")
        await desk.shows("continues this session with its agent")
        assert len(desk.tabs) == 2


async def test_where_the_agent_reopens_no_session_it_says_that_another_one_begins(
    tmp_path: Path, open_tabs: OpenTabs
) -> None:
    await record(tmp_path, agent="scripted")
    index = SessionIndex(recording_store(RecordingSettings()))
    (past,) = recorded_sessions(index, tmp_path)
    script = """
    handshake()
    answer(expect("session/new"), sessionId="other")
    serve_until_closed()
    """
    async with open_tabs(script, IDLE, opening=Reopening(past, index)) as desk:
        await desk.shows("Alt+R starts a new session below this one")
        await desk.restart()
        await desk.gets("session/new")


async def test_an_agent_that_cannot_open_it_leaves_it_to_be_read(tmp_path: Path, open_tabs: OpenTabs) -> None:
    await record(tmp_path, agent="somebody")
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.open_row("How are zebras made?")
        await desk.shows("continues this session with its agent")
        await desk.until(lambda: len(desk.tabs) == 1)  # nothing was said in the other
        await desk.shows("demo-1 wasn't opened", "`acp-tui sessions`", "Read back from its recording")
        await desk.restart()
        await desk.has_session()
        assert desk.tab.title == "How are zebras made?"


async def test_a_session_that_is_gone_is_named_and_another_begins_if_the_user_wants_one(
    tmp_path: Path, open_tabs: OpenTabs
) -> None:
    wanted = PastSession("scripted", SessionId("lost-1"), tmp_path, is_listed=True)
    opening = Reopening(wanted, SessionIndex(recording_store(RecordingSettings())))
    script = """
    handshake(agentCapabilities={"loadSession": True})
    refuse(expect("session/load"), -32002, "Resource not found")
    answer(expect("session/new"), sessionId="s1")
    say("another one")
    """
    async with open_tabs(script, IDLE, opening=opening) as desk:
        await desk.shows(
            "Session lost-1 wasn't opened", "Resource not found", "F3 or `acp-tui sessions` lists sessions"
        )
        assert desk.sent("session/new") == []
        await desk.do("begin_session")
        await desk.shows("another one")
        assert len(desk.tabs) == 1


@pytest.mark.parametrize(
    ("listed", "is_named", "shown"),
    [
        ("PLAN for the fix", False, "PLAN for the fix"),
        ("<command>", False, "<message>model"),
        ("<the user's>", True, "<the user's>"),
    ],
)
async def test_a_session_keeps_the_name_that_it_had_in_the_list(
    listed: str, is_named: bool, shown: str, tmp_path: Path, open_tabs: OpenTabs
) -> None:
    wanted = PastSession("scripted", SessionId("s1"), tmp_path, listed, is_listed=True, is_named=is_named)
    opening = Reopening(wanted, SessionIndex(recording_store(RecordingSettings())))
    script = """
    handshake(agentCapabilities={"loadSession": True})
    load = expect("session/load")
    update("user_message_chunk", content={"type": "text", "text": "<message>model"})
    answer(load)
    """
    async with open_tabs(script, IDLE, opening=opening) as desk:
        await desk.has_session()
        assert desk.tabs[0].title == shown
        assert desk.shown_session.conversation.is_named == is_named, "it keeps the user's own from its agent"


async def test_a_session_is_read_only_for_the_same_reason_whether_or_not_its_agent_runs(
    tmp_path: Path, open_tabs: OpenTabs
) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        for agent in ("scripted", "another"):
            gone = PastSession(agent, SessionId("gone"), tmp_path / "gone", has_folder=False)
            assert desk.tabs[0].actions.history.judge(gone)[1] == "its folder is gone"


async def test_beside_a_recording_a_new_session_starts_its_agent_once_agreed(
    tmp_path: Path, open_tabs: OpenTabs
) -> None:
    await record(tmp_path, agent="somebody")
    consent_file().unlink()  # as if another program had written the recording
    async with open_tabs(SESSION, IDLE) as desk:
        await decline_its_agent(desk, "Run this command")
        await desk.do("begin_session")
        await desk.shows("Run this command")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.answer(False)
