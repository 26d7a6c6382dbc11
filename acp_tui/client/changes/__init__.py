"""What changed in a workspace since its session began: a list, a review of each file, and a way back.

Run a `tracker.ChangeTracker` for each session, and `release` it before a prompt is sent. It never says who changed a
file, and nothing wrong: what it hasn't read in time is unknown.
"""

from __future__ import annotations

import stat
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from acp_tui.client.line_comparison import CONTEXT_LINES, LineChange, LineComparison
from acp_tui.values import dataclass

ChangeKind: TypeAlias = Literal["added", "modified", "deleted", "mode", "type"]
"""`mode`: the same content with other permissions. `type`: a file became a link or a pipe, or the reverse."""


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """How much to keep and read. What exceeds the limits is reported as unknown."""

    max_file_bytes: int = 1 << 20
    """Larger files aren't copied."""
    max_total_bytes: int = 64 << 20
    """All copies together."""
    max_files: int = 100_000
    """Files to remember, and changes to list."""
    max_review_bytes: int = 16 << 20
    """Larger files are listed with their size, but neither compared nor reverted."""


@dataclass(frozen=True, slots=True)
class FileState:
    """The state at a path. A file with an equal state reads the same."""

    mode: int
    """Type and permissions as in `st_mode`; 0 if not even that is known."""
    size: int
    data: bytes | None
    """A file's bytes or a symbolic link's target; None if unknown."""
    unknown: str = ""
    """Why `data` is None."""

    @property
    def kind(self) -> int:
        return stat.S_IFMT(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        """Whether it's a symbolic link. Links are never followed."""
        return stat.S_ISLNK(self.mode)

    @property
    def permissions(self) -> int:
        """The permission bits. A link has none that matter."""
        return 0 if self.is_link else stat.S_IMODE(self.mode) & 0o777


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """One changed path. Who changed it is unknown and never reported."""

    path: str
    """Below the workspace's root, with `/`. Bytes that aren't UTF-8 are surrogate-escaped."""
    kind: ChangeKind
    before_unknown: str | None = None
    """Why the earlier state is unknown, so that it can't be reverted; None if it's known."""
    added: int | None = None
    """Lines; None if lines weren't compared."""
    removed: int | None = None
    is_binary: bool = False
    is_approximate: bool = False
    """Whether the line counts may be too high, because comparing everything would have taken too long."""


@dataclass(frozen=True, slots=True)
class Review:
    """Both states of a file at one moment, and where they differ."""

    change: ChangedPath | None
    """None if they don't differ."""
    path: str
    before: FileState | None
    """None if nothing existed; without data if unknown."""
    after: FileState | None
    before_lines: tuple[bytes, ...] = ()
    """Each with its newline, so that joining them gives the exact content. Only a newline ends a line."""
    after_lines: tuple[bytes, ...] = ()
    hunks: tuple[LineChange, ...] = ()
    """Where the lines differ, in order; empty if the states can't be compared by lines."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """What a revert, or its undo, did to a file. Undoing it swaps the two."""

    path: str
    found: FileState | None
    left: FileState | None


class ChangesError(Exception):
    """A revert that didn't happen. `str()` is for the user."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


class ChangedMeanwhile(ChangesError):
    """The file is no longer as shown, so it was left unchanged."""

    def __init__(self, path: str, shown: FileState | None, now: FileState | None) -> None:
        super().__init__(path, f"{path!r} has changed since you saw it. Look again, then decide.")
        self.shown = shown
        self.now = now
        self.reverted: Review | None = None
        """What the revert took away that can't be undone now, as changes to the state that it left."""


class CannotRevert(ChangesError):
    """It can't be reverted, whether or not the file is as shown."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, f"{path!r} can't be reverted: {reason}.")


_SNIFFED_BYTES: Final = 8000  # as far as git looks for a NUL


def review(path: str, before: FileState | None, after: FileState | None) -> Review:
    """Both states and the lines in which they differ."""
    kind = _kind(before, after)
    if kind is None:
        return Review(None, path, before, after)
    change = ChangedPath(
        path,
        kind,
        before_unknown=before.unknown if before is not None and before.data is None else None,
        is_binary=_is_binary(before) or _is_binary(after),
    )
    if kind == "type" or change.is_binary or not (_is_known(before) and _is_known(after)):
        return Review(change, path, before, after)
    return _by_lines(change, before, after)


def without_hunk(review: Review, hunk: LineChange) -> FileState | None:
    """The state shown, but with one hunk as it was before; None if nothing is left. Raises: CannotRevert."""
    if hunk not in review.hunks:
        raise CannotRevert(review.path, "it has no such part")
    if review.after is None:
        return review.before
    if review.before is None:
        return None
    lines = (
        *review.after_lines[: hunk.new_from],
        *review.before_lines[hunk.old_from : hunk.old_to],
        *review.after_lines[hunk.new_to :],
    )
    data = b"".join(lines)
    return replace(review.after, data=data, size=len(data))


def put_back(swapped: Swapped, now: FileState | None) -> FileState | None:
    """The state now, with what a revert changed as it was before; None if lines at or near it have changed since."""
    left, found = swapped.left, swapped.found
    if left is None or found is None or now is None or not all(map(_has_lines, (left, found, now))):
        return None
    if now == found or now.mode not in (left.mode, found.mode):
        return found if now == found else None
    left_lines, found_lines, lines = _lines(left), _lines(found), [*_lines(now)]
    since = compare(left_lines, lines)[0]
    for old_from, old_to, new_from, new_to in reversed(compare(left_lines, found_lines)[0]):
        near = (old_from - CONTEXT_LINES, old_to + CONTEXT_LINES)
        if any(change.old_from < near[1] and change.old_to > near[0] for change in since):
            return None
        moved = next((each.new_to - each.old_to for each in reversed(since) if each.old_to <= old_from), 0)
        lines[old_from + moved : old_to + moved] = found_lines[new_from:new_to]
    data = b"".join(lines)
    return replace(now, mode=found.mode, data=data, size=len(data))


def _has_lines(state: FileState) -> bool:
    return state.is_file and state.data is not None and not _is_binary(state)


def _by_lines(change: ChangedPath, before: FileState | None, after: FileState | None) -> Review:
    before_lines, after_lines = _lines(before), _lines(after)
    hunks, is_approximate = compare(before_lines, after_lines)
    counted = replace(
        change,
        added=sum(hunk.new_to - hunk.new_from for hunk in hunks),
        removed=sum(hunk.old_to - hunk.old_from for hunk in hunks),
        is_approximate=is_approximate,
    )
    return Review(counted, change.path, before, after, before_lines, after_lines, hunks)


def _kind(before: FileState | None, after: FileState | None) -> ChangeKind | None:
    if before is None:
        return None if after is None else "added"
    if after is None:
        return "deleted" if before.mode else None  # otherwise it's unknown whether anything existed
    if before.mode and after.mode and before.kind != after.kind:
        return "type"
    if before.data is None or before.data != after.data:
        return "modified"
    return "mode" if before.permissions != after.permissions else None


def _is_known(state: FileState | None) -> bool:
    return state is None or state.data is not None


def _is_binary(state: FileState | None) -> bool:
    return state is not None and state.data is not None and b"\0" in state.data[:_SNIFFED_BYTES]


def _lines(state: FileState | None) -> tuple[bytes, ...]:
    return split_lines(state.data) if state is not None and state.data is not None else ()


def split_lines(data: bytes) -> tuple[bytes, ...]:
    """The lines with their newlines; joined, they are the data. Only a newline ends a line, as in git."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return (*lines, last) if last else tuple(lines)


def compare(before: Sequence[bytes], after: Sequence[bytes]) -> tuple[tuple[LineChange, ...], bool]:
    """Where the lines differ, in order, and whether parts of the result are only approximate."""
    numbers: dict[bytes, int] = {}
    comparison = LineComparison(
        [numbers.setdefault(line, len(numbers)) for line in before],
        [numbers.setdefault(line, len(numbers)) for line in after],
    )
    deque(comparison.steps(), maxlen=0)
    return tuple(comparison.changes), comparison.is_approximate
