"""Draws the changes of one file, in one column or two. `diff_model` finds what differs.

A long diff is compared in steps of about a millisecond. The event loop runs between them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, zip_longest
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.line_comparison import CONTEXT_LINES, LineChange, PlacedLine, Steps
from acp_tui.client.workspace.runs_later import BUILD_FILE, is_build_file
from acp_tui.conversation.tool_calls import NOWHERE, HunkStart, TextDiff
from acp_tui.conversation.tool_text import shown_path
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.ui.rendering import diff_blocks, diff_text
from acp_tui.ui.rendering.diff_blocks import Columned, T
from acp_tui.ui.rendering.diff_model import Diff, DiffHunk, DiffLine, LineRun, TextComparison
from acp_tui.ui.rendering.highlight import load_language
from acp_tui.ui.rendering.links import to_file
from acp_tui.ui.rendering.palette import PLAIN, Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.wrapping import CUT, Gutter, Row, TextRange, wrap

DiffLayout: TypeAlias = Literal["unified", "columns"]

NOTED_STEPS: Final = 24
"""Number of steps after which the diff says that it's being compared: about a frame."""
MANY_CHANGES: Final = 500
"""Cutting this many changes into blocks takes a step of its own."""

_TOO_LONG: Final = "Too different to compare line by line: shown as replaced."
TOO_NARROW: Final = "Too narrow for two columns, so one is shown."


class _DiffStyle(NamedTuple):
    path: str
    width: int
    palette: Palette
    layout: DiffLayout
    context: int | None


class _Comparison:
    """What differs between two texts, found step by step, once for everything that shows it."""

    def __init__(self, old_text: str | None, new_text: str | None, parts: tuple[HunkStart, ...]) -> None:
        self.found: tuple[Diff, diff_blocks.Sizes] | None = None
        """Set when there are no more steps."""
        self._steps = self._compare(old_text or "", new_text or "", parts)

    def advance(self) -> bool:
        """Do a step of about a millisecond; return True when everything is found."""
        next(self._steps, None)
        return self.found is not None

    def _compare(self, old_text: str, new_text: str, parts: tuple[HunkStart, ...]) -> Steps:
        if parts == NOWHERE:  # the file goes on
            old_text, new_text = f"{old_text}\n", f"{new_text}\n"
        comparison = TextComparison(old_text, new_text)
        yield from comparison.steps()
        diff = replace(comparison.diff, parts=parts) if parts else comparison.diff
        old = yield from diff_blocks.measure(diff.old, crlf=diff.crlf)
        new = yield from diff_blocks.measure(diff.new, crlf=diff.crlf)
        is_odd = old.odd + new.odd > diff_blocks.MAX_ODD_CHARACTERS
        self.found = diff, diff_blocks.Sizes(old.sizes, new.sizes, is_odd, old.long, new.long)


_shown_now: WeakValueDictionary[tuple[object, ...], _Comparison] = WeakValueDictionary()


def _comparison(*texts_and_parts: Any) -> _Comparison:
    """The comparison of these texts that something shows already, or a new one."""
    found = _shown_now.get(texts_and_parts)
    if found is None:
        found = _shown_now[texts_and_parts] = _Comparison(*texts_and_parts)
    return found


