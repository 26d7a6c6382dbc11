"""Searches a whole conversation for a text, in time slices, and moves from match to match."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from textual.strip import Strip

from acp_tui.conversation import content, entries, tool_calls, tool_text, updates, value_outline
from acp_tui.conversation.plain_text import plain_text
from acp_tui.ui.conversation.column import Column
from acp_tui.ui.rendering.wrapping import Cut, Gutter, Joint, width_cells
from acp_tui.values import dataclass


class MatchSpan(NamedTuple):
    """Part of a match: cells of one row."""

    row: int
    cells: range


Match: TypeAlias = tuple[MatchSpan, ...]
"""Where a match is. It has more than one span if it goes across wrapped lines."""


def pattern_of(query: str) -> re.Pattern[str] | None:
    """The pattern to search for; None if the query is blank.

    Any whitespace matches any whitespace. Case matters only if the query has capitals.
    """
    words = query.split()
    if not words:
        return None
    flags = 0 if any(character.isupper() for character in query) else re.IGNORECASE
    return re.compile(r"\s+".join(map(re.escape, words)), flags)


def find_in(lines: Sequence[Strip], pattern: re.Pattern[str]) -> Iterator[Match]:
    """The matches in these consecutive lines, from top to bottom."""
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
    for found in pattern.finditer("".join(parts)):
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


def _spans(lines: Sequence[Strip], starts: Sequence[int], start: int, stop: int) -> Iterator[MatchSpan]:
    first, last = bisect_right(starts, start) - 1, bisect_right(starts, stop - 1) - 1
    for row in range(first, last + 1):
        cells = _cells(lines[row], max(start - starts[row], 0), stop - starts[row])
        if cells:
            yield MatchSpan(row, cells)


def _cells(line: Strip, start: int, stop: int) -> range:
    """The cells of the characters `start` to `stop` of the line's own text."""
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


IsTimeUp: TypeAlias = Callable[[], bool]


class MatchIndex(NamedTuple):
    """A match, by its index within its entry. The index stays the same however the entry is laid out."""

    entry: int
    number: int


class SearchState(NamedTuple):
    current: int
    """The number of the current match, from 1; 0 if there is none."""
    total: int
    is_done: bool


@dataclass(frozen=True, slots=True)
class EntryMatches:
    shown: tuple[Match, ...]
    """The visible matches, from top to bottom."""
    whole: tuple[Match, ...]
    """All matches, including those a fold hides, with their places when the entry is unfolded."""

    @property
    def count(self) -> int:
        return len(self.whole)

    def hides(self, number: int) -> bool:
        """Whether the entry must be unfolded to show this match.

        Above a fold, a match is in the same place either way.
        """
        return self.shown[number : number + 1] != self.whole[number : number + 1]


NOTHING: Final = EntryMatches((), ())


