"""Finds the lines in which two texts differ, in steps of about a millisecond, and formats them like `diff -u`.

Lines that occur once in both texts divide the work (the patience method), and the shortest edit does the rest (E. W.
Myers, 1986). Texts on the screen are compared in steps on the event loop, not in a thread: the code is pure Python, so
a thread would only contend for the GIL, and a comparison that is no longer needed simply stops. The effort is limited
by work, not by time, so the same texts always give the same diff.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from io import StringIO
from typing import Final, NamedTuple, TypeAlias

from acp_tui.conversation.tool_calls import NOWHERE, HunkStart, line_in_file
from acp_tui.conversation.visible import make_visible, make_visible_line

MAX_LINES: Final = 200_000
"""Texts that differ in more lines than this, in total, aren't compared. They count as replaced."""
MAX_WORK: Final = 1_000_000
"""Steps in the search for the shortest edit, about half a second. The rest then counts as replaced."""
MAX_DEPTH: Final = 8
"""How often to divide by lines that occur once, each time at the cost of reading all lines."""
MAX_EDITS: Final = 200
"""How long an edit is guaranteed to be the shortest. The effort grows with the square."""
STEP_WORK: Final = 4_000
"""Lines or positions per step."""

Line: TypeAlias = Hashable
"""A line, or a stand-in for it."""
Steps: TypeAlias = Iterator[None]
"""Work that is done by iterating over it."""


class PlacedLine(NamedTuple):
    path: str
    sign: str
    """ "+", "-", or " "."""
    text: str
    old: int | None
    """Its number in the old file; None if it isn't there, or that isn't known."""
    new: int | None


