"""What a scenario refers to: other scenarios beside its file, and its own modes, options, and pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.cli.main import main
from acp_tui.demo import scenario
from acp_tui.demo.scenario import ScenarioError

STEP = "[[prompt]]\n[[prompt.step]]\n"
SESSION = """
[session]
modes = { current = "ask", available = [{ id = "ask", name = "Ask" }] }
config = [
  { id = "model", name = "Model", current = "a", options = [{ value = "a", name = "A" }] },
  { id = "web", name = "Web", current = false },
]
"""


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (STEP + 'mode = "plan"', "own.toml, prompt 1, step 1: \"mode\" is 'plan'; allowed: nothing (none"),
        (SESSION + STEP + 'mode = "plan"', "step 1: \"mode\" is 'plan'; allowed: ask"),
        (SESSION + STEP + 'config = { effort = "a" }', "\"config\" is 'effort'; allowed: model, web"),
        (SESSION + STEP + 'config = { model = "b" }', "\"config.model\" is 'b'; allowed: a"),
        (SESSION + STEP + "config = { web = 1 }", '"config.web" is 1; allowed: true, false'),
        (STEP + 'complete = "page"', "step 1: \"complete\" is 'page'; allowed: nothing (none declared)"),
        (
            SESSION + STEP + 'together = [{ say = "" }, { permission = { title = "a" }, rejected = [{ mode = "b" }] }]',
            "own.toml, prompt 1, step 1, together 2, rejected 1: \"mode\" is 'b'; allowed: ask",
        ),
        ('[[prompt]]\nplay = "nope"', 'own.toml, prompt 1: "play" is "nope": there is no such scenario'),
        ('[[prompt]]\nplay = "own.toml"', 'own.toml, prompt 1: "play" is "own.toml", the scenario itself'),
    ],
)
def test_what_is_named_and_not_there_is_said_before_anything_is_played(source: str, error: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('description = ""\n' + source)
    with pytest.raises(ScenarioError) as raised:
        scenario.load(own)
    assert error in str(raised.value)


def test_what_another_scenario_declares_may_be_named_where_that_is_included(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('description = ""\ninclude = ["session_updates"]\n' + STEP + 'mode = "plan"')
    assert scenario.load(own).session.modes is not None


def test_a_scenario_plays_and_includes_those_beside_it(tmp_path: Path) -> None:
    (tmp_path / "part.toml").write_text('description = ""\n' + STEP + 'say = "a"')
    own = tmp_path / "own.toml"
    own.write_text('description = ""\ninclude = ["part.toml"]\n[[prompt]]\nplay = "part.toml"')
    included, playing = scenario.load(own).turns
    assert len(included.steps) == 1
    assert playing.play == str(tmp_path / "part.toml")


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="can't be read: Is a directory"):
        scenario.load(tmp_path)


def test_a_wrong_scenario_is_said_before_the_screen_opens(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.toml"
    own.write_text('description = ""\n' + STEP + 'mode = "plan"')
    assert main(["demo", str(own)]) == 2
    assert "acp-tui: own.toml, prompt 1, step 1" in capfd.readouterr().err


def test_a_scenario_in_the_place_of_a_recording_is_told_from_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", "own.toml", "-o", str(tmp_path / "x.svg")]) == 2
    assert "acp-tui render demo:own.toml" in capfd.readouterr().err
