"""The entries of a conversation as one column of lines, redrawn in time slices as they change."""

from __future__ import annotations

import logging
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Final

from textual.strip import Strip

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, EntryId, Message, OwnCommand, Question, Subagent, ToolCallEntry
from acp_tui.ui.conversation.drawing import DrawContext, Drawing
from acp_tui.ui.conversation.messages import AgentMessage, Thought, UserMessage
from acp_tui.ui.conversation.notes import NoteDrawing, QuestionDrawing, Undrawable
from acp_tui.ui.conversation.subagents import SubagentDrawing
from acp_tui.ui.conversation.tool_calls import OwnCommandDrawing, ToolCallDrawing, is_run_member, run_lines
from acp_tui.values import dataclass


class Heights:
    """The heights of stacked entries, with an empty line after each."""

    def __init__(self) -> None:
        self._heights = array("q")
        # An entry without lines (a message that is not for the user) has no empty line either.
        self._steps = array("q")
        self._tops = array("q")
        # Tops are valid up to here. Most changes are at the end, so little is summed again.
        self._valid = 0

    def __len__(self) -> int:
        return len(self._heights)

    def append(self, height: int) -> None:
        self._heights.append(height)
        self._steps.append(_step(height))
        self._tops.append(0)

    def set(self, index: int, height: int) -> bool:
        """Set an entry's height. Returns False if it is unchanged."""
        if self._heights[index] == height:
            return False
        self._heights[index] = height
        self._steps[index] = _step(height)
        self._valid = min(self._valid, index + 1)
        return True

    def height(self, index: int) -> int:
        """Lines of an entry, without the empty line after it."""
        return self._heights[index]

    @property
    def total(self) -> int:
        return self.top(len(self) - 1) + self._heights[-1] if self._heights else 0

    def top(self, index: int) -> int:
        """The line an entry starts on, from 0."""
        self._sum_up(index)
        return self._tops[index]

    def at(self, line: int) -> tuple[int, int] | None:
        """The entry on a line, and the row in it. On the empty line after an entry, the row is the entry's height."""
        if not 0 <= line < self.total:
            return None
        index = bisect_right(self._tops, line) - 1
        return index, line - self._tops[index]

    def between(self, lines: range) -> range:
        """The entries on these lines, including those that are only partly on them."""
        if not self._heights:
            return range(0)
        self._sum_up(len(self) - 1)
        return range(max(bisect_right(self._tops, lines.start) - 1, 0), bisect_left(self._tops, lines.stop))

    def _sum_up(self, index: int) -> None:
        if self._valid > index:
            return
        # Sum up all the rest at once: the following entries are asked for next, and this loop runs in C.
        first = max(self._valid - 1, 0)
        self._tops[first:] = array("q", accumulate(self._steps[first:-1], initial=self._tops[first]))
        self._valid = len(self)


def _step(height: int) -> int:
    return height + 1 if height else 0


log = logging.getLogger(__name__)


GUESSED_LINES: Final = 4
"""Height of an entry that hasn't been drawn yet."""
MAX_DRAWN: Final = 1_000
"""Number of entries whose drawings are kept. A drawing takes about 5 KB, ten times as much as its entry."""
MAX_LET_GO_LINES: Final = 500
"""Longer drawings are kept: drawing them again would take longer than a frame."""


@dataclass(slots=True, eq=False)
class _Run:
    """A run of consecutive quiet calls. When it's folded, the first call draws one line for all of them."""

    first: int
    last: int
    is_open: bool
    is_first_open: bool
    """Whether the first call is unfolded too."""
    drawn: tuple[tuple[DrawContext, int, int], Sequence[Strip]] | None = None

    @property
    def is_folded(self) -> bool:
        """Whether one line stands for all calls. A single call draws itself."""
        return self.first != self.last and not self.is_open


