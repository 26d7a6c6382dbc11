"""The screen to review one changed file hunk by hunk, and to revert a hunk or the file.

The hunks are drawn exactly as they would be reverted, below facts about the file.

If a revert is refused because the file has changed, it shows the current file. The previous state stays available.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Final

from anyio import to_thread
from rich.segment import Segment
from rich.style import Style
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.strip import Strip

from acp_tui.client.changes import ChangedMeanwhile, ChangedPath, ChangesError, FileState, Review
from acp_tui.client.line_comments import Comment, Version, version_of
from acp_tui.client.line_comparison import CONTEXT_LINES
from acp_tui.client.workspace.runs_later import BUILD_FILE, BUILD_FILE_MEANS, is_build_file
from acp_tui.conversation.visible import make_visible
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.ui.changes.changed_files import UNKNOWN, WORDS, count_words, state_words
from acp_tui.ui.changes.follower import UNDOES, FolderChanges
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import ask_again, keys_in_force
from acp_tui.ui.commands.table import MOVING, READING, bindings_of
from acp_tui.ui.kit.answer_guard import TOO_SOON, AnswerGuard
from acp_tui.ui.kit.commenting import CommentView
from acp_tui.ui.kit.dialog import CLOSING, key_lines
from acp_tui.ui.kit.line_view import StripView
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.permission.full_request import COLUMNS_FROM_CELLS, ways_to_draw
from acp_tui.ui.permission.request_drawing import keys_lines
from acp_tui.ui.rendering.diff import MIN_COLUMNS_CELLS, TOO_NARROW, DiffLayout, DiffRenderer
from acp_tui.ui.rendering.diff_blocks import DiffRows
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.wrapping import Lines, wrap
from acp_tui.ui.textual_gaps.internals import bindings_of_key


class ReviewDrawing:
    """The drawing of one review. Create it in a thread, because a long file takes a moment."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self.hunk_starts: tuple[int, ...] = ()
        """The first row of each hunk in the lines drawn last, and the end of the last hunk."""
        before, after = _text(review.before), _text(review.after)
        self._renderer = DiffRenderer(review.path, before, after, changes=review.hunks) if review.hunks else None
        self._facts = tuple(_facts(review))

    def draw(self, width: int, palette: Palette, layout: DiffLayout, context: int | None) -> Sequence[Strip]:
        """The lines, with `context` unchanged lines around each hunk; None for all."""
        is_too_narrow = layout == "columns" and width < MIN_COLUMNS_CELLS and self.has_pairs
        facts = [*self._facts, *[TOO_NARROW] * is_too_narrow]
        above = [strip for fact in facts for strip in plain_lines(fact, width, palette.warning)]
        if self._renderer is None:
            self.hunk_starts = ()
            return above
        title, *hunks = self._renderer.lines(width, palette, layout, context).runs
        # Without the title: the path and the counts are above the scrolled part.
        lines, diff = DiffRows([above, *hunks]), self._renderer.diff
        has_rows_below = context is not None and len(diff.old) - diff.changes[-1].old_to > context
        starts = [start - len(title) + len(above) for start in self._renderer.hunk_rows]
        self.hunk_starts = (*starts, len(lines) - has_rows_below)
        return lines

    @property
    def has_both(self) -> bool:
        """Whether there are an old and a new text, so that there may be unchanged lines."""
        return self._renderer is not None and self._renderer.diff.has_both

    @property
    def has_pairs(self) -> bool:
        """Whether lines become others, so that they can be side by side."""
        return self._renderer is not None and self._renderer.diff.has_pairs


def _text(state: FileState | None) -> str | None:
    """The text of a file. Invalid UTF-8 stays distinguishable, although it looks the same."""
    return None if state is None or state.data is None else state.data.decode(errors="surrogateescape")


def _facts(review: Review) -> Iterator[str]:
    """What the lines don't show."""
    change, before, after = review.change, review.before, review.after
    if change is None:
        yield "It is unchanged."
        return
    if is_build_file(review.path):
        yield f"This is {BUILD_FILE_MEANS}."
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
    try:
        b"\n".join(lines).decode()
    except UnicodeDecodeError:
        yield "Bytes that aren't UTF-8 are shown as �."