class LineChange(NamedTuple):
    """Lines `old_from:old_to` become `new_from:new_to`, counted from 0."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int

    @property
    def is_empty(self) -> bool:
        return self.old_from == self.old_to and self.new_from == self.new_to

    @property
    def has_both(self) -> bool:
        return self.old_from < self.old_to and self.new_from < self.new_to


class LineComparison:
    """Compares lines while its `steps` are iterated over."""

    def __init__(self, old: Sequence[Line], new: Sequence[Line]) -> None:
        self._old = old
        self._new = new
        self._work_left = MAX_WORK
        self._unpaid = 0
        self.changes: list[LineChange] = []
        """What has been found so far, in order. Between any two, there are equal lines."""
        self.is_approximate = False
        """Whether some lines count as replaced without having been compared."""

    def steps(self) -> Steps:
        """Compare. Afterward, `changes` is complete."""
        whole = self._trimmed(LineChange(0, len(self._old), 0, len(self._new)))
        if whole.old_to - whole.old_from + whole.new_to - whole.new_from > MAX_LINES:
            self.is_approximate = True
            self.changes.append(whole)
            return
        waiting = [(whole, 0)]
        while waiting:
            part, depth = waiting.pop()
            part = self._trimmed(part)
            parts = (yield from self._divided(part, depth)) if part.has_both else []
            if parts:
                waiting += [(smaller, depth + 1) for smaller in reversed(parts)]
            elif not part.is_empty:
                self.changes.append(part)
            yield from self._pay(1)

    def _pay(self, work: int) -> Steps:
        """End the step if enough work was done in it."""
        self._unpaid += work
        if self._unpaid >= STEP_WORK:
            self._unpaid = 0
            yield

    def _trimmed(self, part: LineChange) -> LineChange:
        old_from, old_to, new_from, new_to = part
        old, new = self._old, self._new
        while old_from < old_to and new_from < new_to and old[old_from] == new[new_from]:
            old_from, new_from = old_from + 1, new_from + 1
        while old_from < old_to and new_from < new_to and old[old_to - 1] == new[new_to - 1]:
            old_to, new_to = old_to - 1, new_to - 1
        return LineChange(old_from, old_to, new_from, new_to)

    def _divided(self, part: LineChange, depth: int) -> Generator[None, None, list[LineChange]]:
        """Smaller parts with only equal lines between them; none if it differs everywhere."""
        pairs = (yield from self._anchors(part)) if depth < MAX_DEPTH else []
        pairs = pairs or (yield from self._shortest_edit(part))
        parts: list[LineChange] = []
        old_from, new_from = part.old_from, part.new_from
        for old_at, new_at in pairs:
            if old_at > old_from or new_at > new_from:
                parts.append(LineChange(old_from, old_at, new_from, new_at))
            old_from, new_from = old_at + 1, new_at + 1
            yield from self._pay(1)
        if pairs and (old_from < part.old_to or new_from < part.new_to):
            parts.append(LineChange(old_from, part.old_to, new_from, part.new_to))
        return parts

    def _anchors(self, part: LineChange) -> Generator[None, None, list[tuple[int, int]]]:
        """The largest set of lines that occur once on each side, and in the same order on both."""
        old_at = yield from self._single(self._old, part.old_from, part.old_to)
        new_at = yield from self._single(self._new, part.new_from, part.new_to)
        pairs = [(at, new_at[line]) for line, at in old_at.items() if line in new_at]
        yield from self._pay(len(old_at))
        return (yield from self._longest_rising(pairs))

    def _single(self, lines: Sequence[Line], start: int, stop: int) -> Generator[None, None, dict[Line, int]]:
        """The lines that occur once from `start` to `stop`, with their positions, in order."""
        found: dict[Line, int] = {}
        repeated: set[Line] = set()
        for begin in range(start, stop, STEP_WORK):
            end = min(begin + STEP_WORK, stop)
            for at in range(begin, end):
                line = lines[at]
                if line in found:
                    repeated.add(line)
                else:
                    found[line] = at
            yield from self._pay(end - begin)
        for line in repeated:
            del found[line]
        return found

    def _longest_rising(self, pairs: Sequence[tuple[int, int]]) -> Generator[None, None, list[tuple[int, int]]]:
        """From pairs that ascend in their first number, the most that also ascend in their second."""
        lowest: list[int] = []  # the lowest second number that a run of each length can end with
        ends: list[int] = []  # the pair with that number
        before: list[int] = []  # for each pair, the one before it in its run
        for index, (_, second) in enumerate(pairs):
            length = bisect_left(lowest, second)
            before.append(ends[length - 1] if length else -1)
            lowest[length : length + 1] = [second]
            ends[length : length + 1] = [index]
            yield from self._pay(1)
        rising: list[tuple[int, int]] = []
        at = ends[-1] if ends else -1
        while at >= 0:
            rising.append(pairs[at])
            at = before[at]
        return rising[::-1]

    def _shortest_edit(self, part: LineChange) -> Generator[None, None, list[tuple[int, int]]]:
        """The equal lines along a short edit; none if there are none, or if the search takes too long.

        The edit is the shortest one up to `MAX_EDITS`. After that, the search restarts from the best position reached.
        """
        old = self._old[part.old_from : part.old_to]
        new = self._new[part.new_from : part.new_to]
        if set(old).isdisjoint(new):
            return []
        pairs: list[tuple[int, int]] = []
        x = y = 0
        while x < len(old) and y < len(new):
            dx, dy, run = yield from self._furthest(old[x:], new[y:])
            if self._work_left < 0:
                self.is_approximate = True
                break
            found: list[tuple[int, int]] = []
            while run is not None:
                left, above, length, run = run
                left, above = part.old_from + x + left, part.new_from + y + above
                found += [(left - back, above - back) for back in range(1, length + 1)]
            pairs += reversed(found)
            x, y = x + dx, y + dy
        return pairs

    def _furthest(
        self, old: Sequence[Line], new: Sequence[Line]
    ) -> Generator[None, None, tuple[int, int, _Run | None]]:
        """The end, or the furthest position within the limit of the search, and the last run on the way there.

        With `n` edits there are diagonals `-n, -n + 2 … n`: place `i` of a list is for diagonal `2 * i - n`.
        """
        reach: list[tuple[int, _Run | None]] = []
        """How far each diagonal reaches, and the last run on the way there."""
        while True:
            before, reach = reach, []
            edits, slid = len(before), 0
            for place in range(edits + 1):
                above = before[place] if place < edits else _NOWHERE
                below = before[place - 1] if place else _NOWHERE
                x, run = above if above[0] > below[0] else (below[0] + 1, below[1])
                start, y = x, x - 2 * place + edits
                while x < len(old) and y < len(new) and old[x] == new[y]:
                    x, y = x + 1, y + 1
                slid += x - start
                reach.append((x, _Run(x, y, x - start, run) if x > start else run))
            places = [(x, x - 2 * place + edits, run) for place, (x, run) in enumerate(reach)]
            inside = [at for at in places if at[0] <= len(old) and 0 <= at[1] <= len(new)]
            end = max(inside, key=lambda at: at[0] + at[1])
            if end[:2] == (len(old), len(new)):
                return end
            self._work_left -= len(reach) + slid
            yield from self._pay(len(reach) + slid)
            if edits == MAX_EDITS or self._work_left < 0:
                return end


class _Run(NamedTuple):
    """Equal lines, up to a position."""

    x: int
    y: int
    length: int
    before: _Run | None
    """The one that an edit came from."""


_NOWHERE: Final = (-1, None)
"""A diagonal is entered from the one above by an added line, or from the one below by a removed line, if there is one.
"""


# The diff

CONTEXT_LINES: Final = 3
"""The number of unchanged lines to show around a change, unless all are shown."""
NO_NEWLINE: Final = "\\ No newline at end of file"


def unified_diff(path: str, old_text: str | None, new_text: str, parts: Sequence[HunkStart] = ()) -> str:
    """The change in the format of `diff -u`, with visible text. `old_text` None means that the file is new.

    `parts` is as in `TextDiff.parts`: for a part at an unknown place, no line says where it is.
    """
    name = make_visible_line(path)
    header = [f"--- {'/dev/null' if old_text is None else name}", f"+++ {name}"]
    if parts == NOWHERE:  # the file goes on
        old_text, new_text = f"{old_text}\n", f"{new_text}\n"
    old, new = split_lines(old_text or ""), split_lines(new_text)
    return "\n".join([*header, *_hunks(old, new, parts)])


def told_diff(path: str, old_text: str | None, new_text: str, parts: Sequence[HunkStart] = ()) -> str:
    """The same for a person: if nothing changes, it says so."""
    if old_text == new_text:
        return f"{make_visible_line(path)}: no change"
    return unified_diff(path, old_text, new_text, parts)


def split_lines(text: str) -> list[str]:
    """The lines with their newlines. Only a newline ends a line; other separators are shown in it."""
    return StringIO(text, newline="\n").readlines()


def _hunks(old: Sequence[str], new: Sequence[str], parts: Sequence[HunkStart]) -> Iterator[str]:
    ends_in_crlf = all(line.endswith("\r\n") for line in (*old, *new))
    comparison = LineComparison(old, new)
    deque(comparison.steps(), maxlen=0)
    for group in grouped(comparison.changes, 2 * CONTEXT_LINES):
        first, last = group[0], group[-1]
        before = min(CONTEXT_LINES, first.old_from)
        after = min(CONTEXT_LINES, len(old) - last.old_to)
        old_range = _range(first.old_from - before, last.old_to + after, parts, is_old=True)
        new_range = _range(first.new_from - before, last.new_to + after, parts, is_old=False)
        yield "@@" if parts == NOWHERE else f"@@ -{old_range} +{new_range} @@"
        at = first.old_from - before
        for change in group:
            yield from _signed(" ", old[at : change.old_from], ends_in_crlf)
            yield from _signed("-", old[change.old_from : change.old_to], ends_in_crlf)
            yield from _signed("+", new[change.new_from : change.new_to], ends_in_crlf)
            at = change.old_to
        yield from _signed(" ", old[at : at + after], ends_in_crlf)


def grouped(changes: Iterable[LineChange], gap: int) -> Iterator[list[LineChange]]:
    """Group changes with at most `gap` unchanged lines between them."""
    group: list[LineChange] = []
    for change in changes:
        if group and change.old_from - group[-1].old_to > gap:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _range(start: int, stop: int, parts: Sequence[HunkStart], *, is_old: bool) -> str:
    """A hunk's lines as `diff` writes them. An empty range names the line before it."""
    line = line_in_file(parts, start + 1, is_old=is_old)
    return f"{line if stop > start else line - 1},{stop - start}"


def _signed(sign: str, lines: Sequence[str], ends_in_crlf: bool) -> Iterator[str]:
    for line in lines:
        # A carriage return is only worth showing if not every line has one.
        yield sign + make_visible(line.removesuffix("\r\n" if ends_in_crlf else "\n"))
        if not line.endswith("\n"):
            yield NO_NEWLINE
