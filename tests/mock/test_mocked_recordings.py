"""A recording played as an agent is that agent, for acp-tui and for the client of the official SDK."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.transcript.plan import RecordingPlan
from acp_tui.conversation.conversation import Conversation
from support.recordings import Run, play

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


def timeless(value: Any) -> Any:
    """A value without the times of the user's answers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return type(value).__name__, {name: timeless(item) for name, item in fields.items() if name != "at"}
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [timeless(item) for item in value]
    return value


async def recorded(name: str | AgentCommand, folder: Path, file: str, **how: Any) -> tuple[Run, Path]:
    path = folder / file
    return await play(name, RecordingPlan(folder, file=path), **how), path


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_mocked_demo_scenario_gives_the_same_conversation(scenario: str, tmp_path: Path) -> None:
    """fold(live with the mock) == fold(original), terminals too."""
    first, recording = await recorded(scenario, tmp_path, "first.jsonl")
    for each in ("notes.txt",):
        (tmp_path / each).unlink(missing_ok=True)
    again, _ = await recorded(mock_of(recording, "--strict"), tmp_path, "again.jsonl")
    assert timeless(again.conversations) == timeless(first.conversations)
