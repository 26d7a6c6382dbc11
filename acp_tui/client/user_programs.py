"""Runs a program that the user's settings name: without a shell, with a time limit, and leaving no processes."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import anyio

from acp_tui.client.processes import inherited

MAX_OUTPUT_BYTES: Final = 4_096


class ProgramResult(NamedTuple):
    problem: str = ""
    """What went wrong, after the program's name; "" for nothing."""
    output: bytes = b""
    """The beginning of what it printed, if that was wanted."""


async def run_program(
    argv: Sequence[str], env: Mapping[str, str], limit_s: float, *, cwd: Path | None = None, wants_output: bool = False
) -> ProgramResult:
    """Run a program with `env` added to the environment, and end it after `limit_s`."""
    try:
        process = await anyio.open_process(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if wants_output else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env={**inherited(), **env},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return ProgramResult(f"can't be run: {error}")
    status, output = None, b""
    try:
        with anyio.move_on_after(limit_s):
            if process.stdout is not None:
                with suppress(anyio.EndOfStream):
                    while len(output) < MAX_OUTPUT_BYTES:
                        output += await process.stdout.receive(MAX_OUTPUT_BYTES)
            status = 0 if len(output) >= MAX_OUTPUT_BYTES else await process.wait()
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with anyio.CancelScope(shield=True):
            await process.wait()
            if process.stdout is not None:
                await process.stdout.aclose()
    if status is None:
        return ProgramResult(f"took longer than {limit_s:g} s and was ended")
    return ProgramResult(f"ended with status {status}" if status else "", output[:MAX_OUTPUT_BYTES])
