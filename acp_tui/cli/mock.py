"""`acp-tui mock`: a recording or a scenario as an agent, on this process's stdin and stdout."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import anyio

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.requests import Mock
from acp_tui.cli.saying import say_error
from acp_tui.client.errors import ClientError
from acp_tui.client.transcript.reader import open_recording
from acp_tui.conversation.visible import make_visible_line
from acp_tui.workbench.demo.client_calls import StdioStream
from acp_tui.workbench.mock.agent import Departed, MockAgent
from acp_tui.workbench.mock.script import Script, read_script


def run_mock(request: Mock) -> int:
    """Serve one client; returns the exit status. Where the recorded agent ended by itself, this process ends so."""
    if isinstance(request.source, str):
        return _be_scripted(request, request.source)
    try:
        script = _read(request.source)
        return anyio.run(_serve, script, request)
    except ClientError as error:
        say_error(error)
        return ExitCode.ERROR
    except KeyboardInterrupt:
        return ExitCode.CANCELLED


def _be_scripted(request: Mock, scenario: str) -> int:
    from acp_tui.workbench.demo.main import main  # loads what only scenarios need

    return main([scenario, "--speed", f"{request.speed:g}", *(["--login"] if request.is_login else [])])


def _read(source: Path) -> Script:
    with open_recording(source) as recording:
        script = read_script(recording)
        for problem in recording.problems:
            _say(f"line {problem.line} of the recording is left out: {problem.why}")
    if not script.steps:
        _say("this recording holds no frame")
    return script


async def _serve(script: Script, request: Mock) -> int:
    agent = MockAgent(
        script,
        speed=request.speed,
        on_departure=_strict if request.is_strict else _say,
        on_note=_say,
        on_stderr=_repeat,
        timeout_s=request.timeout_s,
    )
    status = ExitCode.DONE
    try:
        await agent.serve(StdioStream())
    except* Departed:
        status = ExitCode.ERROR
    except* (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the client is gone
    return _end_as_recorded(script) if agent.is_lost else status


def _say(what: str) -> None:
    sys.stderr.write(f"acp-tui mock: {make_visible_line(what)}\n")
    sys.stderr.flush()


def _strict(departure: str) -> None:
    _say(departure)
    raise Departed(departure)


def _repeat(line: bytes) -> None:
    """What the recorded agent wrote there: a client gets its bytes, a terminal only what can be read."""
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
