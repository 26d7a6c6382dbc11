"""Replaying a recording gives the same conversations as when it was made.

tests/end_to_end does this for every scenario and for real agents.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentLost
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.transcript.events import Frame
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.replay import Replay, is_prompt, replayed
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import AuthStatus, SessionId
from acp_tui.rpc import Direction
from support.recordings import EVERYTHING, demo, play
from support.schema import TRANSCRIPTS
from support.waiting import LIMIT_S

RECORDINGS = Path(__file__).parents[2] / "data/recordings"


async def test_a_cancelled_turn_and_rejected_requests_are_replayed_as_they_were(tmp_path: Path) -> None:
    run = await play("permissions", RecordingPlan(tmp_path, file=tmp_path / "run.jsonl"), cancels_at=3)
    assert replayed(tmp_path / "run.jsonl") == run.conversations
    run = await play("permissions", RecordingPlan(tmp_path, file=tmp_path / "no.jsonl"), option=-1)
    assert replayed(tmp_path / "no.jsonl") == run.conversations


def test_who_was_logged_in_is_replayed_from_answers_and_reports() -> None:
    def frame(direction: Direction, **message: object) -> Frame:
        return Frame(0.0, direction, json.dumps({"jsonrpc": "2.0", **message}).encode())

    told = {"authStatus": {"kind": "none", "label": "Not logged in"}}
    replay = Replay(
        [
            frame(Direction.IN, method="_auth/status_update", params=told),
            frame(Direction.OUT, id=1, method="auth/status", params={}),
            frame(Direction.IN, id=1, result={"state": "not_required"}),
            frame(Direction.OUT, id=2, method="auth/status", params={}),
            frame(Direction.IN, id=2, result={"state": 5}),
        ]
    )
    heard = [replay.auth_status for _ in replay.events]
    assert heard == [AuthStatus(state) for state in ("unauthenticated", "unauthenticated", *["not_required"] * 3)]


@pytest.mark.parametrize(
    ("agent", "account"),
    [("codex", "Custom model gateway (fake)"), ("claude-current", "Anthropic API key (ANTHROPIC_API_KEY)")],
)
def test_a_recording_of_a_real_agent_says_who_was_logged_in(agent: str, account: str) -> None:
    with open_recording(RECORDINGS / f"{agent}.jsonl") as recording:
        replay = Replay(recording)
        assert list(replay.events)
    assert replay.auth_status is not None
    assert replay.auth_status.in_words == f"yes: {account}"


async def test_the_end_of_an_agent_is_replayed_with_its_last_words(tmp_path: Path) -> None:
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    run = await play("crash", plan)
    [conversation] = replayed(tmp_path / "run.jsonl").values()
    assert {"demo-1": conversation} == run.conversations
    assert not conversation.is_connected
    assert "MemoryError" in conversation.entries[-1].stderr_tail  # type: ignore[union-attr]


async def test_a_question_of_our_own_about_a_file_outside_is_replayed(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "scenario.toml").write_text(
        'description = "d"\n[[prompt]]\n[[prompt.step]]\n'
        f'write = {{ path = "{tmp_path}/out.txt", content = "new\\n" }}\n'
    )
    plan = RecordingPlan(tmp_path / "project", file=tmp_path / "run.jsonl")
    run = await play(str(tmp_path / "scenario.toml"), plan)
    [conversation] = run.conversations.values()
    decisions = [decision for entry in conversation.entries for decision in getattr(entry, "decisions", ())]
    assert [decision.option_name for decision in decisions] == ["Allow once"]
    assert replayed(tmp_path / "run.jsonl") == run.conversations
    assert (tmp_path / "out.txt").read_text() == "new\n"


async def test_a_replay_touches_no_file_and_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await play("callbacks", RecordingPlan(tmp_path, file=tmp_path / "run.jsonl"))
    (tmp_path / "notes.txt").unlink()
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process was started"))
    replayed(tmp_path / "run.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.jsonl"]


async def test_a_replay_can_be_stepped_from_prompt_to_prompt(tmp_path: Path) -> None:
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    await play("markdown", plan, prompts=("first", "second"))
    with open_recording(plan.file or tmp_path) as recording:
        replay = Replay(recording)
        first = next(step for step in replay.events if is_prompt(step.event))
        [touch] = first.touched
        assert touch.conversation is replay.conversations[touch.session_id]  # type: ignore[index]
        assert replay.position_s == first.event.at
        next(step for step in replay.events if is_prompt(step.event))
        prompts = [e.text for e in touch.conversation.entries if getattr(e, "role", "") == "user"]  # type: ignore[union-attr]
        assert prompts == ["first", "second"]
        assert not touch.conversation.is_idle
        assert len(list(replay.events)) > 1
        assert touch.conversation.is_idle
        assert replay.step() is None


async def test_what_the_agent_asked_in_foreign_traffic_is_answered_by_the_frames_alone(
    tmp_path: Path,
) -> None:
    """A recording of only frames, as other tools make them, doesn't record the user."""
    file = tmp_path / "run.jsonl"
    run = await play("permissions", RecordingPlan(tmp_path, file=file))
    with open_recording(file) as recording:
        frames = [event for event in recording if type(event).__name__ == "Frame"]
    replay = Replay(frames)
    assert all(step for step in replay.events)
    [played], [live] = replay.conversations.values(), run.conversations.values()
    decided = [
        [entry.decisions[0].option_name for entry in each.entries if getattr(entry, "decisions", ())]
        for each in (played, live)
    ]
    assert decided[0] == decided[1]
    assert played.is_idle


