"""Finds text in the lines of one entry as they are drawn; it scrolls and draws nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from textual.strip import Strip

from acp_tui.ui.rendering.marks import Cut, Gutter, Joint
from acp_tui.ui.rendering.wrapping import width_cells


class Span(NamedTuple):
    """A piece of a match: the cells of one row."""

    row: int
    cells: range


Match: TypeAlias = tuple[Span, ...]
"""Where a match stands; more than one span where lines were wrapped in it."""


def pattern_of(query: str) -> re.Pattern[str] | None:
    """What to look for: any space is any space, and case counts only where capitals are in it. None: nothing."""
    words = query.split()
    if not words:
        return None
    flags = 0 if any(character.isupper() for character in query) else re.IGNORECASE
    return re.compile(r"\s+".join(map(re.escape, words)), flags)


def find_in(lines: Sequence[Strip], pattern: re.Pattern[str]) -> Iterator[Match]:
    """The matches in these lines, which stand one below the other, from top to bottom."""
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for number, line in enumerate(lines):
        joiner, text = _read(line)
        if number:
            parts.append(joiner)
            length += len(joiner)
        starts.append(length)
        parts.append(text)
        length += len(text)
    whole = "".join(parts)
    for found in pattern.finditer(whole):
        yield tuple(_spans(lines, starts, *found.span()))


def _read(line: Strip) -> tuple[str, str]:
    """What joins the line to the one above, and its text without margins."""
    joiner = "\n"
    texts: list[str] = []
    for segment in line:
        if isinstance(segment, Joint):
            joiner = "" if isinstance(segment, Cut) else " "
        elif not isinstance(segment, Gutter):
            texts.append(segment.text)
    return joiner, "".join(texts)


def _spans(lines: Sequence[Strip], starts: Sequence[int], start: int, stop: int) -> Iterator[Span]:
    first, last = bisect_right(starts, start) - 1, bisect_right(starts, stop - 1) - 1
    for row in range(first, last + 1):
        cells = _cells(lines[row], max(start - starts[row], 0), stop - starts[row])
        if cells:
            yield Span(row, cells)


def _cells(line: Strip, start: int, stop: int) -> range:
    """The cells that the characters `start` to `stop` of the line's own text take."""
    at = count = 0
    first = last = -1
    for segment in line:
        if isinstance(segment, Joint | Gutter):
            at += width_cells(segment.text)
            continue
        size = len(segment.text)
        if first < 0 and start < count + size:
            first = at + width_cells(segment.text[: max(start - count, 0)])
        if first >= 0 and stop > count:
            last = at + width_cells(segment.text[: stop - count])
        at, count = at + width_cells(segment.text), count + size
    return range(max(first, 0), max(last, first, 0))
