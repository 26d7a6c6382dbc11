"""Opens files and drafts in the user's editor, pages in their browser, and copies text from the screen."""

from __future__ import annotations

import os
import signal
import subprocess
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread
from textual.app import App, SuspendNotSupported
from textual.screen import Screen

from acp_tui.client import desktop
from acp_tui.ui.textual_gaps.internals import muted


async def edit(app: App[Any], file: Path, line: int | None = None) -> str:
    """Open a file in the user's editor and wait; return "" if it succeeds, or a sentence on what failed."""
    wanted = desktop.wanted_editor(os.environ)
    if not wanted:
        return desktop.NO_EDITOR
    try:
        return desktop.how_it_ended(wanted, await _run(app, desktop.editor_command(wanted, file, line)))
    except (OSError, ValueError) as error:
        return desktop.why_not_run(wanted, error)


async def edit_text(app: App[Any], text: str) -> tuple[str, str]:
    """Edit a text in the user's editor, as in `client.desktop`."""
    return await desktop.edit_text(text, partial(_run, app))


async def _run(app: App[Any], command: list[str]) -> int:
    """Run this on the terminal. Agents continue to work in the meantime."""
    try:
        with lent_terminal(app):
            if Path(command[0]).name in desktop.WINDOWS:
                os.write(1, b"Close the file in your editor to go on here.\r")
            return await to_thread.run_sync(subprocess.call, command)
    except SuspendNotSupported as error:
        raise OSError(str(error)) from error


@contextmanager
def lent_terminal(app: App[Any]) -> Iterator[None]:
    """Neither read from nor write to the terminal in this context. Raises: SuspendNotSupported."""
    raised: BaseException | None = None
    with app.batch_update(), app.suspend(), muted(app):
        # Ctrl+C is for the program in the terminal. It would inherit SIG_IGN, but not a handler.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            yield
        except BaseException as error:  # noqa: BLE001 - raised in `suspend`, it would stay lent (Textual 8.2.8)
            raised = error
        finally:
            signal.signal(signal.SIGINT, before)
    if raised is not None:
        raise raised


async def open_page(url: str) -> str:
    """Open a page that the user agreed to; return "" if it succeeds, or a sentence on what failed."""
    if await to_thread.run_sync(webbrowser.open, url):
        return ""
    return f"Couldn't start a browser. The page is {url}"


async def copy(screen: Screen[Any], text: str) -> None:
    """Copy the text, and tell the user which ways were tried. Await it in a worker."""
    screen.app.copy_to_clipboard(text)
    tool = await to_thread.run_sync(desktop.copy_by_tool, text)
    screen.notify(desktop.said(len(text), tool, by_terminal=bool(desktop.through_terminal(text))), markup=False)
