"""Compares two texts line by line, and changed lines word by word; draws nothing and reads no file."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple, TypeAlias

from acp_tui.ui.rendering.diff_words import changed_words

MAX_LINES: Final = 100_000
"""Texts that differ in more lines than this, both counted, are not compared, but shown as replaced."""
MAX_WORK: Final = 4_000_000
"""Pairs of lines to compare at most, where no line on its own tells which belong together."""
MAX_EXACT_LINES: Final = 500
"""In longer parts lines that are frequent are not compared: only there does that cost too much."""
MAX_WORD_PAIRS: Final = 1_000
"""Changed lines to compare word by word at most."""

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
    changed: tuple[tuple[int, int], ...] = ()
    """Ranges of characters that its counterpart does not have; empty where all of it or nothing known is changed."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines that are close together, with the unchanged ones around them."""

    lines: tuple[DiffLine, ...]
    skipped_before: int
    """Unchanged lines between this hunk and the one before, or the beginning."""
    old_start: int
    old_count: int
    new_start: int
    new_count: int


@dataclass(frozen=True, slots=True)
class Diff:
    """What makes the new text of the old one."""

    hunks: tuple[Hunk, ...]
    skipped_after: int
    added: int
    removed: int
    has_both: bool
    """Whether there are lines on both sides: else all of a text is new or gone."""
    crlf: bool
    """Whether every line of both texts ends in CRLF, so that no line needs to say so."""
    approximate: bool
    """Whether lines are shown as replaced because comparing them would have taken too long."""


class _Change(NamedTuple):
    """Lines `old_from:old_to` become `new_from:new_to`."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


def compare(old_text: str, new_text: str, context: int = 3) -> Diff:
    """How `new_text` differs from `old_text`, with `context` unchanged lines around each change."""
    old, new = _split(old_text), _split(new_text)
    changes, approximate = _Comparison(old, new).changes()
    hunks = tuple(_hunks(old, new, changes, context))
    shown = hunks[-1].old_start - 1 + hunks[-1].old_count if hunks else 0
    return Diff(
        hunks=hunks,
        skipped_after=len(old) - shown if hunks else len(old),
        added=sum(change.new_to - change.new_from for change in changes),
        removed=sum(change.old_to - change.old_from for change in changes),
        has_both=bool(old and new),
        crlf=bool(old or new) and all(_end(line) == "\r\n" for line in (*old, *new)),
        approximate=approximate,
    )


def _split(text: str) -> list[str]:
    """The lines with their ends; only a newline ends a line, other separators are shown within it."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _end(line: str) -> LineEnd:
    if line.endswith("\r\n"):
        return "\r\n"
    return "\n" if line.endswith("\n") else ""


class _Comparison:
    """Finds the changes: lines that occur once in both texts divide the work, difflib does the rest."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old = old
        self._new = new
        self._work = 0
        self._approximate = False

    def changes(self) -> tuple[list[_Change], bool]:
        """The changes in order, and whether some of them were not looked into."""
        whole = self._trim(_Change(0, len(self._old), 0, len(self._new)))
        if whole.old_to - whole.old_from + whole.new_to - whole.new_from > MAX_LINES:
            return [whole], True
        found = [change for gap in self._divide(whole) for change in self._compare(self._trim(gap))]
        return found, self._approximate

    def _trim(self, change: _Change) -> _Change:
        """`change` without the lines that are the same at its beginning and end."""
        old_from, old_to, new_from, new_to = change
        while old_from < old_to and new_from < new_to and self._old[old_from] == self._new[new_from]:
            old_from, new_from = old_from + 1, new_from + 1
        while old_from < old_to and new_from < new_to and self._old[old_to - 1] == self._new[new_to - 1]:
            old_to, new_to = old_to - 1, new_to - 1
        return _Change(old_from, old_to, new_from, new_to)

    def _divide(self, whole: _Change) -> Iterator[_Change]:
        """The parts of `whole` between lines that occur once in both texts (the patience method)."""
        old_from, new_from = whole.old_from, whole.new_from
        for old_at, new_at in self._anchors(whole):
            yield _Change(old_from, old_at, new_from, new_at)
            old_from, new_from = old_at + 1, new_at + 1
        yield _Change(old_from, whole.old_to, new_from, whole.new_to)

    def _anchors(self, whole: _Change) -> list[tuple[int, int]]:
        old, new = self._old[whole.old_from : whole.old_to], self._new[whole.new_from : whole.new_to]
        old_counts, new_counts = Counter(old), Counter(new)
        new_at = {line: at for at, line in enumerate(new, whole.new_from) if new_counts[line] == 1}
        pairs = [
            (at, new_at[line])
            for at, line in enumerate(old, whole.old_from)
            if line in new_at and old_counts[line] == 1
        ]
        return _longest_rising(pairs)

    def _compare(self, part: _Change) -> list[_Change]:
        old_from, old_to, new_from, new_to = part
        if old_from == old_to or new_from == new_to:
            return [part] if old_from < old_to or new_from < new_to else []
        self._work += (old_to - old_from) * (new_to - new_from)
        if self._work > MAX_WORK:
            self._approximate = True
            return [part]
        fast = max(old_to - old_from, new_to - new_from) > MAX_EXACT_LINES
        matcher = SequenceMatcher(None, self._old[old_from:old_to], self._new[new_from:new_to], autojunk=fast)
        return [
            _Change(old_from + i1, old_from + i2, new_from + j1, new_from + j2)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
            if tag != "equal"
        ]


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most pairs, of those that ascend in their first number, that ascend in their second one too."""
    lowest: list[int] = []  # the lowest second number that a run of each length can end with
    ends: list[int] = []  # which pair that is
    before: list[int] = []  # for each pair, the one before it in its run
    for index, (_, second) in enumerate(pairs):
        length = bisect_left(lowest, second)
        before.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [second]
        ends[length : length + 1] = [index]
    rising: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        rising.append(pairs[at])
        at = before[at]
    return rising[::-1]