class Searching:
    """One search at a time. It includes folded text, which is unfolded when you go to a match in it."""

    def __init__(self, column: Column, may_hide: Callable[[int, str], bool]) -> None:
        """`may_hide` quickly rules out entries that hide no match."""
        self._column = column
        self._may_hide = may_hide
        self._query = ""
        self._pattern: re.Pattern[str] | None = None
        self._matches: dict[int, EntryMatches] = {}
        self._left: set[int] = set()
        self._current: MatchIndex | None = None
        self._steps_due = 0
        self._is_nearest_due = False
        """Whether the first step, to the nearest match, is still due."""
        self._begun_at: tuple[int, int] | None = None
        """The entry and row you were at when the search began. While you type on, "nearest" refers to them."""
        self._unfolded: int | None = None
        """The entry that is unfolded only because the current match is in it."""

    @property
    def is_active(self) -> bool:
        return self._pattern is not None

    def begin(self, query: str) -> None:
        """Search for this from now on. A blank query ends the search and leaves the current match's entry unfolded."""
        self._query, self._pattern = query, pattern_of(query)
        if self._pattern is None:
            self._begun_at = None
            self.keep_unfolded()
        else:
            self._fold_again()
        self._matches, self._current = {}, None
        self._steps_due = 0
        self._is_nearest_due = self._pattern is not None
        self._left = set(range(len(self._column.drawings))) if self._pattern is not None else set()

    def mark(self, entry: int) -> None:
        """Search the entry again: it is drawn differently now."""
        if self._pattern is not None:
            self._left.add(entry)

    def work(self, is_time_up: IsTimeUp) -> bool:
        """Search entries, oldest first. Returns False if the time wasn't enough."""
        for entry in sorted(self._left):
            if not self._search_entry(entry, is_time_up) or (self._left and is_time_up()):
                return False
        return True

    def _search_entry(self, entry: int, is_time_up: IsTimeUp) -> bool:
        """Search an entry as it is now. Returns False if the time wasn't enough to draw it."""
        if entry in self._left and not self._column.read(entry, is_time_up):
            return False
        self._matches_in(entry)
        return True

    def _matches_in(self, entry: int) -> EntryMatches:
        """Search an entry as it is drawn, or return what was found before if it isn't measured."""
        if entry in self._left and self._column.is_whole(entry):
            self._left.discard(entry)
            matches = self._find(entry)
            if matches.count:
                self._matches[entry] = matches
            else:
                self._matches.pop(entry, None)
        return self._matches.get(entry, NOTHING)

    def _find(self, entry: int) -> EntryMatches:
        assert self._pattern is not None
        lines = self._column.lines(entry)
        shown = whole = tuple(find_in(lines, self._pattern))
        if (lines or self._column.is_folded_away(entry)) and self._may_hide(entry, self._query):
            unfolded = self._column.whole(entry)
            if unfolded is not lines:
                whole = tuple(find_in(unfolded, self._pattern))
        return EntryMatches(shown, whole if len(whole) > len(shown) else shown)

    # From match to match

    def state(self) -> SearchState:
        """The number of the current match, and how many there are."""
        total = sum(matches.count for matches in self._matches.values())
        current = 0
        if self._current is not None:
            entry, number = self._current
            before = sum(matches.count for at, matches in self._matches.items() if at < entry)
            current = min(before + number + 1, total)
        return SearchState(current, total, not self._left)

    def step(self, direction: int) -> None:
        """Go to the next (1) or the previous (-1) match on the next `walk`, wrapping around at the ends."""
        if self._pattern is not None:
            self._steps_due += direction

    @property
    def has_steps_due(self) -> bool:
        return self._is_nearest_due or self._steps_due != 0

    def walk(self, near: tuple[int, int], is_time_up: IsTimeUp) -> bool:
        """Make the steps that are due, the first one to the match nearest to the entry and row `near`.

        Entries along the way are searched first, so that no match is skipped. Returns False if the time wasn't enough.
        """
        if self._is_nearest_due:
            if self._begun_at is None:
                self._begun_at = near
            if not self._walk(1, self._begun_at, is_time_up):
                return False
            self._is_nearest_due = False
        while self._steps_due:
            direction = 1 if self._steps_due > 0 else -1
            if not self._walk(direction, near, is_time_up):
                return False
            self._steps_due -= direction
        return True

    def _walk(self, direction: int, near: tuple[int, int], is_time_up: IsTimeUp) -> bool:
        if self._current is not None:
            if not self._search_entry(self._current.entry, is_time_up):
                return False
            number = self._current.number + direction
            if 0 <= number < self._matches_in(self._current.entry).count:
                self._current = self._current._replace(number=number)
                return True
        begin = near if self._current is None and direction > 0 else None
        for entry in self._ahead(direction, near[0]):
            if not self._search_entry(entry, is_time_up):
                return False
            matches = self._matches_in(entry)
            is_from_below = direction < 0 or (self._current is None and entry < near[0])
            numbers: Sequence[int] = range(matches.count)
            if begin is not None and entry == begin[0]:  # those above the row come when it's reached again
                numbers = [number for number in numbers if matches.whole[number][0].row >= begin[1]]
                begin = None
            elif entry == near[0] and self._current is None:
                is_from_below = True
            if numbers:
                self._current = MatchIndex(entry, numbers[-1 if is_from_below else 0])
                return True
            if is_time_up():
                return False
        self._current = None
        return True

    def _ahead(self, direction: int, near: int) -> Iterator[int]:
        """The entries that have or may have matches, in walking order, wrapping around at the ends.

        Without a current match, `near` and the entries above it come last, the nearest first.
        """
        found = sorted(self._matches.keys() | self._left)
        if self._current is None:
            yield from [*found[bisect_left(found, near) :], *reversed(found[: bisect_right(found, near)])]
            return
        middle = (bisect_right if direction > 0 else bisect_left)(found, self._current.entry)
        behind, ahead = found[:middle], found[middle:]
        yield from [*ahead, *behind] if direction > 0 else [*reversed(behind), *reversed(ahead)]

    def reveal(self) -> tuple[int, int] | None:
        """Unfold the current match, and fold what was unfolded for another. Returns its entry and row."""
        if self._current is None:
            return None
        entry, number = self._current
        if self._unfolded != entry:
            self._fold_again()
        if self._matches_in(entry).hides(number):
            self._column.set_open(entry, True)
            self._unfolded = entry
        shown = self._matches_in(entry).shown
        return entry, shown[min(number, len(shown) - 1)][0].row if shown else 0

    def keep_unfolded(self) -> None:
        """Leave the entry of the current match unfolded: the user has folded or unfolded something."""
        self._unfolded = None

    def _fold_again(self) -> None:
        if self._unfolded is not None:
            self._column.set_open(self._unfolded, False)
            self._unfolded = None

    def spans(self, entry: int, row: int) -> Mapping[bool, tuple[range, ...]]:
        """The cells of this row that belong to matches. The key True has those of the current match."""
        here: dict[bool, tuple[range, ...]] = {}
        for number, match in enumerate(self._matches_in(entry).shown):
            cells = tuple(span.cells for span in match if span.row == row)
            if cells:
                is_current = self._current == MatchIndex(entry, number)
                here[is_current] = (*here.get(is_current, ()), *cells)
        return here


