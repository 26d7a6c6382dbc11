"""However acp-tui ends, and whatever way out a command or an agent has taken, nothing of it remains."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from support.agents import scripted_argv
from support.processes import WAYS, Left, all_end
from support.proxies import proxy
from support.terminals import OnTerminal, on_terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has foster parents")

F8, CTRL_Q = "\x1b[19~", "\x11"

# Starts all commands, each on a terminal of its own, and itself another program that leaves the agent's session.
STARTS = """
    import subprocess
    open_session()
    for number, (program, *args) in enumerate({commands!r}):
        send(id=f"t{{number}}", method="terminal/create",
             params={{"sessionId": "s1", "command": program, "args": args}})
        read()["result"]["terminalId"]
    subprocess.Popen({own!r}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    say("all is started\\n")
    read()
"""


def quit_it(screen: OnTerminal) -> None:
    screen.type(CTRL_Q)
    screen.wait_for("Ctrl+Q again")
    screen.type(CTRL_Q)
    assert screen.wait_for_end() == 0


def kill(screen: OnTerminal) -> None:
    screen.process.kill()
    assert screen.wait_for_end() == -signal.SIGKILL


def hang_up(screen: OnTerminal) -> None:
    screen.close_window()
    screen.process.wait()


@pytest.mark.parametrize("end", [quit_it, kill, hang_up], ids=["quit", "kill -9", "hang up"])
def test_nothing_that_was_left_behind_outlives_acp_tui(tmp_path: Path, end: Callable[[OnTerminal], None]) -> None:
    folders = [tmp_path / name for name in ("commands", "agent")]
    for folder in folders:
        folder.mkdir()
    commands = [Left(folders[0], way) for way in WAYS]
    own = Left(folders[1], "a daemon without open files")
    script = STARTS.format(commands=[left.argv for left in commands], own=own.argv)
    settings = tmp_path / "config/acp-tui/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("workspace.terminals = 'on'\n")  # the agent doesn't ask
    with on_terminal(tmp_path, "--", *scripted_argv(script)) as screen:
        screen.prompt("go")
        screen.wait_for("all is started")
        assert [left.way for left in (*commands, own) if not left.is_up()] == []
        (guardian,) = psutil.Process(screen.process.pid).children()
        guardian.suspend()  # by a command: they run as the same user
        end(screen)
        assert all_end([guardian])
        assert [left.way for left in (*commands, own) if not left.is_gone()] == []


@pytest.mark.parametrize("end", [kill, hang_up], ids=["kill -9", "hang up"])
def test_no_proxy_outlives_acp_tui(tmp_path: Path, end: Callable[[OnTerminal], None]) -> None:
    agent = scripted_argv("open_session(); say('all is started'); read(); import signal; signal.pause()")
    agents = tmp_path / "config/acp-tui/agents.toml"
    agents.parent.mkdir(parents=True)
    proxies = [proxy("pass"), ("sh", "-c", f"trap '' TERM; {shlex.join(proxy('pass'))}; sleep 1000")]
    agents.write_text(f"[agents.proxied]\ncommand = {json.dumps(agent)}\nproxies = {json.dumps(proxies)}\n")
    with on_terminal(tmp_path, "proxied") as screen:
        screen.prompt("go")
        screen.wait_for("all is started")
        below = psutil.Process(screen.process.pid).children(recursive=True)
        assert sum("proxies.py" in " ".join(process.cmdline()) for process in below) >= 2
        end(screen)
        assert all_end(below)
