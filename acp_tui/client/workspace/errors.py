"""Everything that can go wrong when serving a file, each with a message that a person can act on.

The caller decides what the protocol answers: it maps the classes to error codes.

What nobody tells apart is a WorkspaceError: access denied, a full disk, links in a circle, and so on.
"""

import errno
import os
from pathlib import Path
from typing import Final, Literal, TypeAlias

Action: TypeAlias = Literal["find", "read", "write"]

_SHOWN_PATH_CHARACTERS: Final = 300


class WorkspaceError(Exception):
    """A file couldn't be served. `str()` is a message for the user and the agent."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        """The path as requested."""


class InvalidPath(WorkspaceError):
    """The request is invalid, whatever is on the disk: no file can have this path, or it's relative (R-FS-5)."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, f"{quoted(path)} can't be a path: {reason}. Correct the path.")


class PrivatePath(WorkspaceError):
    """It belongs to acp-tui itself. The user isn't asked, because it controls what the user is asked about."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path,
            f"{quoted(path)} belongs to acp-tui itself (its settings, state, or cache): agents"
            f" never get access to it. Ask the user to change it.",
        )


class OutsideWorkspace(WorkspaceError):
    """The path leads outside every root of the workspace."""

    def __init__(self, path: str, real_path: Path) -> None:
        leads_to = "" if str(real_path) == path else f" (it leads to {quoted(str(real_path))})"
        super().__init__(path, f"{quoted(path)} is outside the workspace{leads_to}: the user must allow it first.")


class NotFound(WorkspaceError):
    """There is no such file, or one of its parent directories is missing (R-FS-3)."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{quoted(path)} doesn't exist: check the path.")


class NotAFile(WorkspaceError):
    """Something exists there, but it isn't a regular file. A pipe or a device could block a read forever."""

    def __init__(self, path: str, kind: str) -> None:
        super().__init__(path, f"{quoted(path)} is a {kind}: only regular files can be read or written.")


class PathChanged(WorkspaceError):
    """The path leads elsewhere, or the file has changed, since it was looked at or shown to the user."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{quoted(path)} was changed by another program while in use: try again.")


class NotText(WorkspaceError):
    """The content isn't UTF-8 text."""

    def __init__(self, path: str, reason: str, offset: int) -> None:
        super().__init__(path, f"{quoted(path)} isn't UTF-8 text: {reason} at byte {offset}.")
        self.offset = offset
        """Zero-based offset in the file of the first invalid byte."""


class FileTooLarge(WorkspaceError):
    """The request is for more bytes than are read at once."""

    def __init__(self, path: str, size: int, max_bytes: int) -> None:
        super().__init__(
            path,
            f"{quoted(path)} is too large to read at once ({size:,} bytes or more, {max_bytes:,} are allowed):"
            " read it in parts with line and limit.",
        )
        self.size = size
        """Bytes requested, as far as they were counted."""


def from_os_error(action: Action, path: str, error: OSError) -> WorkspaceError:
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    match error.errno:
        case errno.ENOENT:
            return NotFound(path)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return WorkspaceError(path, f"Cannot {action} {quoted(path)}: {reason}. Check who may {action} it.")
        case errno.EISDIR:
            return NotAFile(path, "directory")
        case errno.ENOTDIR:
            return WorkspaceError(path, f"{quoted(path)} uses a file as a directory: check the path.")
        case errno.ELOOP:
            return PathChanged(path)
        case errno.ENAMETOOLONG:
            return InvalidPath(path, reason)
        case _:
            return WorkspaceError(path, f"Cannot {action} {quoted(path)}: {reason}. Check the disk and try again.")


def quoted(path: str) -> str:
    """The path for a message: with control characters escaped, and shortened if it's very long."""
    if len(path) > _SHOWN_PATH_CHARACTERS:
        path = path[:_SHOWN_PATH_CHARACTERS] + "…"
    return repr(path)
