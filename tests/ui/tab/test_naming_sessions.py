"""Renaming, pinning, and archiving a session: in its tab, and in the sessions dialog."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from acp_tui.client.sessions.marks import Mark, SessionMarks
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.conversation.facts import SessionId
from support.agents import scripted
from support.desks import SESSION, OpenDesk
from support.recordings import play

LISTED = """
handshake(agentCapabilities={"sessionCapabilities": {"list": {}}, "loadSession": True})
answer(expect("session/new"), sessionId="s1")
sessions = [
    {"sessionId": name, "cwd": "/elsewhere", "title": f"About {name}", "updatedAt": f"2026-09-0{day}T10:00:00Z"}
    for day, name in enumerate(("tests", "docs", "bugs"), 1)
]
while True:
    answer(expect("session/list"), sessions=sessions)
"""


def mark(session_id: str) -> Mark:
    return SessionMarks().of(PastSession("scripted", SessionId(session_id), Path("/project")))


async def test_a_session_is_renamed_by_a_slash_command(open_desk: OpenDesk) -> None:
    async with open_desk(LISTED) as desk:
        await desk.has_session()
        await desk.send("/rename The big one")
        await desk.until(lambda: desk.tabs[0].title == "The big one")
        assert mark("s1").name == "The big one"
        await desk.send("/rename")
        await desk.shows("Rename the session")
        await desk.press("end", "!", "enter")
        await desk.until(lambda: desk.tabs[0].title == "The big one!")


async def test_the_list_of_sessions_pins_archives_and_renames(open_desk: OpenDesk) -> None:
    async with open_desk(LISTED) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("About bugs", "About docs", "About tests")
        assert desk.words.index("About bugs") < desk.words.index("About docs")
        await desk.press("down", "down", "ctrl+o")
        await desk.shows("★ About docs")
        assert desk.words.index("★ About docs") < desk.words.index("About bugs")
        assert mark("docs").is_pinned
        await desk.press("down", "down", "ctrl+x")
        await desk.hides("About tests")
        assert mark("tests").is_archived
        await desk.press("space")
        await desk.shows("About tests", "archived")
        await desk.press("ctrl+home", "down", "ctrl+t")
        await desk.shows("Rename the session")
        await desk.press("ctrl+u", "D", "enter")
        await desk.shows("★ D")
        assert mark("docs") == Mark("D", is_pinned=True)


async def test_a_pinned_tab_is_marked(open_desk: OpenDesk) -> None:
    async with open_desk(LISTED) as desk:
        await desk.has_session()
        await desk.press("f3", "ctrl+o")
        await desk.shows("★ ")
        assert mark("s1").is_pinned


async def test_a_session_is_not_the_earlier_one_whose_id_its_agent_uses_again(
    tmp_path: Path, open_desk: OpenDesk
) -> None:
    again = SESSION + 'end(expect("session/prompt"))\nserve_until_closed()'
    plan = RecordingPlan(tmp_path, store=recording_store(RecordingSettings()))
    await play(scripted(dedent(again)), plan, prompts=("How are zebras made?",))
    async with open_desk(again) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("1 ● scripted", "Earlier", "How are zebras made?")
        await desk.press("down", "ctrl+o")
        await desk.shows("★ How are zebras made?")
        assert desk.words.count("★") == 1


async def test_the_tab_of_an_archived_session_is_hidden(open_desk: OpenDesk) -> None:
    two = LISTED.replace("sessions = [", 'answer(expect("session/new"), sessionId="s2")\nsessions = [')
    async with open_desk(two) as desk:
        await desk.has_session()
        await desk.press("f3", "ctrl+x")
        await desk.until(lambda: mark("s1").is_archived)
        await desk.press("escape", "ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2 and desk.tabs[1].session is not None)
        await desk.press("f3")
        await desk.shows("a space shows archived ones", "◉ 2 ● scripted")
        await desk.hides(" 1 ● scripted")
        await desk.press("space")
        await desk.shows("1 ● scripted", "archived")
