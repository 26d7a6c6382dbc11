"""Compares two texts line by line and word by word. Words are compared when they are drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from acp_tui.client.line_comparison import CONTEXT_LINES, LineChange, LineComparison, Steps, grouped, split_lines
from acp_tui.conversation.tool_calls import NOWHERE, HunkStart, line_in_file
from acp_tui.values import dataclass

MAX_WORDS: Final = 200
"""If there are more words between the common beginning and end, everything between counts as changed."""
MAX_CHARACTERS: Final = 2_000
"""Longer lines aren't split into words: everything between the common beginning and end counts as changed."""
MAX_EQUAL_PAIRS: Final = 2_000
"""The same limit for pairs of equal words to compare, such as in tables of commas and zeros."""
MIN_COMMON: Final = 0.4
"""The minimum fraction of both lines that must match. Below it, marks would only be noise."""

SPLIT_AT_ONCE: Final = 1 << 18
"""Characters that are split into lines in one step, at least."""

_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")

Ranges: TypeAlias = tuple[tuple[int, int], ...]


@lru_cache(maxsize=256)  # the old and the new line both call it
def changed_words(old: str, new: str) -> tuple[Ranges, Ranges]:
    """Return the character ranges that only `old` and only `new` has; empty if the lines are too different."""
    if max(len(old), len(new)) > MAX_CHARACTERS:
        old_ranges, new_ranges = _changed_middle(old, new)
    else:
        old_ranges, new_ranges = _changed_runs(_WORD.findall(old), _WORD.findall(new))
    common = len(old.strip()) - _length(old_ranges) + len(new.strip()) - _length(new_ranges)
    if common < MIN_COMMON * (len(old.strip()) + len(new.strip())):
        return (), ()
    return old_ranges, new_ranges


