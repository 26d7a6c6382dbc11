"""`acp-tui agents --update NAME` and `--remove NAME`, and the question before an agent that isn't there is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.cli.main import main
from acp_tui.client.agents.installed import read_installed
from support.command_line import data_of
from support.installers import Installers, installers
from support.terminals import OnTerminal, on_terminal

__all__ = ["installers"]


@pytest.fixture
def person(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's files are for a process, too."""
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    return home


def answer(terminal: OnTerminal, question: str, key: str) -> int:
    terminal.wait_for(question)
    terminal.wait_for("[y/N]")
    terminal.type(f"{key}\r")
    return terminal.wait_for_end()


def test_an_agent_is_installed_updated_listed_and_removed(
    person: Path, installers: Installers, capfd: pytest.CaptureFixture[str]
):
    with on_terminal(person, "agents", "--update", "gemini") as terminal:
        assert answer(terminal, "Install gemini?", "y") == 0
        assert "gemini 1.2.3 is installed" in terminal.shown
    with on_terminal(person, "agents", "--update", "gemini") as terminal:
        assert terminal.wait_for_end() == 0
        assert "gemini 1.2.3 is the newest version for this machine" in terminal.shown
    installers.do("1.3.0")
    with on_terminal(person, "agents", "--update", "gemini") as terminal:
        assert answer(terminal, "Install gemini 1.3.0 in place of 1.2.3?", "y") == 0
    assert main(["agents"]) == 0
    assert "acp-tui gemini         ready        Gemini CLI 1.3.0, installed by acp-tui" in capfd.readouterr().out
    assert main(["agents", "--format", "json"]) == 0
    agents = data_of("agents", capfd.readouterr().out)["agents"]
    gemini = next(agent for agent in agents if agent["name"] == "gemini")
    assert gemini["installed"] == {"version": "1.3.0", "source": "@google/gemini-cli", "sha256": None}
    assert main(["agents", "--remove", "gemini"]) == 0
    assert capfd.readouterr().err == "acp-tui: gemini 1.3.0 is removed\n"
    assert main(["agents"]) == 0
    line = "acp-tui gemini         asks first   to install it: npm downloads @google/gemini-cli"
    assert line in capfd.readouterr().out


def test_an_agent_that_is_used_is_installed_first_once_the_user_agrees(person: Path, installers: Installers):
    with on_terminal(person, "exec", "gemini", "--prompt", "hi") as terminal:
        assert answer(terminal, "Install gemini?", "y") == 0
    assert read_installed("gemini") is not None
    with on_terminal(person, "exec", "gemini", "--prompt", "hi") as terminal:
        assert terminal.wait_for_end() == 0
        assert "Install" not in terminal.shown
    assert len(installers.calls) == 2


@pytest.mark.usefixtures("installers")
@pytest.mark.parametrize("words", [("agents", "--update", "gemini"), ("exec", "gemini", "--prompt", "hi")])
def test_a_no_installs_nothing(person: Path, words: tuple[str, ...]):
    with on_terminal(person, *words) as terminal:
        assert answer(terminal, "Install gemini?", "n") != 0
        assert "gemini wasn't installed, since you didn't agree" in terminal.shown
    assert read_installed("gemini") is None


@pytest.mark.usefixtures("installers")
def test_the_question_breaks_between_words_and_esc_is_a_no(person: Path):
    with on_terminal(person, "agents", "--update", "gemini", size=(60, 24)) as terminal:
        terminal.wait_for("[y/N]")
        asked = [line.rstrip() for line in terminal.shown.splitlines()]
        at = asked.index("  node_modules/.bin/gemini --acp")
        assert asked[at - 1].split()[-3:] == ["all", "your", "permissions:"]
        terminal.type("\x1b")
        assert terminal.wait_for_end() != 0
        assert "gemini wasn't installed, since you didn't agree" in terminal.shown


def test_ctrl_c_ends_it_and_leaves_nothing(person: Path, installers: Installers):
    installers.do(hangs=True)
    with on_terminal(person, "agents", "--update", "gemini") as terminal:
        terminal.wait_for("[y/N]")
        terminal.type("y\r")
        terminal.until(lambda: len(installers.pids) == 2)
        terminal.type("\x03")
        assert terminal.wait_for_end() == 130
    assert read_installed("gemini") is None
    assert [path.name for path in (person / "data/acp-tui/agents").iterdir()] == ["gemini.lock"]


def test_offline_the_command_line_says_so(person: Path, installers: Installers):
    installers.do(is_offline=True)
    with on_terminal(person, "agents", "--update", "gemini") as terminal:
        assert terminal.wait_for_end() == 1
        assert "acp-tui: gemini can't be looked up: no connection (ENOTFOUND)" in terminal.shown


def test_without_a_terminal_nothing_is_even_looked_up(
    installers: Installers, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("acp_tui.cli.installing.open_terminal", lambda: None)
    assert main(["agents", "--update", "gemini"]) == 1
    assert capfd.readouterr().err.endswith("no terminal to ask you on\n  npm install -g @google/gemini-cli\n")
    for words in (("exec", "gemini", "--prompt", "hi"), ("doctor", "gemini")):
        assert main([*words]) == 127
        said = "gemini isn't installed: gemini isn't on PATH\n  to install it: acp-tui agents --update gemini\n"
        assert capfd.readouterr().err.endswith(said)
    assert installers.calls == []


def test_what_acp_tui_has_not_installed_it_neither_updates_nor_removes(
    installers: Installers, capfd: pytest.CaptureFixture[str]
):
    (installers.folder / "gemini").touch(mode=0o755)
    for option in ("--update", "--remove"):
        assert main(["agents", option, "gemini"]) == 1
        assert "acp-tui hasn't installed gemini" in capfd.readouterr().err
    assert main(["agents", "--update", "gemini", "--remove", "gemini"]) == 2
