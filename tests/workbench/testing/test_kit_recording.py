"""The recording of a test: its contents, and what it can be turned into."""

from pathlib import Path

import pytest

from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.entries import Message
from acp_tui.testing import AcpRecording, StartAgent

AGENT = Path(__file__).with_name("example_agent.py")


def test_a_replay_gives_the_conversation_of_the_test(acp_agent: StartAgent, acp_recording: AcpRecording) -> None:
    agent = acp_agent(AGENT, files={"notes.md": "a"})
    agent.on_permission("allow_once")
    agent.prompt("go")

    (shown,) = replayed(acp_recording.path).values()

    assert [type(entry) for entry in shown.entries] == [type(entry) for entry in agent.session.conversation.entries]
    assert shown.last_stop_reason == "end_turn"


def test_what_was_saved_holds_what_had_happened_by_then(
    acp_agent: StartAgent, acp_recording: AcpRecording, tmp_path: Path
) -> None:
    agent = acp_agent(AGENT, files={"notes.md": "a"})
    agent.on_permission("reject_once")
    agent.prompt("one")

    saved = acp_recording.save(tmp_path / "kept" / "one.jsonl")
    agent.prompt("two")

    assert _prompts(saved) == ["one"]
    assert _prompts(acp_recording.path) == ["one", "two"]


def test_a_recording_is_whole_when_its_agent_has_ended(
    acp_agent: StartAgent, acp_recording: AcpRecording, tmp_path: Path
) -> None:
    agent = acp_agent(AGENT)
    agent.stop()

    assert '"agent_exited"' in acp_recording.save(tmp_path / "whole.jsonl").read_text()


def test_without_an_agent_there_is_none(acp_recording: AcpRecording) -> None:
    with pytest.raises(ValueError, match="start an agent"):
        _ = acp_recording.path


def _prompts(source: Path) -> list[str]:
    (conversation,) = replayed(source).values()
    return [entry.text for entry in conversation.entries if isinstance(entry, Message) and entry.role == "user"]
