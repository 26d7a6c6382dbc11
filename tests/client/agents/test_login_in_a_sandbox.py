"""A login in a terminal, of an agent in a sandbox: it runs there too, on a terminal that isn't the user's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.terminals import on_terminal

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap isn't installed")

LOGIN = """
import sys
from dataclasses import replace
from pathlib import Path
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.terminal_login import TerminalLogin
from acp_tui.client.agents.command import SandboxPlan
from acp_tui.client.settings.settings import WORKSPACE
agent = AgentCommand("agent", ("/bin/sh", "-c", sys.argv[1]))
login = agent.for_terminal(["login", "kindly"], {"HOW": "softly"})
profile = replace(WORKSPACE, engine=sys.argv[2])
print("status", TerminalLogin(agent, login, {"HOW": "softly"}, Path("project").resolve(), SandboxPlan(profile)).run())
"""
IN_THERE = """
echo "$1 $HOW, $(stty size)"
read name; echo "hello $name"
cat ~/key || echo "no key"
exit 7
"""


def login(home: Path, engine: str) -> tuple[str, ...]:
    (home / "project").mkdir()
    (home / "key").write_text("secret", "ascii")
    return ("-c", LOGIN, IN_THERE, engine)


def test_it_is_typed_into_and_shown_but_sees_no_more_than_the_agent(tmp_path: Path) -> None:
    with on_terminal(tmp_path, main=login(tmp_path, "bubblewrap")) as terminal:
        terminal.wait_for("kindly softly, 24 80")
        terminal.type("me\r")
        terminal.wait_for("hello me")
        terminal.wait_for("no key")
        terminal.wait_for("status 7")
        assert "secret" not in terminal.shown


def test_ctrl_c_is_for_the_login_and_the_terminal_is_as_before(tmp_path: Path) -> None:
    with on_terminal(tmp_path, main=login(tmp_path, "bubblewrap")) as terminal:
        terminal.wait_for("kindly")
        terminal.type("\x03")
        terminal.wait_for("status")
        assert terminal.wait_for_end() == 0


def test_without_its_sandbox_nothing_is_run(tmp_path: Path) -> None:
    with on_terminal(tmp_path, main=login(tmp_path, "seatbelt")) as terminal:
        terminal.wait_for("status 126")
        assert "kindly" not in terminal.shown
