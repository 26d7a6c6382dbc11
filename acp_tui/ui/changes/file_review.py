"""Draws the review of one file: facts about it, and its hunks exactly as they would be reverted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from textual.strip import Strip

from acp_tui.client.changes import FileState, Hunk, Review
from acp_tui.client.line_comparison import Change
from acp_tui.ui.changes.changed_files import UNKNOWN, state_words
from acp_tui.ui.rendering import diff_model as model
from acp_tui.ui.rendering.diff import MIN_COLUMNS_CELLS, DiffLayout, DiffRenderer
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.wrapping import Lines

TOO_NARROW: Final = "Too narrow for two columns, so one is shown."


class ReviewDrawing:
    """The drawing of one review. Create it in a thread, because a long file takes a moment."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self.hunk_starts: tuple[int, ...] = ()
        """The first row of each hunk in the lines drawn last, and the end of the last hunk."""
        self._renderer = _ReviewRenderer(review) if review.hunks else None
        self._facts = tuple(_facts(review))

    def draw(self, width: int, palette: Palette, layout: DiffLayout, context: int | None) -> Sequence[Strip]:
        """The lines, with `context` unchanged lines around each hunk; None for all."""
        is_too_narrow = layout == "columns" and width < MIN_COLUMNS_CELLS and self._has_columns
        facts = [*self._facts, *[TOO_NARROW] * is_too_narrow]
        above = [strip for fact in facts for strip in plain_lines(fact, width, palette.warning)]
        if self._renderer is None:
            self.hunk_starts = ()
            return above
        rows = self._renderer.lines(width, palette, layout, context)
        starts = self._renderer.hunk_rows
        # Without the title: the path and the counts are above the scrolled part.
        lines = _Below(above, rows, starts[0])
        end = len(lines) - self._renderer.has_rows_below(context)
        self.hunk_starts = (*(len(above) + start - starts[0] for start in starts), end)
        return lines

    @property
    def _has_columns(self) -> bool:
        return self._renderer is not None and self._renderer.diff.has_both


class _ReviewRenderer(DiffRenderer):
    """Draws exactly the hunks that the review found."""

    def __init__(self, review: Review) -> None:
        super().__init__(review.path, _text(review.before), _text(review.after))
        compared = self.diff
        diff = _ReviewedDiff(
            compared.old,
            compared.new,
            tuple(_change(hunk) for hunk in review.hunks),
            compared.crlf,
            approximate=False,  # that is said above
        )
        assert self._compared is not None
        self._compared = (diff, *self._compared[1:])
        self.release()  # drop what was prepared for its own hunks

    def has_rows_below(self, context: int | None) -> bool:
        """Whether a line below the hunks says that there is more."""
        return context is not None and len(self.diff.old) - self.diff.changes[-1].old_to > context


class _ReviewedDiff(model.Diff):
    """A diff in which each change is a separate hunk."""

    def hunks(self, context: int | None = model.CONTEXT_LINES) -> tuple[model.Hunk, ...]:
        """A hunk for each change."""
        return tuple(hunks_with_context(self, context))


def _text(state: FileState | None) -> str | None:
    """The text of a file. Invalid UTF-8 stays distinguishable, although it looks the same."""
    return None if state is None or state.data is None else state.data.decode(errors="surrogateescape")


class _Below(Lines):
    """Lines, and below them other lines from `start` on."""

    def __init__(self, above: Sequence[Strip], lines: Sequence[Strip], start: int) -> None:
        self._above = above
        self._lines = lines
        self._start = start

    def __len__(self) -> int:
        return len(self._above) + len(self._lines) - self._start

    def _line(self, at: int) -> Strip:
        below = at - len(self._above)
        return self._above[at] if below < 0 else self._lines[self._start + below]


def hunks_with_context(diff: model.Diff, context: int | None) -> list[model.Hunk]:
    """A hunk for each change. Hunks share no unchanged lines."""
    most = len(diff.old) if context is None else context
    ends = [Change(0, 0, 0, 0), *diff.changes, Change(len(diff.old), len(diff.old), 0, 0)]
    gaps = [after.old_from - before.old_to for before, after in pairwise(ends)]
    hunks: list[model.Hunk] = []
    shown = 0
    for at, change in enumerate(diff.changes):
        above = min(most, gaps[0]) if at == 0 else _split(gaps[at], most)[1]
        below = min(most, gaps[-1]) if at == len(diff.changes) - 1 else _split(gaps[at + 1], most)[0]
        hunks.append(_hunk(change, above, below, shown))
        shown = change.old_to + below
    return hunks


def _split(gap: int, most: int) -> tuple[int, int]:
    """Divide a gap of unchanged lines between the changes above and below. A single line is never hidden."""
    if gap > 2 * most + 1:
        return most, most
    return (gap + 1) // 2, gap // 2


def _hunk(change: Change, above: int, below: int, shown: int) -> model.Hunk:
    old_from, old_to, new_from, new_to = change
    runs = (
        model.Run(False, old_from - above, above, new_from - above, above),
        model.Run(True, old_from, old_to - old_from, new_from, new_to - new_from),
        model.Run(False, old_to, below, new_to, below),
    )
    old_start, new_start = old_from - above, new_from - above
    return model.Hunk(
        tuple(run for run in runs if run.line_count),
        old_start - shown,
        old_start + 1,
        old_to + below - old_start,
        new_start + 1,
        new_to + below - new_start,
    )


def _change(hunk: Hunk) -> Change:
    return Change(hunk.before_start, hunk.before_end, hunk.after_start, hunk.after_end)


def _facts(review: Review) -> Iterator[str]:
    """What the lines don't show."""
    change, before, after = review.change, review.before, review.after
    if change is None:
        yield "It is unchanged."
        return
    shows_states = not review.hunks or (before and after and before.permissions != after.permissions)
    if change.before_unknown is not None:
        yield f"{UNKNOWN}: {change.before_unknown}. It can't be reverted."
    elif shows_states:
        yield f"Before: {state_words(before)}."
    if shows_states:
        yield f"Now: {state_words(after)}."
    if change.is_approximate:
        yield "Too different to compare line by line: some of it is shown as replaced."
    lines = (*review.before_lines, *review.after_lines)
    if lines and all(line.endswith(b"\r\n") for line in lines):
        yield "All lines end in CRLF."
    if not all(map(_is_utf8, lines)):
        yield "Bytes that aren't UTF-8 are shown as �."


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
