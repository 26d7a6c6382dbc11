"""What the difference of two texts consists of, line by line and word by word; draws nothing and reads no file.

Nothing is made before it is looked at but the list of changes: of a long diff only a page is seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from acp_tui.client.line_comparison import Change, LineComparison, Steps
from acp_tui.ui.rendering.diff_words import Ranges, changed_words

CONTEXT_LINES: Final = 3
"""Unchanged lines to show around a change, where not all are to be seen."""

LineKind: TypeAlias = Literal["context", "added", "removed"]
LineEnd: TypeAlias = Literal["\n", "\r\n", ""]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of either text, or of both."""

    kind: LineKind
    text: str
    """Without its end."""
    end: LineEnd
    old_number: int | None
    """Counted from 1; None in an added line."""
    new_number: int | None
    changed: Ranges = ()
    """Ranges of characters that its counterpart does not have; empty where all of it or nothing known is changed."""


Pair: TypeAlias = tuple[DiffLine | None, DiffLine | None]
"""An old line and the new one beside it."""


class Run(NamedTuple):
    """Lines that are all unchanged, or of which the old ones become the new ones; numbers count from 0."""

    is_changed: bool
    old_from: int
    old_count: int
    new_from: int
    new_count: int

    @property
    def line_count(self) -> int:
        """How many lines it has below each other."""
        return self.old_count + self.new_count if self.is_changed else self.old_count

    @property
    def pair_count(self) -> int:
        """How many rows it has side by side."""
        return max(self.old_count, self.new_count)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines that are close together, with the unchanged ones around them."""

    runs: tuple[Run, ...]
    skipped_before: int
    """Unchanged lines between this hunk and the one before, or the beginning."""
    old_start: int
    old_count: int
    new_start: int
    new_count: int

    @property
    def has_changes(self) -> bool:
        """Whether it is more than what is before the first change."""
        return any(run.is_changed for run in self.runs)


@dataclass(frozen=True, slots=True)
class Diff:
    """What makes the new text of the old one."""

    old: Sequence[str]
    """The lines with their ends."""
    new: Sequence[str]
    changes: tuple[Change, ...]
    crlf: bool
    """Whether every line of both texts ends in CRLF, so that no line needs to say so."""
    approximate: bool
    """Whether lines are shown as replaced because comparing them would have taken too long."""

    @property
    def added(self) -> int:
        """How many lines are new."""
        return sum([change.new_to - change.new_from for change in self.changes])

    @property
    def removed(self) -> int:
        """How many lines are gone."""
        return sum([change.old_to - change.old_from for change in self.changes])

    @property
    def has_both(self) -> bool:
        """Whether there are lines on both sides: else all of a text is new or gone."""
        return bool(self.old and self.new)

    def hunks(self, context: int | None = CONTEXT_LINES) -> tuple[Hunk, ...]:
        """The changes with so many unchanged lines around each, None for all lines of the file.

        All lines are in as many hunks as there would be otherwise, and one of what is before the first of them.
        """
        return tuple(_all_lines(self) if context is None else _hunks(self, context))

    def skipped_after(self, hunks: Sequence[Hunk]) -> int:
        """How many unchanged lines there are behind the last of these."""
        return len(self.old) - (hunks[-1].old_start - 1 + hunks[-1].old_count if hunks else 0)

    def line(self, run: Run, index: int) -> DiffLine:
        """A line of a run, of which what is gone stands above what is new."""
        if not run.is_changed:
            return self._unchanged(run, index)
        if index < run.old_count:
            return self._removed(run, index)
        return self._added(run, index - run.old_count)

    def pair(self, run: Run, index: int) -> Pair:
        """What stands side by side: in a change the n-th old line and the n-th new one."""
        if not run.is_changed:
            line = self._unchanged(run, index)
            return line, line
        return (
            self._removed(run, index) if index < run.old_count else None,
            self._added(run, index) if index < run.new_count else None,
        )

    def lines(self, hunk: Hunk) -> Iterator[DiffLine]:
        """All lines of a hunk."""
        return (self.line(run, index) for run in hunk.runs for index in range(run.line_count))

    def _unchanged(self, run: Run, index: int) -> DiffLine:
        old_at, new_at = run.old_from + index, run.new_from + index
        text, end = _without_end(self.old[old_at])
        return DiffLine("context", text, end, old_at + 1, new_at + 1)

    def _removed(self, run: Run, index: int) -> DiffLine:
        text, end = _without_end(self.old[run.old_from + index])
        return DiffLine("removed", text, end, run.old_from + index + 1, None, self._marks(run, index)[0])

    def _added(self, run: Run, index: int) -> DiffLine:
        text, end = _without_end(self.new[run.new_from + index])
        return DiffLine("added", text, end, None, run.new_from + index + 1, self._marks(run, index)[1])

    def _marks(self, run: Run, index: int) -> tuple[Ranges, Ranges]:
        """What differs in the n-th old line of a change and in the n-th new one."""
        if index >= min(run.old_count, run.new_count):
            return (), ()
        old, new = self.old[run.old_from + index], self.new[run.new_from + index]
        return changed_words(_without_end(old)[0], _without_end(new)[0])


def compare(old_text: str, new_text: str) -> Diff:
    """How `new_text` differs from `old_text`; all at once, which may take half a second."""
    comparison = TextComparison(old_text, new_text)
    for _ in comparison.steps():
        pass
    return comparison.diff


class TextComparison:
    """Compares two texts while its `steps` are gone through."""

    def __init__(self, old_text: str, new_text: str) -> None:
        self._old_text = old_text
        self._new_text = new_text
        self.diff: Diff
        """There when there are no more steps."""

    def steps(self) -> Steps:
        """Compare, about a millisecond at a time."""
        old = split_lines(self._old_text)
        new = split_lines(self._new_text)
        comparison = LineComparison(old, new)
        yield from comparison.steps()
        crlf = bool(old or new) and _is_crlf(self._old_text) and _is_crlf(self._new_text)
        self.diff = Diff(old, new, tuple(comparison.changes), crlf, comparison.is_approximate)


def split_lines(text: str) -> list[str]:
    """The lines with their ends; only a newline ends a line, other separators are shown within it."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _is_crlf(text: str) -> bool:
    """Whether every line ends in CRLF."""
    return not text or (text.endswith("\r\n") and text.count("\r\n") == text.count("\n"))