BAR: Final = "▌ "


class HunkView(CommentView):
    """Scrolls by lines, pages, and hunks. The hunk with the bar always has a line in view."""

    def __init__(self, comments: list[Comment]) -> None:
        super().__init__(comments)
        self.hunk = 0
        self._lines: Sequence[Strip] = ()
        self._starts: Sequence[int] = ()
        self._style = Style.null()
        self._height = 1

    def show_hunks(self, lines: Sequence[Strip], starts: Sequence[int], height: int, style: Style) -> None:
        """Show these lines in `height` rows, with a bar in this style.

        `starts` contains the first row of each hunk and the end of the last; empty if there are no hunks.
        """
        self._lines, self._starts, self._height, self._style = lines, starts, height, style
        self._mark(self.hunk)

    def go_to(self, hunk: int) -> None:
        """Scroll to the nearest hunk. The first hunk includes the lines above it."""
        self.end()
        self._mark(hunk)
        self.go_to_line(self._starts[self.hunk] if self.hunk else 0)

    def begins_in(self, rows: range) -> range:
        hunk = self._rows()
        return range(max(rows.start, hunk.start), min(rows.stop, hunk.stop))

    def select(self, row: int | None, *, extends: bool = False) -> None:
        """Move the bar to the hunk of what is selected, too."""
        super().select(row, extends=extends)
        if row is not None and self._starts:
            self._mark(bisect_right(self._starts, row) - 1)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        top, rows = int(new_value), self._rows()
        if rows and not (rows.start < top + self._height and rows.stop > top):
            self._mark(bisect_right(self._starts, top) - 1)

    def _mark(self, hunk: int) -> None:
        before, self.hunk = self.hunk, max(0, min(hunk, len(self._starts) - 2))
        self.show(_BarredLines(self._lines, self._rows(), self._style), self._height)
        if self.hunk != before:
            self.post_message(self.Moved())

    def _rows(self) -> range:
        return range(*self._starts[self.hunk : self.hunk + 2]) if self._starts else range(0)


class _BarredLines(Lines):
    """Lines with a bar before some of them, and blanks before the others."""

    def __init__(self, lines: Sequence[Strip], barred: range, style: Style) -> None:
        self._lines = lines
        self._barred = barred
        self._bar = Segment(BAR, style)
        self._blank = Segment(" " * len(BAR))

    def __len__(self) -> int:
        return len(self._lines)

    def _line(self, at: int) -> Strip:
        line = self._lines[at]
        return Strip([self._bar if at in self._barred else self._blank, *line], line.cell_length + len(BAR))


NOT_REVERTED: Final = "The file has changed in the meantime, so nothing was reverted. This is its current state."
NOT_UNDONE: Final = (
    "The file has changed since the revert, also near its lines, so it wasn't undone. This is its current state."
)
NOT_SHOWN: Final = "Ignored: the file was shown only after you pressed the key. Press it again."
OUTDATED: Final = "The file has changed since it was shown. Press {reload} to see its current state."
WAY_TO_EARLIER: Final = "Press {diff_earlier} to see what was there before."
EARLIER: Final = "This is what was there before. Press {diff_earlier} to see the current state."


def drop_if_unseen(screen: Screen[None], event: events.Key, guard: AnswerGuard, *, is_shown: bool) -> None:
    """Drop a key that writes the file at the cursor if the terminal hadn't shown that file, or if it's held."""
    actions = {binding.action for binding in bindings_of_key(screen, event.key)}
    if actions & {"revert", "revert_hunk", "revert_file", "copy_back"}:
        is_repeated = guard.repeats(event)
        if is_repeated or not (is_shown and guard.was_shown_before(event)):
            held = TOO_SOON.format(wait_s=1, again="press it again")
            ask_again(screen, held if is_repeated else NOT_SHOWN)
            event.stop()
            event.prevent_default()
    guard.takes(event)


