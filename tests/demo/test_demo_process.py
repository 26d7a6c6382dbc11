"""The demo agent as its own process, over its real stdin and stdout."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.agents.demo_agent import copy_project, demo_command
from acp_tui.client.transcript.recording_plan import RecordingPlan
from support.recordings import play
from support.waiting import LIMIT_S


class Process:
    """A demo agent that the test talks to line by line."""

    session_id = ""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "acp_tui.demo", *arguments]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)

    def request(self, request_id: int, method: str, **params: Any) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, request_id: int) -> Any:
        """A request's result; skips what comes before it."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == request_id and "method" not in message:
                return message["result"]
        raise AssertionError("the agent ended without an answer")


@contextmanager
def running(*arguments: str) -> Iterator[Process]:
    agent = Process(*arguments)
    try:
        agent.request(0, "initialize", protocolVersion=1)
        agent.answer(0)
        agent.request(1, "session/new", cwd="/", mcpServers=[])
        agent.session_id = agent.answer(1)["sessionId"]
        yield agent
    finally:
        agent.process.kill()
        agent.process.communicate()


def test_a_turn_is_played_and_the_process_ends_with_its_stdin():
    with running("flood", "--speed", "0") as agent:
        agent.request(2, "session/prompt", sessionId="demo-1", prompt=[])
        assert agent.answer(2) == {"stopReason": "end_turn"}
        _, stderr = agent.process.communicate(timeout=LIMIT_S)
        assert (agent.process.returncode, stderr) == (0, b"")


def test_a_crash_has_its_exit_status_and_last_words():
    with running("crash", "--speed", "0") as agent:
        agent.request(2, "session/prompt", sessionId="demo-1", prompt=[])
        assert agent.process.wait(LIMIT_S) == 3
        stdout, stderr = agent.process.communicate()
        assert b"agent_message_chunk" in stdout
        assert b"MemoryError" in stderr


def test_sessions_have_ids_that_no_other_run_gives_where_that_is_asked_for():
    with running("markdown") as one, running("markdown") as another:
        assert (one.session_id, another.session_id) == ("demo-1", "demo-1")
    with running("markdown", "--own-ids") as one, running("markdown", "--own-ids") as another:
        assert one.session_id != another.session_id
        assert one.session_id.startswith("demo-")
        assert one.session_id.endswith("-1")


def test_it_takes_no_module_from_the_folder_that_it_works_in(tmp_path: Path):
    (tmp_path / "anyio.py").write_text("raise SystemExit(9)")
    command = demo_command("coding").argv
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=LIMIT_S)
    assert done.returncode == 0


def test_an_unknown_scenario_exits_with_2_and_the_list():
    command = [sys.executable, "-m", "acp_tui.demo", "nope"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 2
    assert 'there is no scenario "nope"' in done.stderr
    assert "coding" in done.stderr


def test_a_login_in_the_terminal_holds_for_the_next_agent_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = [sys.executable, "-m", "acp_tui.demo", "login", "--login"]
    done = subprocess.run(command, input="Ada\n", capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.returncode, "Hello, Ada" in done.stdout) == (0, True)
    with running("login") as agent:
        agent.request(2, "session/prompt", sessionId="demo-1", prompt=[])
        assert agent.answer(2) == {"stopReason": "end_turn"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("entered", ["", "\n"])
def test_a_login_without_a_name_fails(entered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = [sys.executable, "-m", "acp_tui.demo", "login", "--login"]
    done = subprocess.run(command, input=entered, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


async def test_a_coding_session_adds_no_files_to_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled modules would be listed as changes."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    project = tmp_path / "project"
    copy_project(project)
    files = sorted(project.rglob("*"))
    await play("coding", RecordingPlan(project, file=tmp_path / "run.jsonl"))
    assert sorted(project.rglob("*")) == files
