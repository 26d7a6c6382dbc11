"""`acp-tui replay` and `acp-tui render`: what they take, and what they say of what they cannot use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acp_tui.cli.arguments import read_arguments
from acp_tui.cli.inspect import run_inspect
from acp_tui.cli.main import main
from acp_tui.cli.rehearsed import recording_of
from acp_tui.cli.render import run_render
from acp_tui.cli.replay import run_replay
from acp_tui.cli.requests import Inspect, Render, Replay
from acp_tui.client.settings.tree import Settings
from acp_tui.ui.picturing import rehearsal
from acp_tui.ui.replaying.film import Film, open_playable
from acp_tui.ui.replaying.pace import Pace
from acp_tui.ui.replaying.spot import Spot
from support.filming import HEADER, two_turns
from support.recordings import write

FILE = Path("run.jsonl")
OUT = Path("a.svg")


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("replay run.jsonl", Replay(FILE, Pace(1.0, 2.0))),
        ("replay demo:coding", Replay("coding", Pace(1.0, 2.0))),
        ("inspect demo:coding", Inspect("coding")),
        ("replay run.jsonl --speed 4 --until 1:05", Replay(FILE, Pace(4.0, 2.0), Spot(seconds=65.0))),
        ("replay run.jsonl --max-wait 0.5 --follow", Replay(FILE, Pace(1.0, 0.5), None, True)),
        ("render run.jsonl -o a.svg", Render(FILE, OUT)),
        ("render demo:coding --output a.svg --at question", Render("coding", OUT, Spot(is_question=True))),
        (
            "render run.jsonl -o a.svg --at-text done --size 80x24 --theme acp-light --scroll top",
            Render(FILE, OUT, Spot(text="done"), 80, 24, "acp-light", True),
        ),
    ],
)
def test_each_way_to_call_them(line: str, request_: Replay | Render) -> None:
    assert read_arguments(line.split()) == request_


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("replay", "replay wants a recording"),
        ("replay demo:coding --follow", "a scenario is played beforehand"),
        ("replay run.jsonl --until soon", "'soon' is no moment"),
        ("replay run.jsonl --speed fast", "fast is no number"),
        ("render run.jsonl", "and a file to write"),
        ("render run.jsonl -o a.svg --size big", "big is no size"),
        ("render run.jsonl -o a.svg --at 3 --at-text done", "one is enough"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file"),
        ("", "is no recording"),
        ("a text\n", "is no recording"),
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


def test_a_recording_is_rendered_to_a_file(tmp_path: Path) -> None:
    file, output = tmp_path / "run.jsonl", tmp_path / "a.txt"
    write(file, two_turns(), HEADER)
    assert main(["render", str(file), "-o", str(output), "--size", "60x20"]) == 0
    assert "You are welcome." in output.read_text()


def test_a_scenario_is_recorded_as_it_would_have_happened_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Here the test is the user: it answers the scripted agent.
    monkeypatch.setattr(
        rehearsal, "answer", lambda session, key, option: session.answer_permission(key, option)
    )
    with recording_of("permissions") as file, open_playable(file) as recording:
        film = Film(recording)
        film.read_on()
        assert film.length_s > 3.0
        assert any(answer.decision is not None for answer in film.answers.values())
        assert all(answer.after_s > 0.1 for answer in film.answers.values())
    assert not file.parent.exists()


def test_a_scenario_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_replay("nowhere", Pace(), None, Settings()) == 2
    assert run_inspect("nowhere", Settings()) == 2
    assert capsys.readouterr().err.count("acp-tui demo --list") == 2


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "run.jsonl", two_turns(), HEADER)
    assert run_render(Render(tmp_path / "run.jsonl", tmp_path / "none" / "a.md")) == 1
    assert "a.md cannot be written: No such file" in capsys.readouterr().err


def test_a_replay_without_a_terminal_says_what_else_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(tmp_path / "run.jsonl")]) == 2
    assert "acp-tui render" in capsys.readouterr().err
