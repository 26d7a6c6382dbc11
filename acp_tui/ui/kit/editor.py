"""Opens files and drafts in the user's editor, and pages in their browser."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, Final

from anyio import to_thread
from textual.app import App, SuspendNotSupported

from acp_tui.client.files import create_private
from acp_tui.ui.textual_gaps.internals import muted

PLUS_LINE: Final = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "ne", "mg"}
)
"""Editors that accept a line as `+7` before the file."""
COLON_LINE: Final = frozenset({"hx", "helix", "subl", "zed"})
"""Editors that accept a line as `:7` after the file."""
GOTO_LINE: Final = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
"""Editors that accept a line as `:7` after the file, and an option before it."""


NO_EDITOR: Final = "No editor found: set $EDITOR to the one you want."


def edit(app: App[Any], file: Path, line: int | None = None) -> str:
    """Open a file in the user's editor and wait; return "" if it succeeds, or a sentence on what failed.

    Blocks everything else.
    """
    wanted = wanted_editor(os.environ)
    if not wanted:
        return NO_EDITOR
    try:
        command = editor_command(wanted, file, line)
        with _lent_terminal(app):
            return _how_it_ended(wanted, subprocess.call(command))
    except (OSError, ValueError, SuspendNotSupported) as error:
        return f"{wanted} couldn't be started: {error}"


async def edit_text(app: App[Any], text: str) -> tuple[str, str]:
    """Edit a text in the user's editor; return the text, and a sentence on what failed, or "".

    The text is unchanged if something failed. Agents continue to work in the meantime.
    """
    wanted = wanted_editor(os.environ)
    if not wanted:
        return text, NO_EDITOR
    try:
        # In its own folder, which only the user can access: editors leave copies next to the file.
        with TemporaryDirectory(prefix="acp-tui-", ignore_cleanup_errors=True) as folder:
            file = Path(folder, "prompt.md")
            await to_thread.run_sync(_write, file, text)
            command = editor_command(wanted, file)
            with _lent_terminal(app):
                status = await to_thread.run_sync(subprocess.call, command)
            edited = await to_thread.run_sync(file.read_text, "utf-8", "replace")
    except (OSError, ValueError, SuspendNotSupported) as error:
        return text, f"{wanted} couldn't edit the prompt: {error}"
    if status:
        return text, _how_it_ended(wanted, status)
    # Editors add a newline after the last line.
    return edited if text.endswith("\n") else edited.removesuffix("\n"), ""


def _how_it_ended(wanted: str, status: int) -> str:
    return f"{wanted} ended with status {status}." if status else ""


def _write(file: Path, text: str) -> None:
    with create_private(file) as opened:
        opened.write(text.encode("utf-8", "replace"))


@contextmanager
def _lent_terminal(app: App[Any]) -> Iterator[None]:
    """Neither read from nor write to the terminal in this context. Raises: SuspendNotSupported."""
    with app.batch_update(), app.suspend(), muted(app):
        # Ctrl+C is for the program in the terminal. It would inherit SIG_IGN, but not a handler.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


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


async def open_page(url: str) -> str:
    """Open a page that the user agreed to; return "" if it succeeds, or a sentence on what failed."""
    if await to_thread.run_sync(webbrowser.open, url):
        return ""
    return f"Couldn't start a browser. The page is {url}"
