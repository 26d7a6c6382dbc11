"""However acp-tui ends, even by `kill -9`, no agent, command, or guardian remains, and the terminal works again."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic

import psutil  # type: ignore[import-untyped]
import pytest

from acp_tui.client.transcript.events import Frame
from acp_tui.client.transcript.lines import Recording, open_recording
from acp_tui.client.transcript.store import RecordingStore
from support.agents import scripted_argv
from support.processes import all_end, below
from support.terminals import WITHOUT_CONTROL, OnTerminal, environment, on_terminal
from support.waiting import LIMIT_S

# An agent that ignores every signal it can, with a child in its group, and a command that leaves others behind: in
# their own process session, one of them in another.
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
TALKATIVE = """
    open_session()
    while True:
        say("on and on " * 50 + "\\n\\n")
"""
READY = "●"
F1, CTRL_C, CTRL_Q = "\x1bOP", "\x03", "\x11"
ASKS = b"session/request_permission"
COUNT = 9
"""The agent, its child, the shell, three sleepers, the guardian, and its keepers."""


def family_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Everything that runs below it, once all has started and nothing else, such as git, runs there for a moment."""
    deadline = monotonic() + LIMIT_S
    while len(found := below(process)) != COUNT:
        assert monotonic() < deadline, [each.cmdline() for each in found]
        select.select([], [], [], 0.02)
    return found


def prompted(screen: OnTerminal) -> list[psutil.Process]:
    """Everything that runs for it, after a prompt and the agent's answer."""
    screen.prompt("go")
    screen.wait_for("all is up")
    return family_of(screen.process)


@pytest.fixture(autouse=True)
def commands_run_unasked(tmp_path: Path) -> None:
    """The agent doesn't ask before it runs one, and these tests are about what is left of it."""
    settings = tmp_path / "config/acp-tui/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("workspace.terminals = 'on'\n")


def test_killed_in_a_script_it_leaves_nothing(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "acp_tui", "exec", "-p", "go", "--", *scripted_argv(STUBBORN)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment(tmp_path)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"all is up\n"
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


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, CTRL_Q])
def test_a_terminal_that_takes_no_more_keeps_nothing_running(tmp_path: Path, end: signal.Signals | str) -> None:
    with on_terminal(tmp_path, "--", *scripted_argv(TALKATIVE)) as screen:
        screen.prompt("go")
        screen.wait_for("on and on")
        family = below(screen.process)
        screen.fill()
        if isinstance(end, str):
            screen.type(end)
            screen.type(end)
        else:
            screen.process.send_signal(end)
        assert screen.process.wait(LIMIT_S) == 0
        assert all_end(family)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_lines_that_a_terminal_does_not_take_keep_nothing_running(tmp_path: Path, end: signal.Signals) -> None:
    with on_terminal(tmp_path, "--plain", "--", *scripted_argv(TALKATIVE)) as screen:
        screen.wait_for("you:")
        screen.type("go\r")
        screen.wait_for("on and on")
        family = below(screen.process)
        screen.fill()
        screen.process.send_signal(end)
        if end == signal.SIGINT:
            deadline = monotonic() + LIMIT_S
            while screen.process.poll() is None:
                assert monotonic() < deadline
                screen.type(CTRL_C)
                with suppress(subprocess.TimeoutExpired):
                    screen.process.wait(0.2)
        assert screen.process.wait(LIMIT_S) in (130, -signal.SIGINT)  # one Ctrl+C more comes at any time
        assert all_end(family)


def test_a_terminal_that_is_gone_ends_it_where_nobody_sends_a_signal(tmp_path: Path) -> None:
    """As behind `setsid` or a container's shell: the terminal isn't the controlling one."""
    with on_terminal(tmp_path, "--", *scripted_argv(STUBBORN), launcher=WITHOUT_CONTROL) as screen:
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
from acp_tui.ui.tab.actions import Actions
Actions.help = lambda self: 1 / 0
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


def test_continued_after_a_stop_it_takes_each_key_once_and_all_of_them(tmp_path: Path) -> None:
    script = "prompt = open_session(); say(prompt['params']['prompt'][0]['text'][::-1]); end(prompt); read()"
    with on_terminal(tmp_path, "--", *scripted_argv(script)) as screen:
        screen.wait_for(READY)
        screen.process.send_signal(signal.SIGSTOP)
        screen.type("abcd")
        screen.process.send_signal(signal.SIGCONT)
        screen.prompt("efgh")
        screen.wait_for("hgfedcba")
        screen.type(CTRL_Q)
        assert screen.wait_for_end() == 0
        assert screen.is_as_before()


# What is being recorded

STREAM = """
    from itertools import count
    open_session()
    for number in count(): say(f"{number}\\n")
"""
MANY = 2_000


def numbers_in(recording: Recording) -> list[int]:
    """What the agent said, as far as it was recorded."""
    messages = [json.loads(event.data) for event in recording if isinstance(event, Frame)]
    updates = [message["params"]["update"] for message in messages if message.get("method") == "session/update"]
    return [int(update["content"]["text"]) for update in updates]


def test_a_recording_is_whole_up_to_the_moment_of_a_kill(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    options = ("-p", "go", "--record", str(file), "--", *scripted_argv(STREAM))
    argv = [sys.executable, "-m", "acp_tui", "exec", *options]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment(tmp_path)) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= MANY and b"session/update" in file.read_bytes():
                break
        process.kill()
    with open_recording(file) as recording:
        numbers = numbers_in(recording)
        assert recording.problems == []
    assert numbers == list(range(len(numbers)))
    assert numbers


def test_what_the_demo_did_on_the_screen_is_kept_over_a_kill(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "demo", "--speed", "20") as screen:
        screen.prompt("hello")
        (file,) = RecordingStore(tmp_path / "state" / "acp-tui" / "recordings").files()
        screen.until(lambda: ASKS in file.read_bytes())  # it is written a moment after it shows
        screen.process.kill()
        screen.wait_for_end()
    with open_recording(file) as recording:
        events = list(recording)
        assert (recording.problems, recording.half_line) == ([], b"")
    assert any(ASKS in event.data for event in events if isinstance(event, Frame))
