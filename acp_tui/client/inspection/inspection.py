"""One look at the lines of an agent: reads, indexes, searches and checks them in slices, as long as somebody looks.

Nothing is done before `run`. All but the slices runs on the event loop; what is found is there while it goes on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import anyio
from anyio import to_thread

from acp_tui.client.inspection.entry import Entry, Form, read_entry
from acp_tui.client.inspection.glimpse import Glimpse, glimpse
from acp_tui.client.inspection.index import FrameIndex, Row
from acp_tui.client.inspection.line import Kind, Line
from acp_tui.client.inspection.linting import MAX_NOTES, Linting, LintNote
from acp_tui.client.inspection.mask import Mask
from acp_tui.client.inspection.outline import Outline
from acp_tui.client.inspection.query import Query
from acp_tui.client.inspection.search import Search
from acp_tui.client.inspection.source import SLICE_LINES, Source

BATCH_S: Final = 0.03
"""What comes in this time is read together."""
SEARCHED_LINES: Final = 20_000
"""By the index; of texts only as many as are read at once."""
CHECKED_LINES: Final = 64
"""A rule takes ten times as long as all else."""
KEPT_GLIMPSES: Final = 2_000
FORM: Final = "elicitation/create"


@dataclass(frozen=True, slots=True)
class Detail:
    """All of one line, without secrets unless it was wanted with them."""

    row: Row
    line: Line
    outline: Outline | None
    """None: it is no JSON."""
    notes: tuple[LintNote, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the work has come."""

    lines: int
    """That there were."""
    gone: int
    """Of them, no longer to be had."""
    shown: int
    found: int | None
    """None: nothing is looked for."""
    searched: int
    checked: int
    breaches: int
    """Lines in which a rule is broken."""
    is_reading: bool


