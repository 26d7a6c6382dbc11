"""Help for commands and topics: as wide as the terminal, and as a man page."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from acp_tui.cli.arguments import read_arguments
from acp_tui.cli.command import CliCommand
from acp_tui.cli.commands import ALWAYS, COMMANDS, NAMELESS
from acp_tui.cli.help_text import man_page
from acp_tui.cli.main import main
from acp_tui.docs import topics
from support.terminals import process_on_terminal

NAMED = [command.name for command in COMMANDS if command.name]


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("line", ["--help", *(f"help {name}" for name in NAMED if name not in topics())])
def test_help_fits_the_terminal(
    line: str, columns: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(line.split()) == 0
    assert max(map(len, capfd.readouterr().out.splitlines())) < columns


@pytest.mark.parametrize("line", ["help", "--help", "-h"])
def test_the_overview_lists_every_command_and_topic(line: str, capfd: pytest.CaptureFixture[str]):
    assert main([line]) == 0
    words = capfd.readouterr().out.replace(",", " ").replace(".", " ").split()
    assert [name for name in (*NAMED, *topics()) if name not in words] == []


@pytest.mark.parametrize("command", COMMANDS, ids=[command.name or "AGENT" for command in COMMANDS])
def test_every_help_has_all_options_and_two_examples_that_can_be_typed(
    command: CliCommand, capfd: pytest.CaptureFixture[str]
):
    assert main([command.name or "claude", "--help"]) == 0
    shown = capfd.readouterr().out
    assert [option.shown for option in (*command.options, *ALWAYS) if f"  {option.shown}" not in shown] == []
    assert len(command.examples) >= 2
    for example in command.examples:
        assert f"\n  {example}\n" in shown
        argv = re.split(r" \||\)", example[example.index("acp-tui ") :] if " " in example else example)[0]
        chosen, _ = read_arguments(shlex.split(argv)[1:])
        assert chosen.name == command.name


def test_the_overview_has_the_options_of_the_default_command(capfd: pytest.CaptureFixture[str]):
    assert main(["--help"]) == 0
    shown = capfd.readouterr().out
    assert [option.shown for option in (*NAMELESS.options, *ALWAYS) if f"  {option.shown}" not in shown] == []


def test_a_commands_help_is_the_same_by_both_ways(capfd: pytest.CaptureFixture[str]):
    main(["exec", "--help"])
    by_option = capfd.readouterr().out
    main(["help", "exec"])
    assert capfd.readouterr().out == by_option


@pytest.mark.parametrize("topic", topics())
def test_a_topic_is_laid_out_for_a_terminal_and_is_markdown_in_a_pipe(
    topic: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    assert main(["help", topic]) == 0
    page = capfd.readouterr().out
    options = f"Options: acp-tui {topic} --help\n\n"
    assert page.startswith(options) == (topic in NAMED)
    assert page.removeprefix(options).startswith("# ")
    assert re.findall(r"\]\((?!https:)", page) == []
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("acp_tui.cli.reference.sys.stdout.isatty", lambda: True)
    assert main(["help", topic]) == 0
    out = capfd.readouterr().out
    assert topics()[topic] in out
    assert "# " not in out.removeprefix(options).splitlines()[0]
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 60


def test_a_link_to_a_page_keeps_its_words_and_says_how_to_read_it(capfd: pytest.CaptureFixture[str]):
    assert main(["help", "keys"]) == 0
    assert "in your settings (`acp-tui help settings`), by the name that" in capfd.readouterr().out
    assert main(["help", "permissions"]) == 0
    told = capfd.readouterr().out
    assert "(why, and what stays possible: `acp-tui help threat-model`)" in told
    assert "`acp-tui help keys` has the keys that answer" in told


@pytest.mark.parametrize("line", ["help keys", "help", "keys", "settings"])
def test_what_is_higher_than_the_terminal_is_shown_in_the_users_pager(line: str, tmp_path: Path):
    environ = {"PAGER": "sed s/^/paged:/", "HOME": str(tmp_path), "TERM": "xterm"}
    for rows, is_paged in ((20, True), (1000, False)):
        with process_on_terminal(line.split(), environ, tmp_path, (80, rows)) as terminal:
            assert terminal.end() == 0
        assert all(shown.startswith("paged:") is is_paged for shown in terminal.text.splitlines()), terminal.text


def test_the_man_page_is_made_of_the_same_table(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["help", "--format", "man"]) == 0
    text = capfd.readouterr().out
    assert text == man_page()
    assert text.startswith(".TH ACP")
    shown = text.replace("\\-", "-")
    for command in COMMANDS:
        assert f".SS acp-tui {command.shown}\n" in shown
        assert all(f".B {option.shown}\n" in shown for option in command.options)
    if groff := shutil.which("groff"):
        checked = subprocess.run(
            [groff, "-man", "-ww", "-Tutf8", "-z"], input=text, text=True, capture_output=True, check=True
        )
        assert checked.stderr == ""


def test_a_word_that_is_no_topic_leads_to_the_sections_that_have_it(capfd: pytest.CaptureFixture[str]):
    assert main(["help", "worktree"]) == 0
    first, _, _, best, *others = capfd.readouterr().out.splitlines()
    assert first == "No topic is named worktree; for keys and slash commands: acp-tui keys worktree"
    assert best.split() == ["acp-tui", "help", "sessions", "Sessions:", "Worktrees"]
    assert len(others) > 3
    assert main(["help", "zzyzx"]) == 2
