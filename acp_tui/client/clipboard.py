"""The clipboard: reads text or a picture from this desktop's, with limits for time and size, and never over SSH.

Copies text through the terminal (OSC 52) and the system's own tool, and says which ones it used. Neither is certain:
terminals don't confirm, and over SSH there may be no tool.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from threading import Timer
from typing import Final, TypeAlias

from acp_tui.client.attachments.files import media_type
from acp_tui.client.errors import ClientError
from acp_tui.values import dataclass

LIMIT_S: Final = 5.0
MAX_BYTES: Final = 10 << 20
PICTURE_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""What agents accept, best first."""
TEXT_TYPES: Final = ("text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "STRING", "TEXT")

Command: TypeAlias = tuple[str, ...]


class NothingToPaste(ClientError):
    """The clipboard contains nothing usable, or can't be read."""


@dataclass(frozen=True, slots=True)
class ClipboardPicture:
    """A picture, as its first bytes show."""

    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class ClipboardText:
    """The clipboard's text, unchecked."""

    text: str


Content: TypeAlias = ClipboardPicture | ClipboardText


@dataclass(frozen=True, slots=True)
class _Desktop:
    """The command lines of one desktop's tool. TYPE stands for the requested type."""

    list_types: Command
    """() if the tool can't list the types, so they have to be tried."""
    picture: Command
    text: Command


_WAYLAND: Final = _Desktop(
    ("wl-paste", "--list-types"),
    ("wl-paste", "--no-newline", "--type", "TYPE"),
    ("wl-paste", "--no-newline", "--type", "TYPE"),
)
_X11: Final = _Desktop(
    ("xclip", "-selection", "clipboard", "-out", "-target", "TARGETS"),
    ("xclip", "-selection", "clipboard", "-out", "-target", "TYPE"),
    ("xclip", "-selection", "clipboard", "-out", "-target", "TYPE"),
)
_MACOS: Final = _Desktop((), ("pngpaste", "-"), ("pbpaste",))


def read_clipboard(environ: Mapping[str, str], *, no_pictures: str = "", platform: str = sys.platform) -> Content:
    """The text on the clipboard, otherwise the picture. Use a thread.

    `no_pictures` says why pictures can't be used; none is read then. Raises: NothingToPaste.
    """
    desktop = _desktop(environ, platform)
    offered = _offered(desktop, environ)
    text_type = next((kind for kind in TEXT_TYPES if kind in offered), None)
    if text_type is not None:
        text = _run(desktop.text, environ, text_type).decode("utf-8", "replace")
        if text:
            return ClipboardText(text)
    picture_type = next((kind for kind in PICTURE_TYPES if kind in offered), None)
    if picture_type is None:
        kinds = ", ".join(sorted(kind for kind in offered if "/" in kind))
        raise NothingToPaste("the clipboard has no text and no picture", detail=kinds)
    if no_pictures:
        raise NothingToPaste(no_pictures)
    data = _run(desktop.picture, environ, picture_type)
    mime_type = media_type(data)
    if mime_type not in PICTURE_TYPES:
        raise NothingToPaste("the clipboard has no text and no picture")
    return ClipboardPicture(data, mime_type)


def _desktop(environ: Mapping[str, str], platform: str) -> _Desktop:
    """The current desktop. Raises: NothingToPaste if there isn't one, or its tool is missing."""
    if environ.get("SSH_CONNECTION"):
        raise NothingToPaste(
            "the clipboard is on a different machine than acp-tui",
            hint="paste text with your terminal's key; to attach a picture, copy it here as a file and type @file",
        )
    if platform == "darwin":
        return _MACOS
    if environ.get("WAYLAND_DISPLAY") and _has("wl-paste", environ):
        return _WAYLAND
    if environ.get("DISPLAY") and _has("xclip", environ):
        return _X11
    if environ.get("WAYLAND_DISPLAY"):
        raise _missing("wl-paste", "wl-clipboard")
    if environ.get("DISPLAY"):
        raise _missing("xclip", "xclip")
    raise NothingToPaste(
        "there is no desktop clipboard to read", hint="paste text with your terminal's key; attach a picture with @file"
    )


def _offered(desktop: _Desktop, environ: Mapping[str, str]) -> Sequence[str]:
    if desktop.list_types:
        return _run(desktop.list_types, environ).decode("utf-8", "replace").split("\n")
    return (TEXT_TYPES[0], PICTURE_TYPES[0])


def _run(command: Command, environ: Mapping[str, str], kind: str = "") -> bytes:
    """What the tool prints; empty if it fails, as it does for a type that isn't available.

    Raises: NothingToPaste if it's missing, hangs, or prints too much.
    """
    if not _has(command[0], environ):
        raise _missing(command[0], command[0])
    argv = [kind if word == "TYPE" else word for word in command]
    with subprocess.Popen(
        argv,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        hung = Timer(LIMIT_S, process.kill)
        hung.start()
        assert process.stdout is not None
        output = process.stdout.read(MAX_BYTES + 1)
        is_hung = not hung.is_alive()
        hung.cancel()
        process.kill()
    if is_hung:
        raise NothingToPaste(f"{command[0]} didn't answer within {LIMIT_S:.0f} seconds")
    if len(output) > MAX_BYTES:
        raise NothingToPaste(f"the clipboard's content is larger than {MAX_BYTES >> 20} MiB")
    return output


def _has(tool: str, environ: Mapping[str, str]) -> bool:
    return shutil.which(tool, path=environ.get("PATH")) is not None


def _missing(tool: str, package: str) -> NothingToPaste:
    return NothingToPaste(f"{tool} is missing, and it reads the clipboard", hint=f"install the package {package}")


# Copying

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


def through_terminal(text: str) -> str:
    """The sequence that copies the text."""
    encoded = b64encode(text.encode("utf-8", "replace")).decode()
    return f"\x1b]52;c;{encoded}\x07"


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
    return f"\x1bPtmux;\x1b{through_terminal(text)}\x1b\\"


def said(length: int, tool: str, *, by_terminal: bool) -> str:
    """The message for the user."""
    characters = "1 character" if length == 1 else f"{length:,} characters"
    if tool or by_terminal:
        return f"Copied {characters}{'' if tool else ' through the terminal'}"
    return "Couldn't copy: it is too long for the terminal, and wl-copy, xclip, xsel, or pbcopy isn't installed"
