"""Gives the terminal to the user's editor, at a line where the editor can be told one; it looks at no file itself."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Final

from textual.app import App, SuspendNotSupported

PLUS_LINE: Final = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "ne", "mg"}
)
"""Editors that are told a line by a `+7` before the file."""
COLON_LINE: Final = frozenset({"hx", "helix", "subl", "zed"})
"""By a `:7` behind it."""
GOTO_LINE: Final = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
"""By a `:7` behind it, and an option before it."""


def edit(app: App[Any], file: Path, line: int | None = None) -> str:
    """Wait for the user's editor with this file; "" once it has ended well, else what went wrong, in a sentence."""
    wanted = wanted_editor(os.environ)
    if not wanted:
        return "There is no editor: set $EDITOR to the one you want."
    try:
        status = _run(app, editor_command(wanted, file, line))
    except (OSError, ValueError, SuspendNotSupported) as error:
        return f"{wanted} could not be started: {error}"
    return f"{wanted} ended with status {status}." if status else ""


def wanted_editor(environ: Mapping[str, str]) -> str:
    """The command line of the user's editor; "" where none is set."""
    return environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()


def editor_command(wanted: str, file: Path, line: int | None = None) -> list[str]:
    """The command that opens an absolute path, at a line counted from 1 where this editor can be told.

    Raises: ValueError where `wanted` is no command line.
    """
    command = shlex.split(wanted)
    if line is None or line < 1:
        return [*command, str(file)]
    name = PurePath(command[0]).name
    if name in PLUS_LINE:
        return [*command, f"+{line}", str(file)]
    if name in COLON_LINE:
        return [*command, f"{file}:{line}"]
    return [*command, *(["--goto", f"{file}:{line}"] if name in GOTO_LINE else [str(file)])]


def _run(app: App[Any], command: Sequence[str]) -> int:
    with app.suspend():
        # Ctrl+C belongs to the program that has the terminal; it would inherit SIG_IGN, but not a handler.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            return subprocess.call(command)
        finally:
            signal.signal(signal.SIGINT, before)
