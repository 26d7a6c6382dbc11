"""Names, pins, and archived sessions: saved in our own file, sent to agents that support them, shown in a replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import anyio
import pytest

from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.marks import Mark, SessionMarks
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.facts import SessionId
from support.agents import scripted
from support.dialogs import recorded
from support.waiting import LIMIT_S


def past(name: str) -> PastSession:
    return PastSession("agent", SessionId(name), Path("/project"), name)


def test_a_note_is_there_for_the_next_reader(tmp_path: Path) -> None:
    file = tmp_path / "marks.json"
    marks = SessionMarks(file)
    assert marks.of(past("a")) == Mark()
    marks.change(past("a"), name="mine", is_pinned=True)
    marks.change(past("b"), is_archived=True)
    assert SessionMarks(file).of(past("a")) == Mark("mine", is_pinned=True)
    assert SessionMarks(file).of(replace(past("a"), agent="other")) == Mark()
    marks.change(past("b"), is_archived=False)
    assert list(SessionMarks(file).all()) == ["agent/a"]
    assert file.stat().st_mode & 0o077 == 0


def test_pinned_sessions_stand_first_and_archived_ones_last(tmp_path: Path) -> None:
    marks = SessionMarks(tmp_path / "marks.json")
    marks.change(past("c"), is_pinned=True)
    marks.change(past("a"), name="first", is_archived=True)
    marked = marks.marked(map(past, "abc"))
    assert [one.title for one in marked] == ["c", "b", "first"]
    assert [one.is_named for one in marked] == [False, False, True]


def test_a_session_keeps_its_marks_under_another_name_of_its_agent(tmp_path: Path) -> None:
    marks = SessionMarks(tmp_path / "marks.json")
    marks.change(past("a"), is_pinned=True)
    later = recorded("a", "A", agent="other")
    assert later.recorded is not None
    later = replace(later, recorded=replace(later.recorded, agents=("other", "agent")))
    assert marks.of(later).is_pinned
    marks.change(later, is_pinned=False)
    assert marks.all() == {}


def test_sessions_whose_agent_reused_an_id_have_marks_of_their_own(tmp_path: Path) -> None:
    marks = SessionMarks(tmp_path / "marks.json")
    now, before = recorded("1", "now"), replace(recorded("1", "before"), is_latest=False)
    assert before.recorded is not None
    before = replace(before, recorded=replace(before.recorded, origin="/recordings/earlier"))
    marks.change(before, is_archived=True)
    marks.change(now, is_pinned=True)
    assert [(one.title, one.is_pinned, one.is_archived) for one in marks.marked([now, before])] == [
        ("now", True, False),
        ("before", False, True),
    ]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"agent/a": 1}', '{"agent/a": {"name": 1, "is_pinned": "x"}}'])
def test_a_broken_file_notes_nothing(tmp_path: Path, content: str) -> None:
    file = tmp_path / "marks.json"
    file.write_text(content)
    assert SessionMarks(file).of(past("a")) == Mark()


TITLED = """
handshake(agentCapabilities={"sessionCapabilities": {"title": {}, "archive": {}}})
answer(expect("session/new"), sessionId="s1")
asked = expect("session/set_title")
assert asked["params"] == {"sessionId": "s1", "title": "New name"}
answer(asked, title="New name (kept)")
update("session_info_update", title="made up by the agent")
for method in ("session/archive", "session/unarchive"):
    asked = expect(method)
    assert asked["params"] == {"sessionId": "s1"}
    answer(asked)
serve_until_closed()
"""
PLAIN = """
handshake()
answer(expect("session/new"), sessionId="s1")
update("session_info_update", title="made up by the agent")
serve_until_closed()
"""


@pytest.mark.parametrize(("script", "kept"), [(TITLED, "New name (kept)"), (PLAIN, "New name")])
async def test_a_session_keeps_the_name_that_the_user_gave_it(tmp_path: Path, script: str, kept: str) -> None:
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(scripted(dedent(script)), recordings=plan)
            await agent.initialize()
            session = await agent.new_session(tmp_path)
            assert await session.rename("  New \n name ") == kept
            await agent.archive_session(session.session_id, True)
            await agent.archive_session(session.session_id, False)
    assert session.conversation.title == kept
    assert replayed(tmp_path / "run.jsonl") == {SessionId("s1"): session.conversation}