class DiffRenderer:
    def __init__(
        self,
        path: str,
        old_text: str | None,
        new_text: str | None,
        parts: tuple[HunkStart, ...] = (),
        changes: tuple[LineChange, ...] = (),
    ) -> None:
        """`old_text` is None for a new file, `new_text` for a deleted one; `parts` is as in `TextDiff.parts`.

        `changes` are drawn in place of those that are found, each as a hunk of its own.
        """
        self.path = path
        self.steps_made = 0
        self._language = diff_text.language_of(path)
        self._old_text = old_text
        self._new_text = new_text
        self._changes = changes
        self._comparison = _comparison(old_text, new_text, parts)
        self._steps = self._prepare()
        self._compared: tuple[Diff, diff_blocks.Sizes] | None = None
        self._syntax: diff_text.DiffSyntax | None = None
        self._drawn_style = _DiffStyle(path, 0, PLAIN, "unified", CONTEXT_LINES)
        self._drawn: diff_blocks.DiffRows | None = None
        self.hunk_rows: tuple[int, ...] = ()
        """The row at which each hunk begins, in the lines that were drawn last."""
        self.rest_rows = 0
        """How many of those rows only count the lines below the last hunk."""
        self._hunks: dict[tuple[DiffLayout, int | None], list[tuple[DiffHunk, list[diff_blocks.DiffBlock]]]] = {}

    # What differs

    def advance(self, steps: int) -> bool:
        """Continue comparing for `steps` steps of about a millisecond each; return True when it's done."""
        while steps and not self.is_ready:
            steps -= 1
            self.steps_made += 1
            next(self._steps, None)
        return self.is_ready

    @property
    def is_ready(self) -> bool:
        """Whether the comparison is done. Drawing is fast from then on."""
        return self._compared is not None

    @property
    def diff(self) -> Diff:
        """The differences. Compares now if that isn't done yet."""
        return self._finish()[0]

    def cut_characters(self, context: int | None) -> int:
        """An upper bound for the characters in changed lines that no row shows, because longer lines are cut."""
        most = diff_text.MAX_CHARACTERS_OF_WHOLE if context is None else diff_text.MAX_CHARACTERS
        diff, sizes = self._finish()
        cut = 0
        for change in diff.changes if sizes.long_old or sizes.long_new else ():
            for lines, long, start, stop in (
                (diff.old, sizes.long_old, change.old_from, change.old_to),
                (diff.new, sizes.long_new, change.new_from, change.new_to),
            ):
                among = long[bisect_left(long, start) : bisect_left(long, stop)]
                cut += sum([max(len(lines[at]) - most, 0) for at in among])
        return cut

    def visible_lines(self, context: int | None) -> Iterator[str]:
        """The texts of the visible lines, without line endings."""
        diff = self.diff
        for hunk in diff.hunks(context):
            for lines, start, count in (
                (diff.old, hunk.old_start - 1, hunk.old_count),
                (diff.new, hunk.new_start - 1, hunk.new_count),
            ):
                yield from (line.rstrip("\r\n") for line in islice(lines, start, start + count))

    def _finish(self) -> tuple[Diff, diff_blocks.Sizes]:
        for _ in self._steps:
            pass
        assert self._compared is not None
        return self._compared

    def _prepare(self) -> Steps:
        while not self._comparison.advance():
            yield
        assert self._comparison.found is not None
        diff, sizes = self._comparison.found
        if self._changes:
            diff = replace(diff, changes=self._changes, approximate=False, are_hunks_single=True)
        # Cut what is drawn first now, so that drawing it is fast.
        if len(diff.changes) > MANY_CHANGES:
            yield
        self._hunks = {("unified", CONTEXT_LINES): _cut(diff, "unified", CONTEXT_LINES)}
        yield from load_language(self._language)
        self._syntax = diff_text.DiffSyntax(diff, self._language)
        self._compared = diff, sizes

    # How it looks

    def lines(
        self, width: int, palette: Palette, layout: DiffLayout = "unified", context: int | None = CONTEXT_LINES
    ) -> diff_blocks.DiffRows:
        """Return the diff as lines of at most `width` cells. Lines of either text fill the width.

        `context` is the number of unchanged lines around each change; None means all. Two columns need lines
        that become others, and enough room. If there isn't enough room, a note says so.
        """
        diff_style = _DiffStyle(self.path, width, palette, layout, context)
        if self._drawn is None or diff_style != self._drawn_style:
            self._drawn_style = diff_style
            self._drawn, self.hunk_rows, self.rest_rows = self._draw(diff_style)
        return self._drawn

    def waiting_lines(self, width: int, palette: Palette) -> list[Strip]:
        notes = ["comparing …"] * (self.steps_made > NOTED_STEPS)
        return plain_lines("  ".join([make_visible_path(self.path), *notes]), width, palette.diff_title)

    def _draw(self, diff_style: _DiffStyle) -> tuple[diff_blocks.DiffRows, tuple[int, ...], int]:
        """The rows, the indexes of the rows where hunks begin, and the number of rows below the last one."""
        wants_columns = diff_style.layout == "columns" and self.diff.has_pairs
        has_room = diff_style.width >= MIN_COLUMNS_CELLS
        above = self._title(diff_style)
        if wants_columns and not has_room:
            above += plain_lines(TOO_NARROW, diff_style.width, diff_style.palette.warning)
        is_wide = wants_columns and has_room
        # Without background colors, the text color shows what changed.
        syntax = self._syntax if diff_style.palette.diff_added.bgcolor is not None else None
        most = diff_text.MAX_CHARACTERS_OF_WHOLE if diff_style.context is None else diff_text.MAX_CHARACTERS
        spelling = diff_text.Spelling(syntax, self.diff.crlf, most)
        columns = (TwoColumns if is_wide else OneColumn)(
            *self._finish(), spelling, diff_style.width, diff_style.palette, diff_style.path
        )
        hunks = self._blocks("columns" if is_wide else "unified", diff_style.context)
        skipped = self.diff.skipped_after([hunk for hunk, _ in hunks]) if hunks else 0
        below = plain_lines(
            diff_text.skipped_lines(skipped) if skipped else "", diff_style.width, diff_style.palette.diff_hunk
        )
        drawn = [(self._hunk(hunk, cut, columns, diff_style), hunk.has_changes) for hunk, cut in hunks]
        return *_below_each_other(above, drawn, below), len(below)

    def _blocks(self, layout: DiffLayout, context: int | None) -> list[tuple[DiffHunk, list[diff_blocks.DiffBlock]]]:
        """The hunks, cut into blocks. They are the same at every width."""
        if (layout, context) not in self._hunks:
            self._hunks = {(layout, context): _cut(self.diff, layout, context)}
        return self._hunks[layout, context]

    def _hunk(
        self, hunk: DiffHunk, blocks: list[diff_blocks.DiffBlock], columns: diff_blocks.Columns, diff_style: _DiffStyle
    ) -> list[Sequence[Strip]]:
        # When the whole file is shown, a hunk needs no header.
        header = diff_text.hunk_header(self.diff, hunk) if self.diff.has_both and diff_style.context is not None else ""
        return [
            plain_lines(header, diff_style.width, diff_style.palette.diff_hunk),
            *[diff_blocks.BlockRows(block, columns) for block in blocks],
        ]

    def _title(self, diff_style: _DiffStyle) -> list[Strip]:
        diff, palette = self.diff, diff_style.palette
        counts = [f"+{diff.added}"] * bool(diff.added) + [f"-{diff.removed}"] * bool(diff.removed)
        kind = BUILD_FILE if is_build_file(diff_style.path) else ""
        notes = [note for note in (kind, self._what_happened(), *counts) if note]
        if diff.crlf:
            notes.append("CRLF line ends")
        name, told = make_visible_line(make_visible_path(diff_style.path)), "".join(f"  {note}" for note in notes)
        style = palette.diff_title + to_file(palette.folder, diff_style.path)
        spans = [(name, style), (told, palette.diff_title)] if style.link else [(f"{name}{told}", style)]
        strips = wrap(spans, diff_style.width)
        if diff.approximate and diff.has_both:
            strips += plain_lines(_TOO_LONG, diff_style.width, palette.warning)
        return strips

    def _what_happened(self) -> str:
        if self._old_text is None:
            return "new file"
        if self._new_text is None:
            return "deleted"
        if self._old_text and not self._new_text:
            return "emptied or deleted"  # an agent that reports a change can't tell which
        return "" if self.diff.changes else "no change"


