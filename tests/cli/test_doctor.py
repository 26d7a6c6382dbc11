"""The printed report of `doctor`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_tui.cli.arguments import ChosenAgent
from acp_tui.cli.main import main
from support.agents import scripted_argv
from support.command_line import data_of, given


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("LC_ALL", "LC_CTYPE", "TMUX", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


def settings_file(tmp_path: Path) -> Path:
    from acp_tui.client.settings.location import settings_file

    file = settings_file()
    file.parent.mkdir(parents=True)
    assert file.is_relative_to(tmp_path)
    return file


def test_a_machine_is_told_of_without_an_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", "--cwd", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "Machine"
    assert "  ✓ Python " in out
    assert str(tmp_path) not in out  # that is the home
    assert out.splitlines()[-1] == "Ready."


def test_marks_are_ascii_where_the_locale_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("LC_ALL", "C")
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert "  ok Python " in out


def test_settings_that_cannot_be_read_are_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    settings_file(tmp_path).write_text("[workspace")
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "  ✗ Settings " in out
    assert out.splitlines()[-1] == "Not ready: see ✗ above."


def test_a_rule_that_would_stop_a_start_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    settings_file(tmp_path).write_text('[[refuse]]\nreason = "nothing to match"\n')
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "✗ Settings    acp-tui doesn't start with an invalid rule" in out
    assert "refuse[0] needs at least one of kind, path, command" in out


def test_a_theme_and_a_command_that_are_not_there_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    settings_file(tmp_path).write_text('nosuch = 1\n[appearance]\ntheme = "acp-lite"\n[keys]\nnothing = "f9"\n')
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "3 problems" in out
    assert "there is no theme 'acp-lite'" in out
    assert "keys.nothing" in out


def test_what_is_wrong_with_agents_and_servers_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    settings = settings_file(tmp_path)
    settings.write_text('[mcp.one]\ncommnd = "x"\n[mcp.two]\ncommand = "x"\narg = ["a"]\n')
    settings.with_name("agents.toml").write_text('[mine]\ncommand = ["x"]\n[agent.other]\ncommand = ["x"]\n')
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "4 problems" in out
    assert "agents.toml: mine is unknown and ignored; did you mean agents.mine?" in out
    assert "agents.toml: agent is unknown and ignored; did you mean agents?" in out
    assert "mcp.one needs either a command to start or the url of a running one" in out
    assert "mcp.two.arg is unknown and ignored; did you mean args?" in out


def test_a_terminal_that_cannot_be_drawn_on_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("TERM", "dumb")
    assert main(["doctor"]) == 1
    assert "TERM=dumb" in capsys.readouterr().out


HOSTILE = r"""
import sys
print("\x1b]0;evil\x07 \u202etxt", flush=True)
sys.stderr.write("token=abc123 in /secret\n")
handshake(agentInfo={"name": "a\x1b[31m", "version": "1\n2"})
answer(expect("session/new"), sessionId="s1")
serve_until_closed()
"""


def test_the_json_form_holds_all_and_nothing_hostile_or_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    argv = [
        "doctor",
        "--cwd",
        str(tmp_path),
        "--format",
        "json",
        "--",
        *scripted_argv(HOSTILE),
        "--api-key",
        "k1",
    ]
    assert main(argv) == 0
    report = data_of("doctor", capsys.readouterr().out)
    assert (report["ready"], report["status"]) == (True, 0)
    assert {finding["about"] for finding in report["findings"]} == {"machine", "terminal", "agent"}
    by_topic = {finding["topic"]: finding for finding in report["findings"]}
    assert by_topic["Command"]["text"].endswith("--api-key ***")
    assert by_topic["Stderr"]["lines"] == ["token=*** in /secret"]
    assert by_topic["Stdout"]["verdict"] == "note"
    text = json.dumps(report, ensure_ascii=False)
    assert all(char.isprintable() for char in text)


def test_the_status_says_what_is_wrong_with_the_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def status(*argv: str) -> int:
        return main(["doctor", "--cwd", str(tmp_path), "--", *argv])

    assert status("no-such-agent-anywhere") == 127
    assert status(sys.executable, "-c", "pass") == 7
    assert status(*scripted_argv('handshake()\nrefuse(expect("session/new"), -32000, "no")\nread()')) == 6
    assert capsys.readouterr().out.count("Not ready") == 3


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("doctor", {"format": "text"}),
        ("doctor gemini", {"agent": ChosenAgent("gemini"), "format": "text"}),
        ("doctor gemini --turn hi", {"agent": ChosenAgent("gemini"), "turn": "hi", "format": "text"}),
        ("doctor --format json -- a b", {"agent": ChosenAgent(argv=("a", "b")), "format": "json"}),
    ],
)
def test_ways_to_call_it(line: str, values: dict[str, Any]):
    assert given(line) == ("doctor", {"cwd": Path.cwd(), **values})


def test_a_turn_without_a_prompt_has_a_harmless_one():
    assert "no tools" in given("doctor gemini --turn")[1]["turn"]


def test_a_turn_needs_an_agent(capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", "--turn", "gemini"]) == 2
    assert "acp-tui doctor AGENT --turn" in capsys.readouterr().err


def test_a_missing_emulator_comes_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "pyghostty", None)
    assert main(["doctor"]) == 0
    assert "install acp-tui[terminal]" in capsys.readouterr().out
