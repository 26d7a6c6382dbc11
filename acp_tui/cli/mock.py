"""`acp-tui mock`: a recording or a scenario as an agent, on this process's stdin and stdout."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import anyio

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.client.errors import ClientError
from acp_tui.client.transcript.reader import open_recording
from acp_tui.conversation.visible import make_visible_line
from acp_tui.demo.stdio import StdioStream
from acp_tui.mock.agent import Departed, MockAgent
from acp_tui.mock.script import Script, read_script


def run_mock(file: Path, speed: float, *, is_strict: bool) -> int:
    """Serve one client; returns the exit status, that of the recorded agent where it ended by itself."""
    if file.suffix == ".toml":
        from acp_tui.demo.__main__ import main

        return main([str(file), "--speed", f"{speed:g}"])
    try:
        with open_recording(file) as recording:
            script = read_script(recording)
    except ClientError as error:
        sys.stderr.write(f"acp-tui: {error}\n")
        return ExitCode.ERROR
    return anyio.run(_serve, script, speed, is_strict)


async def _serve(script: Script, speed: float, is_strict: bool) -> int:
    agent = MockAgent(script, speed=speed, on_departure=_Teller(is_strict).tell, on_stderr=_repeat)
    status = ExitCode.DONE
    try:
        await agent.serve(StdioStream())
    except* Departed:
        status = ExitCode.ERROR
    except* (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the client is gone
    return _end_as_recorded(script) if agent.is_lost else status


class _Teller:
    def __init__(self, is_strict: bool) -> None:
        self._is_strict = is_strict

    def tell(self, departure: str) -> None:
        """Say it. Raises Departed where that is the end."""
        sys.stderr.write(f"acp-tui mock: {make_visible_line(departure)}\n")
        sys.stderr.flush()
        if self._is_strict:
            raise Departed(departure)


def _repeat(line: bytes) -> None:
    sys.stderr.buffer.write(line + b"\n")
    sys.stderr.buffer.flush()


def _end_as_recorded(script: Script) -> int:
    if not script.ended_itself:
        sys.stderr.write("acp-tui mock: the recording ends here, and the client waits for an answer\n")
    code = re.search(r"exited with code (\d+)", script.how_it_ended)
    return int(code[1]) if code else ExitCode.ERROR
