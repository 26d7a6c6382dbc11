"""How the command line is parsed. Nothing is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_tui import __version__
from acp_tui.cli import start_modes
from acp_tui.cli.arguments import ChosenAgent, absolute, read_arguments
from acp_tui.cli.commands import COMMANDS
from acp_tui.cli.main import main
from support.command_line import data_of, given

HERE = Path.cwd()
GEMINI = ChosenAgent(name="gemini")
BOXED = ChosenAgent(name="gemini", sandbox="workspace")


EXEC = {"agent": GEMINI, "cwd": HERE, "format": "text"}
NPX = {"agent": ChosenAgent(argv=("npx", "x")), "cwd": HERE}
DEMO = {"speed": 1.0, "format": "text"}


@pytest.mark.parametrize(
    ("line", "command", "values"),
    [
        ("", "", {"cwd": HERE}),
        ("--cwd /", "", {"cwd": Path("/")}),
        ("agents", "agents", {"format": "text"}),
        ("agents --update", "agents", {"update": "", "format": "text"}),
        ("--format json agents", "agents", {"format": "json"}),
        ("--cwd / exec -p hi gemini", "exec", {**EXEC, "cwd": Path("/"), "prompt": "hi"}),
        ("--prompt demo exec gemini", "exec", {**EXEC, "prompt": "demo"}),
        ("--plain demo coding", "demo", {**DEMO, "word": "coding", "plain": True}),
        ("gemini", "", {"agent": GEMINI, "cwd": HERE}),
        ("gemini --cwd /", "", {"agent": GEMINI, "cwd": Path("/")}),
        ("gemini codex", "", {"agent": GEMINI, "cwd": HERE, "prompt": "codex"}),
        ("run gemini explain --cwd /", "run", {"agent": GEMINI, "cwd": Path("/"), "prompt": "explain"}),
        ("run gemini --cwd / explain", "run", {"agent": GEMINI, "cwd": Path("/"), "prompt": "explain"}),
        ("--cwd / gemini explain", "", {"agent": GEMINI, "cwd": Path("/"), "prompt": "explain"}),
        (
            "exec gemini --option x=1=2 --mode plan --model fast",
            "exec",
            {
                **EXEC,
                "agent": ChosenAgent("gemini", options=(("mode", "plan"), ("model", "fast"), ("x", "1=2"))),
                "mode": "plan",
                "model": "fast",
                "option": ["x=1=2"],
            },
        ),
        (
            "host gemini --system-prompt brief",
            "host",
            {"agent": ChosenAgent("gemini", system_prompt="brief"), "cwd": HERE, "system_prompt": "brief"},
        ),
        ("--sandbox gemini", "", {"agent": BOXED, "cwd": HERE, "sandbox": "workspace"}),
        ("gemini --sandbox=off", "", {"agent": ChosenAgent("gemini", sandbox="off"), "cwd": HERE, "sandbox": "off"}),
        ("--cwd / gemini", "", {"agent": GEMINI, "cwd": Path("/")}),
        ("run gemini", "run", {"agent": GEMINI, "cwd": HERE}),
        ("run demo", "run", {"agent": ChosenAgent(name="demo"), "cwd": HERE}),
        ("-- npx x", "", {"agent": ChosenAgent(argv=("npx", "x")), "cwd": HERE}),
        ("-- npx -- x --version", "", {"agent": ChosenAgent(argv=("npx", "--", "x", "--version")), "cwd": HERE}),
        ("explain --plain -- npx x", "", {**NPX, "prompt": "explain", "plain": True}),
        ("run --plain explain -- npx x", "run", {**NPX, "prompt": "explain", "plain": True}),
        ("exec explain -- npx x", "exec", {**EXEC, **NPX, "prompt": "explain"}),
        ("run -- exec", "run", {"agent": ChosenAgent(argv=("exec",)), "cwd": HERE}),
        ("exec gemini", "exec", EXEC),
        ("exec gemini --prompt hi --format ndjson", "exec", {**EXEC, "prompt": "hi", "format": "ndjson"}),
        ("exec -p hi gemini", "exec", {**EXEC, "prompt": "hi"}),
        ("exec gemini --format ndjson hi", "exec", {**EXEC, "prompt": "hi", "format": "ndjson"}),
        ("exec -p x -- a -p -- c", "exec", {**EXEC, "prompt": "x", "agent": ChosenAgent(argv=("a", "-p", "--", "c"))}),
        ("demo", "demo", DEMO),
        ("demo coding --speed 0", "demo", {**DEMO, "word": "coding", "speed": 0.0}),
        ("demo coding explain", "demo", {**DEMO, "word": "coding", "prompt": "explain"}),
        ("demo --list", "demo", {**DEMO, "list": True}),
    ],
)  # fmt: skip
def test_each_way_to_call_it(line: str, command: str, values: dict[str, Any]):
    assert given(line) == (command, values)


@pytest.mark.parametrize("prompt", ["See https://a.example/x", "wss://a.example/acp is down", "", "two\nlines"])
def test_a_prompt_before_a_command_may_be_any_text(prompt: str):
    _, values = read_arguments([prompt, "--", "npx"])
    assert (values.prompt, values.agent) == (prompt, ChosenAgent(argv=("npx",)))


@pytest.mark.parametrize("prompt", ["fix the tests", "see https://a.example/x"])
def test_a_prompt_without_an_agent_is_told_where_it_goes(prompt: str, capfd: pytest.CaptureFixture[str]):
    assert main([prompt]) == 127
    assert f"a prompt follows its agent: acp-tui AGENT '{prompt}'" in capfd.readouterr().err


def test_a_path_is_told_without_detours_and_leads_where_the_shell_would_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = tmp_path.resolve()
    (place / "far" / "inner").mkdir(parents=True)
    (place / "link").symlink_to(place / "far" / "inner")
    monkeypatch.chdir(place / "far")
    assert absolute(Path("../link/../a.md")) == place / "far/a.md"
    assert absolute(Path("../link/a.md")) == place / "link/a.md"
    assert given("gemini --cwd ..") == ("", {"agent": GEMINI, "cwd": place})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("exec", "exec needs an agent"),
        ("run", "run needs an agent"),
        ("exec --", "no command follows --"),
        ("gemini -- npx", "two agents: gemini, and the command after --"),
        ("gemini hi -- npx", "two agents: gemini, and the command after --"),
        ("hi --", "no command follows --"),
        ("exec hi -p there -- npx", "two prompts: 'hi', and that of --prompt"),
        ("exec gemini hi -p there", "two prompts: 'hi', and that of --prompt"),
        ("--mode plan", "--mode says how to run an agent: name it too"),
        ("--system-prompt brief", "--system-prompt says how to run an agent: name it too"),
        ("--sandbox", "--sandbox says how to run an agent: name it too"),
        ("gemini --option fast", "--option takes ID=VALUE, not 'fast'"),
        ("exec gemini --format xml", "acp-tui: --format can't be 'xml': it is one of text, ndjson"),
        ("exec gemini --format", "acp-tui: --format needs a value"),
        ("exec gemini --form ndjson", "--form"),
        ("gemini --prompt hi", "--prompt"),
        ("gemini --cwd /no/such/folder", "acp-tui: --cwd: /no/such/folder isn't a folder"),
        ("gemini --cwd ~nobody-of-that-name", "~nobody-of-that-name"),
        ("demo -- npx", "demo doesn't take a command after --"),
        ("demo --speed fast", "--speed"),
    ],
)
def test_a_mistake_is_one_line_with_status_2(line: str, said: str, capfd: pytest.CaptureFixture[str]):
    assert main(line.split()) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert said in err.splitlines()[0]
    command = line.split()[0]
    called = f"acp-tui {command}" if command in ("exec", "run", "demo") else "acp-tui"
    assert err.splitlines()[1:] == [f"For help: {called} --help"]


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("render", "what to render and -o FILE"),
        ("render 123", "-o FILE"),
        ("render -o a.md", "what to render"),
        ("redact run.jsonl", "-o FILE"),
    ],
)
def test_what_is_missing_is_named_and_nothing_else(line: str, missing: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    command = line.split()[0]
    assert capfd.readouterr().err.startswith(f"acp-tui: {command} needs {missing}: acp-tui {command} ")


@pytest.mark.parametrize(
    ("line", "where_it_goes"),
    [
        ("exec gemini what is this", "put quotes around the prompt"),
        ("gemini what is this", "put quotes around the prompt"),
        ("run gemini what is this", "put quotes around the prompt"),
        ("what is -- npx", "put quotes around the prompt"),
        ("demo what is", "put quotes around the prompt"),
        ("demo what is this", "put quotes around the prompt"),
        ("gemini /", "use --cwd"),
        ("/ -- npx", "use --cwd"),
        ("exec gemini /", "use --cwd"),
        ("config theme nord", "no agent is named 'config'; to list them: acp-tui agents"),
        ("exec fix the tests", "no agent is named 'fix'; to list them: acp-tui agents"),
        ("sessions --json", "did you mean --format json?"),
        ("help --man", "did you mean --format man?"),
    ],
)
def test_what_is_given_in_the_wrong_place_is_told_where_it_goes(
    line: str, where_it_goes: str, capfd: pytest.CaptureFixture[str]
):
    assert main(line.split()) == 2
    assert where_it_goes in capfd.readouterr().err.splitlines()[0]


@pytest.mark.parametrize("line", ["sessions parser bug --all", "sessions parser --all bug"])
def test_what_to_search_for_may_be_several_words(line: str):
    name, values = given(line)
    assert (name, values["word"], values["all"]) == ("sessions", "parser bug", True)


@pytest.mark.parametrize("line", ["gemini --no-such-option", "doctor gemini codex"])
def test_what_belongs_nowhere_is_only_named(line: str, capfd: pytest.CaptureFixture[str]):
    assert main(line.split()) == 2
    assert capfd.readouterr().err.splitlines()[0].endswith(line.split()[-1])


def test_a_deleted_working_folder_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["gemini"]) == 2
    assert main(["--help"]) == 0
    monkeypatch.undo()
    assert "--cwd" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("exce gemini", "did you mean acp-tui exec?"),
        ("exce --nope", "did you mean acp-tui exec?"),
        ("agnets", "did you mean acp-tui agents?"),
        ("demoo", "did you mean acp-tui demo?"),
        ("resume", "did you mean acp-tui --resume?"),
        ("update claude", "did you mean acp-tui agents --update?"),
        ("exec gemini --promt hi", "did you mean --prompt?"),
        ("exec gemini --modle x", "did you mean --model?"),
        ("exec gemini --moed x", "did you mean --mode?"),
        ("--verson", "did you mean --version?"),
        ("gemini --prompt hi", "--prompt is an option of exec, render, check"),
        ("demo --worktree", "--worktree is an option of AGENT, run"),
        ("--cwd /tmp demo", "--cwd; the demo works in a folder of its own"),
        ("demo codin", "did you mean coding?"),
        ("render demo:codin -o x.svg", "did you mean coding?"),
        ("mock codin", "did you mean coding?"),
        ("help agnets", "did you mean agents?"),
        ("help perm", "did you mean permissions?"),
        ("gemini --sandbox nope x", "--sandbox takes its value with =: --sandbox=nope"),
        ("gemini --sandbox read-only", "--sandbox takes its value with =: --sandbox=read-only"),
        ("exec --sandbox read-only -- true", "--sandbox takes its value with =: --sandbox=read-only"),
        ("host gemini --sandbox off", "--sandbox takes its value with =: --sandbox=off"),
        ("completion zhs", "choose bash, zsh, or fish"),
    ],
)
def test_a_misspelled_word_is_answered_with_the_right_one(line: str, meant: str, capfd: pytest.CaptureFixture[str]):
    assert main(line.split()) in (2, 127)
    assert meant in capfd.readouterr().err


def test_an_option_takes_a_value_in_every_command_or_in_none():
    options = [option for command in COMMANDS for option in command.options]
    takes = {(flag, option.value is not None) for option in options for flag in option.flags}
    assert len(takes) == len({flag for flag, _ in takes})


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version(flag: str, capfd: pytest.CaptureFixture[str]):
    assert main([flag]) == 0
    subprocess.run([sys.executable, "-m", "acp_tui", flag], check=True, timeout=60)
    assert capfd.readouterr().out == f"acp-tui {__version__}\n" * 2


def test_the_scenarios_are_listed(capfd: pytest.CaptureFixture[str]):
    assert main(["demo", "--list"]) == 0
    assert capfd.readouterr().out.startswith("coding ")
    assert main(["demo", "--list", "--format", "json"]) == 0
    assert data_of("demo", capfd.readouterr().out)[0]["name"] == "coding"


def test_an_unknown_scenario_is_said(capfd: pytest.CaptureFixture[str]):
    assert main(["demo", "nope.toml"]) == 2
    assert "--list" in capfd.readouterr().err


def test_one_word_that_is_neither_a_scenario_nor_asks_for_a_turn_is_said(capfd: pytest.CaptureFixture[str]):
    assert main(["demo", "forms"]) == 2
    assert 'there is no scenario "forms"\n  to list the scenarios: acp-tui demo --list; to send a word: ' in (
        capfd.readouterr().err
    )


@pytest.mark.parametrize("word", ["long", "failure", "hang", "fix the parser"])
def test_what_the_demo_takes_as_a_prompt_is_one_on_the_command_line(word: str):
    played: list[tuple[str, str]] = []
    _, args = read_arguments(["demo", word])
    start_modes.demo(args, lambda scenario, args: played.append((scenario, args.prompt)) or 0)
    assert played == [("coding", word)]


def test_windows_is_told_where_it_works(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        status = main(["gemini"])
    assert status == 1
    assert "WSL" in capfd.readouterr().err
