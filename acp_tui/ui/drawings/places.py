"""Says where something is, as short as it is unambiguous."""

from __future__ import annotations

from acp_tui.conversation.tool_calls import Location


def shown_path(path: str, cwd: str) -> str:
    """A path relative to the session's directory where it lies in it, else as it is."""
    inside = path.removeprefix(cwd.rstrip("/") + "/") if cwd else path
    # Spelled with dots it may lead out again: then it is shown whole.
    return path if ".." in inside.split("/") else inside


def shown_location(location: Location, cwd: str) -> str:
    """A path and, where it is known, a line."""
    path = shown_path(location.path, cwd)
    return path if location.line is None else f"{path}:{location.line}"
