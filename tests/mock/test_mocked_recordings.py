"""A recording played as an agent is that agent, for acp-tui and for the client of the official SDK."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.transcript.events import Frame
from acp_tui.client.transcript.plan import RecordingPlan
from acp_tui.client.transcript.replay import Replay
from acp_tui.conversation.byte_ring import ByteRing
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Message
from acp_tui.rpc import Direction
from support.golden import TRANSCRIPTS
from support.recordings import Run, play, write

SCENARIOS = (
    "coding",
    "session_updates",
    "content",
    "tool_calls",
    "tools",
    "permissions",
    "callbacks",
    "elicitations",
    "markdown",
    "terminal",
    "crash",
    "flood",
    "sessions",
)


def mock_of(recording: Path, *options: str) -> AgentCommand:
    argv = (sys.executable, "-m", "acp_tui", "mock", str(recording), "--speed", "0", *options)
    return AgentCommand("demo", argv)


CLOCKS = ("at", "seconds")


def outline(conversation: Conversation) -> str:
    """All of a conversation but what is made up anew each time: what clocks say, and the names of terminals."""
    terminals: dict[str, str] = {}
    told = "\n".join(_lines(conversation, ""))
    return re.sub(r"term_[0-9a-f]+", lambda found: terminals.setdefault(found[0], f"#{len(terminals)}"), told)


def _lines(value: Any, place: str) -> Iterator[str]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield f"{place}: {type(value).__name__}"
        names = (field.name for field in dataclasses.fields(value))
        value = {name: getattr(value, name) for name in names if name not in CLOCKS}
    if isinstance(value, dict | list | tuple):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _lines(item, f"{place}.{key}")
    else:
        yield f"{place} = {value.read() if isinstance(value, ByteRing) else value!r}"


def outlines(run: Run) -> list[str]:
    return list(map(outline, run.conversations.values()))


async def recorded(name: str | AgentCommand, folder: Path, file: str, **how: Any) -> tuple[Run, Path]:
    path = folder / file
    return await play(name, RecordingPlan(folder, file=path), **how), path


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_mocked_demo_scenario_gives_the_same_conversation(scenario: str, tmp_path: Path) -> None:
    """fold(live with the mock) == fold(original), terminals too."""
    first, recording = await recorded(scenario, tmp_path, "first.jsonl")
    again, _ = await recorded(mock_of(recording, "--strict"), tmp_path, "again.jsonl")
    assert outlines(again) == outlines(first)


async def test_rejections_and_a_cancelled_turn_are_played_as_they_were(tmp_path: Path) -> None:
    first, recording = await recorded("permissions", tmp_path, "first.jsonl", option=-1)
    again, _ = await recorded(mock_of(recording, "--strict"), tmp_path, "again.jsonl", option=-1)
    assert outlines(again) == outlines(first)
    how = {"cancels_at": "Edit config.toml"}
    first, recording = await recorded("permissions", tmp_path, "cancelled.jsonl", **how)
    again, _ = await recorded(mock_of(recording, "--strict"), tmp_path, "cancelled-again.jsonl", **how)
    assert outlines(again) == outlines(first)


async def test_a_mock_works_in_the_folder_and_terminals_of_its_client(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    _, recording = await recorded("callbacks", tmp_path / "one", "run.jsonl")
    again, _ = await recorded(mock_of(recording, "--strict"), tmp_path / "two", "run.jsonl")
    assert (tmp_path / "two" / "notes.txt").read_text() == (tmp_path / "one" / "notes.txt").read_text()
    assert str(tmp_path / "one") not in outlines(again)[0]


async def test_a_strict_mock_ends_at_the_first_departure(tmp_path: Path) -> None:
    _, recording = await recorded("permissions", tmp_path, "first.jsonl")
    again, _ = await recorded(mock_of(recording, "--strict"), tmp_path, "again.jsonl", option=-1)
    [conversation] = again.conversations.values()
    assert not conversation.is_connected
    told = outline(conversation)
    assert "exited with code 1" in told
    assert "the answer to session/request_permission was allow and is reject" in told


async def test_a_scenario_is_an_agent_too(tmp_path: Path) -> None:
    scenario = tmp_path / "own.toml"
    scenario.write_text('description = "d"\n[[prompt]]\n[[prompt.step]]\nsay = "Hello"\n')
    run, _ = await recorded(mock_of(scenario), tmp_path, "run.jsonl")
    [conversation] = run.conversations.values()
    assert said(conversation) == ["Hello"]


def test_what_is_neither_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("no recording")
    done = subprocess.run(
        mock_of(tmp_path / "notes").argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=20
    )
    assert done.returncode == 1
    assert b"notes is no recording" in done.stderr


AGENTS = ("gemini", "claude-zed", "claude-code-acp", "codex-acp2", "opencode", "qwen22", "fastagent", "pysdk")


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="no recordings lie beside the repository")
@pytest.mark.parametrize("agent", AGENTS)
async def test_the_recorded_traffic_of_a_real_agent_is_an_agent(agent: str, tmp_path: Path) -> None:
    recording = tmp_path / "agent.jsonl"
    frames = traffic(agent)
    write(recording, frames)
    replay = Replay(frames)
    assert all(replay.events)
    (tmp_path / "project").mkdir()
    run = await play(
        mock_of(recording),
        RecordingPlan(tmp_path / "project", file=tmp_path / "run.jsonl"),
        prompts=["HELLO", "WRITE"],
    )
    [live] = run.conversations.values()
    assert said(live) == [text for each in replay.conversations.values() for text in said(each)]
    assert live.last_stop_reason == "end_turn"


def traffic(agent: str) -> list[Frame]:
    """Two turns with a real agent; what stands in other parts of the traffic came between them."""
    return [
        Frame(0.0, Direction(line["dir"]), json.dumps(line["msg"]).encode())
        for part in ("INIT", "HELLO", "WRITE")
        for line in map(json.loads, (TRANSCRIPTS / f"{agent}-{part}.ndjson").read_text().splitlines())
        if "msg" in line
    ]


def said(conversation: Conversation) -> list[str]:
    return [
        entry.text for entry in conversation.entries if isinstance(entry, Message) and entry.role == "agent"
    ]
