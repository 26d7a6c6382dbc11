"""Renaming, pinning, and archiving a session: in its tab, and in the sessions dialog."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

from acp_tui.client.sessions.marks import Mark, SessionMarks
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.dialogs.naming import NameDialog
from acp_tui.ui.dialogs.session_rows import NEEDS_YOU, row_of
from support.agents import scripted
from support.desks import SESSION
from support.recordings import play
from support.tabs import OpenTabs, TabDesk

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


async def titles(desk: TabDesk) -> list[str]:
    """Of the sessions as they are listed."""
    return [row.title for row in await desk.rows()]


def mark(session_id: str) -> Mark:
    return SessionMarks().of(PastSession("scripted", SessionId(session_id), Path("/project")))


async def test_a_session_is_renamed_by_a_slash_command(open_tabs: OpenTabs) -> None:
    async with open_tabs(LISTED) as desk:
        await desk.has_session()
        await desk.send("/rename The big one")
        await desk.until(lambda: desk.tabs[0].title == "The big one")
        await desk.until(lambda: mark("s1").name == "The big one")  # after the title
        await desk.send("/rename")
        await desk.asks(NameDialog)
        await desk.answer("The big one!")
        await desk.until(lambda: desk.tabs[0].title == "The big one!")


async def test_a_name_given_in_the_list_before_the_first_prompt_is_shown_and_stays(open_tabs: OpenTabs) -> None:
    prompted = """
asked = expect("session/prompt")
update("session_info_update", title="The agent's", updatedAt="2026-09-01T10:00:00Z")
end(asked)
serve_until_closed()
"""
    async with open_tabs(SESSION + prompted) as desk:
        await desk.has_session()
        await desk.tab.actions.history.rename((await desk.row("")).past, "Mine")
        await desk.until(lambda: desk.tab.title == "Mine")
        await desk.send("HELLO later")
        await desk.until(lambda: desk.tab.session is not None and desk.tab.session.conversation.updated_at is not None)
        assert desk.tab.title == "Mine"
        assert "Mine" in await titles(desk)


async def test_the_list_of_sessions_pins_archives_and_renames(open_tabs: OpenTabs) -> None:
    async with open_tabs(LISTED) as desk:
        await desk.has_session()
        assert await titles(desk) == ["", "About bugs", "About docs", "About tests"]
        history = desk.tab.actions.history
        await history.pin((await desk.row("About docs")).past)
        assert await titles(desk) == ["", "About docs", "About bugs", "About tests"]
        assert mark("docs").is_pinned
        await history.archive((await desk.row("About tests")).past)
        assert mark("tests").is_archived
        assert (await desk.row("About tests")).past.is_archived
        await history.rename((await desk.row("About docs")).past, "D")
        assert await titles(desk) == ["", "D", "About bugs", "About tests"]
        assert mark("docs") == Mark("D", is_pinned=True)


async def test_a_pinned_tab_is_marked(open_tabs: OpenTabs) -> None:
    async with open_tabs(LISTED) as desk:
        await desk.has_session()
        await desk.tab.actions.history.pin((await desk.row("")).past)
        assert mark("s1").is_pinned
        assert (await desk.row("")).past.is_pinned


async def test_a_session_is_not_the_earlier_one_whose_id_its_agent_uses_again(
    tmp_path: Path, open_tabs: OpenTabs
) -> None:
    again = SESSION + 'end(expect("session/prompt"))\nserve_until_closed()'
    plan = RecordingPlan(tmp_path, store=recording_store(RecordingSettings()))
    await play(scripted(dedent(again)), plan, prompts=("How are zebras made?",))
    async with open_tabs(again) as desk:
        await desk.has_session()
        assert await titles(desk) == ["", "How are zebras made?"]
        await desk.tab.actions.history.pin((await desk.row("How are zebras made?")).past)
        assert [row.past.is_pinned for row in await desk.rows()] == [False, True]


async def test_an_open_session_is_listed_and_a_prompt_brings_it_back_if_it_is_archived(open_tabs: OpenTabs) -> None:
    script = 'answer(expect("session/list"), sessions=sessions)\nend(expect("session/prompt"))\nwhile True'
    async with open_tabs(LISTED.replace("while True", script)) as desk:
        await desk.has_session()
        await desk.tab.actions.history.archive((await desk.row("")).past)
        assert mark("s1").is_archived
        await desk.send("And now?")
        await desk.until(lambda: not mark("s1").is_archived)


def test_only_earlier_sessions_are_hidden_as_archived() -> None:
    past = PastSession("agent", SessionId("s1"), Path("/project"), is_archived=True)
    row = row_of(past)
    assert row.can_be_hidden
    assert not replace(row, is_tab=True).can_be_hidden
    assert not replace(row, group=NEEDS_YOU).can_be_hidden
