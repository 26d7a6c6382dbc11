"""Finds the lines in which two states of a file differ; reads no file, and how lines are compared is not its matter.

What it returns is exact for putting texts together, at worst not the shortest.
"""

from collections import deque
from collections.abc import Sequence

from acp_tui.client.changes.values import Hunk
from acp_tui.client.line_comparison import LineComparison


def split_lines(data: bytes) -> tuple[bytes, ...]:
    """The lines with their ends; joined they are the data. Only a newline ends a line, as in git."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return (*lines, last) if last else tuple(lines)


def compare(before: Sequence[bytes], after: Sequence[bytes]) -> tuple[tuple[Hunk, ...], bool]:
    """Where the lines differ, in order; and whether some of it is only approximate."""
    numbers: dict[bytes, int] = {}
    comparison = LineComparison(
        [numbers.setdefault(line, len(numbers)) for line in before],
        [numbers.setdefault(line, len(numbers)) for line in after],
    )
    deque(comparison.steps(), maxlen=0)
    return tuple(Hunk(*change) for change in comparison.changes), comparison.is_approximate
