"""Whatever ends acp-tui, `kill -9` too: no agent, no command and no guardian is left, and the terminal works again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from support.agents import scripted_argv
from support.on_terminal import OnTerminal, all_end, below, environment, on_terminal

# An agent that ignores all that it can, with a child in its group, and a command that leaves others behind: in a
# session of their own, one of them in another.
STUBBORN = """
    import os, signal
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        while True: signal.pause()
    open_session()
    lines = "trap '' HUP TERM; sleep 1001 & setsid sleep 1002 & sleep 1003 & echo up; wait"
    send(id="t", method="terminal/create", params={"sessionId": "s1", "command": "/bin/sh", "args": ["-c", lines]})
    terminal = read()["result"]["terminalId"]
    while "up" not in (send(id="o", method="terminal/output", params={"sessionId": "s1", "terminalId": terminal}),
                       read()["result"]["output"])[1]:
        pass
    say("all is up\\n")
    while True: signal.pause()
"""
F1 = "\x1bOP"
COUNT = 7
"""The agent, its child, the shell, three sleepers and the guardian."""


def family_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """All that runs below it: `setsid` may take a moment to become `sleep`."""
    found = below(process)
    assert len(found) == COUNT, [each.cmdline() for each in found]
    return found


@pytest.fixture
def exec_process(tmp_path: Path) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "acp_tui", "exec", "-p", "go", "--", *scripted_argv(STUBBORN)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment(tmp_path))
    assert process.stdout is not None
    assert process.stdout.readline() == b"all is up\n"
    return process


def prompted(screen: OnTerminal) -> list[psutil.Process]:
    """All that runs for it, once it has prompted the agent and seen the answer."""
    screen.wait_for("Write a prompt")
    screen.prompt("go")
    screen.wait_for("all is up")
    return family_of(screen.process)


def test_killed_in_a_script_it_leaves_nothing(exec_process: subprocess.Popen[bytes]) -> None:
    with exec_process as process:
        family = family_of(process)
        process.kill()
    assert all_end(family)


def test_killed_on_the_screen_it_leaves_nothing(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "--", *scripted_argv(STUBBORN)) as screen:
        family = prompted(screen)
        screen.process.kill()
        assert screen.wait_for_end() == -signal.SIGKILL
        assert all_end(family)


def test_stopped_and_then_killed_it_leaves_nothing(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "--", *scripted_argv(STUBBORN)) as screen:
        family = prompted(screen)
        screen.process.send_signal(signal.SIGSTOP)
        screen.process.kill()
        assert screen.wait_for_end() == -signal.SIGKILL
        assert all_end(family)


def test_a_closed_window_ends_it_and_all_that_runs(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "--", *scripted_argv(STUBBORN)) as screen:
        family = prompted(screen)
        screen.close_window()
        assert all_end([psutil.Process(screen.process.pid), *family])


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_ends_it_and_all_that_runs_and_leaves_the_terminal_as_it_was(
    tmp_path: Path, number: signal.Signals
) -> None:
    with on_terminal(tmp_path, "--", *scripted_argv(STUBBORN)) as screen:
        family = prompted(screen)
        screen.process.send_signal(number)
        assert screen.wait_for_end() == 0
        assert screen.is_as_before()
        assert all_end(family)


CRASH = """
import sys
from acp_tui.cli.main import main
from acp_tui.ui.screens.session_actions import SessionActions
SessionActions.action_help = lambda self: 1 / 0
sys.exit(main())
"""


def test_a_crash_of_the_screen_ends_all_that_runs_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "--", *scripted_argv(STUBBORN), main=("-c", CRASH)) as screen:
        family = prompted(screen)
        screen.type(F1)
        assert screen.wait_for_end() == 1
        assert screen.is_as_before()
        assert b"ZeroDivisionError" in screen.written
        assert all_end(family)
