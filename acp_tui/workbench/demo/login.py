"""A login in a terminal: the program that asks for a line, and the mark that it leaves for the agent started next.

It knows no protocol. The mark is a file of the program that starts both: the login holds for its next agent, once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

OPTION = "--login"


def ask() -> int:
    """Ask on the terminal; the exit status: 0 where something was entered."""
    sys.stdout.write("The demo asks for a login. Enter any name, or nothing to give up.\n\nName: ")
    sys.stdout.flush()
    name = sys.stdin.readline().strip()
    if not name:
        sys.stdout.write("No name, no login.\n")
        return 1
    _mark().unlink(missing_ok=True)
    # Made anew: what somebody else put at a path that can be guessed is not written to.
    os.close(os.open(_mark(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    sys.stdout.write(f"Hello, {name}: you are logged in.\n")
    return 0


def take_mark() -> bool:
    """Whether somebody has logged in since an agent was started last."""
    try:
        is_ours = _mark().lstat().st_uid == os.getuid()
        _mark().unlink()
    except OSError:
        return False
    return is_ours


def _mark() -> Path:
    return Path(os.environ.get("TMPDIR", "/tmp")) / f"acp-tui-demo-login-{os.getuid()}-{os.getppid()}"
