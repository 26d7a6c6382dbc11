"""The traffic between acp-tui and an agent, indexed, searched, and checked on demand. Draws nothing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

import anyio
from anyio import to_thread

from acp_tui.client.secrets.masking import Masker
from acp_tui.client.transcript.frame_log import FrameLog, LineKind, LoggedLine
from acp_tui.client.transcript.lines import line as json_line
from acp_tui.rpc import Direction
from acp_tui.rpc.messages import Recent
from acp_tui.values import dataclass
from acp_tui.workbench.conformance import Finding, Frame, Linter
from acp_tui.workbench.conformance.rule import read_json
from acp_tui.workbench.inspect import index
from acp_tui.workbench.inspect.outline import OutlineLine, outline
from acp_tui.workbench.inspect.search import Query, Search
from acp_tui.workbench.inspect.source import SLICE_LINES, FileSource, LineSource, LiveSource

BATCH_S: Final = 0.03
"""Lines that arrive within this time are read together."""
SEARCHED_LINES: Final = 20_000
"""With the index."""
SEARCHED_TEXTS: Final = 2_048
CHECKED_LINES: Final = 64
"""Rules take ten times as long as everything else."""
FEW_LINES: Final = 64
FEW_BYTES: Final = 32 << 10
"""This little takes less than a millisecond, which is faster than a thread that the event loop must wait for."""
KEPT_GLIMPSES: Final = 2_000
FORM: Final = "elicitation/create"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Detail:
    """One whole line, without secrets."""

    row: index.IndexRow
    line: LoggedLine
    outline: Sequence[OutlineLine] | None
    """None: it isn't JSON."""
    notes: tuple[Finding, ...]
    is_over: bool
    """Whether its source has ended."""


