"""A recording as an agent, by its command: different user actions, folders, and endings."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.transcript.plan import RecordingPlan
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Message
from support.mocked import mock_of, outline
from support.recordings import Run, play
from support.waiting import LIMIT_S


def outlines(run: Run) -> list[str]:
    return list(map(outline, run.conversations.values()))


async def recorded(name: str | AgentCommand, folder: Path, file: str, **how: Any) -> tuple[Run, Path]:
    path = folder / file
    return await play(name, RecordingPlan(folder, file=path), **how), path


async def test_rejections_and_a_cancelled_turn_are_played_as_they_were(tmp_path: Path) -> None:
    first, recording = await recorded("permissions", tmp_path, "first.jsonl", option=-1)
    again, _ = await recorded(mock_of(recording, "--strict"), tmp_path, "again.jsonl", option=-1)
    assert outlines(again) == outlines(first)
    how = {"cancels_at": 3}
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
        mock_of(tmp_path / "notes").argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S
    )
    assert done.returncode == 1
    assert b"notes isn't a recording" in done.stderr


def said(conversation: Conversation) -> list[str]:
    return [entry.text for entry in conversation.entries if isinstance(entry, Message) and entry.role == "agent"]
