"""The user's editor: which it is, how it's given a line, and how a text gets into it and back."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Final

from anyio import to_thread

from acp_tui.client.files import create_private

PLUS_LINE: Final = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "ne", "mg"}
)
"""Editors that accept a line as `+7` before the file."""
COLON_LINE: Final = frozenset({"hx", "helix", "subl", "zed"})
"""Editors that accept a line as `:7` after the file."""
GOTO_LINE: Final = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
"""Editors that accept a line as `:7` after the file, and an option before it."""


NO_EDITOR: Final = "No editor found: set $EDITOR to the one you want."


async def edit_text(text: str, run: Callable[[list[str]], Awaitable[int]]) -> tuple[str, str]:
    """Edit a text in the user's editor; return the text, and a sentence on what failed, or "".

    `run` runs a command on the terminal and returns its status, or raises OSError. The text is unchanged if something
    failed.
    """
    wanted = wanted_editor(os.environ)
    if not wanted:
        return text, NO_EDITOR
    try:
        # In its own folder, which only the user can access: editors leave copies next to the file.
        with TemporaryDirectory(prefix="acp-tui-", ignore_cleanup_errors=True) as folder:
            file = Path(folder, "prompt.md")
            await to_thread.run_sync(_write, file, text)
            status = await run(editor_command(wanted, file))
            edited = await to_thread.run_sync(file.read_text, "utf-8", "replace")
    except (OSError, ValueError) as error:
        return text, f"{wanted} couldn't edit the prompt: {error}"
    if status:
        return text, how_it_ended(wanted, status)
    # Editors add a newline after the last line.
    return edited if text.endswith("\n") else edited.removesuffix("\n"), ""


def how_it_ended(wanted: str, status: int) -> str:
    return f"{wanted} ended with status {status}." if status else ""


def _write(file: Path, text: str) -> None:
    with create_private(file) as opened:
        opened.write(text.encode("utf-8", "replace"))


def wanted_editor(environ: Mapping[str, str]) -> str:
    """The command line of the user's editor; "" if none is set."""
    return environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()


def editor_command(wanted: str, file: Path, line: int | None = None) -> list[str]:
    """The command that opens an absolute path; at a line, counted from 1, if this editor accepts one.

    Raises: ValueError if `wanted` isn't a command line.
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
