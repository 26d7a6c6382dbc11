"""The agent's access to the user's files: text inside a session's directories, and nothing else."""

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
from acp_tui.client.workspace.workspace import DEFAULT_MAX_READ_BYTES, Workspace, WriteResult

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
    "WriteResult",
]