_WORD: Final = re.compile(r"[^\W_]+")
_MARKS: Final = ("*", "`", "\\")
"""Invisible characters that may occur within a word of Markdown."""

Terminals: TypeAlias = Mapping[tool_calls.TerminalId, entries.TerminalState]


def may_hide(entry: entries.Entry, query: str, terminals: Terminals) -> bool:
    """Whether all words of the query occur in the text an entry may hide. False is certain."""
    texts = list(_texts(entry, terminals))
    if not texts:
        return False
    text = "\n".join(texts).lower()
    for mark in _MARKS:
        text = text.replace(mark, "")
    return all(word in text for word in _WORD.findall(query.lower()))


def _texts(entry: entries.Entry, terminals: Terminals) -> Iterator[str]:
    match entry:
        case entries.Message(role="thought" | "user"):
            yield entry.text
        case entries.ToolCallEntry():
            yield from _texts_of_call(entry, terminals)
        case entries.Question():
            yield from (f"{each.label} {each.value}" for each in entry.values)
        case entries.OwnCommand():
            yield from _printed(terminals.get(entry.terminal_id))
        case entries.Compaction():
            yield from _words_of(entry.summary or ())
        case entries.Failure():
            yield entry.stderr_tail
        case updates.UnknownUpdate():
            yield "\n".join(value_outline.value_lines(entry.raw, ""))


def _texts_of_call(entry: entries.ToolCallEntry, terminals: Terminals) -> Iterator[str]:
    call = entry.call
    yield call.shown_title
    for item in entry.shown_content:
        match item:
            case tool_calls.BlockContent(content.Text(text)):
                yield tool_text.todos_in_lines(text)
            case tool_calls.BlockContent(block):
                yield from _words_of((block,))
            case tool_calls.TextDiff(_, new_text, old_text):
                yield new_text
                yield old_text or ""
            case tool_calls.FileChange():
                yield item.words
            case tool_calls.TerminalContent(terminal_id):
                yield from _printed(terminals.get(terminal_id))
    yield f"tool: {call.untold_name}"
    for name, value in call.raw_parts:
        yield "\n".join(value_outline.value_lines(value, name))


def _words_of(blocks: Iterable[content.ContentBlock]) -> Iterator[str]:
    return (block.text for block in blocks if isinstance(block, content.Text))


def _printed(state: entries.TerminalState | None) -> Iterator[str]:
    if state is not None:
        yield plain_text(state.output.read(), is_complete=False)