def _cut(diff: Diff, layout: DiffLayout, context: int | None) -> list[tuple[DiffHunk, list[diff_blocks.DiffBlock]]]:
    count = attrgetter("pair_count" if layout == "columns" else "line_count")
    return [(hunk, list(diff_blocks.blocks_of(hunk, count))) for hunk in diff.hunks(context)]


def _below_each_other(
    above: Sequence[Strip], hunks: Iterable[tuple[Sequence[Sequence[Strip]], bool]], below: Sequence[Strip]
) -> tuple[diff_blocks.DiffRows, tuple[int, ...]]:
    """Return all rows, and the indexes of the rows where hunks with changes begin."""
    runs, starts, at = [above], [], len(above)
    for hunk, has_changes in hunks:
        starts += [at] * has_changes
        runs += hunk
        at += sum(map(len, hunk))
    return diff_blocks.DiffRows([*runs, below]), tuple(starts)


STEPS_AT_ONCE: Final = 3
"""Steps of about a millisecond each between two chances for key presses."""

Key: TypeAlias = tuple[str, str | None, str, tuple[HunkStart, ...]]


class Comparisons:
    """Keeps a renderer for each diff on the screen, and the last finished one for each path."""

    def __init__(self) -> None:
        self._renderers: dict[Key, DiffRenderer] = {}
        self._before: dict[str, DiffRenderer] = {}

    def keep(self, diffs: Iterable[TextDiff]) -> None:
        """Keep a renderer for each of `diffs`. Stops comparing the ones that were replaced."""
        ready = {key[0]: renderer for key, renderer in self._renderers.items() if renderer.is_ready}
        kept = {_key(diff): self._renderers.get(_key(diff)) for diff in diffs}
        self._renderers = {key: renderer or DiffRenderer(*key) for key, renderer in kept.items()}
        self._before = {**self._before, **ready}

    def advance(self) -> bool:
        """Compare a little more; return True when everything is compared."""
        steps_left = STEPS_AT_ONCE
        for renderer in self._renderers.values():
            before = renderer.steps_made
            if not renderer.advance(steps_left):
                return False
            steps_left -= renderer.steps_made - before
        self._before.clear()
        return True

    def renderer(self, diff: TextDiff, cwd: str) -> DiffRenderer:
        """The renderer for `diff`; it may not be ready."""
        # The content may have changed since `keep`: a new renderer is compared once `keep` is called with it.
        key = _key(diff)
        renderer = self._renderers.get(key)
        if renderer is None:
            renderer = self._renderers[key] = DiffRenderer(*key)
        renderer.path = shown_path(diff.path, cwd)
        return renderer

    def before(self, diff: TextDiff) -> DiffRenderer | None:
        """The renderer that last showed the same file; it is ready."""
        return self._before.get(diff.path)


