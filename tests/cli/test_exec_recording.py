"""`exec` records only if asked to, and only to that file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from acp_tui.cli.arguments import read_arguments
from acp_tui.client.transcript import RecordTo
from acp_tui.client.transcript.replay import replayed

AGENT = ("--", sys.executable, "-m", "acp_tui.demo", "markdown", "--speed", "0")


def run_exec(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "acp_tui", "exec", "--prompt", "go", *options, *AGENT]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def test_a_turn_is_recorded_into_the_file_that_was_named(tmp_path: Path, home: Path) -> None:
    done = run_exec(tmp_path, "--record", "turn.jsonl")
    assert done.returncode == 0, done.stderr
    [conversation] = replayed(tmp_path / "turn.jsonl").values()
    assert conversation.last_stop_reason == "end_turn"
    assert list(home.rglob("*.jsonl")) == []


def test_a_turn_is_not_recorded_unasked(tmp_path: Path, home: Path) -> None:
    assert run_exec(tmp_path).returncode == 0
    assert [*tmp_path.rglob("*.jsonl"), *home.rglob("recordings/*")] == []


def test_the_command_line_says_where_and_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, given = read_arguments(["exec", "demo", "--record", "a.jsonl", "--record-raw"])
    assert given.record == RecordTo(tmp_path / "a.jsonl", is_raw=True)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--record", "there.jsonl"), "never overwrite a file"),
        (("--record", "no/folder.jsonl"), "doesn't exist"),
        (("--record-raw",), "--record-raw needs --record FILE"),
    ],
)
def test_a_recording_that_cannot_be_made_is_refused_at_once(
    options: tuple[str, ...],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "there.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        read_arguments(["run", "demo", *options])
    assert end.value.code == 2
    assert why in capsys.readouterr().err
