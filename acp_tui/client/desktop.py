"""The user's desktop: their editor, copying to their clipboard, and answers of their terminal. `clipboard` reads it.

Text is copied by the system's own tool, by tmux, which keeps it and hands it to its own terminal, and through the
terminal (OSC 52), which doesn't confirm it.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import struct
import subprocess
import termios
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from anyio import to_thread

from acp_tui.client.private_files import create_private

GOTO_LINE: Final = ("code", "code-insiders", "codium", "cursor", "windsurf")
PLUS_LINE: Final = (
    "vi",
    "vim",
    "nvim",
    "view",
    "nano",
    "emacs",
    "emacsclient",
    "micro",
    "kak",
    "joe",
    "jed",
    "ne",
    "mg",
)
AT_LINE: Final = {
    **dict.fromkeys(PLUS_LINE, ("+{line}", "{file}")),
    **dict.fromkeys(("hx", "helix", "subl", "zed"), ("{file}:{line}",)),
    **dict.fromkeys(GOTO_LINE, ("--goto", "{file}:{line}")),
}
"""How these editors accept a file at a line."""
WINDOWS: Final = {
    **dict.fromkeys((*GOTO_LINE, "subl", "zed", "atom", "mate", "bbedit", "gedit", "xed", "pluma"), "--wait"),
    "kate": "--block",
    **dict.fromkeys(("gvim", "mvim"), "-f"),
}
"""The option without which these editors return before their window is closed."""
AT_ONCE_S: Final = 1.0
"""Who changes nothing in this time is taken for such an editor."""

QUESTION: Final = "\x1b[5n"
"""Device status report: terminals have answered it since the VT100. Dumb ones aren't asked: they would show it."""
ANSWER: Final = "\x1b[0n"
SURE_QUESTION: Final = "\x1b[c"
"""Primary device attributes: its answer can't be taken for that to an earlier question."""
MOSH_ANSWER: Final = "\x1b[?62c"
"""How mosh answers that. Terminals add their features."""
MULTIPLEXERS: Final = frozenset({"TMUX", "STY", "ZELLIJ"})
REMOTE: Final = frozenset({"SSH_CONNECTION", "SSH_TTY"})
UNANSWERED_S: Final = 2.0
"""A screen that doesn't answer itself gets this time to show a question: a second each way."""
MULTIPLEXED_S: Final = 1.0
"""Behind a multiplexer on the user's own machine, this is more than enough."""

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
            began = time.monotonic()
            status = await run(_waiting(editor_command(wanted, file)))
            edited = await to_thread.run_sync(file.read_text, "utf-8", "replace")
    except (OSError, ValueError) as error:
        return text, why_not_run(wanted, error)
    if status:
        return text, how_it_ended(wanted, status)
    if edited == text and time.monotonic() - began < AT_ONCE_S:
        return text, f"{wanted} returned at once: if it has a window, add its option that waits, such as --wait."
    # Editors add a newline after the last line.
    return edited if text.endswith("\n") else edited.removesuffix("\n"), ""


def why_not_run(wanted: str, error: Exception) -> str:
    program = error.filename if isinstance(error, FileNotFoundError) else None
    if program and "/" not in program and not shutil.which(program):
        return f"{program} isn't on PATH: set ${'VISUAL' if os.environ.get('VISUAL', '').strip() else 'EDITOR'}."
    return f"{wanted} couldn't edit it: {getattr(error, 'strerror', None) or error}."


def how_it_ended(wanted: str, status: int) -> str:
    return f"{wanted} ended with status {status}." if status else ""


def _write(file: Path, text: str) -> None:
    with create_private(file) as opened:
        opened.write(text.encode("utf-8", "replace"))


def wanted_editor(environ: Mapping[str, str]) -> str:
    """The command line of the user's editor, or else vi, as git does it; "" if that isn't installed either."""
    chosen = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    return chosen or ("vi" if shutil.which("vi") else "")


def _waiting(command: list[str]) -> list[str]:
    """The command with the option that makes its editor wait, unless it has it, also as `-w`."""
    option = WINDOWS.get(PurePath(command[0]).name, "")
    return (
        command if not option or {option, option[:2], option[1:3]} & {*command} else [command[0], option, *command[1:]]
    )


