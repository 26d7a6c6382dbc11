"""Earlier sessions in the sessions dialog: those that an agent lists, and recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from acp_tui.client.sessions.marks import SessionMarks
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.client.transcript.store import held
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.tab import actions
from acp_tui.ui.tab.sessions import HistoryController
from support.desks import SESSION, OpenDesk
from support.pages import drafts_kept, leave
from support.recordings import demo, play, record
from support.settling import until_so
from support.waiting import TEST_LIMIT_S

IDLE = "serve_until_closed()"
LISTING = """
sessions = [{"sessionId": f"old-{n}", "cwd": "/project", "title": f"Earlier {n}"} for n in range(1, 4)]
"""
LOADING = """
handshake(agentCapabilities={"loadSession": True, "sessionCapabilities": {"list": {}, "delete": {}, "close": {}}})
answer(expect("session/new"), sessionId="s1")
"""
STATES = """
handshake(agentCapabilities={"loadSession": True, "sessionCapabilities": {"list": {}, "status": {}}})
answer(expect("session/new"), sessionId="s1")
said = {"old-1": {"status": "open", "state": {"state": "running"}}, "old-2": {"status": "saved"}}
def tell():
    answer(expect("session/list"), sessions=sessions)
    for _ in sessions:
        asked = expect("session/status")
        if asked["params"]["sessionId"] in said:
            answer(asked, **said[asked["params"]["sessionId"]])
        else:
            refuse(asked, -32002, "unknown", {"sessionId": asked["params"]["sessionId"]})
tell()
"""


@pytest.fixture
async def past(tmp_path: Path) -> None:
    """One session of the demo, in the desk's folder."""
    await record(tmp_path)


async def test_f3_lists_page_by_page_until_the_screen_is_full(open_desk: OpenDesk) -> None:
    """R-SESS-8, R-SESS-9."""
    script = """
    answer(expect("session/list"), sessions=sessions[:2], nextCursor="more")
    answer(expect("session/list"), sessions=sessions[2:])
    serve_until_closed()
    """
    async with open_desk(LISTING, LOADING, script) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("Earlier 1", "Earlier 2", "Earlier 3", "3 earlier in this project")
        assert [params.get("cursor") for params in desk.sent("session/list")] == [None, "more"]
        await desk.press("escape")
        await desk.hides("Earlier 1")


