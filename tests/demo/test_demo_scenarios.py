"""The format of a scenario: the shipped ones can be read, and mistakes are reported with their place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from acp_tui.client.agents.demo_agent import copy_project
from acp_tui.demo import reading, scenario, script
from acp_tui.demo.reading import read_scenario
from acp_tui.demo.scenario import ScenarioError, UnknownScenario

STEP = '[[prompt]]\n[[prompt.step]]\nsay = "a"\n[[prompt.step]]\n'
SHIPPED = sorted(scenario.available())


def test_the_default_scenario_is_listed_first_and_each_has_a_line_about_it():
    names = scenario.available()
    assert next(iter(names)) == scenario.DEFAULT
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
        (
            STEP + 'sya = "b"',
            'x.toml, prompt 1, step 2: a step needs exactly one of its keys, found "sya"; allowed: say',
        ),
        (
            STEP + 'say = "b"\nstop = "refusal"',
            'step 2: a step needs exactly one of its keys, found "say" and "stop"',
        ),
        (STEP + 'say = "b"\nloud = true', 'unknown key "loud"; allowed: say, chunk_s, repeat, id'),
        (STEP + "say = 5", 'x.toml, prompt 1, step 2: "say" is 5; it must be text'),
        (
            STEP + 'stop = "bored"',
            "x.toml, prompt 1, step 2: \"stop\" is 'bored'; allowed: end_turn, max_tokens",
        ),
        (STEP + 'plan = ["done"]', 'x.toml, prompt 1, step 2: "plan" has \'done\'; allowed: "[ ] text"'),
        (STEP + 'tool = { title = "a", kind = "b" }', "step 2, tool: \"kind\" is 'b'; allowed: read, edit"),
        (
            STEP + 'tool = { kind = "read" }',
            'x.toml, prompt 1, step 2, tool: "title" is missing; it is text',
        ),
        (STEP + 'fault = "fire"', "step 2: \"fault\" is 'fire'; allowed: auth_required, bad_frame"),
        (
            STEP + 'fault = "exit"\ncount = 1',
            'step 2: unknown key "count"; allowed: fault, code, last_words',
        ),
        (
            STEP + 'fault = "exit"\ncode = 256',
            'step 2: "code" is 256; it must be a whole number from 0 to 255',
        ),
        (
            STEP + 'fault = "exit"\nupdate = { id = "a" }',
            'step 2: unknown key "update"; allowed: fault, code, last_words',
        ),
        (STEP + 'fault = "junk"\nlines = ["a", 5]', 'step 2: "lines" 2 is 5; it must be text'),
        (STEP + "wait_s = -1", 'step 2: "wait_s" is -1.0; it must be a number, 0 or more'),
        (
            STEP + 'say = "b"\nrepeat = -1',
            'step 2: "repeat" is -1; it must be a whole number, 0 or more',
        ),
        (
            "[prompt]\nmatch = 'a'",
            'x.toml: "prompt" is a single table; it must be a list of tables, with a header in double brackets',
        ),
        (
            STEP + 'permission = { title = "a" }\nallowed = [{ wait_s = "long" }]',
            "x.toml, prompt 1, step 2, allowed 1: \"wait_s\" is 'long'; it must be a number",
        ),
        (
            '[[prompt]]\nmatch = "("\nstep = [{ say = "" }]',
            'x.toml, prompt 1: "match" isn\'t a valid regular expression',
        ),
        ('[[prompt]]\nmatch = "a"', 'x.toml, prompt 1: give either "step" or "play"'),
        ("", "x.toml: it has no [[prompt]]"),
        (
            "[session]\nmodes = { current = 'a' }\n" + STEP + 'say = ""',
            "session, modes: \"current\" is 'a'; allowed: nothing",
        ),
        (
            STEP + 'form = { message = "a", fields = [{ name = "b", type = "date" }] }',
            "step 2, form, fields 1: \"type\" is 'date'; allowed: string, number, integer, boolean, array",
        ),
        (
            STEP + 'form = { message = "a", fields = [{ name = "b", type = "array" }] }',
            'step 2, form, fields 1: an array needs "values" or "choices"',
        ),
        (
            STEP + 'form = { message = "a", fields = [{ name = "b", type = "boolean", minimum = 1 }] }',
            'fields 1: unknown key "minimum"; allowed: name, required, type, title, description, default',
        ),
        (STEP + 'visit = { message = "a" }', 'x.toml, prompt 1, step 2, visit: "url" is missing'),
        (
            STEP + 'request = { method = "session/fork" }',
            'step 2, request: "method" is \'session/fork\'; names of extensions start with "_"',
        ),
        (
            "[sessions]\noffers = ['fork']\n" + STEP + 'say = ""',
            "x.toml, sessions: \"offers\" has 'fork'; allowed: list, load, resume, delete",
        ),
        (
            '[sessions]\nkept = [{ id = "a", history = [{ read = { path = "b" } }] }]\n' + STEP + 'say = ""',
            'x.toml, sessions, kept 1: a "history" can\'t have steps that send requests to the client',
        ),
        ("prompt = 5", 'x.toml: "prompt" is 5; it must be a list'),
        ("[", "x.toml: not TOML: "),
    ],
)
def test_an_error_names_file_place_key_and_what_is_allowed(source: str, error: str):
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
    assert {step.kind for step in steps} == reading.STEPS.keys()
    assert {step.value for step in steps if step.kind == "fault"} == reading.FAULTS.keys()