def _changed_middle(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The part between the common beginning and the common end."""
    start = _same_characters(old, new)
    tail = _same_characters(old[start:][::-1], new[start:][::-1])
    return _range(start, len(old) - tail), _range(start, len(new) - tail)


def _same_characters(old: str, new: str) -> int:
    """Count the characters of the common beginning. A binary search, because comparing strings is fast."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _range(start: int, stop: int) -> Ranges:
    return ((start, stop),) if stop > start else ()


def _changed_runs(old: list[str], new: list[str]) -> tuple[Ranges, Ranges]:
    changes = _changes(old, new)
    return (
        _ranges(old, [(old_from, old_to) for old_from, old_to, _, _ in changes]),
        _ranges(new, [(new_from, new_to) for _, _, new_from, new_to in changes]),
    )


def _changes(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """The runs of words that differ. Strips the common beginning and end first, since often that is enough."""
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < limit - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_stop, new_stop = len(old) - tail, len(new) - tail
    old_words, new_words = old[start:old_stop], new[start:new_stop]
    if not old_words or not new_words or _is_costly(old_words, new_words):
        return [(start, old_stop, start, new_stop)]
    # Whitespace is junk: on its own it would match everywhere.
    matcher = SequenceMatcher(str.isspace, old_words, new_words, autojunk=False)
    return [
        (start + i1, start + i2, start + j1, start + j2)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _is_costly(old: list[str], new: list[str]) -> bool:
    if max(len(old), len(new)) > MAX_WORDS:
        return True
    counts = Counter(new)
    return sum([counts[word] for word in old if not word.isspace()]) > MAX_EQUAL_PAIRS


def _ranges(words: list[str], runs: Iterable[tuple[int, int]]) -> Ranges:
    """Convert runs of words to character ranges, without empty ones."""
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return tuple((offsets[start], offsets[stop]) for start, stop in runs if stop > start)


def _length(ranges: Ranges) -> int:
    return sum(stop - start for start, stop in ranges)


LineKind: TypeAlias = Literal["context", "added", "removed"]
LineEnd: TypeAlias = Literal["\n", "\r\n", ""]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of either text, or of both."""

    kind: LineKind
    text: str
    """Without its line ending."""
    end: LineEnd
    old_number: int | None
    """Counted from 1; None for an added line."""
    new_number: int | None
    changed: Ranges = ()
    """The character ranges that its counterpart lacks; empty if the whole line changed or the ranges aren't known."""


Pair: TypeAlias = tuple[DiffLine | None, DiffLine | None]
"""An old line and the new one next to it."""


class LineRun(NamedTuple):
    """A run of unchanged lines, or of old lines replaced by new ones. Numbers count from 0."""

    is_changed: bool
    old_from: int
    old_count: int
    new_from: int
    new_count: int

    @property
    def line_count(self) -> int:
        """The number of rows in one column."""
        return self.old_count + self.new_count if self.is_changed else self.old_count

    @property
    def pair_count(self) -> int:
        """The number of rows side by side."""
        return max(self.old_count, self.new_count)


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """Changes that are close together, with the unchanged lines around them."""

    runs: tuple[LineRun, ...]
    skipped_before: int
    """Unchanged lines between the previous hunk, or the beginning, and this one."""
    old_start: int
    old_count: int
    new_start: int
    new_count: int

    @property
    def has_changes(self) -> bool:
        """Whether it has changes. False only for a hunk of the lines before the first change."""
        return any(run.is_changed for run in self.runs)


@dataclass(frozen=True, slots=True)
class Diff:
    """The changes that turn the old text into the new one."""

    old: Sequence[str]
    """The lines, with their line endings."""
    new: Sequence[str]
    changes: tuple[LineChange, ...]
    crlf: bool
    """Whether every line of both texts ends with CRLF, so that lines needn't show it."""
    approximate: bool
    """Whether lines are shown as replaced because comparing them would have taken too long."""
    parts: tuple[HunkStart, ...] = ()
    """Where the lines are in the file, if the texts are only parts of it; () if the texts are whole."""
    are_hunks_single: bool = False
    """Whether each change is a hunk of its own, however close to others."""

    def number_in_file(self, number: int, *, is_old: bool) -> int:
        """Convert a line number of a text to that in the file. Both count from 1."""
        return line_in_file(self.parts, number, is_old=is_old)

    @property
    def is_placed(self) -> bool:
        """Whether it's known where the texts are in the file, and how the file ends."""
        return self.parts != NOWHERE

    @property
    def added(self) -> int:
        return sum([change.new_to - change.new_from for change in self.changes])

    @property
    def removed(self) -> int:
        return sum([change.old_to - change.old_from for change in self.changes])

    @property
    def has_both(self) -> bool:
        """Whether both sides have lines. If not, a whole text is new or gone."""
        return bool(self.old and self.new)

    @property
    def has_pairs(self) -> bool:
        """Whether lines become others. If not, one of two columns would have no change."""
        return any(change.has_both for change in self.changes)

    def hunks(self, context: int | None = CONTEXT_LINES) -> tuple[DiffHunk, ...]:
        """Return the changes with `context` unchanged lines around each; None for all lines of the file.

        With None, the file has the same hunks as with `CONTEXT_LINES`, extended to cover all lines. One more hunk holds
        the lines before the first.
        """
        if self.are_hunks_single:
            return tuple(_single_hunks(self, context))
        return tuple(_all_lines(self) if context is None else _hunks(self, context))

    def skipped_after(self, hunks: Sequence[DiffHunk]) -> int:
        return len(self.old) - (hunks[-1].old_start - 1 + hunks[-1].old_count if hunks else 0)

    def line(self, run: LineRun, index: int) -> DiffLine:
        """Return a line of a run. In a change, removed lines come before added ones."""
        if not run.is_changed:
            return self._unchanged(run, index)
        if index < run.old_count:
            return self._removed(run, index)
        return self._added(run, index - run.old_count)

    def pair(self, run: LineRun, index: int) -> Pair:
        """Return the lines of a row side by side: in a change, the n-th old line and the n-th new one."""
        if not run.is_changed:
            line = self._unchanged(run, index)
            return line, line
        return (
            self._removed(run, index) if index < run.old_count else None,
            self._added(run, index) if index < run.new_count else None,
        )

    def lines(self, hunk: DiffHunk) -> Iterator[DiffLine]:
        return (self.line(run, index) for run in hunk.runs for index in range(run.line_count))

    def _unchanged(self, run: LineRun, index: int) -> DiffLine:
        old_at, new_at = run.old_from + index, run.new_from + index
        text, end = _without_end(self.old[old_at])
        return DiffLine("context", text, end, old_at + 1, new_at + 1)

    def _removed(self, run: LineRun, index: int) -> DiffLine:
        text, end = _without_end(self.old[run.old_from + index])
        return DiffLine("removed", text, end, run.old_from + index + 1, None, self._marks(run, index)[0])

    def _added(self, run: LineRun, index: int) -> DiffLine:
        text, end = _without_end(self.new[run.new_from + index])
        return DiffLine("added", text, end, None, run.new_from + index + 1, self._marks(run, index)[1])

    def _marks(self, run: LineRun, index: int) -> tuple[Ranges, Ranges]:
        """What differs between the n-th old and the n-th new line of a change."""
        if index >= min(run.old_count, run.new_count):
            return (), ()
        old, new = self.old[run.old_from + index], self.new[run.new_from + index]
        return changed_words(_without_end(old)[0], _without_end(new)[0])


class TextComparison:
    """Compares two texts in `steps`."""

    def __init__(self, old_text: str, new_text: str) -> None:
        self._old_text = old_text
        self._new_text = new_text
        self.diff: Diff
        """Set when there are no more steps."""

    def steps(self) -> Steps:
        """Compare, about a millisecond at a time."""
        old = yield from _split(self._old_text)
        new = yield from _split(self._new_text)
        comparison = LineComparison(old, new)
        yield from comparison.steps()
        crlf = bool(old or new) and _is_crlf(self._old_text) and _is_crlf(self._new_text)
        self.diff = Diff(old, new, tuple(comparison.changes), crlf, comparison.is_approximate)


def _split(text: str) -> Generator[None, None, list[str]]:
    lines: list[str] = []
    at = 0
    while at < len(text):
        stop = text.find("\n", at + SPLIT_AT_ONCE) + 1 or len(text)
        lines += split_lines(text[at:stop])
        at = stop
        if at < len(text):
            yield
    return lines


def _is_crlf(text: str) -> bool:
    """Whether every line ends with CRLF."""
    return not text or (text.endswith("\r\n") and text.count("\r\n") == text.count("\n"))


def _without_end(line: str) -> tuple[str, LineEnd]:
    if line.endswith("\r\n"):
        return line[:-2], "\r\n"
    return (line[:-1], "\n") if line.endswith("\n") else (line, "")


def _hunks(diff: Diff, context: int) -> Iterator[DiffHunk]:
    shown = 0
    for group in grouped(diff.changes, 2 * context + 1):  # a gap of one line isn't worth hiding
        start = max(group[0].old_from - context, shown)
        stop = min(group[-1].old_to + context, len(diff.old))
        yield _hunk(group, start, stop, start - shown)
        shown = stop


def _all_lines(diff: Diff) -> Iterator[DiffHunk]:
    if not diff.changes:
        return
    groups = list(grouped(diff.changes, 2 * CONTEXT_LINES + 1))
    starts = [max(group[0].old_from - CONTEXT_LINES, 0) for group in groups]
    if starts[0]:
        yield DiffHunk((LineRun(False, 0, starts[0], 0, starts[0]),), 0, 1, starts[0], 1, starts[0])
    for group, start, stop in zip(groups, starts, [*starts[1:], len(diff.old)], strict=True):
        yield _hunk(group, start, stop, 0)


def _single_hunks(diff: Diff, context: int | None) -> Iterator[DiffHunk]:
    """A hunk for each change. Hunks share no unchanged lines, and never hide a single one between them."""
    most = len(diff.old) if context is None else context
    shown = 0
    for at, change in enumerate(diff.changes):
        start = max(change.old_from - most, shown)
        if change is diff.changes[-1]:
            stop = min(change.old_to + most, len(diff.old))
        else:
            gap = diff.changes[at + 1].old_from - change.old_to
            stop = change.old_to + (most if gap > 2 * most + 1 else (gap + 1) // 2)
        yield _hunk([change], start, stop, start - shown)
        shown = stop


def _hunk(group: Sequence[LineChange], start: int, stop: int, skipped_before: int) -> DiffHunk:
    """The hunk of `group`, with the unchanged lines from `start` to `stop` of the old text."""
    new_start = group[0].new_from - (group[0].old_from - start)
    new_count = group[-1].new_to + (stop - group[-1].old_to) - new_start
    return DiffHunk(tuple(_runs(group, start, stop)), skipped_before, start + 1, stop - start, new_start + 1, new_count)


def _runs(group: Sequence[LineChange], start: int, stop: int) -> Iterator[LineRun]:
    """The changes of `group`, with the unchanged lines from `start` to `stop` of the old text."""
    offset = group[0].new_from - group[0].old_from
    for old_from, old_to, new_from, new_to in group:
        if start < old_from:
            yield LineRun(False, start, old_from - start, start + offset, old_from - start)
        yield LineRun(True, old_from, old_to - old_from, new_from, new_to - new_from)
        start, offset = old_to, new_to - old_to
    if start < stop:
        yield LineRun(False, start, stop - start, start + offset, stop - start)