def _without_end(line: str) -> tuple[str, LineEnd]:
    if line.endswith("\r\n"):
        return line[:-2], "\r\n"
    return (line[:-1], "\n") if line.endswith("\n") else (line, "")


def _hunks(diff: Diff, context: int) -> Iterator[Hunk]:
    shown = 0
    for group in _groups(diff.changes, context):
        start = max(group[0].old_from - context, shown)
        stop = min(group[-1].old_to + context, len(diff.old))
        yield _hunk(group, start, stop, start - shown)
        shown = stop


def _all_lines(diff: Diff) -> Iterator[Hunk]:
    if not diff.changes:
        return
    groups = list(_groups(diff.changes, CONTEXT_LINES))
    starts = [max(group[0].old_from - CONTEXT_LINES, 0) for group in groups]
    if starts[0]:
        yield Hunk((Run(False, 0, starts[0], 0, starts[0]),), 0, 1, starts[0], 1, starts[0])
    for group, start, stop in zip(groups, starts, [*starts[1:], len(diff.old)], strict=True):
        yield _hunk(group, start, stop, 0)


def _hunk(group: Sequence[Change], start: int, stop: int, skipped_before: int) -> Hunk:
    """`group` with the unchanged lines from `start` to `stop` of the old text."""
    new_start = group[0].new_from - (group[0].old_from - start)
    new_count = group[-1].new_to + (stop - group[-1].old_to) - new_start
    runs = tuple(_runs(group, start, stop))
    return Hunk(runs, skipped_before, start + 1, stop - start, new_start + 1, new_count)


def _groups(changes: Sequence[Change], context: int) -> Iterator[list[Change]]:
    """Changes whose contexts touch, together; a gap of one line is not worth hiding."""
    group: list[Change] = []
    for change in changes:
        if group and change.old_from - group[-1].old_to > 2 * context + 1:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _runs(group: Sequence[Change], start: int, stop: int) -> Iterator[Run]:
    """The changes of `group` with the unchanged lines from `start` to `stop` of the old text."""
    offset = group[0].new_from - group[0].old_from
    for old_from, old_to, new_from, new_to in group:
        if start < old_from:
            yield Run(False, start, old_from - start, start + offset, old_from - start)
        yield Run(True, old_from, old_to - old_from, new_from, new_to - new_from)
        start, offset = old_to, new_to - old_to
    if start < stop:
        yield Run(False, start, stop - start, start + offset, stop - start)