def _hunks(
    old: Sequence[str], new: Sequence[str], changes: Sequence[_Change], context: int
) -> Iterator[Hunk]:
    shown = 0
    pairs_left = MAX_WORD_PAIRS
    for group in _groups(changes, context):
        start = max(group[0].old_from - context, shown)
        stop = min(group[-1].old_to + context, len(old))
        lines = _HunkLines(old, new, pairs_left)
        lines.add_group(group, start, stop)
        pairs_left = lines.pairs_left
        new_start = group[0].new_from - (group[0].old_from - start)
        new_count = group[-1].new_to + (stop - group[-1].old_to) - new_start
        yield Hunk(tuple(lines.lines), start - shown, start + 1, stop - start, new_start + 1, new_count)
        shown = stop


def _groups(changes: Sequence[_Change], context: int) -> Iterator[list[_Change]]:
    """Changes whose contexts touch, together; a gap of one line is not worth hiding."""
    group: list[_Change] = []
    for change in changes:
        if group and change.old_from - group[-1].old_to > 2 * context + 1:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


class _HunkLines:
    """Collects the lines of one hunk."""

    def __init__(self, old: Sequence[str], new: Sequence[str], pairs_left: int) -> None:
        self._old = old
        self._new = new
        self.pairs_left = pairs_left
        self.lines: list[DiffLine] = []

    def add_group(self, group: Sequence[_Change], start: int, stop: int) -> None:
        """Add `group` with the unchanged lines from `start` to `stop` of the old text."""
        offset = group[0].new_from - group[0].old_from
        for change in group:
            self._add_context(start, change.old_from, offset)
            self._add_change(change)
            start, offset = change.old_to, change.new_to - change.old_to
        self._add_context(start, stop, offset)

    def _add_context(self, start: int, stop: int, offset: int) -> None:
        self.lines += [_line("context", self._old[at], at, at + offset) for at in range(start, stop)]

    def _add_change(self, change: _Change) -> None:
        removed = [_line("removed", self._old[at], at, None) for at in range(change.old_from, change.old_to)]
        added = [_line("added", self._new[at], None, at) for at in range(change.new_from, change.new_to)]
        pairs = min(len(removed), len(added), self.pairs_left)
        self.pairs_left -= pairs
        for at in range(pairs):
            removed[at], added[at] = _mark_words(removed[at], added[at])
        self.lines += [*removed, *added]


def _mark_words(removed: DiffLine, added: DiffLine) -> tuple[DiffLine, DiffLine]:
    old_ranges, new_ranges = changed_words(removed.text, added.text)
    return replace(removed, changed=old_ranges), replace(added, changed=new_ranges)


def _line(kind: LineKind, line: str, old_at: int | None, new_at: int | None) -> DiffLine:
    end = _end(line)
    return DiffLine(
        kind,
        line[: len(line) - len(end)],
        end,
        None if old_at is None else old_at + 1,
        None if new_at is None else new_at + 1,
    )
