"""What a turn without a screen asks for: the prompt of the command line, and what is piped in behind it."""

from __future__ import annotations

import os
import select
import stat
import sys
from typing import Final

from acp_tui.cli.saying import say

STDIN_LIMIT_S: Final = 3.0
"""A pipe that stays silent so long belongs to somebody else: scripts and services leave theirs open."""


def read_prompt(given: str | None) -> str:
    """`given` with what stdin holds behind it, where that is a pipe or a file; without one, all that stdin holds."""
    if given is None:
        if sys.stdin.isatty():
            sys.stderr.write("The prompt, ended by Ctrl+D:\n")
        return _read_stdin()
    piped = _read_stdin() if _has_input() else ""
    return f"{given}\n\n{piped}" if piped.strip() else given


def _has_input() -> bool:
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):  # closed, or never there
        return False
    if stat.S_ISREG(mode):
        return True
    if not stat.S_ISFIFO(mode):  # a terminal, /dev/null, a service's socket
        return False
    if select.select([sys.stdin], [], [], STDIN_LIMIT_S)[0]:
        return True
    say(f"nothing came on stdin in {STDIN_LIMIT_S:g} s: going on without it (< /dev/null says so at once)")
    return False


def _read_stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")
