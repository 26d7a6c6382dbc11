"""What a scenario refers to: other scenarios beside its file, and its own modes, options, and pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_tui.cli.main import main
from acp_tui.demo import scenario
from acp_tui.demo.scenario import ScenarioError
from acp_tui.rpc import RequestFailed

STEP = "[[prompt]]\n[[prompt.step]]\n"


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ('mode = "plan"', "There is no mode 'plan'; available: none"),
        ('config = { effort = "a" }', "There is no config option 'effort'"),
    ],
)
async def test_what_is_named_and_not_there_is_said_when_it_is_played(connect: Any, step: str, error: str) -> None:
    async with connect(STEP + step) as client:
        await client.open()
        with pytest.raises(RequestFailed, match=error):
            await client.prompt()


async def test_a_scenario_to_play_that_is_not_there_is_said_when_it_is_played(connect: Any) -> None:
    async with connect('[[prompt]]\nplay = "nope.toml"') as client:
        await client.open()
        with pytest.raises(RequestFailed, match=r"there is no file .*nope\.toml"):
            await client.prompt()


def test_a_scenario_plays_those_beside_it(tmp_path: Path) -> None:
    (tmp_path / "part.toml").write_text('description = ""\n' + STEP + 'say = "a"')
    own = tmp_path / "own.toml"
    own.write_text('description = ""\n[[prompt]]\nplay = "part.toml"')
    [playing] = scenario.load(own).turns
    assert playing.play == str(tmp_path / "part.toml")


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="can't be read: Is a directory"):
        scenario.load(tmp_path)


def test_a_wrong_scenario_is_said_before_the_screen_opens(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.toml"
    own.write_text('description = ""\n' + STEP + 'modus = "plan"')
    assert main(["demo", str(own)]) == 2
    assert "acp-tui: own.toml: a step needs exactly one of its keys" in capfd.readouterr().err


def test_a_scenario_in_the_place_of_a_recording_is_told_from_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", "own.toml", "-o", str(tmp_path / "x.svg")]) == 2
    assert "acp-tui render demo:own.toml" in capfd.readouterr().err
