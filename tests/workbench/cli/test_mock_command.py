"""`acp-tui mock` as a command: what it accepts, and its exit statuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from acp_tui.cli.main import main, visible_output
from acp_tui.client.transcript.events import Event, Exited, OwnAction
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import Disconnected
from acp_tui.workbench.cli.mock import repeat_stderr
from cli.test_resume import record
from support.mock_wire import NEW, OPENED, came, prompt, went
from support.mocked import mock_of
from support.peers import response
from support.recordings import write
from support.waiting import LIMIT_S


def talk(source: Path | str, *said: Any, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[bytes]:
    """Its answer to a client that sends this and leaves."""
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in said)
    argv = mock_of(source, *options).argv
    return subprocess.run(argv, input=lines, capture_output=True, timeout=LIMIT_S)


def recording(folder: Path, *events: Event) -> Path:
    write(folder / "run.jsonl", [*OPENED, *events])
    return folder / "run.jsonl"


@pytest.mark.parametrize(
    ("how", "status"),
    [("exited with code 3", 3), ("exited with code 0", 0), ("was ended by SIGTERM", -signal.SIGTERM)],
)
def test_it_ends_as_the_recorded_agent_did(how: str, status: int, tmp_path: Path) -> None:
    died = [*went(prompt(2)), OwnAction(0.0, SessionId("s"), Disconnected("x", "")), Exited(0.0, how)]
    assert talk(recording(tmp_path, *died), NEW, prompt(2)).returncode == status


def test_an_agent_that_goes_on_after_a_session_ended_has_not_ended(tmp_path: Path) -> None:
    ended = OwnAction(0.0, SessionId("s"), Disconnected("it can't be resumed", ""))
    went_on = [ended, *went(prompt(2)), *came(response(2, {"stopReason": "end_turn"}))]
    assert talk(recording(tmp_path, *went_on), NEW, prompt(2)).returncode == 0


def test_a_client_that_goes_ends_it_with_0_and_a_strict_one_that_departs_with_1(tmp_path: Path) -> None:
    source = recording(tmp_path)
    assert talk(source, NEW).returncode == 0
    done = talk(source, NEW, prompt(2))
    assert response(2, {"stopReason": "refusal"}) in map(json.loads, done.stdout.splitlines())
    assert (done.returncode, b"session/prompt came" in done.stderr) == (0, True)
    assert talk(source, NEW, prompt(2), options=("--strict",)).returncode == 1


@pytest.mark.parametrize("source", ["demo:coding", "own.toml"])
def test_a_scenario_is_played_by_its_name_or_file(source: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('description = "d"\n[[prompt]]\n[[prompt.step]]\nsay = "Hello"\n')
    with subprocess.Popen(
        mock_of(own if source == own.name else source).argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as agent:
        assert agent.stdin is not None and agent.stdout is not None
        agent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n')
        agent.stdin.flush()
        assert json.loads(agent.stdout.readline())["result"]["protocolVersion"] == 1


@pytest.mark.anyio
async def test_a_recorded_session_is_played_by_its_id(tmp_path: Path) -> None:
    session_id = await record(tmp_path, "Zebras?")
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    played = await to_thread.run_sync(talk, session_id[:-1], first)
    assert json.loads(played.stdout.splitlines()[0])["result"]["agentInfo"]["name"] == "acp-tui-demo"
    unknown = await to_thread.run_sync(talk, "lions")
    assert unknown.returncode == 2
    assert b"no recorded session has an ID that starts with that" in unknown.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("demo:coding", "--strict"), "work with recordings only"),
        (("own.toml", "--timeout", "5"), "work with recordings only"),
        (("run.jsonl", "--login"), "works with scenarios only"),
        (("run.jsonl", "--speed", "-1"), "-1 isn't a number of 0 or more"),
    ],
)
def test_options_that_do_not_go_with_the_source_are_a_wrong_command_line(
    words: tuple[str, ...], complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["mock", *words]) == 2
    assert complaint in capfd.readouterr().err


def test_stderr_of_a_recorded_agent_reaches_clients_raw_and_terminals_made_visible(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    line, written = b"\xff\x1b[2J", []
    for is_terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda is_terminal=is_terminal: is_terminal)
        with visible_output():
            repeat_stderr(line)
        written.append(capfdbinary.readouterr().err)
    assert written[0] == line + b"\n"
    assert b"\x1b" not in written[1]
