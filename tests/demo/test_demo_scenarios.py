"""The format of a scenario: the shipped ones can be read, and mistakes are reported."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from acp_tui.client.agents.demo_agent import copy_project
from acp_tui.demo import DEFAULT, programs, scenario, script
from acp_tui.demo.scenario import ScenarioError, UnknownScenario, read_scenario

STEP = '[[prompt]]\n[[prompt.step]]\nsay = "a"\n[[prompt.step]]\n'
SHIPPED = sorted(scenario.available())


def test_the_default_scenario_is_listed_first_and_each_has_a_line_about_it():
    names = scenario.available()
    assert next(iter(names)) == DEFAULT
    assert all(description and "\n" not in description for description in names.values())


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_scenario_can_be_read(name):
    assert scenario.load(name).name == name


@pytest.mark.parametrize("name", SHIPPED)
def test_what_a_shipped_scenario_plays_of_another_exists(name):
    for turn in scenario.load(name).turns:
        if turn.play is not None:
            played = scenario.load(turn.play)
            assert all(unmatched.steps for unmatched in played.unmatched)


def test_a_command_of_the_default_scenario_is_called_as_the_scenario_that_it_plays():
    default = scenario.load(DEFAULT)
    offered = {command["name"] for command in default.session.commands}
    played = {name: turn.play for name in offered if (turn := default.matching(f"/{name}")) is not None}
    assert {name: Path(str(path)).stem for name, path in played.items()} == {name: name for name in offered}


@pytest.mark.parametrize(
    ("answer", "said"), [("y", "installed"), ("yes", "installed"), ("n", "nothing"), ("", "nothing")]
)
def test_the_question_in_a_terminal_takes_yes_as_it_is_written(answer: str, said: str):
    ask = [sys.executable, programs.__file__, "ask"]
    done = subprocess.run(ask, input=f"{answer}\n", capture_output=True, text=True, check=False)
    assert f"[y/N] {said}" in done.stdout
    assert done.returncode == (said != "installed")


def test_a_scenario_can_be_given_by_its_path(tmp_path: Path):
    path = tmp_path / "own.toml"
    path.write_text('description = "mine"\n[[prompt]]\nstep = [{ say = "a" }]')
    assert scenario.load(path).description == "mine"


def test_an_unknown_scenario_is_named():
    with pytest.raises(UnknownScenario, match="nope"):
        scenario.load("nope")


def test_a_file_that_is_not_there_is_named_with_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownScenario, match=re.escape(str(tmp_path / "mine" / "own.toml"))):
        scenario.load("mine/own.toml")


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (STEP + 'sya = "b"', 'x.toml: a step needs exactly one of its keys, found "sya"; allowed: say'),
        (STEP + 'say = "b"\nstop = "refusal"', 'x.toml: a step needs exactly one of its keys, found "say" and "stop"'),
        (STEP + 'plan = ["done"]', 'x.toml: "plan" has \'done\'; allowed: "[ ] text"'),
        (STEP + 'fault = "fire"', "x.toml: \"fault\" is 'fire'; allowed: auth_required, bad_frame"),
        (STEP + 'permission = { title = "a" }\nallowed = [{ sya = "b" }]', "x.toml: a step needs exactly one"),
        (STEP + 'form = { message = "a", fields = [{ type = "string" }] }', "x.toml: a table lacks 'name'"),
        (STEP + 'visit = { message = "a" }', "x.toml: _visit() missing 1 required positional argument: 'url'"),
        ("prompt = 5", "x.toml: 'int' object is not iterable"),
        ("", "x.toml: a table lacks 'prompt'"),
        ("[", "x.toml: not TOML: "),
    ],
)
def test_an_error_names_the_file_and_what_is_wrong(source: str, error: str):
    with pytest.raises(ScenarioError) as raised:
        read_scenario("x", 'description = ""\n' + source, "x.toml")
    assert error in str(raised.value)


def test_the_sample_project_is_copied_whole(tmp_path: Path):
    copy_project(tmp_path / "new")
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["README.md", "check.py", "durations.py", "test_durations.py"]


def test_the_shipped_scenarios_have_every_step_and_every_fault():
    steps = [
        step
        for name in scenario.available()
        for turn in scenario.load(name).turns
        for step in script.with_inner(turn.steps)
    ]
    assert {step.kind for step in steps} == scenario.STEPS.keys()
    assert {step.value for step in steps if step.kind == "fault"} == {*scenario.FAULTS}
