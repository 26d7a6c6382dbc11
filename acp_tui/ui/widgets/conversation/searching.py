"""Looks for a text in a whole conversation, by slices of time, and walks from match to match."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Entry, Message, ToolCallEntry
from acp_tui.conversation.tool_calls import BlockContent, TextDiff
from acp_tui.ui.widgets.conversation.column import Column
from acp_tui.ui.widgets.conversation.finding import Match, Span, find_in, pattern_of


class Found(NamedTuple):
    """A match by its place among those of its entry."""

    entry: int
    number: int


class Standing(NamedTuple):
    """How a search stands."""

    current: int
    """Which match one is at, from 1; 0 at none."""
    total: int
    is_done: bool
    """Whether everything was looked through."""


class Searching:
    """One search at a time. A match that a fold hides counts once for its entry, at its first line."""

    def __init__(self, column: Column, entry_of: Callable[[int], Entry]) -> None:
        self._column = column
        self._entry_of = entry_of
        self._pattern: re.Pattern[str] | None = None
        self._matches: dict[int, tuple[Match, ...]] = {}
        self._left: set[int] = set()
        self._current: Found | None = None

    @property
    def is_active(self) -> bool:
        """Whether anything is looked for."""
        return self._pattern is not None

    @property
    def has_work(self) -> bool:
        """Whether there is more to look through."""
        return bool(self._left)

    def begin(self, query: str) -> None:
        """Look for this from now on; nothing, where it is blank."""
        self._pattern = pattern_of(query)
        self._matches, self._current = {}, None
        self._left = set(range(len(self._column.drawings))) if self._pattern is not None else set()

    def mark(self, entries: Iterable[int]) -> None:
        """These are drawn differently now."""
        if self._pattern is not None:
            self._left.update(entries)

    def work(self, is_time_up: Callable[[], bool]) -> bool:
        """Look through entries, oldest first; False where the time was not enough."""
        for entry in sorted(self._left):
            self._left.discard(entry)
            if entry < len(self._column.drawings):
                self._look_through(entry)
            if self._left and is_time_up():
                return False
        return True

    def _look_through(self, entry: int) -> None:
        assert self._pattern is not None
        matches = tuple(find_in(self._column.lines(entry), self._pattern))
        if not matches and self._column.heights.height(entry):
            hidden = _folded_text(self._entry_of(entry))
            matches = ((Span(0, range(0)),),) if self._pattern.search(hidden) else ()
        if matches:
            self._matches[entry] = matches
        else:
            self._matches.pop(entry, None)

    # From match to match

    def standing(self) -> Standing:
        """At which match of how many one is."""
        total = sum(map(len, self._matches.values()))
        current = 0
        if self._current is not None:
            before = sum(len(found) for entry, found in self._matches.items() if entry < self._current.entry)
            current = min(before + self._current.number + 1, total)
        return Standing(current, total, not self._left)

    def step(self, direction: int, near: int) -> Found | None:
        """Go to the next (1) or the previous (-1) match, round the ends; the first time, to the one next to `near`."""
        entries = sorted(self._matches)
        if not entries:
            self._current = None
            return None
        if self._current is None:
            at = bisect_left(entries, near) if direction > 0 else bisect_right(entries, near) - 1
            entry = entries[at % len(entries)]
            self._current = Found(entry, 0 if direction > 0 else len(self._matches[entry]) - 1)
            return self._current
        number = self._current.number + direction
        if self._current.entry in self._matches and 0 <= number < len(self._matches[self._current.entry]):
            self._current = Found(self._current.entry, number)
            return self._current
        if direction > 0:
            at = bisect_right(entries, self._current.entry)
        else:
            at = bisect_left(entries, self._current.entry) - 1
        entry = entries[at % len(entries)]
        self._current = Found(entry, 0 if direction > 0 else len(self._matches[entry]) - 1)
        return self._current

    def place(self, found: Found) -> Span:
        """Where a match begins; no cells where a fold hides it."""
        return self._matches[found.entry][found.number][0]

    def spans(self, entry: int, row: int) -> Mapping[bool, tuple[range, ...]]:
        """The cells of this row that belong to matches: under True those of the one that one is at."""
        found = self._matches.get(entry)
        if not found:
            return {}
        here: dict[bool, tuple[range, ...]] = {}
        for number, match in enumerate(found):
            cells = tuple(span.cells for span in match if span.row == row)
            if cells:
                is_current = self._current == Found(entry, number)
                here[is_current] = (*here.get(is_current, ()), *cells)
        return here


def _folded_text(entry: Entry) -> str:
    """What an entry says when it is unfolded."""
    if isinstance(entry, Message):
        return entry.text
    if not isinstance(entry, ToolCallEntry):
        return ""
    parts = [entry.call.title]
    for item in entry.call.content:
        match item:
            case BlockContent(Text(text)):
                parts.append(text)
            case TextDiff(_, new_text, old_text):
                parts += [old_text or "", new_text]
            case _:
                pass
    return "\n".join(parts)
