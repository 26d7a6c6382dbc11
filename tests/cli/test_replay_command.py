"""`acp-tui replay` and `acp-tui render`: what they accept, and how they report what they can't use."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from acp_tui.cli import replay
from acp_tui.cli.main import main
from acp_tui.cli.replay import recordings_of, run_render, run_replay
from acp_tui.client.settings.settings import Settings
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.replay import demo_recording
from acp_tui.ui.replay.demo_recording import DemoUser
from acp_tui.ui.replay.player import Speed, Spot
from acp_tui.ui.replay.render import View
from acp_tui.ui.replay.timeline import Timeline, open_playable
from support.recorded_sessions import HEADER, two_turns
from support.recordings import write

FILE = Path("run.jsonl")
OUT = Path("a.svg")
USER = DemoUser()


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[Any, ...]]:
    """What a command line is parsed to; nothing is shown."""
    seen: list[tuple[Any, ...]] = []

    def note(*values: Any, **options: Any) -> int:
        seen.append((*(each for each in values if not isinstance(each, Settings | tuple)), *options.values()))
        return 0

    for name in ("run_replay", "run_render"):
        monkeypatch.setattr(replay, name, note)
    monkeypatch.setattr(replay, "has_terminal", lambda: True)
    monkeypatch.setattr(replay, "require_screen", lambda _: None)

    def run(line: str) -> tuple[Any, ...]:
        assert main(line.split()) == 0
        return seen.pop()

    return run


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("replay run.jsonl", (FILE, Speed(1.0, 2.0), None)),
        ("replay demo:coding", ("coding", Speed(1.0, 2.0), None)),
        ("replay run.jsonl --speed 4 --until 1:05", (FILE, Speed(4.0, 2.0), Spot(seconds=65.0))),
        ("replay run.jsonl --max-wait 0.5", (FILE, Speed(1.0, 0.5), None)),
        ("render run.jsonl -o a.svg", (FILE, OUT, View(), USER)),
        (
            "render demo:coding --output a.svg --at question",
            ("coding", OUT, View(at=Spot(is_question=True)), USER),
        ),
        (
            "render run.jsonl -o a.svg --at-text done --size 80x24 --theme acp-light",
            (FILE, OUT, View(Spot(text="done"), (80, 24), "acp-light"), USER),
        ),
        (
            "render demo:coding -o a.svg --prompt hi",
            ("coding", OUT, View(), DemoUser(("hi",))),
        ),
    ],
)
def test_each_way_to_call_them(line: str, values: tuple[Any, ...], runs: Callable[[str], tuple[Any, ...]]) -> None:
    assert runs(line) == values


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("replay", "replay needs a recording or demo:NAME: acp-tui replay FILE; to list yours: acp-tui sessions"),
        ("inspect demo:", "demo: needs a scenario"),
        ("replay run.jsonl --until soon", "'soon' isn't a moment"),
        ("replay run.jsonl --until 1:75:00", "minutes and seconds go up to 59"),
        ("render run.jsonl -o a.svg --at 9:99", "'9:99' isn't a time"),
        ("replay run.jsonl --speed fast", "fast isn't a number"),
        ("render run.jsonl", "needs -o FILE"),
        ("render run.jsonl -o a.svg --size big", "big isn't a size"),
        ("render run.jsonl -o a.svg --size 10x2", "10x2 isn't a size"),
        ("render run.jsonl -o a.svg --at 3 --at-text done", "both name a moment"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "can't be read: No such file"),
        ("", "isn't a recording"),
        ("a text\n", "isn't a recording"),
        (json.dumps({"format": "acp-tui-recording", "version": 99}) + "\n", "99"),
    ],
    ids=["missing", "empty", "something else", "too new"],
)
def test_a_file_that_is_of_no_use_is_said(
    content: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.jsonl"
    if content is not None:
        file.write_text(content)
    assert main(["render", str(file), "-o", str(tmp_path / "a.txt")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("options", [["a.txt", "--size", "60x20"], ["a.md"]], ids=["picture", "export"])
def test_a_recording_is_rendered_to_a_file_to_look_at_before_it_is_shared(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, output = tmp_path / "run.jsonl", tmp_path / options[0]
    write(file, two_turns(), HEADER)
    assert main(["render", str(file), "-o", str(output), *options[1:]]) == 0
    assert "You are welcome." in output.read_text()
    said = capsys.readouterr().err
    assert f"written to {output}" in said
    assert "look at it before you share it" in said


@pytest.mark.parametrize(("at", "is_said"), [("999:00", True), ("100000", True), ("1", False), ("0:00", False)])
def test_a_moment_behind_the_end_shows_the_end_and_that_is_said(
    at: str, is_said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, output = tmp_path / "run.jsonl", tmp_path / "a.txt"
    write(file, two_turns(), HEADER)
    assert main(["render", str(file), "-o", str(output), "--size", "60x20", "--at", at]) == 0
    assert ("its end is shown" in capsys.readouterr().err) is is_said
    assert ("You are welcome." in output.read_text()) is is_said


@pytest.mark.parametrize("name", ["a.svg", "a.txt", "a.md", "a.jsonl"])
def test_a_file_that_is_there_stays(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording, output = tmp_path / "run.jsonl", tmp_path / name
    write(recording, two_turns(), HEADER)
    output.write_text("mine")
    assert main(["render", str(recording), "-o", str(output)]) == 1
    assert output.read_text() == "mine"
    assert f"{output} already exists.\n  Choose another name, or delete it." in capsys.readouterr().err


def test_what_is_rendered_can_be_read_by_the_user_only(tmp_path: Path) -> None:
    write(tmp_path / "run.jsonl", two_turns(), HEADER)
    modes = {}
    before = os.umask(0)
    try:
        for suffix in (".svg", ".txt"):
            output = tmp_path / f"a{suffix}"
            assert run_render(tmp_path / "run.jsonl", output, View(size=(60, 20)), USER) == 0
            modes[suffix] = oct(stat.S_IMODE(output.stat().st_mode))
    finally:
        os.umask(before)
    assert modes == dict.fromkeys([".svg", ".txt"], "0o600")


def test_a_scenario_is_recorded_as_it_would_have_happened_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The test acts as the user, who answers the scripted agent.
    monkeypatch.setattr(demo_recording, "answer", lambda session, key, option: session.answer_permission(key, option))
    with recordings_of("permissions") as (file,), open_playable(file) as recording:
        timeline = Timeline(recording)
        timeline.read_on()
        assert timeline.length_s > 3.0
        assert any(answer.decision is not None for answer in timeline.answers.values())
        assert all(answer.after_s > 0.1 for answer in timeline.answers.values())
    assert not file.parent.exists()


def test_what_a_file_name_says_cannot_write_over_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = tmp_path / "run\x1b[2J.jsonl"
    assert main(["render", str(name), "-o", "a.txt"]) != 0
    assert run_replay(name, Speed(), None, Settings()) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert said.count("acp-tui: ") == 2


def test_what_goes_wrong_inside_is_told_once_the_terminal_is_free(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def run_async(app: App[None]) -> None:
        logging.getLogger("acp_tui").error("a line is gone")

    monkeypatch.setattr(BaseApp, "run_async", run_async)
    write(tmp_path / "run.jsonl", two_turns(), HEADER)
    assert run_replay(tmp_path / "run.jsonl", Speed(), None, Settings()) == 0
    assert "a line is gone" in capsys.readouterr().err


def test_a_scenario_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_replay("nowhere", Speed(), None, Settings()) == 2
    assert "acp-tui demo --list" in capsys.readouterr().err


def test_a_dash_prints_the_screen_and_nothing_else(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    recording, text = tmp_path / "run.jsonl", tmp_path / "a.txt"
    write(recording, two_turns(), HEADER)
    assert main(["render", str(recording), "-o", str(text)]) == 0
    capfd.readouterr()
    assert main(["render", str(recording), "-o", "-"]) == 0
    assert capfd.readouterr() == (text.read_text(), "")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "run.jsonl", two_turns(), HEADER)
    assert main(["render", str(tmp_path / "run.jsonl"), "-o", str(tmp_path / "none" / "a.txt")]) == 1
    assert "none/a.txt: No such file" in capsys.readouterr().err


def test_a_replay_without_a_terminal_says_what_else_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "run.jsonl", two_turns(), HEADER)
    assert main(["replay", str(tmp_path / "run.jsonl")]) == 2
    assert "acp-tui render" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["replay", "inspect"])
def test_a_file_that_is_not_there_is_said_before_that_there_is_no_terminal(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / "gone.jsonl")]) == 2
    said = capsys.readouterr().err
    assert "gone.jsonl can't be read: No such file" in said
    assert "terminal" not in said
