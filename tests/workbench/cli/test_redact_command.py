"""`acp-tui redact` writes a file you can share, and reports what it replaced without revealing it."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.cli.main import main
from acp_tui.client.transcript.events import Header, Stderr
from support.recordings import write


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    lines = ("login anna@corp.example, password=hunter22x", "and again: hunter22x, Acme")
    write(
        tmp_path / "raw.jsonl",
        [Stderr(0.0, line.encode()) for line in lines],
        Header("agent", ("agent",), cwd="/home/anna/p", started_at="2026-11-21T12:00:00+00:00"),
        is_raw=True,
    )
    return tmp_path / "raw.jsonl"


def test_the_table_names_kinds_counts_and_stand_ins(recording: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = recording.with_name("out.jsonl")
    assert main(["redact", str(recording), "-o", str(out), "--secret", "Acme", "--secret", "login"]) == 0
    told = capfd.readouterr().out
    assert [line.split()[:2] for line in told.splitlines()[:6]] == [
        ["what", "times"],
        ["given", "1"],
        ["given", "1"],
        ["user", "1"],
        ["e-mail", "1"],
        ["password", "2"],
    ]
    for secret in ("anna", "corp", "hunter22x", "Acme", "login"):
        assert secret not in told + out.read_text()


def test_where_it_was_written_is_said_without_detours(
    recording: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project = recording.parent / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    assert main(["redact", str(recording), "-o", "../out.jsonl"]) == 0
    assert f"Written to {recording.parent.resolve() / 'out.jsonl'}." in capfd.readouterr().out


def test_nothing_is_overwritten(recording: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = recording.read_bytes()
    assert main(["redact", str(recording), "-o", str(recording)]) == 2
    assert "never overwrite a file" in capfd.readouterr().err
    assert recording.read_bytes() == before


def test_what_is_no_recording_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", str(tmp_path / "gone"), "-o", str(tmp_path / "out")]) == 1
    assert "gone can't be read" in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("redact a", "redact needs -o FILE"),
        ("redact a -o b --secret abc", "--secret needs at least 4 characters"),
        ("mock", "mock needs a scenario"),
    ],
)
def test_a_wrong_command_line_is_explained(line: str, told: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert told in capfd.readouterr().err
