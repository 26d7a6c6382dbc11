"""The screen that lists the files changed since the session began, updated as they change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from anyio import to_thread
from rich.segment import Segment
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static

from acp_tui.client.changes import ChangedMeanwhile, ChangedPath, ChangesError, Review
from acp_tui.client.line_comments import Comment
from acp_tui.client.line_comparison import CONTEXT_LINES
from acp_tui.client.worktrees import WorktreeFailed, bring_back, changes_in, known_worktree
from acp_tui.conversation.visible import make_visible
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.conversation.wording import from_home
from acp_tui.ui.changes.changed_files import change_segments
from acp_tui.ui.changes.follower import UNDOES, FolderChanges
from acp_tui.ui.changes.review import NOT_REVERTED, NOT_UNDONE, ReviewDrawing, ReviewScreen, drop_if_unseen
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import MOVING, bindings_of
from acp_tui.ui.kit.answer_guard import AnswerGuard
from acp_tui.ui.kit.dialog import CLOSING, FrameKeys, shown
from acp_tui.ui.kit.line_view import StripView
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.kit.row_list import NO_ROW, PickerRow, RowList
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import Palette

UNDO: Final = "{undo_revert} undo · "
COPY: Final = "{changes_copy_back} copy to where the worktree came from · "
KEYS: Final = "{reload} refresh · {dialog_close} back"
KEYS_OF_CHANGES: Final = "{list_choose} review · {revert} revert · "
OPENED: Final = ", when acp-tui opened this folder"
IN_GIT: Final = " `!git diff` in the prompt shows more."


class ChangeList(RowList, can_focus=True):
    """A row for each changed file, sorted by path."""

    PLACE: Final = "list"
    ALSO: ClassVar[tuple[Place, ...]] = ("reading",)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(
        *MOVING, "next_change", "previous_change", "next_file", "previous_file", place=PLACE
    )

    class Moved(Message):
        """Another row is under the cursor."""

    @property
    def change(self) -> ChangedPath | None:
        return None if self.row is None else self.row.value

    def show_changes(self, changes: Sequence[ChangedPath], wanted: str = "") -> None:
        """Show these. The cursor goes to `wanted` or stays on its file, which stays in place on the screen."""
        at, top = self.cursor, self.scroll_offset.y
        path = wanted or ("" if self.change is None else self.change.path)
        now_at = next((index for index, change in enumerate(changes) if change.path >= path), len(changes) - 1)
        self.show([PickerRow(change, change.path) for change in changes], now_at if changes else NO_ROW)
        if top and at != NO_ROW:
            self.go_to_line(top + now_at - at)

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        return change_segments(self.rows[index].value, width, palette)

    def action_move(self, step: int) -> None:
        self.move(step)
        self.post_message(self.Moved())

    action_go_to_file = action_go_to_change = action_move

    def action_go_to_end(self, direction: int) -> None:
        self.action_move(direction * len(self.rows))

    def action_page(self, direction: int) -> None:
        self.move_page(direction)
        self.post_message(self.Moved())

    @on(RowList.Clicked)
    async def action_choose(self) -> None:
        await self.run_action("screen.review")  # before the keys that follow


class Preview(StripView):
    """How the file at the cursor has changed, as its review begins. On a low screen, there is no room for it."""

    def __init__(self) -> None:
        super().__init__()
        self._drawing: ReviewDrawing | None = None
        self.change: ChangedPath | None = None
        """What it's for, even if that can't be compared."""

    @property
    def review(self) -> Review | None:
        return None if self._drawing is None else self._drawing.review

    def show_review(self, change: ChangedPath | None, drawing: ReviewDrawing | None) -> None:
        before, self._drawing, self.change = self._drawing, drawing, change
        self.redraw()
        if before is None or drawing is None or before.review.path != drawing.review.path:
            self.go_to_line(0)

    def redraw(self) -> None:
        width = self.size.width - 1  # the scroll bar's column stays free
        self._strips = ()
        if self._drawing is not None and width > 0:
            self._strips = self._drawing.draw(width, palette_for(self.app.current_theme), "unified", CONTEXT_LINES)
        self.count_lines(len(self._strips))

    def on_resize(self) -> None:
        self.call_after_refresh(self.redraw)


class ChangesScreen(ModalScreen[None]):
    """Lists the changes, opens their reviews, and reverts whole files."""

    PLACE: Final = "changes"
    BINDINGS: ClassVar[list[BindingType]] = [*CLOSING, *bindings_of(place=PLACE)]

    def __init__(self, folder: FolderChanges, comments: list[Comment], whose: str = "") -> None:
        """Comments on lines are added to `comments`. `whose` changes they are goes into the title."""
        super().__init__()
        self._folder = folder
        self._comments = comments
        self._titled = f"Changes of {whose}" if whose else "Changes"
        self._list = ChangeList()
        self._title = Static(classes="changes-title", markup=False)
        self._since = Static(classes="changes-since", markup=False)
        self._notes = Static(classes="changes-notes", markup=False)
        self._preview = Preview()
        self._said = Static(classes="changes-said", markup=False)
        self._keys = FrameKeys(KEYS)
        self._guard = AnswerGuard(QuestionScreen.clock, self)
        """Knows whether the terminal has shown the list as it is here."""
        self._reviewed = ""
        """The file reviewed last. On return, the cursor goes to it."""
        self._writing = asyncio.Lock()

    def compose(self) -> ComposeResult:
        with Vertical(id="changes"):
            yield from (self._title, self._since, self._list, self._preview, self._notes, self._said, self._keys)

    @property
    def _is_in_worktree(self) -> bool:
        """Whether it may be one of ours, judging by the name of its parent folders."""
        return any(part.endswith(".worktrees") for part in self._folder.root.parts)

    def on_mount(self) -> None:
        self.set_focus(self._list)
        self._note_changes()

    @on(FolderChanges.Changed)
    def _note_changes(self) -> None:
        self._show_list()

    def _show_list(self, wanted: str = "") -> None:
        changes = self._folder.changes
        self._list.show_changes([changes[path] for path in sorted(changes)], wanted)
        since = self._folder.since + OPENED * (not self._is_in_worktree)
        self._title.update(f"{self._titled}  {self._folder.summary()}" if changes else self._titled)
        who = f"since {since} (any program)"
        notes = self._folder.notes
        nothing = f"No change is known since {since}." if notes else f"Nothing has changed since {since}."
        nothing += IN_GIT * (self._folder.is_in_git and not self._is_in_worktree)
        self._since.update(who if changes else nothing)
        self._notes.update(make_visible("\n".join(notes)))
        self._notes.display = bool(notes)
        copy = COPY * bool(changes and self._is_in_worktree)
        self._keys.keys = KEYS_OF_CHANGES * bool(changes) + UNDO * self._folder.can_undo + copy + KEYS
        self._look_at_change()

    @work(exclusive=True, group="preview")
    async def _look_at_change(self) -> None:
        change, drawing = self._list.change, None
        if change is not None:
            with suppress(ChangesError):
                drawing = await to_thread.run_sync(ReviewDrawing, await self._folder.review(change.path))
        before = self._preview.change, self._preview.review
        self._preview.show_review(change, drawing)
        if before != (change, self._preview.review):
            self._guard.arm()

    def _say(self, text: str, style: str = "") -> None:
        """Show this until the user moves on."""
        self._said.update(shown(text, style))
        self._said.display = bool(text)

    @on(ChangeList.Moved)
    def _show_change(self) -> None:
        self._say("")
        self._look_at_change()

    def action_review(self) -> None:
        self._say("")
        if self._list.change is not None:
            self._reviewed = self._list.change.path
            self.app.push_screen(ReviewScreen(self._folder, self._reviewed, self._comments))

    def on_screen_resume(self) -> None:
        self._guard.arm()
        self._show_list(self._reviewed)

    # What the user changes

    def on_key(self, event: events.Key) -> None:
        drop_if_unseen(self, event, self._guard, is_shown=self._seen == self._list.change)

    @property
    def _seen(self) -> ChangedPath | None:
        """The file at the cursor, once its change is below the list, if that has room."""
        change = self._list.change
        return change if not self._preview.display or self._preview.change == change else None

    def action_revert(self) -> None:
        if (change := self._seen) is not None:
            self._write(partial(self._revert, change, self._preview.review if self._preview.display else None))

    async def _revert(self, change: ChangedPath, seen: Review | None) -> str:
        """Revert a file if it's as it was seen: its review, or on a low screen its row."""
        try:
            if seen is not None and seen.change is not None:
                await self._folder.revert_file(seen)
            else:
                for failure in await self._folder.revert([change]):
                    raise failure
        except ChangedMeanwhile:
            self.app.push_screen(ReviewScreen(self._folder, change.path, self._comments, note=NOT_REVERTED))
            return ""
        return f"Reverted {make_visible_path(change.path)}{keys_in_force(self).hint(UNDOES)}"

    def action_copy_back(self) -> None:
        if (change := self._seen) is not None:
            self._write(partial(self._copy_back, change.path))

    async def _copy_back(self, path: str) -> str:
        root, name = self._folder.root.resolve(), make_visible_path(path)
        worktree = await to_thread.run_sync(known_worktree, root)
        if worktree is None:
            raise ChangesError(path, "Files are copied from worktrees that acp-tui created only.")
        below = str((root / path).relative_to(worktree.root))
        try:
            wanted = [change for change in await changes_in(worktree) if change.path == below]
            brought = await bring_back(worktree, wanted)
        except WorktreeFailed as error:
            raise ChangesError(path, str(error)) from error
        origin = make_visible_path(from_home(Path(worktree.origin)))
        if brought.conflicts:
            raise ChangesError(path, f"{name} isn't copied: {origin} has conflicting changes.")
        if not wanted:
            raise ChangesError(path, f"{name} isn't copied: it's as in the last commit, or git ignores it.")
        return f"{name} is copied to {origin}" if brought.written else f"{name} is the same in {origin}"

    def action_undo(self) -> None:
        self._write(self._undo)

    async def _undo(self) -> str:
        try:
            return await self._folder.undo()
        except ChangedMeanwhile as error:
            review = ReviewScreen(self._folder, error.path, self._comments, earlier=error.reverted, note=NOT_UNDONE)
            self.app.push_screen(review)
            return ""

    @work
    async def _write(self, change: Callable[[], Awaitable[str]]) -> None:
        """Run `change`, one at a time, and show its result or error."""
        async with self._writing:
            try:
                said, style = await change(), "$text-success"
            except ChangesError as error:
                said, style = str(error), "$text-error"
        self._guard.arm()
        self._note_changes()
        if said:
            self._say(said, style)

    @work(exclusive=True, group="rescan")
    async def action_rescan(self) -> None:
        self._say("Reading all files …")
        try:
            await self._folder.rescan()
        except ChangesError as error:
            self._say(str(error), "$text-error")
        else:
            self._note_changes()
            self._say("Read all files.")

    def action_close(self) -> None:
        """Leave. Ignored while a file is being written, to keep undo possible."""
        if not self._writing.locked():
            self.dismiss()
