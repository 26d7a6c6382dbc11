"""Runs the user's own command for a notice: without a shell, apart from our terminal, and not for ever."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import anyio

LIMIT_S: Final = 10.0


async def run_command(argv: Sequence[str], env: Mapping[str, str], limit_s: float = LIMIT_S) -> str:
    """Run it with `env` over our environment; gives what went wrong, "" for nothing. Nothing is left of it."""
    try:
        process = await anyio.open_process(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **env},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return f"cannot be run: {error}"
    status = None
    try:
        with anyio.move_on_after(limit_s):
            status = await process.wait()
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with anyio.CancelScope(shield=True):
            await process.wait()
    if status is None:
        return f"took longer than {limit_s:g} s and was ended"
    return f"ended with status {status}" if status else ""
