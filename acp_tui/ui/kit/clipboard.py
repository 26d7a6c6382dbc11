"""Copies text through the terminal (OSC 52) and the system's own tool, and reports which ones it used.

Neither is certain: terminals don't confirm, and over SSH there may be no tool.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

from anyio import to_thread
from textual.screen import Screen

from acp_tui.ui.textual_gaps.internals import write_to_terminal

TOOLS: Final = (
    # The environment variable it needs, and its command line.
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("WSL_DISTRO_NAME", ("clip.exe",)),
)
TOOL_LIMIT_S: Final = 2.0
MAX_OSC_52_BYTES: Final = 74_000
"""The maximum for xterm. Many terminals accept more, but none reports it."""


def native_tool(environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """The command that copies its input to the clipboard of this machine; None if there isn't one."""
    if environ.get("SSH_CONNECTION"):
        return None  # it would be the wrong machine's clipboard
    for needed, command in TOOLS:
        if (not needed or environ.get(needed)) and shutil.which(command[0], path=environ.get("PATH")):
            return command
    return None


def copy_by_tool(text: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the name of the tool that took the text, or "". Call it in a thread, because a tool may hang."""
    environ = os.environ if environ is None else environ
    command = native_tool(environ)
    if command is None:
        return ""
    try:
        # In its own session: xclip keeps running to serve the text, and must not get our Ctrl+C.
        subprocess.run(
            command,
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TOOL_LIMIT_S,
            check=True,
            start_new_session=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return command[0]


def fits_terminal(text: str) -> bool:
    """Whether the text is short enough for an escape sequence."""
    return len(text.encode("utf-8", "replace")) * 4 // 3 <= MAX_OSC_52_BYTES


def through_tmux(text: str) -> str:
    """A sequence that tmux passes on to its own terminal, if `allow-passthrough` is on.

    tmux handles the plain sequence itself, if `set-clipboard` is on.
    """
    encoded = b64encode(text.encode("utf-8", "replace")).decode()
    return f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\"


def said(length: int, tool: str, *, by_terminal: bool) -> str:
    """The message for the user."""
    characters = "1 character" if length == 1 else f"{length:,} characters"
    if tool or by_terminal:
        return f"Copied {characters}{'' if tool else ' through the terminal'}"
    return "Couldn't copy: it is too long for the terminal, and wl-copy, xclip, xsel, or pbcopy isn't installed"


async def copy(screen: Screen[Any], text: str) -> None:
    """Copy the text, and tell the user which ways were tried. Await it in a worker."""
    app, by_terminal = screen.app, fits_terminal(text)
    if by_terminal:
        app.copy_to_clipboard(text)
        if os.environ.get("TMUX"):
            write_to_terminal(app, through_tmux(text))
    tool = await to_thread.run_sync(copy_by_tool, text)
    screen.notify(said(len(text), tool, by_terminal=by_terminal), markup=False)
