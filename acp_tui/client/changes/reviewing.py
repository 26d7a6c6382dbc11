"""Says how two states of a file differ, and what a file would be without one of the differences.

It reads and writes no file.
"""

from dataclasses import replace
from typing import Final

from acp_tui.client.changes.lines import compare, split_lines
from acp_tui.client.changes.values import CannotRevert, ChangeKind, FileChange, FileState, Hunk, Review

_SNIFFED_BYTES: Final = 8000  # as far as git looks for a NUL


def review(path: str, before: FileState | None, after: FileState | None) -> Review:
    """Both states with the lines in which they differ."""
    kind = _kind(before, after)
    if kind is None:
        return Review(None, path, before, after)
    change = FileChange(
        path,
        kind,
        before_unknown=before.unknown if before is not None and before.data is None else None,
        is_binary=_is_binary(before) or _is_binary(after),
        size_before=before.size if before is not None and before.mode else None,
        size=after.size if after is not None else None,
    )
    if kind == "type" or change.is_binary or not (_is_known(before) and _is_known(after)):
        return Review(change, path, before, after)
    return _by_lines(change, before, after)


def without_hunk(review: Review, hunk: Hunk) -> FileState | None:
    """The state shown, but for one hunk, which is as it was before; None where that leaves nothing.

    Raises: CannotRevert.
    """
    if hunk not in review.hunks:
        raise CannotRevert(review.path, "it has no such part")
    if review.after is None:
        return review.before
    if review.before is None:
        return None
    lines = (
        *review.after_lines[: hunk.after_start],
        *review.before_lines[hunk.before_start : hunk.before_end],
        *review.after_lines[hunk.after_end :],
    )
    data = b"".join(lines)
    return replace(review.after, data=data, size=len(data))


def _by_lines(change: FileChange, before: FileState | None, after: FileState | None) -> Review:
    before_lines, after_lines = _lines(before), _lines(after)
    hunks, is_approximate = compare(before_lines, after_lines)
    counted = replace(
        change,
        added=sum(hunk.after_end - hunk.after_start for hunk in hunks),
        removed=sum(hunk.before_end - hunk.before_start for hunk in hunks),
        is_approximate=is_approximate,
    )
    return Review(counted, change.path, before, after, before_lines, after_lines, hunks)


def _kind(before: FileState | None, after: FileState | None) -> ChangeKind | None:
    if before is None:
        return None if after is None else "added"
    if after is None:
        return "deleted" if before.mode else None  # else it is not known that anything was there
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
