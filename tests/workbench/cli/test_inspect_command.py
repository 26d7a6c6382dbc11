"""`acp-tui inspect`: what it accepts, and how it and the room's other commands report what they can't use."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from textual.app import App

from acp_tui.cli import replay
from acp_tui.cli.main import main
from acp_tui.client.settings.settings import Settings
from acp_tui.ui.base.app import BaseApp
from acp_tui.workbench.cli import inspect
from acp_tui.workbench.cli.inspect import run_inspect
from support.recorded_sessions import HEADER, two_turns
from support.recordings import write


def test_it_takes_a_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path | str] = []

    def note(source: Path | str, *_: object) -> int:
        seen.append(source)
        return 0

    monkeypatch.setattr(inspect, "run_inspect", note)
    monkeypatch.setattr(replay, "require_screen", lambda _: None)
    assert main(["inspect", "demo:coding"]) == 0
    assert seen == ["coding"]


def test_what_a_file_name_says_cannot_write_over_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = tmp_path / "run\x1b[2J.jsonl"
    assert main(["redact", str(name), "-o", "a"]) != 0
    assert run_inspect(name, Settings()) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert said.count("acp-tui: ") == 2


def test_what_goes_wrong_inside_is_told_once_the_terminal_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run_async(app: App[None]) -> None:
        logging.getLogger("acp_tui").error("a line is gone")

    monkeypatch.setattr(BaseApp, "run_async", run_async)
    write(tmp_path / "run.jsonl", two_turns(), HEADER)
    assert run_inspect(tmp_path / "run.jsonl", Settings()) == 0
    assert "a line is gone" in capsys.readouterr().err


def test_a_scenario_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_inspect("nowhere", Settings()) == 2
    assert "acp-tui demo --list" in capsys.readouterr().err
