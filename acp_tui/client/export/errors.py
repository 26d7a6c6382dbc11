"""Why a conversation was not exported, in words for the user.

ClientError
└── ExportError
    ├── UnknownFormat      the file's name ends in none that can be written
    ├── FileExists         there is something of that name, which nobody said to replace
    └── CannotWrite        the operating system refuses
"""

from __future__ import annotations

from pathlib import Path

from acp_tui.client.errors import ClientError
from acp_tui.conversation.visible import make_visible_line


class ExportError(ClientError):
    """Nothing was written."""


class UnknownFormat(ExportError, ValueError):
    """The file's name ends in none of the suffixes that stand for a format."""

    def __init__(self, path: Path, allowed: tuple[str, ...]) -> None:
        super().__init__(
            f"{_shown(path)} does not say which format to write.",
            hint=f"End the name in {', '.join(allowed[:-1])} or {allowed[-1]}.",
        )
        self.allowed = allowed


class FileExists(ExportError):
    """There is a file of that name, and the caller did not say to replace it."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{_shown(path)} exists already.", hint="Choose another name, or replace it.")
        self.path = path


class CannotWrite(ExportError):
    """The operating system refuses."""

    def __init__(self, path: Path, error: OSError) -> None:
        reason = error.strerror or str(error)
        super().__init__(
            f"Cannot write {_shown(path)}: {reason}.", hint="Choose another folder, or make room in it."
        )


def _shown(path: Path) -> str:
    return make_visible_line(str(path))
