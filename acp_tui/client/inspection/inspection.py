"""One look at the lines of an agent: reads, indexes, searches and checks them in slices, as long as somebody looks.

Nothing is done before `run`. All but the slices runs on the event loop; what is found is there while it goes on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
from anyio import to_thread

from acp_tui.client.inspection.entry import read_entry
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
        self._forget()
        return bool(lines)

    def _entries(self, lines: Sequence[Line]) -> list:  # type: ignore[type-arg]
        for line in lines:
            self.mask.learn(line)
        return [read_entry(line) for line in lines]