class Column:
    """The drawings of a conversation and their heights.

    `context` returns what to draw with now. `on_measured` is called with each entry that is laid out. A height may be a
    guess until the entry's turn comes or `measure_guesses` or `read` asks for it: laying out thousands of entries
    takes seconds, but those in view take milliseconds.
    """

    def __init__(
        self,
        context: Callable[[], DrawContext],
        on_measured: Callable[[int], None] = lambda _: None,
        context_of: Callable[[int, DrawContext], DrawContext] = lambda _, context: context,
    ) -> None:
        """`context_of` returns the context of one entry, which has the same layout but may have other colors."""
        self._draw_context = context
        self._context_for = context_of
        self._contexts: dict[int, tuple[DrawContext, DrawContext]] = {}
        """For each entry that was drawn: the base context, and the entry's own derived from it."""
        self._on_measured = on_measured
        self._conversation = Conversation()
        self._is_all_open = False
        self._measured_for: DrawContext | None = None
        self._guesses: set[int] = set()
        self._partly: set[int] = set()
        """Entries of which some lines are only counted roughly."""
        self.anchor: tuple[int, int] | None = None
        """An entry and a row in it, which moves along when rows above it are measured; None if nobody needs it."""
        self._recent: dict[int, None] = {}
        """Entries whose drawings were used most recently, the latest at the end."""
        self._toggled: set[int] = set()
        """Entries that were folded or unfolded one by one."""
        self._runs: dict[int, _Run] = {}
        self.drawings: list[Drawing | None] = []
        """None for a drawing that was let go; it is made again on demand."""
        self.heights = Heights()
        self.dirty: set[EntryId] = set()

    def show(self, conversation: Conversation) -> None:
        """Hold this conversation from now on, and draw all of it."""
        self._conversation = conversation
        self._guesses = set()
        self._partly = set()
        self._recent = {}
        self._contexts = {}
        self._toggled = set()
        self._runs = {}
        self.drawings = []
        self.heights = Heights()
        self.dirty = set(map(EntryId, range(len(conversation.entries))))

    def mark(self, entries: Iterable[EntryId]) -> None:
        self.dirty.update(entries)

    def mark_drawing(self, drawing: object) -> None:
        """Mark the entry of a drawing that looks different although the entry hasn't changed."""
        self.dirty.update(EntryId(at) for at, each in enumerate(self.drawings) if each is drawing)

    def mark_context(self) -> bool:
        """Mark everything for drawing if the context has changed. Returns whether it has."""
        before, context = self._measured_for, self._draw_context()
        if context is before:
            return False
        self._measured_for = context
        if before is not None and context.is_laid_out_as(before):
            # The heights are the same. Entries with other colors are drawn when they come into view.
            self._guesses = set(range(len(self.drawings)))
        else:
            self._mark_all()
        return True

    def forget_looks(self) -> None:
        """Forget the entries' colors, which may have changed. Heights stay the same."""
        self._contexts.clear()
        self._guesses = set(range(len(self.drawings)))

    def context_of(self, index: int) -> DrawContext:
        context = self._draw_context()
        kept = self._contexts.get(index)
        if kept is None or kept[0] is not context:
            kept = self._contexts[index] = (context, self._context_for(index, context))
        return kept[1]

    def _mark_all(self) -> None:
        self._guesses = set(range(len(self.drawings)))
        self.dirty.update(map(EntryId, self._guesses))

    def read_dirty(self, is_time_up: Callable[[], bool]) -> bool:
        """Draw the entries that changed, newest first. Returns False if the time wasn't enough."""
        self.open_to(max(self.dirty, default=-1))
        for entry_id in sorted(self.dirty, reverse=True):
            if not self._read(entry_id, is_time_up) or (self.dirty and is_time_up()):
                return False
        if self._conversation.is_idle and self.drawings:
            self._close(len(self.drawings) - 1)
        return True

    @property
    def is_measured(self) -> bool:
        return not self._partly

    def is_whole(self, index: int) -> bool:
        return index not in self._partly

    def measure_rest(self, is_time_up: Callable[[], bool]) -> bool:
        """Measure what scrolled by unseen, from the end. Returns False if the time wasn't enough."""
        while self._partly:
            self._measure_lines(max(self._partly), None)
            if is_time_up():
                break
        return self.is_measured

    def read(self, index: int, is_time_up: Callable[[], bool] = lambda: False) -> bool:
        """Draw an entry as it is now, unless that's already done, and measure all of it.

        Returns False if the time wasn't enough.
        """
        while self._read(index, is_time_up) and index in self._partly:
            self._measure_lines(index, None)
            if is_time_up():
                break
        return self.is_read(index) and self.is_whole(index)

    def _read(self, index: int, is_time_up: Callable[[], bool]) -> bool:
        while not self.is_read(index):
            if not self._refresh(index) and not is_time_up():
                # Draw the part of the entry that stays the same when the next piece is read.
                self._drawn(index, lambda drawing, context: drawing.settle(context))
                continue
            self.measure(index)
            if not self.is_read(index):
                return False
        return True

    def is_read(self, index: int) -> bool:
        """Whether the entry is drawn as it is now and its height isn't a guess."""
        return index not in self._guesses and index not in self.dirty

    def _refresh(self, index: int) -> bool:
        """Read an entry again, or a piece of a long one. Returns False if there is more of it."""
        drawing = self._drawing(index)
        self._contexts.pop(index, None)
        is_done = drawing.refresh()
        if is_done:
            self.dirty.discard(EntryId(index))
            self._regroup(index)
            if index < len(self.drawings) - 1:
                drawing.close()
        return is_done

    def _drawing(self, index: int) -> Drawing:
        """The drawing of an entry, made again if it was let go."""
        drawing = self.drawings[index]
        if drawing is None:
            is_measured = EntryId(index) not in self.dirty
            drawing = self.drawings[index] = drawing_of(self._conversation.entries[index], skips=not is_measured)
            drawing.set_open(self._is_all_open)
            if is_measured:  # a dirty entry is read piece by piece by its caller
                while not drawing.refresh():
                    pass
                drawing.close()
        self._recent.pop(index, None)
        self._recent[index] = None
        return drawing

    def _let_go(self) -> None:
        """Drop the drawings that weren't used recently. Only their heights stay."""
        while len(self._recent) > MAX_DRAWN:
            index = next(iter(self._recent))
            del self._recent[index]
            is_short = self.heights.height(index) <= MAX_LET_GO_LINES
            is_as_made = index not in self._toggled and index < len(self.drawings) - 1
            if is_short and is_as_made and self.is_read(index) and self.is_whole(index):
                self.drawings[index] = None
                self._contexts.pop(index, None)

    def measure(self, index: int) -> None:
        self._guesses.discard(index)
        self.heights.set(index, len(self.lines(index)))
        drawing = self.drawings[index]
        if drawing is None or drawing.is_measured:
            self._partly.discard(index)
        else:
            self._partly.add(index)
        self._on_measured(index)

    def measure_guesses(self, lines: range) -> bool:
        """Draw the entries on these lines whose heights are guesses. Returns False if there are none."""
        guesses = self._guesses.intersection(self.heights.between(lines)) if self._guesses else ()
        for index in guesses:
            self._refresh(index)
            self.measure(index)
        return bool(guesses)

    def measure_lines(self, lines: range) -> bool:
        """Draw these lines if they are only counted roughly. Returns whether their number has changed."""
        has_changed = False
        for index in self._partly.intersection(self.heights.between(lines)) if self._partly else ():
            top, before = self.heights.top(index), self.heights.height(index)
            self._measure_lines(index, range(lines.start - top, lines.stop - top))
            has_changed = has_changed or self.heights.height(index) != before
        return has_changed

    def _measure_lines(self, index: int, rows: range | None) -> None:
        def measure(drawing: Drawing, _: DrawContext) -> None:
            place = self.anchor[1] if self.anchor is not None and self.anchor[0] == index else 0
            place = drawing.measure(rows, place)
            if self.anchor is not None and self.anchor[0] == index:
                self.anchor = (index, place)

        self._drawn(index, measure)
        self.measure(index)

    def lines(self, index: int) -> Sequence[Strip]:
        run = self._runs.get(index)
        if run is not None and run.is_folded:
            if index != run.first:
                return ()
            return self._drawn(index, lambda _, context: self._run_lines(run, context))
        return self._drawn(index, lambda drawing, context: drawing.lines(context))

    def whole(self, index: int) -> Sequence[Strip]:
        """The entry's lines when it's unfolded; the same as `lines` if nothing is hidden."""
        return self._drawn(index, lambda drawing, context: drawing.whole(context))

    def _drawn(self, index: int, draw: Callable[[Drawing, DrawContext], Sequence[Strip] | None]) -> Sequence[Strip]:
        self._let_go()
        try:
            drawn = draw(self._drawing(index), self.context_of(index))
            return () if drawn is None else drawn
        except Exception:
            # Nothing an agent sends may crash the screen; the rest of the conversation stays readable.
            log.exception("entry %d can't be drawn", index)
            undrawable = self.drawings[index] = Undrawable()
            return undrawable.lines(self._draw_context())

    def open_to(self, last: int) -> None:
        """Reserve places up to this entry. Drawings are made when their turn comes."""
        for index in range(len(self.drawings), last + 1):
            if index:
                self._close(index - 1)
            self.drawings.append(None)
            self.heights.append(GUESSED_LINES)
            self._guesses.add(index)
            self.dirty.add(EntryId(index))

    def _close(self, index: int) -> None:
        # An entry that isn't read to its end yet is closed when it is.
        if EntryId(index) not in self.dirty:
            self._drawing(index).close()
            self.measure(index)

    def is_prompt(self, index: int) -> bool:
        entry = self._conversation.entries[index]
        return isinstance(entry, Message) and entry.role == "user"

    # Runs of calls

    def _regroup(self, index: int) -> None:
        """Update whether the entry belongs to a run. The caller measures the entry itself."""
        run = self._runs.get(index)
        entry = self._conversation.entries[index]
        if is_run_member(entry, self._draw_context().folds.fold_kinds) == (run is not None):
            if run is not None:
                run.drawn = None
            return
        if run is not None:
            self._split(run, index)
            return
        left, right = self._runs.get(index - 1), self._runs.get(index + 1)
        run = left or right or _Run(index, index, self._is_all_open, self._is_all_open)
        run.first, run.last = min(run.first, index), max(run.last, index)
        self._runs[index] = run
        if left is not None and right is not None:
            run.last = right.last
            self._runs.update(dict.fromkeys(range(right.first, right.last + 1), run))
        for member in {run.first, index - 1, index + 1} - {index}:
            if self._runs.get(member) is run:
                self.measure(member)

    def _split(self, run: _Run, index: int) -> None:
        """End the run above this entry, and start another below it."""
        del self._runs[index]
        below = _Run(index + 1, run.last, run.is_open, False)
        run.last = index - 1
        self._runs.update(dict.fromkeys(range(below.first, below.last + 1), below))
        for member in (run.first, below.first):
            if member in self._runs:
                self.measure(member)

    def is_folded_away(self, index: int) -> bool:
        run = self._runs.get(index)
        return run is not None and run.is_folded

    def is_run(self, index: int) -> bool:
        """Whether the entry draws the line of a folded run."""
        run = self._runs.get(index)
        return run is not None and run.is_folded and index == run.first

    def _run_lines(self, run: _Run, context: DrawContext) -> Sequence[Strip]:
        """The run as one line, kept until the run or the context changes."""
        key = (context, run.first, run.last)
        if run.drawn is None or run.drawn[0] != key:
            members = self._conversation.entries[run.first : run.last + 1]
            calls = [entry for entry in members if isinstance(entry, ToolCallEntry)]
            run.drawn = (key, run_lines(calls, context))
        return run.drawn[1]

    def _open_run(self, run: _Run, is_open: bool) -> None:
        run.is_open, run.is_first_open = is_open, False
        for member in range(run.first, run.last + 1):
            if not is_open:
                self._drawing(member).set_open(False)
            self.measure(member)

    # Folds

    def is_open(self, index: int) -> bool:
        """Whether the entry is shown whole, or has nothing to fold."""
        drawing = self.drawings[index] if index < len(self.drawings) else None
        return drawing is not None and drawing.is_open and not self.is_run(index)

    def cut_text(self, index: int) -> str:
        """The full text of the line that is cut off in the entry; "" if none is."""
        drawing = self.drawings[index] if index < len(self.drawings) else None
        return "" if drawing is None or self.is_run(index) else drawing.cut_text

    def folds(self, index: int) -> bool:
        run = self._runs.get(index)
        return (run is not None and index == run.first != run.last) or self._drawing(index).folds

    def toggle(self, index: int) -> bool:
        """Fold or unfold an entry. Returns False if it doesn't fold.

        The first call of a run cycles through three states: one line for all calls, one line for each, and its own
        content.
        """
        run = self._runs.get(index)
        if run is not None and index == run.first != run.last:
            if not run.is_open or run.is_first_open or not self._drawing(index).folds:
                self._open_run(run, not run.is_open)
                return True
            run.is_first_open = True
        if not self._drawing(index).toggle():
            return False
        self._toggled.add(index)
        self.measure(index)
        return True

    def set_open(self, index: int, is_open: bool) -> None:
        """Unfold an entry and any run of calls that hides it, or fold both."""
        if (run := self._runs.get(index)) is not None:
            self._open_run(run, is_open)
            run.is_first_open = is_open and index == run.first
        self._drawing(index).set_open(is_open)
        self._toggled.add(index)
        self.measure(index)

    def toggle_all(self) -> None:
        """Unfold everything, or fold everything again."""
        self._is_all_open = not self._is_all_open
        self._toggled.clear()
        for run in self._runs.values():
            run.is_open = run.is_first_open = self._is_all_open
        for drawing in filter(None, self.drawings):
            drawing.set_open(self._is_all_open)
        self._mark_all()


def drawing_of(entry: Entry, *, skips: bool = False) -> Drawing:
    """Create a drawing for the entry. With `skips`, it may have lines that aren't measured."""
    match entry:
        case Message(role="user"):
            return UserMessage(entry)
        case Message(role="thought"):
            return Thought(entry)
        case Message():
            return AgentMessage(entry, skips=skips)
        case ToolCallEntry():
            return ToolCallDrawing(entry)
        case Question():
            return QuestionDrawing(entry)
        case OwnCommand():
            return OwnCommandDrawing(entry)
        case Subagent():
            return SubagentDrawing(entry)
        case _:
            return NoteDrawing(entry)