class Inspection:
    """The lines of one source, the filter, and its progress."""

    def __init__(self, source: LineSource, mask: Mask) -> None:
        self.source = source
        self.index = index.FrameIndex(source.first)
        self.mask = mask
        self.listener: Callable[[], None] = lambda: None
        """Called when there may be something new to show."""
        self.pause_s: Callable[[], float] = lambda: 0.0
        """How long to leave the CPU to other work, such as a key's echo."""
        self.notes: dict[int, tuple[Finding, ...]] = {}
        """By line; the first `MAX_NOTES` of them."""
        self.failure = ""
        """Why nothing more can be read."""
        self._filter: Search | None = None
        self.checked = source.first
        """The position after the last line checked."""
        self._linter = Linter()
        self._glimpses: Recent[int, index.LineSummary] = Recent(KEPT_GLIMPSES)
        self._wanted: Sequence[int] = ()
        self.has_more = False
        """Whether more is there to be read."""
        self._woken = anyio.Event()

    # The work

    def wake(self) -> None:
        """Wake up to read more. Cheap, so that it can be called for each line."""
        if not self._woken.is_set():
            self._woken.set()

    async def run(self) -> None:
        """Work until cancelled. The source is closed afterwards."""
        self.source.listen(self.wake)
        try:
            while True:
                self._woken = anyio.Event()
                await anyio.sleep(self.pause_s())
                if not await self._work():
                    await self._woken.wait()
                    await anyio.sleep(BATCH_S)
        finally:
            self.source.close()

    async def _work(self) -> bool:
        """Do a slice of each pending task; return False if nothing is left."""
        try:
            done = [await self._read_glimpses(), await self._read()]
            done.append(await self._search())
            if not (self.has_more or done[-1]):
                done.append(await self._check())
        except OSError as error:
            self.failure = f"The rest can't be read: {error.strerror or error}"
            self.listener()
            return False
        if any(done):
            self.listener()
        return any(done)

    async def _read(self) -> bool:
        start, lines = await self.source.read_on()
        self.has_more = len(lines) >= SLICE_LINES
        if start > self.index.end:  # so many arrived that some were gone before they could be read
            self.index = index.FrameIndex(start)
            self.show_only(self.query)
            self._forget()
        if lines:
            answered = self.index.add(await _done(lines, lambda: list(map(self._entry, lines))))
            if self._filter is not None:
                self._filter.settle(answered)
        if self.index.drop_before(self.source.first):
            self._forget()
        return bool(lines)

    def _entry(self, line: LoggedLine) -> index.IndexedLine:
        self.mask.learn(line)
        return index.read_entry(line)

    def _forget(self) -> None:
        """Drop the oldest lines, which a running agent's log no longer has."""
        first = self.index.first
        if self._filter is not None:
            self._filter.drop_before(first)
        self.notes = {position: notes for position, notes in self.notes.items() if position >= first}

    async def _search(self) -> bool:
        search = self._filter
        if search is None:
            return False
        start, limit = search.examined, self.checked if search.needs_findings else self.index.end
        stop = min(limit, start + (SEARCHED_TEXTS if search.words else SEARCHED_LINES))
        if stop <= start:
            return False
        found = await to_thread.run_sync(search.candidates, start, self.index.flags(start, stop))
        if search.words and found:
            found = await self.source.matching(found, search.says)
        search.take(found, stop)
        return True

    async def _check(self) -> bool:
        if self.checked < self.source.first:
            # Some lines are gone, so start over as if these were the first.
            self.checked, self._linter = self.source.first, Linter()
        stop = min(self.checked + CHECKED_LINES, self.index.end)
        lines = await self.source.lines_at(range(self.checked, stop))
        for note in await to_thread.run_sync(self._lint, lines):  # rules take time
            position = note.frames[-1]
            self.index.mark_found(position)
            if len(self.notes) < MAX_NOTES or position in self.notes:
                self.notes[position] = (*self.notes.get(position, ()), note)
        return bool(lines)

    def _lint(self, lines: Mapping[int, LoggedLine]) -> list[Finding]:
        """Check the next lines; return what they break. The frames of a finding are positions of lines."""
        found: list[Finding] = []
        for position, line in lines.items():
            self.checked = position + 1
            if line.kind in (LineKind.IN, LineKind.OUT):
                found += self._linter.feed(Frame(Direction(line.kind.value), line.at_s, line.data), position)
        return found

    # What the user wants to see

    @property
    def query(self) -> Query:
        """The filter; empty: everything is shown."""
        return self._filter.query if self._filter is not None else ()

    def show_only(self, query: Query) -> None:
        self._filter = Search(query, self.index.first) if query else None
        self.wake()

    @property
    def count(self) -> int:
        return self.index.end - self.index.first if self._filter is None else len(self._filter.matches)

    def position_of(self, ordinal: int) -> int:
        """The line shown at this index, counted from 0."""
        return self.index.first + ordinal if self._filter is None else self._filter.matches[ordinal]

    def ordinal_of(self, position: int) -> int:
        """The index at which this line is shown, or the next one after it; `count` if there isn't one."""
        if self._filter is None:
            return min(max(position, self.index.first), self.index.end) - self.index.first
        return bisect_left(self._filter.matches, position)

    def shows(self, position: int) -> bool:
        ordinal = self.ordinal_of(position)
        return ordinal < self.count and self.position_of(ordinal) == position

    @property
    def searched(self) -> int:
        """The position after the last line searched."""
        return self.index.end if self._filter is None else self._filter.examined

    def waited_s(self, row: index.IndexRow) -> float | None:
        """How long a request has been waiting; None if no response will come."""
        now_s = self.source.now_s
        return None if now_s is None else max(now_s - row.at_s, 0.0)

    # Single lines

    def is_new(self, row: index.IndexRow) -> bool:
        """Whether more is known about the line now."""
        return self.index.first <= row.position < self.index.end and self.index.row(row.position) != row

    def rows(self, start: int, stop: int) -> list[index.IndexRow]:
        return [self.index.row(self.position_of(at)) for at in range(max(start, 0), min(stop, self.count))]

    def glimpse(self, position: int) -> index.LineSummary | None:
        """A summary of the line; None if it hasn't been read yet."""
        return self._glimpses.get(position)

    def want_glimpses(self, positions: Sequence[int]) -> None:
        """Read these next, replacing earlier requests."""
        self._wanted = [position for position in positions if position not in self._glimpses]
        if self._wanted:
            self.wake()

    async def _read_glimpses(self) -> bool:
        wanted, self._wanted = self._wanted, ()
        if not wanted:
            return False
        lines = await self._shown(await self.source.lines_at(wanted))
        found = await _done(lines.values(), lambda: {at: index.glimpse(line) for at, line in lines.items()})
        for position in wanted:
            self._glimpses[position] = found.get(position, index.LineSummary())
        return True

    async def detail(self, position: int) -> Detail | None:
        """One whole line; None if it's gone. Raises OSError."""
        line = (await self._shown(await self.source.lines_at((position,)))).get(position)
        if line is None or not self.index.first <= position < self.index.end:
            return None
        row, lines = self.index.row(position), await to_thread.run_sync(_outline, line)
        return Detail(row, line, lines, self.notes.get(position, ()), self.source.now_s is None)

    async def _shown(self, lines: Mapping[int, LoggedLine]) -> Mapping[int, LoggedLine]:
        if not self.mask.is_needed or not lines:
            return lines
        answers = {position: self._answers_form(position) for position in lines}

        def masked() -> Mapping[int, LoggedLine]:
            return {at: self.mask.hidden(line, is_answer_to_form=answers[at]) for at, line in lines.items()}

        return await _done(lines.values(), masked)

    def _answers_form(self, position: int) -> bool:
        """Whether the line answers a form. Only its request tells."""
        if not self.index.first <= position < self.index.end:
            return False
        row = self.index.row(position)
        return row.form is index.MessageKind.RESPONSE and row.label.method == FORM