def _key(diff: TextDiff) -> Key:
    return diff.path, diff.old_text, diff.new_text, diff.parts


MIN_CODE_CELLS: Final = 12
"""If the lines would have fewer cells than this, the line numbers are hidden."""
MIN_COLUMNS_CELLS: Final = 60
"""Below this width, two columns would fold nearly every line."""
ROOMY_CELLS: Final = 140
"""From this width on, diffs among other things have two columns, for lines of 60 characters.

A terminal of 160 columns is wide enough, or one of 200 with the sidebar.
"""
RULE: Final = " │ "

Half: TypeAlias = Callable[[], list[Segment]]
"""Draws one side of a row."""


def roomy_layout(width: int) -> DiffLayout:
    """The layout of a diff of this width among other things."""
    return "columns" if width >= ROOMY_CELLS else "unified"


class LineSign(Segment):
    """The sign before a line of a diff. It knows the line."""

    placed: PlacedLine


def _sign(line: DiffLine, diff: Diff, path: str, style: Style) -> LineSign:
    told = ((line.old_number, True), (line.new_number, False))
    old, new = (diff.number_in_file(at, is_old=is_old) if at and diff.is_placed else None for at, is_old in told)
    sign = LineSign(f"{diff_text.SIGNS[line.kind]} ", style)
    sign.placed = PlacedLine(path, diff_text.SIGNS[line.kind], line.text, old, new)
    return sign


