"""What is said about changed files: limits, the state of a file, how two states differ, and a review of them.

It reads no file and compares nothing; `tree` reads, `comparing` compares.
"""

import stat
from dataclasses import dataclass
from typing import Literal, TypeAlias

ChangeKind: TypeAlias = Literal["added", "modified", "deleted", "mode", "type"]
"""`mode`: the same content with other permissions; `type`: a file became a link, a pipe, or the reverse."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept, read and waited for; what goes beyond is said to be unknown."""

    max_file_bytes: int = 1 << 20
    """A larger file is not copied before the agent starts."""
    max_total_bytes: int = 64 << 20
    """All copies together."""
    max_files: int = 100_000
    """Files remembered, and changes listed."""
    max_review_bytes: int = 16 << 20
    """A larger file is listed with its size, but neither compared nor reverted."""
    max_capture_s: float = 30.0
    """How long the start may be held up by looking at files."""


@dataclass(frozen=True, slots=True)
class FileState:
    """What stands at a path. Equal states are the same file to whoever reads it."""

    mode: int
    """Type and permissions as in `st_mode`; 0 where not even that is known."""
    size: int
    data: bytes | None
    """A file's bytes, a symbolic link's text; None where they are not known."""
    unknown: str = ""
    """Why `data` is None."""

    @property
    def kind(self) -> int:
        """The type bits alone, for comparisons."""
        return stat.S_IFMT(self.mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link; it is never followed."""
        return stat.S_ISLNK(self.mode)

    @property
    def permissions(self) -> int:
        """The permission bits; a link has none that count."""
        return 0 if self.is_link else stat.S_IMODE(self.mode) & 0o777


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed path. Who changed it is not known and never said."""

    path: str
    """Below the workspace's root, with `/`; bytes that are no UTF-8 are surrogate-escaped."""
    kind: ChangeKind
    before_unknown: str | None = None
    """Why what was there before is not known, so that it cannot be reverted; None where it is known."""
    added: int | None = None
    """Lines; None where lines were not compared."""
    removed: int | None = None
    is_binary: bool = False
    is_approximate: bool = False
    """Whether more lines are counted than need be, because comparing them all would have taken too long."""
    size_before: int | None = None
    """None where nothing was there, or it is not known."""
    size: int | None = None
    """None where nothing is there now."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring lines that differ, without any that do not; indexes into the lines of a review."""

    before_start: int
    before_end: int
    after_start: int
    after_end: int


@dataclass(frozen=True, slots=True)
class Review:
    """Both states of a file at one moment, and where they differ."""

    change: FileChange | None
    """None where they do not differ."""
    path: str
    before: FileState | None
    """None where nothing was there; without data where it is not known."""
    after: FileState | None
    before_lines: tuple[bytes, ...] = ()
    """Each with its end, so that joined they are the content, byte for byte; only a newline ends a line."""
    after_lines: tuple[bytes, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    """In order; none where the states cannot be compared by lines."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """What a revert, or the undo of one, did to a file; undoing it swaps the two."""

    path: str
    found: FileState | None
    left: FileState | None


class ChangesError(Exception):
    """A revert that did not take place; `str()` of it is for the user."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


class ChangedMeanwhile(ChangesError):
    """The file is no longer as it was shown, so that it was left alone."""

    def __init__(self, path: str, shown: FileState | None, now: FileState | None) -> None:
        super().__init__(path, f"{path!r} has changed since it was shown: look at it again, then decide.")
        self.shown = shown
        self.now = now


class CannotRevert(ChangesError):
    """It cannot be done, whether or not the file is as it was shown."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, f"{path!r} cannot be reverted: {reason}.")