class ReviewScreen(ModalScreen[None]):
    PLACE: Final = "diff"
    ALSO: ClassVar[tuple[Place, ...]] = ("reading",)
    BINDINGS: ClassVar[list[BindingType]] = [*CLOSING, *bindings_of(*MOVING, *READING, place=PLACE)]

    def __init__(
        self,
        folder: FolderChanges,
        path: str,
        comments: list[Comment],
        *,
        earlier: Review | None = None,
        note: str = "",
    ) -> None:
        """`earlier` is a previous state of the file that was shown; `note` says what happened.

        Comments are added to `comments`.
        """
        super().__init__()
        self._folder = folder
        self._path = self._next_path = path
        """The file that is shown, and the one that will be in a moment."""
        self._now: ReviewDrawing | None = None
        self._earlier: ReviewDrawing | None = None
        self._lines: Sequence[Strip] = ()
        self._sees_earlier = False
        self._note = ""
        self._version: Version | None = None
        """The file's, when it was shown."""
        self._listed: ChangedPath | None = None
        """The file's entry in the list when it was shown."""
        self._is_outdated = False
        self._begins_with = (earlier, note)
        self._wants_columns: bool | None = None
        """None: depends on the width."""
        self._shows_whole_file = False
        self._writing = asyncio.Lock()
        self._top, self._view, self._bottom = StripView(), HunkView(comments), StripView()
        self._page = Vertical(self._top, self._view, self._bottom, id="review")
        self._guard = AnswerGuard(QuestionScreen.clock, self)
        """Knows whether the terminal has shown the file as it is here."""

    def compose(self) -> ComposeResult:
        yield self._page

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self.redraw, init=False)
        self._begin(*self._begins_with)

    def on_resize(self) -> None:
        self.call_after_refresh(self.redraw)

    @on(FolderChanges.Changed)
    def _note_changes(self) -> None:
        """Show a note if the file has changed. The shown state isn't replaced while the user reads it."""
        if self._now is None or self._writing.locked():
            return
        listed = self._folder.changes.get(self._path)
        # The list may be older than what was just read from the disk.
        is_outdated = listed not in (self._listed, self._now.review.change)
        if is_outdated != self._is_outdated:
            self._is_outdated = is_outdated
            self.lay_out()

    # What it shows

    @work(exclusive=True, group="load")
    async def _begin(self, earlier: Review | None, note: str) -> None:
        if earlier is not None:
            self._earlier = await to_thread.run_sync(ReviewDrawing, earlier)
        await self._show(self._path, note)

    @work(exclusive=True, group="load")
    async def _load(self, path: str, note: str = "", hunk: int = 0) -> None:
        if not self._writing.locked():
            await self._show(path, note, hunk)

    async def _show(self, path: str, note: str, hunk: int = 0) -> None:
        version = version_of(self._folder.root / path)
        try:
            review = await self._folder.review(path)
        except ChangesError as error:
            self._fail(error)
            return
        self._now = await to_thread.run_sync(ReviewDrawing, review)
        if path != self._path:
            self._earlier = None
        self._path = self._next_path = path
        self._note, self._version = note, version
        self._listed = self._folder.changes.get(path)
        self._sees_earlier = self._is_outdated = False
        self.redraw()
        self._view.go_to(hunk)

    def _fail(self, error: ChangesError) -> None:
        """Show why loading failed. If no file was shown before, close."""
        self._next_path = self._path
        if self._now is not None:
            self._say(str(error))
        else:
            self.notify(make_visible(str(error)), severity="error", markup=False)
            self.dismiss()

    @property
    def _drawing(self) -> ReviewDrawing | None:
        return self._earlier if self._sees_earlier else self._now

    def redraw(self) -> None:
        if self._drawing is not None and self._width > 2:
            context = None if self._shows_whole_file else CONTEXT_LINES
            self._lines = self._drawing.draw(self._width - len(BAR), self._palette, self._layout, context)
            self.lay_out()
            self._guard.arm()

    @on(CommentView.Moved)
    def lay_out(self) -> None:
        """Show what was drawn, with the current head, bar, and keys."""
        if self._drawing is None or self._width <= 2:
            return
        head, keys = self._head(self._drawing.review), self._keys()
        self._top.show(head, len(head))
        self._bottom.show(keys, len(keys))
        height = self._page.content_size.height - len(head) - len(keys)
        self._view.show_hunks(self._lines, self._drawing.hunk_starts, max(height, 1), self._palette.accent)

    def _head(self, review: Review) -> list[Strip]:
        palette, change = self._palette, review.change
        added, removed = ("", "") if change is None else count_words(change)
        title = [
            (make_visible_path(review.path), palette.diff_title),
            (f"  {BUILD_FILE}" if is_build_file(review.path) else "", palette.warning),
            (f"  {WORDS[change.kind] if change is not None else 'as it was'}", palette.muted),
            (f"  {added}" if added else "", palette.success),
            (f"  {removed}" if removed else "", palette.error),
        ]
        return wrap(title, self._width) + wrap([(self._position(review), palette.muted)], self._width)

    def _shown_note(self) -> str:
        hint = keys_in_force(self).hint
        if self._sees_earlier:
            return hint(EARLIER)
        note = hint(OUTDATED) if self._is_outdated else self._note
        return f"{note} {hint(WAY_TO_EARLIER)}" if note and self._earlier is not None else note

    def _position(self, review: Review) -> str:
        changes = self._folder.changes
        parts = [f"hunk {self._view.hunk + 1}/{len(review.hunks)}"] * bool(review.hunks)
        if review.path in changes:
            parts.append(f"file {sum(path <= review.path for path in changes):,}/{len(changes):,}")
        return " · ".join([*parts, f"since {self._folder.since}"])

    def _keys(self) -> list[Strip]:
        """What happened, and the keys that do something here."""
        assert self._drawing is not None
        hunks, change = self._drawing.review.hunks, self._revertible.change if self._revertible is not None else None
        reverting = ["{revert} revert hunk", "{revert_file} revert file"] if hunks else ["{revert} revert file"]
        keys = [
            *["{next_change} {previous_change} hunks"] * (len(hunks) > 1),
            *["{previous_file} {next_file} files"] * any(path != self._path for path in self._folder.changes),
            *reverting * (change is not None and change.before_unknown is None),
            *["{undo_revert} undo"] * self._folder.can_undo,
            *(self._view.keys if hunks else ()),
            *ways_to_draw(self._layout, is_whole=self._shows_whole_file, has_pairs=self._drawing.has_pairs)
            * self._drawing.has_both,
            *["{diff_earlier} current state" if self._sees_earlier else "{diff_earlier} before"] * bool(self._earlier),
            "{reload} refresh",
            "{diff_edit} edit",
            "{dialog_close} back",
        ]
        keys = [key for key in map(keys_in_force(self).hint, keys) if key]
        lines, note = key_lines(keys, self._width, self.size.height), self._shown_note()
        said = wrap([(note, self._palette.warning)], self._width) if note else []
        return said + keys_lines(lines, self._palette.muted, self._width)

    def _say(self, note: str) -> None:
        self._note = make_visible(note)
        self.lay_out()

    @property
    def _width(self) -> int:
        # Keep the scroll bar's column free, so that the text doesn't jump when it appears.
        return self._page.content_size.width - 1

    @property
    def _palette(self) -> Palette:
        return palette_for(self.app.current_theme)

    @property
    def _layout(self) -> DiffLayout:
        """What the user chose, or what the width suggests."""
        wants_columns = self._wants_columns
        if wants_columns is None:
            wants_columns = self._width >= COLUMNS_FROM_CELLS - 1
        return "columns" if wants_columns else "unified"

    # What the user reads

    def action_move(self, lines: int) -> None:
        if not self._view.step(lines):
            self._view.go_to_line(self._view.scroll_offset.y + lines)

    def action_page(self, direction: int) -> None:
        self._view.action_page(direction)

    def action_go_to_end(self, direction: int) -> None:
        """Go to the beginning for -1, to the end for 1."""
        self._view.go_to_line(0 if direction < 0 else len(self._lines))

    def action_go_to_change(self, step: int) -> None:
        self._view.go_to(self._view.hunk + step)

    def action_go_to_file(self, step: int) -> None:
        if step > 0:
            path = min((path for path in self._folder.changes if path > self._path), default="")
        else:
            path = max((path for path in self._folder.changes if path < self._path), default="")
        if path:
            self._next_path = path
            self._load(path)
        else:
            self._say("This is the last file." if step > 0 else "This is the first file.")

    def action_toggle_columns(self) -> None:
        self._wants_columns = self._layout == "unified"
        self._draw_at_hunk()

    def action_toggle_context(self) -> None:
        self._shows_whole_file = not self._shows_whole_file
        self._draw_at_hunk()

    def action_toggle_earlier(self) -> None:
        """Switch between the previous and the current state of a file that has changed."""
        if self._earlier is not None:
            self._sees_earlier = not self._sees_earlier
            self.redraw()
            self._view.go_to(0)

    def _draw_at_hunk(self) -> None:
        self.redraw()
        self._view.go_to(self._view.hunk)

    def action_reload(self) -> None:
        self._load(self._path, hunk=self._view.hunk)

    def action_copy_text(self) -> None:
        self._view.copy_selected()

    def action_edit(self) -> None:
        if self._now is None or self._now.review.after is None:
            self._say("There is no file to open.")
            return
        self._next_path = ""  # what is pressed now is for the editor, and isn't to write a file here
        self._edit()

    @work
    async def _edit(self) -> None:
        note = make_visible(await self._folder.edit(self._path))
        self._next_path = self._path
        self._load(self._path, note, self._view.hunk)

    def action_select(self, step: int) -> None:
        self._view.step(step, extends=True)

    def action_comment(self) -> None:
        self._view.comment(self._folder.root, lambda _: None if self._sees_earlier else self._version)

    # What the user changes

    def on_key(self, event: events.Key) -> None:
        drop_if_unseen(self, event, self._guard, is_shown=self._path == self._next_path)

    @property
    def _revertible(self) -> Review | None:
        """The shown state, if it's the current one, and stays so, and there is a change."""
        is_past = self._sees_earlier or self._path != self._next_path
        review = None if is_past or self._now is None else self._now.review
        return review if review is not None and review.change is not None else None

    def action_revert_hunk(self) -> None:
        shown = self._revertible
        if shown is not None and shown.hunks:
            hunk = shown.hunks[self._view.hunk]
            self._write(partial(self._folder.revert_hunk, shown, hunk), f"Reverted the hunk{UNDOES}")
        else:  # it changes as a whole: a file without lines, or that isn't text
            self.action_revert_file()

    def action_revert_file(self) -> None:
        shown = self._revertible
        if shown is not None:
            self._write(partial(self._folder.revert_file, shown), f"Reverted the file{UNDOES}")

    def action_undo(self) -> None:
        if self._now is not None and not self._sees_earlier:
            self._write(self._folder.undo, refusal=NOT_UNDONE)

    @work
    async def _write(
        self, change: Callable[[], Awaitable[str | None]], done: str = "", *, refusal: str = NOT_REVERTED
    ) -> None:
        """Run `change`, one at a time, then show the file with a note: what `change` returns, or `done`."""
        async with self._writing:
            self.workers.cancel_group(self, "load")  # otherwise another file could replace this one
            try:
                note, earlier = await change() or keys_in_force(self).hint(done), None
            except ChangedMeanwhile as error:
                note, earlier = refusal, self._now
                if error.reverted is not None:
                    self._path, earlier = error.path, await to_thread.run_sync(ReviewDrawing, error.reverted)
            except ChangesError as error:
                note, earlier = str(error), self._earlier
            self._earlier = earlier
            await self._show(self._path, make_visible(note), self._view.hunk)

    def action_close(self) -> None:
        """Leave. Ignored while a file is being written, because the write couldn't be undone then."""
        if not self._writing.locked():
            self.dismiss()
