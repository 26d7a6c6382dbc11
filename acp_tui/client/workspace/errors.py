"""Everything that can go wrong when a file is served, each in words that a person can act on.

It does not decide what the protocol answers: the caller maps the classes to error codes.

    WorkspaceError
    ├── InvalidPath          the request names no path at all (invalid params)
    │   ├── NotAbsolute
    │   └── UnusablePath     empty, with a NUL, too long, not representable
    ├── PrivatePath          it belongs to acp-tui: nobody's word opens it to an agent
    ├── OutsideWorkspace     ask the user, then call again with the place that was agreed to
    ├── NotFound             (resource not found)
    ├── AccessDenied
    ├── NotAFile
    │   ├── IsDirectory
    │   └── SpecialFile      named pipe, socket, device
    ├── NotADirectory        a file stands where the path needs a directory
    ├── TooManyLinks         symbolic links in a circle
    ├── PathChanged          somebody moved the path while it was in use
    ├── NotText              binary, UTF-16, or broken UTF-8
    ├── FileTooLarge
    ├── UnencodableText      the content to write has no UTF-8 form
    └── DiskFailure          the rest: disk full, quota, input/output error
"""

import errno
import os
from pathlib import Path
from typing import Final, Literal, TypeAlias

Action: TypeAlias = Literal["find", "read", "write"]

_SHOWN_PATH_CHARACTERS: Final = 300


class WorkspaceError(Exception):
    """A file was not served; `str()` of it is fit for the user's eyes and the agent's."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        """The path as it was asked for."""


class InvalidPath(WorkspaceError):
    """The request is at fault, whatever the disk holds."""


class NotAbsolute(InvalidPath):
    """A relative path: it has no meaning between two processes (R-FS-5)."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{quoted(path)} is a relative path: give the absolute path.")


class UnusablePath(InvalidPath):
    """No file can have this path."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, f"{quoted(path)} can't be a path: {reason}. Correct the path.")


class PrivatePath(WorkspaceError):
    """It belongs to acp-tui itself; the user is not asked, since with it goes what they are asked about."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path,
            f"{quoted(path)} belongs to acp-tui itself (its settings, state, or cache): agents"
            f" never get access to it. Ask the user to change it.",
        )


class OutsideWorkspace(WorkspaceError):
    """The path leads out of every root of the workspace."""

    def __init__(self, path: str, real_path: Path) -> None:
        leads_to = "" if str(real_path) == path else f" (it leads to {quoted(str(real_path))})"
        super().__init__(
            path, f"{quoted(path)} is outside the workspace{leads_to}: the user must allow it first."
        )
        self.real_path = real_path
        """Where the path leads once links are followed: what the user is to be asked about."""


class NotFound(WorkspaceError):
    """There is no such file, or a directory on the way to it is missing (R-FS-3)."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{quoted(path)} doesn't exist: check the path.")


class AccessDenied(WorkspaceError):
    """The operating system refuses."""

    def __init__(self, path: str, action: Action, reason: str) -> None:
        super().__init__(path, f"Cannot {action} {quoted(path)}: {reason}. Check who may {action} it.")


class NotAFile(WorkspaceError):
    """Something is there, but no regular file."""


class IsDirectory(NotAFile):
    """A directory where a file was asked for."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{quoted(path)} is a directory, not a file: name a file in it.")


class SpecialFile(NotAFile):
    """A named pipe, a socket or a device: reading one could wait for ever."""

    def __init__(self, path: str, kind: str) -> None:
        super().__init__(path, f"{quoted(path)} is a {kind}: only regular files can be read or written.")


class NotADirectory(WorkspaceError):
    """A component before the last is no directory."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{quoted(path)} uses a file as a directory: check the path.")


class TooManyLinks(WorkspaceError):
    """Following the path does not end."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path, f"{quoted(path)} leads through too many symbolic links or '..': they may form a circle."
        )


class PathChanged(WorkspaceError):
    """A component became a symbolic link between the look at it and its use."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{quoted(path)} was changed by another program while in use: try again.")


class NotText(WorkspaceError):
    """The content is not UTF-8 text."""

    def __init__(self, path: str, reason: str, offset: int) -> None:
        super().__init__(path, f"{quoted(path)} isn't UTF-8 text: {reason} at byte {offset}.")
        self.offset = offset
        """Zero-based position in the file of the first byte at fault."""


class FileTooLarge(WorkspaceError):
    """More bytes were asked for than are read at once."""

    def __init__(self, path: str, size: int, max_bytes: int) -> None:
        super().__init__(
            path,
            f"{quoted(path)} is too large to read at once ({size:,} bytes or more, {max_bytes:,} are allowed):"
            " read it in parts with line and limit.",
        )
        self.size = size
        """Bytes asked for, as far as they were counted."""


class UnencodableText(WorkspaceError):
    """The content holds half of a surrogate pair, which has no bytes in UTF-8."""

    def __init__(self, path: str, index: int) -> None:
        super().__init__(
            path,
            f"Can't write {quoted(path)}: character {index} of the content is a lone surrogate,"
            " which UTF-8 can't hold. Nothing was written; send valid text.",
        )
        self.index = index
        """Zero-based position of the character in the content."""


class DiskFailure(WorkspaceError):
    """The operating system failed in a way that is nobody's request's fault."""

    def __init__(self, path: str, action: Action, reason: str) -> None:
        super().__init__(path, f"Cannot {action} {quoted(path)}: {reason}. Check the disk and try again.")


def from_os_error(action: Action, path: str, error: OSError) -> WorkspaceError:
    """The error of this tree for one that the operating system gave."""
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    match error.errno:
        case errno.ENOENT:
            return NotFound(path)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return AccessDenied(path, action, reason)
        case errno.EISDIR:
            return IsDirectory(path)
        case errno.ENOTDIR:
            return NotADirectory(path)
        case errno.ELOOP:
            return PathChanged(path)
        case errno.ENAMETOOLONG:
            return UnusablePath(path, reason)
        case _:
            return DiskFailure(path, action, reason)


def quoted(path: str) -> str:
    """The path for a message: control characters shown as escapes, a huge one cut short."""
    if len(path) > _SHOWN_PATH_CHARACTERS:
        path = path[:_SHOWN_PATH_CHARACTERS] + "…"
    return repr(path)