class OneColumn(diff_blocks.Columns):
    """The rows of a diff at one width: old and new line numbers, sign, and line. A line is drawn when first viewed."""

    def lay_out(self) -> None:
        gutter = 2 * self.digits + 3
        self._numbered = self.diff.is_placed and self.width - gutter - 2 >= MIN_CODE_CELLS
        self.gutter_cells = (gutter if self._numbered else 0) + 2
        self._room = max(self.width - self.gutter_cells, 1)
        self.rooms = (self._room,)

    def split(self, pieces: Iterable[diff_blocks.DiffPiece], old: Sequence[T], new: Sequence[T]) -> Columned[T]:
        return (diff_blocks.in_one(pieces, old, new),)

    def rows_at(self, run: LineRun, index: int) -> Iterator[Row]:
        line = self.diff.line(run, index)
        shown = self.spelling.shown(line, folds_evenly=self.sizes.folds_evenly(line))
        for at, part in enumerate(shown.parts(self._room)):
            yield partial(self._strip, shown, part, at > 0)
        for note in shown.notes:
            yield Strip(self.note(note, self._room), self.width)

    def _strip(self, shown: diff_text.ShownLine, part: TextRange, continues: bool) -> Strip:
        style, _ = diff_text.line_styles(shown.line.kind, self.palette)
        segments = [
            *self._gutter(shown.line, style, continues),
            *shown.segments(part, self._room, self.palette, Gutter),
        ]
        return Strip(segments, self.gutter_cells + max(self._room, part.cells))

    def _gutter(self, line: DiffLine, style: Style, continues: bool) -> list[Segment]:
        sign = Gutter("  ", style) if continues else _sign(line, self.diff, self.path, style)
        if not self._numbered:
            return [sign]
        told = ((line.old_number, True), (line.new_number, False))
        numbers = [
            "" if continues or at is None else str(self.diff.number_in_file(at, is_old=is_old)) for at, is_old in told
        ]
        text = " ".join([number.rjust(self.digits) for number in numbers])
        joint = [CUT] if continues else []
        return [*joint, Gutter(f"{text}  ", style + self.palette.diff_number), sign]


class TwoColumns(diff_blocks.Columns):
    """The rows of a diff at one width, with old lines next to new ones. A line is drawn when first viewed.

    The width is at least `MIN_COLUMNS_CELLS`.
    """

    def lay_out(self) -> None:
        self.gutter_cells = self.digits + len("  - ")
        self._left_cells = (self.width - len(RULE)) // 2
        self._right_cells = self.width - len(RULE) - self._left_cells
        self.rooms = (self._left_cells - self.gutter_cells, self._right_cells - self.gutter_cells)

    def split(self, pieces: Iterable[diff_blocks.DiffPiece], old: Sequence[T], new: Sequence[T]) -> Columned[T]:
        on_side = diff_blocks.on_side
        return on_side(pieces, old, is_old=True), on_side(pieces, new, is_old=False)

    def rows_at(self, run: LineRun, index: int) -> Iterator[Row]:
        old, new = self.diff.pair(run, index)
        left, right = self._halves(old, self.rooms[0], is_old=True), self._halves(new, self.rooms[1], is_old=False)
        for left_half, right_half in zip_longest(left, right):
            yield partial(self._strip, left_half, right_half)

    def _halves(self, line: DiffLine | None, room: int, *, is_old: bool) -> list[Half]:
        """One side of a pair, row by row."""
        if line is None:
            return []
        number = line.old_number if is_old else line.new_number
        placed = None if number is None else self.diff.number_in_file(number, is_old=is_old)
        shown = self.spelling.shown(line, folds_evenly=self.sizes.folds_evenly(line))
        halves: list[Half] = [
            partial(self._half, shown, placed if at == 0 else None, part, room)
            for at, part in enumerate(shown.parts(room))
        ]
        return halves + [partial(self.note, note, room) for note in shown.notes]

    def _half(self, shown: diff_text.ShownLine, number: int | None, part: TextRange, room: int) -> list[Segment]:
        style, _ = diff_text.line_styles(shown.line.kind, self.palette)
        digits = "" if number is None or not self.diff.is_placed else str(number)
        return [
            Gutter(f"{digits:>{self.digits}}  ", style + self.palette.diff_number),
            Segment("  ", style) if number is None else _sign(shown.line, self.diff, self.path, style),
            *shown.segments(part, room, self.palette),
        ]

    def _strip(self, left: Half | None, right: Half | None) -> Strip:
        rule = Segment(RULE, self.palette.table_border)
        left_side = left() if left else [Segment(" " * self._left_cells)]
        right_side = right() if right else [Segment(" " * self._right_cells)]
        return Strip([*left_side, rule, *right_side], self.width)
