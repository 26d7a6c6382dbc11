"""acp-tui asks on the terminal before it first downloads and runs a package; without a terminal, it refuses."""

from __future__ import annotations

import os
import pty
from collections.abc import Callable

import pytest

from acp_tui.cli import terminal as terminal_module
from acp_tui.cli.terminal import LineTerminal, ready_to_run
from acp_tui.client.agents.command import AgentCommand, Package
from acp_tui.client.agents.remembered import recent_agents, recent_file

COMMAND = AgentCommand(
    "some",
    ("npx", "-y", "some@1.0.0"),
    {"A": "1"},
    package=Package("npx", "some@1.0.0", "1.0.0"),
    is_listed=True,
)
Typing = Callable[[str], None]


@pytest.fixture
def type_answer(monkeypatch: pytest.MonkeyPatch) -> Typing:
    """The terminal, on which this is typed once the question appears."""

    def prepare(answer: str) -> None:
        ours, theirs = pty.openpty()
        terminal = LineTerminal(theirs)

        async def type_it() -> None:
            os.write(ours, answer.encode())

        monkeypatch.setattr(terminal, "forget_typing", type_it)
        monkeypatch.setattr(terminal_module, "open_terminal", lambda: terminal)

    return prepare


def test_a_yes_runs_it_and_is_asked_for_once(type_answer: Typing, monkeypatch: pytest.MonkeyPatch):
    type_answer("y\n")
    agreed = ready_to_run(COMMAND)
    assert (agreed.argv, agreed.package) == (COMMAND.argv, None)
    monkeypatch.setattr(terminal_module, "open_terminal", lambda: None)
    assert ready_to_run(COMMAND) == agreed
    assert recent_agents(recent_file()) == ("some",)


@pytest.mark.parametrize("answer", ["n\n", "\n", "yo\n", "\x04"])
def test_anything_but_a_plain_yes_is_no(type_answer: Typing, answer: str, capfd: pytest.CaptureFixture[str]):
    type_answer(answer)
    with pytest.raises(SystemExit, match="2"):
        ready_to_run(COMMAND)
    assert "you didn't agree" in capfd.readouterr().err
    assert recent_agents(recent_file()) == ()


def test_without_a_terminal_it_does_not_run_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(terminal_module, "open_terminal", lambda: None)
    with pytest.raises(SystemExit, match="2"):
        ready_to_run(COMMAND)
    err = capfd.readouterr().err
    assert "acp-tui some" in err
    assert "acp-tui exec -- npx -y some@1.0.0" in err


def test_a_known_agents_command_is_said_before_its_first_run_only(capfd: pytest.CaptureFixture[str]):
    gemini = AgentCommand("gemini", ("gemini", "--acp"), is_listed=True)
    assert ready_to_run(gemini) == gemini
    assert capfd.readouterr().err == "acp-tui: gemini runs: gemini --acp\n"
    assert ready_to_run(gemini) == gemini
    assert capfd.readouterr().err == ""


def test_what_follows_from_where_an_agent_runs_is_said_each_time(capfd: pytest.CaptureFixture[str]):
    box = AgentCommand("box", ("docker",), is_listed=True, is_elsewhere=True)
    for _ in range(2):
        ready_to_run(box)
        assert "can't use this machine's files and terminals" in capfd.readouterr().err


def test_a_command_that_the_user_typed_is_neither_said_nor_kept(capfd: pytest.CaptureFixture[str]):
    typed = AgentCommand("npx", ("npx", "x"))
    assert ready_to_run(typed) == typed
    assert capfd.readouterr().err == ""
    assert recent_agents(recent_file()) == ()
