"""Finds the lines in which two texts differ, with an effort that is bounded by what the texts are, not by a clock.

It knows no files; what it returns is exact for putting texts together, at worst not the shortest.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from acp_tui.client.changes.values import Hunk

MAX_WORK = 2_000_000
"""Steps in search of the shortest edit, some tenths of a second; what is left then counts as replaced."""
MAX_EDITS = 250
"""Lines of an edit after which what was found so far is taken, and the search begins anew behind it."""
MAX_DEPTH = 8
"""How often lines are divided by those that are unique, each time at the cost of looking at all of them."""

Span = tuple[int, int, int, int]
"""`before[a:b]` stands where `after[c:d]` does, as (a, b, c, d)."""


def split_lines(data: bytes) -> tuple[bytes, ...]:
    """The lines with their ends; joined they are the data. Only a newline ends a line, as in git."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return (*lines, last) if last else tuple(lines)


def compare(before: Sequence[bytes], after: Sequence[bytes]) -> tuple[tuple[Hunk, ...], bool]:
    """Where the lines differ, in order; and whether some of it is only approximate."""
    numbers: dict[bytes, int] = {}
    comparison = _Comparison(
        [numbers.setdefault(line, len(numbers)) for line in before],
        [numbers.setdefault(line, len(numbers)) for line in after],
    )
    return tuple(Hunk(*span) for span in comparison.differences()), comparison.is_approximate


class _Comparison:
    """Divides by lines that are unique on both sides, then looks for the shortest edit in what lies between."""

    def __init__(self, before: list[int], after: list[int]) -> None:
        self._before = before
        self._after = after
        self._work = MAX_WORK
        self.is_approximate = False

    def differences(self) -> Iterator[Span]:
        """The spans that differ, in order, with equal lines between any two."""
        waiting = [((0, len(self._before), 0, len(self._after)), 0)]
        while waiting:
            whole, depth = waiting.pop()
            span = a, b, c, d = self._trimmed(whole)
            if a < b and c < d and (parts := self._divided(span, depth)):
                waiting.extend((part, depth + 1) for part in reversed(parts))
            elif a < b or c < d:
                yield span

    def _trimmed(self, span: Span) -> Span:
        a, b, c, d = span
        before, after = self._before, self._after
        while a < b and c < d and before[a] == after[c]:
            a, c = a + 1, c + 1
        while a < b and c < d and before[b - 1] == after[d - 1]:
            b, d = b - 1, d - 1
        return a, b, c, d

    def _divided(self, span: Span, depth: int) -> list[Span]:
        """Smaller spans with only equal lines between them; none if the span is different throughout."""
        a, b, c, d = span
        common = (self._anchors(span) if depth < MAX_DEPTH else []) or self._shortest_edit(span)
        if not common:
            return []
        starts = [(a, c), *((x + 1, y + 1) for x, y in common)]
        ends = [*common, (b, d)]
        return [(x, u, y, v) for (x, y), (u, v) in zip(starts, ends, strict=True)]

    def _anchors(self, span: Span) -> list[tuple[int, int]]:
        """The longest run of lines that occur once on each side, in the same order on both."""
        a, b, c, d = span
        before, after = _once(self._before, a, b), _once(self._after, c, d)
        pairs = [(index, after[line]) for line, index in before.items() if line in after]
        return _longest_rise(sorted(pairs))

    def _shortest_edit(self, span: Span) -> list[tuple[int, int]]:
        """Equal lines along the shortest edit (E. W. Myers, 1986); or, where that is long, along its beginning."""
        a, b, c, d = span
        before, after = self._before[a:b], self._after[c:d]
        if not set(before) & set(after):
            return []
        trace, x, y = self._furthest_reaches(before, after)
        if x < len(before) or y < len(after):
            self.is_approximate = True
        return [(a + x, c + y) for x, y in _backtracked(trace, x, y)]

    def _furthest_reaches(self, before: list[int], after: list[int]) -> tuple[list[dict[int, int]], int, int]:
        """For each number of edits, how far each diagonal reaches with one edit fewer; and where they end."""
        n, m = len(before), len(after)
        reach = {1: 0}
        trace: list[dict[int, int]] = []
        while self._work > 0 and len(trace) <= MAX_EDITS:
            edits = len(trace)
            trace.append(reach)
            reach = dict(reach)
            for k in range(-edits, edits + 1, 2):
                x = start = _step(reach, k, edits)
                while x < n and x - k < m and before[x] == after[x - k]:
                    x += 1
                reach[k] = x
                self._work -= 1 + x - start
                if x >= n and x - k >= m:
                    return trace, x, x - k
        last = range(1 - len(trace), len(trace), 2)
        ends = [(reach[k], reach[k] - k) for k in last if reach[k] <= n and reach[k] - k <= m]
        return (trace, *max(ends, key=sum, default=(0, 0)))


def _step(reach: dict[int, int], k: int, edits: int) -> int:
    """Where diagonal `k` is entered: down from the one above, or right from the one below."""
    if k == -edits or (k != edits and reach[k - 1] < reach[k + 1]):
        return reach[k + 1]
    return reach[k - 1] + 1


def _backtracked(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """The pairs of equal lines on the way, in order."""
    common: list[tuple[int, int]] = []
    for edits in range(len(trace) - 1, -1, -1):
        reach, k = trace[edits], x - y
        entered = _step(reach, k, edits)
        while x > entered:
            x, y = x - 1, y - 1
            common.append((x, y))
        came_down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
        x, y = (x, y - 1) if came_down else (x - 1, y)
    return common[::-1]


def _once(lines: list[int], start: int, end: int) -> dict[int, int]:
    """Where each line stands that occurs once in this part."""
    places: dict[int, int] = {}
    for index in range(start, end):
        places[lines[index]] = -1 if lines[index] in places else index
    return {line: index for line, index in places.items() if index >= 0}


def _longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs, sorted by the first, that rises in the second too."""
    tops: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, (_, y) in enumerate(pairs):
        pile = bisect_left(tops, y)
        previous.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [y]
        ends[pile : pile + 1] = [index]
    rise: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        rise.append(pairs[index])
        index = previous[index]
    return rise[::-1]