async def test_keys_that_follow_f3_at_once_act_on_the_list_that_is_still_being_read(
    tmp_path: Path, open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = RecordingPlan(tmp_path, store=recording_store(RecordingSettings()))
    for prompt in ("Zebras?", "Lions?", "Tigers?"):
        await play(demo("markdown"), plan, prompts=(prompt,))
    read = HistoryController.recorded

    async def read_later(self: HistoryController, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        for _ in range(1000):  # there is time for all of the keys
            await checkpoint()
        return await read(self, words, is_everywhere)

    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.shows("Tigers?")
        monkeypatch.setattr(HistoryController, "recorded", read_later)
        monkeypatch.setattr(actions, "LISTING_LIMIT_S", TEST_LIMIT_S)
        await desk.press_at_once("f3", "down", "down", "ctrl+x")
        await desk.shows("Remove “Lions?” from this list")


async def test_f3_shows_what_the_agent_says_of_each_session(open_desk: OpenDesk) -> None:
    async with open_desk(LISTING, STATES, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Earlier 1", "Earlier 2", "Earlier 3", "working")
        asked = await desk.gets("session/status", 3)
        assert [params["sessionId"] for params in asked] == ["old-1", "old-2", "old-3"]
        assert "Working Earlier 1 /project working" in desk.words
        assert not desk.notices


async def test_what_an_agent_has_in_memory_is_opened_from_there(open_desk: OpenDesk) -> None:
    script = """
    answer(expect("session/load"))
    serve_until_closed()
    """
    async with open_desk(LISTING, STATES, script) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Working Earlier 1 /project working")
        await desk.press("ctrl+home", "enter")
        await desk.gets("session/load")
        await desk.until(lambda: desk.tab.session is not None and desk.shown_session.session_id == "old-1")


async def test_f3_asks_for_the_sessions_of_this_folder_and_a_for_those_of_all(open_desk: OpenDesk) -> None:
    script = """
    answer(expect("session/list"), sessions=sessions[:1])
    answer(expect("session/list"), sessions=sessions)
    serve_until_closed()
    """
    async with open_desk(LISTING, LOADING, script) as desk:
        await desk.has_session()
        (begun,) = desk.sent("session/new")
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("Earlier 1", "1 earlier in this project")
        await desk.press("ctrl+f")
        await desk.shows("Earlier 3", "3 earlier in all projects", "/project")
        assert [params.get("cwd") for params in desk.sent("session/list")] == [begun["cwd"], None]


async def test_deleting_asks_first_and_forgets_the_sessions_name_too(open_desk: OpenDesk) -> None:
    """R-SESS-11."""
    script = """
    answer(expect("session/list"), sessions=sessions)
    answer(expect("session/delete"))
    serve_until_closed()
    """
    async with open_desk(LISTING, LOADING, script) as desk:
        await desk.has_session()
        marks, past = SessionMarks(), PastSession(desk.tab.link.name, SessionId("old-1"), desk.tab.cwd)
        marks.change(past, name="the secret plan")
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("the secret plan")
        await desk.press("down", "ctrl+x")
        await desk.shows("Remove “the secret plan” from this list", "scripted deletes it")
        await desk.press("escape")
        await desk.hides("Remove “the secret plan”")
        assert desk.sent("session/delete") == []
        await desk.press("ctrl+x")
        await desk.shows("Remove “the secret plan”")
        await desk.press("down", "enter")
        await desk.shows("Removed the session.")
        assert desk.sent("session/delete") == [{"sessionId": "old-1"}]
        await until_so(desk.pilot, lambda: marks.all() == {})


async def test_its_recording_is_deleted_after_a_yes(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("How are zebras made?")
        await desk.press("down", "ctrl+x")
        await desk.shows("Remove “How are zebras made?” from this list", "can't be undone · deletes its recording")
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
            await desk.shows("Archived “How are zebras made?”. Ctrl+X brings it back")
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


async def test_the_draft_of_a_session_that_can_only_be_read_is_in_its_prompt(
    tmp_path: Path, past: None, open_desk: OpenDesk
) -> None:
    place = leave("demo-1", "And lions?", folder=tmp_path, agent="demo", is_blank=False)
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("How are zebras made?")
        await desk.press("down", "enter")
        await desk.shows("○ This session is read-only")
        await desk.until(lambda: desk.draft == "And lions?")
    assert drafts_kept() == {place: "And lions?"}


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
        await desk.shows("▪ Removed the session.", "3 earlier in this project", "How are zebras", "Esc clear")


async def test_f3_says_which_sessions_have_a_draft(tmp_path: Path, open_desk: OpenDesk) -> None:
    await record(tmp_path, agent="somebody")
    leave("demo-1", "And lions?", folder=tmp_path, is_blank=False)
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("How are zebras made?", "draft")


async def test_a_tab_that_starts_calls_its_agent_as_the_other_tab_does(open_desk: OpenDesk) -> None:
    named = """
    handshake(agentInfo={"name": "zebra", "title": "Zebra", "version": "1"})
    answer(expect("session/new"), sessionId="s1")
    expect("session/new")
    """
    async with open_desk(named, IDLE) as desk:
        await desk.has_session()
        first = desk.tab
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        assert desk.tab.session is None
        assert desk.tab.marked_agent == first.agent_title
        await desk.shows(f"Starting {first.agent_title}")


async def test_what_was_said_before_is_no_news_of_a_tab_that_opens_behind_another(open_desk: OpenDesk) -> None:
    script = """
    import os
    handshake(agentCapabilities={"loadSession": True})
    answer(expect("session/new"), sessionId=str(os.getpid()))
    request = read()
    if request["method"] == "session/prompt":
        say("Done.")
        end(request)
    else:
        expect("_go_on")
        update("user_message_chunk", request["params"]["sessionId"], content={"type": "text", "text": "go"})
        answer(request)
    """
    async with open_desk(script, IDLE) as desk:
        await desk.has_session()
        await desk.give("go")
        await desk.has_session()
    async with open_desk(script, IDLE) as desk:
        await desk.has_session()
        await desk.write("so that this tab stays")
        await desk.press("f3")
        await desk.shows("go 1 prompt")
        await desk.press("down", "enter")
        await desk.gets("session/load")
        await desk.press("alt+1")
        desk.let_go_on()
        _, behind = desk.tabs
        await desk.until(lambda: behind.session is not None and bool(behind.session.conversation.turns))
        await desk.settled()
        assert behind.state.value == "idle"
