"""Past sessions in one list, from what the agent lists and what was recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.session_history import (
    PastSession,
    SessionFromRecording,
    line_with,
    merged,
    past_session,
    recorded_sessions,
    reread,
    short_ids,
)
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.client.transcript.lines import RecordingUnreadable
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.store import RecordingStore
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Failure
from acp_tui.conversation.facts import SessionId, SessionSummary
from acp_tui.conversation.tool_calls import UNFINISHED, ToolCallId
from acp_tui.conversation.updates import ClientRemark, InfoChanged, PromptSent
from support.dialogs import recorded
from support.folding import ask, fold, prompt
from support.recordings import play

HERE = Path("/project")
GEMINI = AgentCommand("gemini", ("gemini", "--acp"), is_listed=True)


def told(session_id: str, title: str | None = None, updated_at: str | None = None) -> SessionSummary:
    return SessionSummary(SessionId(session_id), HERE, title, updated_at)


def test_a_listed_and_recorded_session_has_the_recorded_title_and_the_later_time() -> None:
    ours = recorded("a", "Its first prompt", agent="gemini", prompts=3, last_at=100.0)
    (past,) = merged([told("a", "Named", "1970-01-01T00:05:00+00:00")], GEMINI, [ours])
    assert (past.title, past.last_at, past.is_listed) == ("Its first prompt", 300.0, True)
    assert past.recorded == ours.recorded
    (untitled,) = merged([told("a", "Named")], GEMINI, [replace(ours, title="")])
    assert (untitled.title, untitled.last_at) == ("Named", 100.0)


def test_equal_ids_of_two_agents_and_an_earlier_session_of_the_same_id_are_others() -> None:
    latest = recorded("a", "Latest", agent="gemini", last_at=30.0)
    before = replace(recorded("a", "Before", agent="gemini", last_at=20.0), is_latest=False)
    others = recorded("a", "Another's", agent="claude", last_at=10.0)
    past = merged([told("a", "Named")], GEMINI, [latest, before, others])
    assert [(one.title, one.is_listed) for one in past] == [
        ("Latest", True),
        ("Before", False),
        ("Another's", False),
    ]


def test_a_session_listed_and_recorded_by_another_name_of_its_agent_is_one() -> None:
    ours = recorded("a", "Ours", agent="my-gemini", command=GEMINI.argv)
    others = recorded("a", "Another's", agent="claude")
    past = merged([told("a", "Named")], GEMINI, [ours, others])
    assert [(one.title, one.is_listed) for one in past] == [("Ours", True), ("Another's", False)]


def test_what_was_begun_and_never_used_is_left_out() -> None:
    begun, later = "2026-11-30T04:16:59.742Z", "2026-11-30T04:17:30.001Z"
    listed = [told("unused", f"New session - {begun}", begun), told("used", f"New session - {begun}", later)]
    assert [one.session_id for one in merged([*listed, told("untold", "")], GEMINI, [])] == ["used", "untold"]
    (ours,) = merged(listed[:1], GEMINI, [recorded("unused", "Zebras?")])
    assert ours.title == "Zebras?"


def test_the_last_used_come_first_and_those_without_a_time_last_in_the_agents_order() -> None:
    listed = [told("x", "X", "some day"), told("y", "Y"), told("z", "Z", "1970-01-01T00:05:00+00:00")]
    past = merged(listed, GEMINI, [recorded("r", "R", last_at=400.0)])
    assert [one.title for one in past] == ["R", "Z", "X", "Y"]
    assert past[2].told_time == "some day"


@pytest.mark.parametrize(
    ("past", "why"),
    [
        (recorded("a", "A"), ""),
        (replace(recorded("a", "A"), has_folder=False), "its folder is gone"),
        (replace(recorded("a", "A"), is_latest=False), "a later session has the same id"),
        (recorded("a", "A", agent="demo"), "the demo forgets its sessions when it exits"),
        (recorded("a", "A", agent="--token=***"), "a secret in its agent's command wasn't recorded"),
    ],
)
def test_why_an_agent_is_not_started_for_it(past: PastSession, why: str) -> None:
    assert past.why_not_again == why


def test_a_session_belongs_to_a_listed_agent_by_name_or_to_its_recorded_command() -> None:
    past = recorded("a", "A", agent="python3")
    assert past.is_of(AgentCommand("python3", ("elsewhere",), is_listed=True))
    assert past.is_of(AgentCommand("python3", ("python3",)))
    assert not past.is_of(AgentCommand("python3", ("python3", "other.py")))
    assert past.is_of(AgentCommand("gemini", ("python3",))), "the same command has another name"
    assert not past.is_of(AgentCommand("gemini", ("gemini",)))


@pytest.mark.parametrize(
    ("agent", "argv", "said", "shown"),
    [
        ("npx", ("/usr/bin/npx", "x"), "Codex", "Codex"),
        ("npx", ("npx", "x"), "", "npx"),
        ("npx", ("npx", "x"), "claude", "npx"),
        ("mine", ("npx", "x"), "Codex", "mine"),
        ("gemini", ("gemini", "--acp"), "Codex", "gemini"),
    ],
)
def test_only_a_bare_command_is_called_what_it_says_it_is(
    agent: str, argv: tuple[str, ...], said: str, shown: str
) -> None:
    whole = recorded("a", "A", agent=agent).recorded
    assert whole is not None
    assert past_session(replace(whole, command=argv, agent_title=said)).shown_agent == shown


def test_ids_are_cut_to_what_tells_them_apart() -> None:
    ids = ["01234567-a", "01234567-b", "89abcdef-0123", "short"]
    assert short_ids(ids) == {
        "01234567-a": "01234567-a",
        "01234567-b": "01234567-b",
        "89abcdef-0123": "89abcdef",
        "short": "short",
    }


async def test_a_recorded_session_is_found_by_its_words_and_read_again(tmp_path: Path) -> None:
    store = RecordingStore(tmp_path / "recordings")
    run = await play("markdown", RecordingPlan(tmp_path, store=store), prompts=("Zebras?", "And\nlions, please"))
    index = SessionIndex(store)
    (past,) = recorded_sessions(index, tmp_path, "lions")
    assert past.recorded is not None
    assert (past.title, past.recorded.prompts, past.has_folder, past.is_latest) == ("Zebras?", 2, True, True)
    assert line_with(index, past.recorded, "LIONS") == "You: lions, please"
    assert line_with(index, past.recorded, "tigers") == ""
    session = reread(index, past.recorded)
    assert isinstance(session, SessionFromRecording)
    assert not session.conversation.is_connected
    (live,) = run.conversations.values()
    said = session.conversation.entries[: len(live.entries)]
    assert [type(entry) for entry in said] == [type(entry) for entry in live.entries]


@pytest.mark.parametrize("why", ["", "The agent didn't open it"])
def test_what_waited_for_an_answer_in_a_recording_is_unfinished_rather_than_failed(why: str) -> None:
    whole = recorded("a", "A").recorded
    assert whole is not None
    session = SessionFromRecording(whole, fold(prompt("go"), ask(1, "write")), why)
    assert not session.conversation.permissions
    assert session.conversation.tool_call(ToolCallId("write")).call.status == UNFINISHED
    assert isinstance(session.conversation.entries[-1], Failure if why else ClientRemark)


@pytest.mark.parametrize("cwd", ["relative", "", "/a\0b"])
def test_a_recording_that_names_no_folder_is_refused_and_hides_no_other(tmp_path: Path, cwd: str) -> None:
    one = recorded("a", "A title").recorded
    assert one is not None
    with pytest.raises(RecordingUnreadable):
        reread(SessionIndex(RecordingStore(tmp_path)), replace(one, cwd=Path(cwd)))


def test_a_name_that_is_too_long_is_a_folder_that_is_gone() -> None:
    one = recorded("a", "A title").recorded
    assert one is not None
    assert not past_session(replace(one, cwd=Path("/" + "x" * 5_000))).has_folder


def test_a_title_is_one_line_without_what_was_attached_to_the_first_prompt() -> None:
    """Like codex-acp 2.6.0 lists and tells it."""
    told_title = 'Look at @a.py\n[@a.py](file:///p/a.py) <context ref="file:///p/a.py">\n"""A\n</context>'
    (listed,) = merged([told("a", told_title)], GEMINI, [])
    assert listed.title == "Look at @a.py"
    assert fold(InfoChanged(title=told_title)).shown_title == "Look at @a.py"
    assert fold(InfoChanged(title="[@a.py](file:///p/a.py)")).shown_title == "[@a.py](file:///p/a.py)"


@pytest.mark.parametrize(
    ("told", "title"),
    [
        ("# Hello", "Hello"),
        ("**Fix** the `parser`", "Fix the parser"),
        ("> quoted", "quoted"),
        ("#12 fails", "#12 fails"),
        ("Compute 2**3 and 4**5", "Compute 2**3 and 4**5"),
        ("a > b", "a > b"),
        ("#", "#"),
    ],
)
def test_a_title_has_none_of_markdowns_marks_but_all_else(told: str, title: str) -> None:
    assert fold(InfoChanged(title=told)).shown_title == title
    assert fold(PromptSent((Text(told),))).shown_title == title


def test_a_title_is_short_whoever_gave_it() -> None:
    long = "word " * 1000
    (past,) = merged([told("a", long)], GEMINI, [])
    told_by_agent, of_prompt = fold(InfoChanged(title=long)), fold(prompt(long))
    assert [len(title) for title in (past.title, told_by_agent.shown_title, of_prompt.shown_title)] == [200] * 3