async def _done(lines: Collection[LoggedLine], work: Callable[[], T]) -> T:
    """Run the work on these lines: directly if there is little, otherwise in a thread."""
    is_little = len(lines) <= FEW_LINES and sum(len(line.data) for line in lines) <= FEW_BYTES
    return work() if is_little else await to_thread.run_sync(work)


def _outline(line: LoggedLine) -> Sequence[OutlineLine] | None:
    if line.kind not in (LineKind.IN, LineKind.OUT):
        return None
    try:
        return outline(line.data.decode("utf-8", "replace"))
    except ValueError:
        return None


def inspect_agent(log: FrameLog) -> Inspection:
    return Inspection(LiveSource(log), Mask(log.environ))


def inspect_file(path: Path) -> Inspection:
    """Inspect a recording. Blocks. Raises RecordingUnreadable."""
    source = FileSource(path)
    return Inspection(source, Mask(is_needed=source.header.is_raw))


MAX_NOTES: Final = 10_000
"""The maximum number of lines whose notes are stored. Further lines are only marked."""


class Mask:
    """Learns secrets and masks them wherever they reappear. Thread-safe."""

    def __init__(self, environ: Mapping[str, str] | None = None, *, is_needed: bool = True) -> None:
        """Not needed if the lines have already been masked."""
        self.is_needed = is_needed
        self._masker = Masker(environ)
        self._lock = Lock()

    def learn(self, line: LoggedLine) -> None:
        if self.is_needed and line.kind in (LineKind.IN, LineKind.OUT):
            self.hidden(line)

    def hidden(self, line: LoggedLine, *, is_answer_to_form: bool = False) -> LoggedLine:
        """The line without its secrets; the same object if there are none."""
        if not self.is_needed:
            return line
        with self._lock:
            if not is_answer_to_form and not self._masker.is_suspect(line.data):
                return line
            return line._replace(data=self._without_secrets(line, is_answer_to_form))

    def _without_secrets(self, line: LoggedLine, is_answer_to_form: bool) -> bytes:
        value = _message(line)
        if value is None:
            return self._masker.line(line.data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        hidden = self._masker.message(value, is_answer_to_form=is_answer_to_form)
        return line.data if hidden == value else json_line(hidden)[:-1]


def _message(line: LoggedLine) -> Any:
    """Parse a frame; return None if it isn't a message."""
    if line.kind not in (LineKind.IN, LineKind.OUT):
        return None
    try:
        value = read_json(line.data)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None
