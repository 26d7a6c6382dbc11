"""`acp-tui mock`: plays a recording or a scenario as an agent, on this process's stdin and stdout."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import anyio

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args
from acp_tui.cli.command import UsageError
from acp_tui.cli.prerequisites import ExitOnError
from acp_tui.cli.sessions import recording_named
from acp_tui.client.transcript.lines import open_recording
from acp_tui.conversation.visible import make_visible_line
from acp_tui.demo.agent import main as play
from acp_tui.demo.client_calls import StdioStream
from acp_tui.workbench.mock import Departed, MockAgent
from acp_tui.workbench.mock.script import Script, read_script


def run(args: Args) -> int:
    """Serve one client. Returns the exit status.

    If the recorded agent ended on its own, this process ends the same way.
    """
    source = recording_named(args.word)
    if isinstance(source, str) or source.suffix == ".toml":
        if args.strict or args.timeout is not None:
            raise UsageError(
                "--strict and --timeout work with recordings only; a scenario expects nothing of its client"
            )
        return play([str(source), "--speed", f"{args.speed:g}", *(["--login"] if args.login else [])])
    if args.login:
        raise UsageError("--login works with scenarios only; a recording logs in as it was recorded")
    with ExitOnError(ExitCode.ERROR):
        return anyio.run(_serve, _read(source), args)


def _read(source: Path) -> Script:
    with open_recording(source) as recording:
        script = read_script(recording)
        for problem in recording.problems:
            _say(f"skipped line {problem.line} of the recording: {problem.why}")
    if not script.steps:
        _say("this recording has no frames")
    return script


async def _serve(script: Script, args: Args) -> int:
    agent = MockAgent(
        script,
        speed=args.speed,
        on_departure=_strict if args.strict else _say,
        on_note=_say,
        on_stderr=repeat_stderr,
        timeout_s=args.timeout,
    )
    status = ExitCode.DONE
    try:
        await agent.serve(StdioStream())
    except* Departed:
        status = ExitCode.ERROR
    return _end_as_recorded(script) if agent.is_lost else status


def _say(what: str) -> None:
    sys.stderr.write(f"acp-tui mock: {make_visible_line(what)}\n")
    sys.stderr.flush()


def _strict(departure: str) -> None:
    _say(departure)
    raise Departed(departure)


def repeat_stderr(line: bytes) -> None:
    """Write what the recorded agent wrote to stderr: unchanged for a client, visible for a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(make_visible_line(line.decode("utf-8", "replace")) + "\n")
        sys.stderr.flush()
    else:
        os.write(sys.stderr.fileno(), line + b"\n")


def _end_as_recorded(script: Script) -> int:
    if code := re.search(r"exited with code (\d+)", script.how_it_ended):
        return int(code[1])
    if name := re.search(r"was ended by (SIG\w+)", script.how_it_ended):
        _die_by(name[1])
    return ExitCode.ERROR


def _die_by(name: str) -> None:
    if name in signal.Signals.__members__:
        number = signal.Signals[name]
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