class Inspection:
    """The lines of one source, those of them that the user wants to see, and how far it has come with them."""

    def __init__(self, source: Source, mask: Mask) -> None:
        self.source = source
        self.index = FrameIndex(source.first)
        self.mask = mask
        self.is_raw = False
        """Secrets are shown, copied and saved; only by the user's choice."""
        self.listener: Callable[[], None] = lambda: None
        """Called when there may be something new to be seen."""
        self.notes: dict[int, tuple[LintNote, ...]] = {}
        """By line; the first `MAX_NOTES` of them."""
        self.failure = ""
        """Why nothing more can be read."""
        self._filter: Search | None = None
        self._find: Search | None = None
        self._linting = Linting(source.first)
        self._glimpses: OrderedDict[int, Glimpse] = OrderedDict()
        self._wanted: Sequence[int] = ()
        self._has_more = False
        self._woken = anyio.Event()

    # The work

    def wake(self) -> None:
        """More may be there to be read. Cheap, and meant to be called for each line."""
        if not self._woken.is_set():
            self._woken.set()

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            self._woken = anyio.Event()
            if not await self._work():
                await self._woken.wait()
                await anyio.sleep(BATCH_S)

    async def _work(self) -> bool:
        """A slice of each thing that is to be done; False where nothing is left."""
        try:
            steps = [await self._look(), await self._read(), await self._search(self._filter)]
            steps.append(await self._search(self._find))
            if not self._has_more:
                steps.append(await self._check())
        except OSError as error:
            self.failure = f"It cannot be read on: {error.strerror or error}"
            steps = []
        if any(steps):
            self.listener()
        return any(steps)

    async def _read(self) -> bool:
        lines = await self.source.read_on()
        self._has_more = len(lines) >= SLICE_LINES
        if lines:
            self.index.add(await to_thread.run_sync(self._entries, lines))
        self._forget(self.source.first)
        return bool(lines)

    def _entries(self, lines: Sequence[Line]) -> list[Entry]:
        for line in lines:
            self.mask.learn(line)
        return [read_entry(line) for line in lines]

    def _forget(self, first: int) -> None:
        """Of a running agent the oldest lines are gone."""
        self.index.drop_before(first)
        for search in filter(None, (self._filter, self._find)):
            search.drop_before(self.index.first)

    async def _search(self, search: Search | None) -> bool:
        if search is None:
            return False
        start, limit = search.examined, self._linting.examined if search.needs_findings else self.index.end
        stop = min(limit, start + (SLICE_LINES if search.words else SEARCHED_LINES))
        if stop <= start:
            return False
        columns = self.index.columns(start, stop)
        names = (tuple(self.index.labels.values), tuple(self.index.sessions.values))
        found = await to_thread.run_sync(search.candidates, columns, *names)
        if search.words and found:
            lines = await self.source.lines(start, stop)
            found = await to_thread.run_sync(_saying, search, found, stop - len(lines), lines)
        search.take(found, stop)
        return True

    async def _check(self) -> bool:
        start, linting = self._linting.examined, self._linting
        if start < self.source.first:
            # Some are gone: what comes is looked at as if it were the beginning.
            self._linting = linting = Linting(self.source.first)
            start = linting.examined
        lines = await self.source.lines(start, min(start + CHECKED_LINES, self.index.end))
        for position, note in await to_thread.run_sync(linting.feed, lines):
            self.index.mark_found(position)
            if len(self.notes) < MAX_NOTES or position in self.notes:
                self.notes[position] = (*self.notes.get(position, ()), note)
        return bool(lines)

    # What the user wants to see

    def show_only(self, query: Query) -> None:
        """Show only these lines from now on."""
        self._filter = Search(query, self.index.first) if query else None
        self.wake()

    def look_for(self, query: Query) -> None:
        """Look for these lines among those that are shown."""
        shown = self._filter.query if self._filter is not None else ()
        self._find = Search((*shown, *query), self.index.first) if query else None
        self.wake()

    @property
    def count(self) -> int:
        """How many lines are shown."""
        return self.index.end - self.index.first if self._filter is None else len(self._filter.matches)

    def position_of(self, ordinal: int) -> int:
        """Which line is shown in this place, counted from 0."""
        return self.index.first + ordinal if self._filter is None else self._filter.matches[ordinal]

    def ordinal_of(self, position: int) -> int:
        """Where this line is shown, or else the next one behind it; `count` where there is none."""
        if self._filter is None:
            return min(max(position, self.index.first), self.index.end) - self.index.first
        return bisect_left(self._filter.matches, position)

    def match_from(self, position: int, direction: int) -> int | None:
        """The next line behind this one (1), or before it (-1), that is looked for; None where there is none yet."""
        matches = self._find.matches if self._find is not None else ()
        at = bisect_left(matches, position + (direction > 0)) - (direction < 0)
        return matches[at] if 0 <= at < len(matches) else None

    @property
    def standing(self) -> Standing:
        """How far everything has come."""
        searches = [search for search in (self._filter, self._find) if search is not None]
        return Standing(
            lines=self.index.end,
            gone=self.source.first,
            shown=self.count,
            found=None if self._find is None else len(self._find.matches),
            searched=min((search.examined for search in searches), default=self.index.end),
            checked=self._linting.examined,
            breaches=len(self.notes),
            is_reading=self._has_more,
        )

    # Single lines

    def rows(self, start: int, stop: int) -> list[Row]:
        """What is shown in these places."""
        return [self.index.row(self.position_of(at)) for at in range(max(start, 0), min(stop, self.count))]

    def glimpse(self, position: int) -> Glimpse | None:
        """What the line is about; None where that was not read yet."""
        return self._glimpses.get(position)

    def want_glimpses(self, positions: Sequence[int]) -> None:
        """Read these next, in place of what was wanted before."""
        self._wanted = [position for position in positions if position not in self._glimpses]
        if self._wanted:
            self.wake()

    async def _look(self) -> bool:
        wanted, self._wanted = self._wanted, ()
        lines = {position: await self.source.line(position) for position in wanted}
        is_raw = self.is_raw
        found = await to_thread.run_sync(self._glimpses_of, lines) if lines else {}
        if is_raw == self.is_raw:
            self._glimpses.update(found)
        while len(self._glimpses) > KEPT_GLIMPSES:
            self._glimpses.popitem(last=False)
        return bool(found)

    def _glimpses_of(self, lines: Mapping[int, Line | None]) -> dict[int, Glimpse]:
        return {
            position: glimpse(self._shown(position, line)) if line is not None else Glimpse()
            for position, line in lines.items()
        }

    async def detail(self, position: int) -> Detail | None:
        """All of a line; None where it is gone. Raises OSError."""
        line = await self.source.line(position)
        if line is None or not self.index.first <= position < self.index.end:
            return None
        row = self.index.row(position)
        shown = await to_thread.run_sync(self._shown, position, line)
        outline = await to_thread.run_sync(_outline, shown)
        return Detail(row, shown, outline, self.notes.get(position, ()))

    def show_raw(self, is_raw: bool) -> None:
        """Show, copy and save secrets, or do not."""
        self.is_raw = is_raw
        self._glimpses.clear()

    def _shown(self, position: int, line: Line) -> Line:
        """As it is shown; callable from a thread."""
        if self.is_raw:
            return line
        return self.mask.hidden(line, is_answer_to_form=self._answers_form(position))

    def _answers_form(self, position: int) -> bool:
        is_known = self.index.first <= position < self.index.end
        row = self.index.row(position) if is_known else None
        return row is not None and row.form is Form.RESPONSE and row.label.method == FORM

    async def shown_lines(self) -> AsyncIterator[list[Line]]:
        """All that is shown, as it is shown, in slices. Raises OSError."""
        ordinal = 0
        while ordinal < self.count:
            stop = min(ordinal + SLICE_LINES, self.count)
            positions = [self.position_of(at) for at in range(ordinal, stop)]
            lines = {position: await self.source.line(position) for position in positions}
            yield await to_thread.run_sync(self._all_shown, lines)
            ordinal = stop

    def _all_shown(self, lines: Mapping[int, Line | None]) -> list[Line]:
        return [self._shown(position, line) for position, line in lines.items() if line is not None]


def _saying(search: Search, found: Sequence[int], first: int, lines: Sequence[Line]) -> list[int]:
    """Those of the lines found that say what is looked for; `lines` begin with the `first`."""
    return [position for position in found if position >= first and search.says(lines[position - first])]


def _outline(line: Line) -> Outline | None:
    if line.kind not in (Kind.IN, Kind.OUT):
        return None
    try:
        return Outline(line.data.decode("utf-8", "replace"))
    except ValueError:
        return None
