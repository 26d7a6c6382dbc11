"""The agent's way to the user's files: read and write text inside a session's directories, and not beyond.

It does not speak the protocol; `client.sessions` turns requests into calls and errors into error codes.
"""

from acp_tui.client.workspace.containment import Location
from acp_tui.client.workspace.errors import (
    AccessDenied,
    DiskFailure,
    FileTooLarge,
    InvalidPath,
    IsDirectory,
    NotAbsolute,
    NotADirectory,
    NotAFile,
    NotFound,
    NotText,
    OutsideWorkspace,
    PathChanged,
    PrivatePath,
    SpecialFile,
    TooManyLinks,
    UnencodableText,
    UnusablePath,
    WorkspaceError,
)
from acp_tui.client.workspace.workspace import DEFAULT_MAX_READ_BYTES, Workspace, Written

__all__ = [
    "DEFAULT_MAX_READ_BYTES",
    "AccessDenied",
    "DiskFailure",
    "FileTooLarge",
    "InvalidPath",
    "IsDirectory",
    "Location",
    "NotADirectory",
    "NotAFile",
    "NotAbsolute",
    "NotFound",
    "NotText",
    "OutsideWorkspace",
    "PathChanged",
    "PrivatePath",
    "SpecialFile",
    "TooManyLinks",
    "UnencodableText",
    "UnusablePath",
    "Workspace",
    "WorkspaceError",
    "Written",
]