async def test_a_command_that_is_no_agent_leaves_a_recording_of_what_it_said(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    script = "import sys; sys.stderr.write('no ACP here'); sys.stderr.flush(); print('Hello'); sys.exit(3)"
    with pytest.raises(AgentLost):
        await play(AgentCommand("none", (sys.executable, "-c", script)), RecordingPlan(tmp_path, file=file))
    with open_recording(file) as recording:
        said = {type(event).__name__: event for event in recording}
    assert said["Stderr"].data == b"no ACP here"  # type: ignore[union-attr]
    assert said["Exited"].how == "exited with code 3"  # type: ignore[union-attr]


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="no recordings lie beside the repository")
@pytest.mark.parametrize("agent", ["gemini", "claude-zed", "codex-acp2", "opencode", "qwen22", "fastagent", "pysdk"])
def test_the_recorded_traffic_of_a_real_agent_is_replayed_whole(agent: str) -> None:
    frames = [
        Frame(0.0, Direction(line["dir"]), json.dumps(line["msg"]).encode())
        for part in ("INIT", "HELLO", "WRITE", "RUN", "PLAN")
        for line in map(json.loads, (TRANSCRIPTS / f"{agent}-{part}.ndjson").read_text().splitlines())
        if "msg" in line
    ]
    replay = Replay(frames)
    assert len(list(replay.events)) == len(frames)
    conversations = replay.conversations
    assert sum(b'"session/prompt"' in frame.data for frame in frames) == sum(
        getattr(entry, "role", "") == "user" for each in conversations.values() for entry in each.entries
    )
    for session_id, conversation in conversations.items():
        assert conversation.is_idle
        assert not conversation.permissions
        said = "".join(e.text for e in conversation.entries if getattr(e, "role", "") == "agent")  # type: ignore[union-attr]
        # Gemini's message about a changed mode isn't part of its reply.
        assert said == re.sub(r"\[MODE_UPDATE\] autoEdit", "", said_in(frames, session_id))


def said_in(frames: list[Frame], session_id: str) -> str:
    """The agent's text in a session, straight from the frames."""
    texts = []
    for frame in frames:
        message = json.loads(frame.data)
        if frame.direction is Direction.IN and message.get("method") == "session/update":
            update = message["params"]["update"]
            is_message = update["sessionUpdate"] == "agent_message_chunk"
            if is_message and message["params"]["sessionId"] == session_id:
                texts.append(update["content"].get("text", ""))
    return "".join(texts)


async def test_sessions_that_are_loaded_resumed_and_closed_are_replayed(tmp_path: Path) -> None:
    """A process has one recording for all of them."""
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    live: dict[SessionId, Conversation] = {}
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(demo("sessions"), offer=EVERYTHING, recordings=plan)
            await agent.initialize()
            one, two = await agent.new_session(tmp_path), await agent.new_session(tmp_path)
            await one.send_prompt([Text("first")])
            await two.send_prompt([Text("second")])
            await agent.close_session(one)
            page = await agent.list_sessions()
            for listed in page.sessions:
                if listed.session_id != two.session_id:
                    await agent.open_session(listed.session_id, tmp_path)
            live = {session.session_id: session.conversation for session in (one, *agent.sessions.values())}
    assert len(live) > 2
    assert replayed(tmp_path / "run.jsonl") == live