def editor_command(wanted: str, file: Path, line: int | None = None) -> list[str]:
    """The command that opens an absolute path; at a line, counted from 1, if this editor accepts one.

    Raises: ValueError if `wanted` isn't a command line.
    """
    command = shlex.split(wanted)
    form = ("{file}",) if line is None or line < 1 else AT_LINE.get(PurePath(command[0]).name, ("{file}",))
    return [*command, *(part.format(file=file, line=line) for part in form)]


# Copying

Command: TypeAlias = tuple[str, ...]
TOOLS: Final[tuple[tuple[str, Command], ...]] = (
    # The environment variable it needs, and its command line.
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("WSL_DISTRO_NAME", ("clip.exe",)),
)
TMUX: Final[tuple[Command, ...]] = (("tmux", "load-buffer", "-w", "-"), ("tmux", "load-buffer", "-"))
"""The second for tmux before 3.2, which can't hand it to its own terminal."""
TOOL_LIMIT_S: Final = 2.0
MAX_OSC_52_BYTES: Final = 74_000
"""The maximum for xterm. Many terminals accept more, but none reports it."""
SCREEN_PIECE: Final = 240


def through_terminal(text: str) -> str:
    """The sequence that copies the text; "" if the text is too long for one.

    GNU screen drops it, but passes on to its own terminal what it gets in pieces.
    """
    encoded = b64encode(text.encode("utf-8", "replace")).decode()
    whole = f"\x1b]52;c;{encoded}\x07" if len(encoded) <= MAX_OSC_52_BYTES else ""
    starts = range(0, len(whole), SCREEN_PIECE) if os.environ.get("STY") else ()
    return whole + "".join(f"\x1bP{whole[start : start + SCREEN_PIECE]}\x1b\\" for start in starts)


def native_tool(environ: Mapping[str, str]) -> Command | None:
    """The command that copies its input to the clipboard of this machine; None if there isn't one."""
    if environ.get("SSH_CONNECTION"):
        return None  # it would be the wrong machine's clipboard
    for needed, command in TOOLS:
        if (not needed or environ.get(needed)) and shutil.which(command[0], path=environ.get("PATH")):
            return command
    return None


def copy_by_tool(text: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the name of the tool that took the text, or "". Call it in a thread, because a tool may hang.

    By default (`set-clipboard external`), tmux takes no text from the terminal's sequence, so it's always asked, too.
    """
    environ = os.environ if environ is None else environ
    native = native_tool(environ)
    copied = [native[0]] if native and _takes(native, text) else []
    if environ.get("TMUX") and any(_takes(command, text) for command in TMUX):
        copied.append("tmux")
    return copied[0] if copied else ""


def _takes(command: Command, text: str) -> bool:
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
        return False
    return True


def said(length: int, tool: str, *, by_terminal: bool) -> str:
    characters = "1 character" if length == 1 else f"{length:,} characters"
    if tool:
        return f"Copied {characters}{' to tmux' * (tool == 'tmux')}"
    if by_terminal:
        return f"Copied {characters} through the terminal"
    return "Couldn't copy: it is too long for the terminal, and wl-copy, xclip, xsel, or pbcopy isn't installed"


def draws_sixel(sure_answer: str) -> bool:
    """Whether a terminal draws sixel graphics, by its answer to `SURE_QUESTION`."""
    return "4" in sure_answer.rstrip("c").split(";")[1:]


def cell_size(terminal: int) -> tuple[int, int] | None:
    """Width and height of a terminal's cell in pixels; None if it doesn't say that."""
    sizes = bytes(8)
    with suppress(OSError):
        sizes = fcntl.ioctl(terminal, termios.TIOCGWINSZ, sizes)
    rows, columns, width, height = struct.unpack("4H", sizes)
    return (width // columns, height // rows) if 0 < columns <= width and 0 < rows <= height else None


def lag_s(sure_answer: str) -> float:
    """How long what was answered may be on its way; `sure_answer` is the last one to `SURE_QUESTION`, or "".

    Multiplexers and mosh answer at once, in the terminal's place.
    """
    is_multiplexed = not MULTIPLEXERS.isdisjoint(os.environ)
    if sure_answer == MOSH_ANSWER or (is_multiplexed and not REMOTE.isdisjoint(os.environ)):
        return UNANSWERED_S
    # SSH passes on TERM alone: then, the multiplexer is at the user's end of the line.
    return MULTIPLEXED_S if is_multiplexed or os.environ.get("TERM", "").startswith(("tmux", "screen")) else 0.0
