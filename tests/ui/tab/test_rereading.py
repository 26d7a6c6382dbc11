"""A session no agent can open is read from its recording; with an agent that can, it continues."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.agents.remembered import consent_file
from acp_tui.client.prompts.memory import DraftKey
from acp_tui.client.sessions.marks import SessionMarks
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.client.transcript.store import held
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.tab.reopening import Reopening
from support.desks import SESSION, Desk, OpenDesk
from support.pages import COMMENT, draft_file
from support.recordings import demo, open_in_process, play

IDLE = "serve_until_closed()"


async def record(cwd: Path, agent: str = "demo") -> None:
    """A past session of an agent with this name."""
    plan = RecordingPlan(cwd, store=recording_store(RecordingSettings()))
    await play(replace(demo("markdown"), name=agent), plan, prompts=("How are zebras made?",))


@pytest.fixture
async def past(tmp_path: Path) -> None:
    """One session of the demo, in the desk's folder."""
    await record(tmp_path)


async def test_a_recorded_session_is_read_again_in_a_tab_of_its_own(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("How are zebras made?", "read-only", "demo", "1 prompt")
        await desk.press("down", "enter")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.shows("○ This session is read-only: the demo forgets its sessions when it exits")
        await desk.press("f3")
        await desk.shows("2 ● How are zebras made? read-only 1 prompt demo")
        await desk.shows("read-only: the demo forgets its sessions when it exits")
        await desk.press("escape")
        await desk.press("alt+r")
        await desk.until(
            lambda: [f"○ {one.message}" for one in desk.notices] == [f"{desk.status.removesuffix('F1 help').rstrip()}."]
        )
        await desk.shows("Read-only: the demo forgets its sessions when it exits")
        await desk.send("And lions?")
        await desk.shows("Your draft stays")
        assert desk.draft == "And lions?"


async def test_a_recorded_session_is_exported_and_what_needs_an_agent_says_why_not(
    tmp_path: Path, past: None, open_desk: OpenDesk
) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("How are zebras made?", "read-only")
        await desk.press("down", "enter")
        await desk.shows("○ This session is read-only")
        for typed in ("/changes", "/options", "/mode", "/mcp", "/acp:later 20m And lions?", "/acp:model large"):
            await desk.send(typed)
            await desk.shows("▪ This session is read-only")
            assert len(desk.notices) == 1
            assert desk.draft == (typed if " " in typed else "")
            await desk.press("ctrl+u")
        await desk.press(*"/exp")
        await desk.shows("Write the conversation to a file")
        await desk.press("ctrl+u")
        await desk.send("/export zebras.md")
        await desk.until(lambda: (tmp_path / "zebras.md").exists())


async def decline_its_agent(desk: Desk, *shown: str) -> None:
    """Open the recording, see this in the question whether its agent may run, and answer no."""
    await desk.has_session()
    await desk.press("f3")
    await desk.shows("Esc close")
    await desk.shows("How are zebras made?", "somebody")
    await desk.press("down", "enter")
    await desk.shows(*shown)
    await desk.press("n")
    await desk.shows("Alt+R continues this session with its agent")


async def test_a_command_that_only_a_recording_names_is_shown_before_it_runs(
    tmp_path: Path, open_desk: OpenDesk
) -> None:
    await record(tmp_path, agent="somebody")
    consent_file().unlink()  # as if another program had written the recording
    async with open_desk(SESSION, IDLE) as desk:
        await decline_its_agent(desk, "Run this command", "-m acp_tui.demo markdown --speed 0", f"in {tmp_path}")
        await desk.press("alt+r")
        await desk.shows("Run this command", "-m acp_tui.demo markdown --speed 0")
        await desk.press_slowly("y")
        await desk.has_session()
    assert consent_file().exists()


async def test_a_session_that_is_open_elsewhere_is_opened_again_only_after_a_question(
    tmp_path: Path, open_desk: OpenDesk
) -> None:
    await record(tmp_path, agent="somebody")
    with open_in_process(4711):
        async with open_desk(SESSION, IDLE) as desk:
            await desk.has_session()
            await desk.press("f3")
            await desk.shows("Esc close")
            await desk.shows("How are zebras made?", "somebody", "open elsewhere")
            await desk.press("down")
            await desk.shows("open in another acp-tui (process 4711) · ")
            await desk.press("enter")
            await desk.shows("Read its recording", "Open it here, too", "acp-tui (process 4711). Neither")
            await desk.press("escape")
            await desk.hides("Read its recording")
            assert len(desk.tabs) == 1
            await desk.press("f3", "down")
            await desk.shows("open in another acp-tui (process 4711) · ")
            await desk.press("enter")
            await desk.shows("Read its recording")
            await desk.press_slowly("enter")
            await desk.shows("Read back from its recording")
            await desk.press("alt+r")
            await desk.shows("Open it here, too?", "open in another acp-tui (process 4711)")
            await desk.press_slowly("y")
            await desk.has_session()


async def test_one_that_is_open_elsewhere_and_not_recorded_is_not_opened_without_a_yes(
    tmp_path: Path, open_desk: OpenDesk
) -> None:
    await record(tmp_path, agent="scripted")
    wanted = PastSession("scripted", SessionId("demo-1"), tmp_path, is_listed=True)
    opening = Reopening(wanted, SessionIndex(recording_store(RecordingSettings())))
    with open_in_process(4711):
        async with open_desk(SESSION, IDLE, opening=opening) as desk:
            await desk.shows("Open it here, too?")
            await desk.press("n")
            await desk.shows("The session wasn't opened")
            assert desk.sent("session/load") == []


async def test_a_tab_in_which_something_is_written_stays(tmp_path: Path, open_desk: OpenDesk) -> None:
    await record(tmp_path, agent="somebody")
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press(*"And lions", "f3")
        await desk.shows("How are zebras made?")
        await desk.press("down", "enter")
        await desk.shows("continues this session with its agent")
        assert len(desk.tabs) == 2


async def test_a_tab_with_comments_on_lines_stays(tmp_path: Path, open_desk: OpenDesk) -> None:
    await record(tmp_path, agent="somebody")
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        desk.prompt.comments.append(COMMENT)
        await desk.press("f3")
        await desk.shows("How are zebras made?")
        await desk.press("down", "enter")
        await desk.shows("continues this session with its agent")
        assert len(desk.tabs) == 2


async def test_an_agent_that_cannot_open_it_leaves_it_to_be_read(tmp_path: Path, open_desk: OpenDesk) -> None:
    await record(tmp_path, agent="somebody")
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("How are zebras made?")
        await desk.press("down", "enter")
        await desk.shows("continues this session with its agent")
        await desk.until(lambda: len(desk.tabs) == 1)  # nothing was said in the other
        await desk.shows("demo-1 wasn't opened", "`acp-tui sessions`", "Read back from its recording")
        await desk.press("alt+r")
        await desk.has_session()
        assert desk.tab.title == "How are zebras made?"


async def test_a_session_that_is_gone_is_named_and_another_begins_if_the_user_wants_one(
    tmp_path: Path, open_desk: OpenDesk
) -> None:
    wanted = PastSession("scripted", SessionId("lost-1"), tmp_path, is_listed=True)
    opening = Reopening(wanted, SessionIndex(recording_store(RecordingSettings())))
    script = """
    handshake(agentCapabilities={"loadSession": True})
    refuse(expect("session/load"), -32002, "Resource not found")
    answer(expect("session/new"), sessionId="s1")
    say("another one")
    """
    async with open_desk(script, IDLE, opening=opening) as desk:
        await desk.shows(
            "Session lost-1 wasn't opened", "Resource not found", "F3 or `acp-tui sessions` lists sessions"
        )
        assert desk.sent("session/new") == []
        await desk.press("ctrl+n")
        await desk.shows("another one")
        assert len(desk.tabs) == 1


@pytest.mark.parametrize(
    ("listed", "shown"), [("PLAN for the fix", "PLAN for the fix"), ("<command>", "<message>model")]
)
async def test_a_session_keeps_the_name_that_it_had_in_the_list(
    listed: str, shown: str, tmp_path: Path, open_desk: OpenDesk
) -> None:
    wanted = PastSession("scripted", SessionId("s1"), tmp_path, listed, is_listed=True)
    opening = Reopening(wanted, SessionIndex(recording_store(RecordingSettings())))
    script = """
    handshake(agentCapabilities={"loadSession": True})
    load = expect("session/load")
    update("user_message_chunk", content={"type": "text", "text": "<message>model"})
    answer(load)
    """
    async with open_desk(script, IDLE, opening=opening) as desk:
        await desk.has_session()
        assert desk.tabs[0].title == shown


async def test_its_recording_is_deleted_after_a_yes(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("How are zebras made?")
        await desk.press("down", "ctrl+x")
        await desk.shows("Remove “How are zebras made?” from this list", "acp-tui deletes its recording")
        await desk.hides(" keep")
        await desk.press("down", "enter")
        await desk.shows("Removed the session.")
        await desk.shows("None earlier in this project")
        await desk.press("escape")
        await desk.hides("How are zebras made?")


async def test_one_that_another_acp_tui_records_is_archived(tmp_path: Path, past: None, open_desk: OpenDesk) -> None:
    (recording,) = recording_store(RecordingSettings()).files()
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        with held(recording):
            await desk.press("f3")
            await desk.shows("How are zebras made?")
            await desk.press("down", "ctrl+x")
            await desk.shows("Archived it. A space shows it")
        assert recording.exists()


async def test_what_its_agent_may_list_again_stays_off_the_list(tmp_path: Path, open_desk: OpenDesk) -> None:
    await record(tmp_path, agent="somebody")
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("How are zebras made?")
        await desk.press("down", "ctrl+x", "down")
        await desk.shows("somebody may keep it, as it isn't running")
        await desk.press("enter")
        await desk.shows("Removed the session.")
        listed = PastSession("somebody", SessionId("demo-1"), tmp_path, is_listed=True)
        assert SessionMarks().of(listed).is_archived


async def test_the_draft_of_a_session_that_can_only_be_read_stays_out_of_its_prompt(
    tmp_path: Path, past: None, open_desk: OpenDesk
) -> None:
    place = DraftKey(str(tmp_path), "demo-1", "demo")
    draft_file().change({place: "And lions?"})
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("How are zebras made?")
        await desk.press("down", "enter")
        await desk.shows("○ This session is read-only")
        assert desk.draft == ""
    assert draft_file().read() == {place: "And lions?"}


async def test_a_tab_stays_if_the_session_opened_from_it_cannot_be_shown(tmp_path: Path, open_desk: OpenDesk) -> None:
    await record(tmp_path, agent="somebody")
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("How are zebras made?")
        for recording in recording_store(RecordingSettings()).files():
            recording.write_text("unreadable")
        await desk.press("down", "enter")
        await desk.shows("no session; Alt+R tries again")
        await desk.press("alt+1")
        await desk.has_session()
        assert desk.shown_session.session_id == "s1"


async def test_a_session_is_read_only_for_the_same_reason_whether_or_not_its_agent_runs(
    tmp_path: Path, open_desk: OpenDesk
) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        for agent in ("scripted", "another"):
            gone = PastSession(agent, SessionId("gone"), tmp_path / "gone", has_folder=False)
            assert desk.tabs[0].actions.history.judge(gone)[1] == "its folder is gone"


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
async def test_with_many_sessions_and_notices_the_keys_stay_in_view(
    tmp_path: Path, open_desk: OpenDesk, size: tuple[int, int]
) -> None:
    for number in range(8):
        await record(tmp_path, agent=f"demo-{number}")
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.pilot.resize_terminal(*size)
        await desk.press("f3")
        await desk.shows("8 earlier in this project")
        for notice in ("One thing happened", "And another"):
            desk.pilot.app.notify(notice)
        await desk.shows("One thing happened", "And another", "8 earlier in this project", "Enter open", "Esc close")


async def test_on_a_small_screen_what_is_said_takes_lines_from_the_list_only(
    tmp_path: Path, open_desk: OpenDesk
) -> None:
    for number in range(4):
        await record(tmp_path, agent=f"demo-{number}")
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.pilot.resize_terminal(40, 12)
        await desk.press("f3")
        await desk.shows("4 earlier in this project")
        await desk.press(*"zebras", "ctrl+x")
        await desk.shows("Remove “How are zebras made?”", "Delete it")
        await desk.press("down", "enter")
        await desk.shows(
            "▪ Removed the session.", "3 earlier in this project", "How are zebras", "zebras made", "Esc close"
        )


async def test_beside_a_recording_a_new_session_starts_its_agent_once_agreed(
    tmp_path: Path, open_desk: OpenDesk
) -> None:
    await record(tmp_path, agent="somebody")
    consent_file().unlink()  # as if another program had written the recording
    async with open_desk(SESSION, IDLE) as desk:
        await decline_its_agent(desk, "Run this command")
        await desk.press("ctrl+n")
        await desk.shows("Run this command")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.press("n")
