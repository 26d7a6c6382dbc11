"""Reads text or a picture from this desktop's clipboard, with limits for time and size. Never over SSH."""

from __future__ import annotations

import shutil
import subprocess
import sys
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


def read_clipboard(
    environ: Mapping[str, str], *, no_pictures: str = "", platform: str = sys.platform
) -> ClipboardPicture | str:
    """The unchecked text on the clipboard, otherwise the picture. Use a thread.

    `no_pictures` says why pictures can't be used; none is read then. Raises: NothingToPaste.
    """
    desktop = _desktop(environ, platform)
    offered = _offered(desktop, environ)
    text_type = next((kind for kind in TEXT_TYPES if kind in offered), None)
    if text_type is not None:
        text = _run(desktop.text, environ, text_type).decode("utf-8", "replace")
        if text:
            return text
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
