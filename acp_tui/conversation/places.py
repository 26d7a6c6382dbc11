"""Where a path leads, by how it is spelled, and how to show it; no file is looked at."""

from __future__ import annotations

import posixpath
from typing import Final

from acp_tui.conversation.tool_calls import Location

HERE: Final = "."
"""The session's folder."""


def is_outside(path: str, directory: str) -> bool:
    """Whether the path leads out of the directory; links are not followed. Of no directory ("") nothing is."""
    if not directory:
        return False
    root = posixpath.normpath(directory)
    return posixpath.commonpath([root, posixpath.normpath(posixpath.join(root, path))]) != root


def shown_path(path: str, cwd: str) -> str:
    """A path relative to the session's folder where it lies in it, "." for the folder itself, else as it is."""
    if cwd and path.rstrip("/") == cwd.rstrip("/"):
        return HERE
    inside = path.removeprefix(cwd.rstrip("/") + "/") if cwd else path
    # Spelled with dots it may lead out again: then it is shown whole.
    return path if ".." in inside.split("/") else inside


def shown_location(location: Location, cwd: str) -> str:
    """A path and, where it is known, a line."""
    path = shown_path(location.path, cwd)
    return path if location.line is None else f"{path}:{location.line}"
