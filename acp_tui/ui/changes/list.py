"""The screen that lists the files changed since the session began, updated as they change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from anyio import to_thread
from rich.segment import Segment
from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static

from acp_tui.client.changes import ChangedMeanwhile, ChangesError, FileChange, Review
from acp_tui.client.worktrees import WorktreeFailed, bring_back, changes_in, known_worktree
from acp_tui.conversation.visible import make_visible
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.conversation.wording import from_home
from acp_tui.ui.changes.changed_files import UNKNOWN, change_segments, count_words, in_full
from acp_tui.ui.changes.review import NOT_REVERTED, NOT_UNDONE, ReviewScreen, put_comments_into
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import MOVING, bindings_of
from acp_tui.ui.kit.answer_guard import AnswerGuard
from acp_tui.ui.kit.commenting import counted
from acp_tui.ui.kit.dialog import CLOSING, shown
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.kit.row_list import NO_ROW, PickerRow, RowList
from acp_tui.ui.rendering.palette import PLAIN, Palette
from acp_tui.ui.textual_gaps.internals import bindings_of_key

if TYPE_CHECKING:
    from acp_tui.ui.changes.follower import ChangesSince, FolderChanges
    from acp_tui.ui.prompt import PromptInput

KEYS: Final = "{undo_revert} undo · {reload} refresh · {dialog_close} back"
KEYS_OF_CHANGES: Final = "{list_choose} review · {revert} revert · {revert_all} revert all · "
NO_COMMENTS: Final = "No comments yet. {list_choose} opens the file, and {comment} comments on its lines"
RELOAD: Final = " · {reload}"
COPY: Final = " · {changes_copy_back} copy to where the worktree came from"


class ChangeList(RowList, can_focus=True):
    """A row for each changed file, sorted by path."""

    PLACE: Final = "list"
    ALSO: ClassVar[tuple[Place, ...]] = ("reading",)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(
        *MOVING, "next_change", "previous_change", "next_file", "previous_file", place=PLACE
    )

    class Moved(Message):
        """Another row is under the cursor."""

    class Chosen(Message):
        """The user chose the row under the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self._most_lines = 0

    @property
    def change(self) -> FileChange | None:
        return None if self.row is None else self.row.value

    def show_changes(self, changes: Sequence[FileChange], wanted: str = "") -> None:
        """Show these. The cursor goes to `wanted` or stays on its file, which stays in place on the screen."""
        at, top = self.cursor, self.scroll_offset.y
        path = wanted or ("" if self.change is None else self.change.path)
        self._most_lines = max(((change.added or 0) + (change.removed or 0) for change in changes), default=0)
        now_at = next((index for index, change in enumerate(changes) if change.path >= path), len(changes) - 1)
        self.show([PickerRow(change, change.path) for change in changes], now_at if changes else NO_ROW)
        if top and at != NO_ROW:
            self.go_to_line(top + now_at - at)

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        if index == self.cursor and self.app.current_theme.ansi:
            palette = PLAIN  # what is readable in the terminal's own colors isn't known
        return change_segments(self.rows[index].value, width, self._most_lines, palette)

    def action_move(self, step: int) -> None:
        self.move(step)
        self.post_message(self.Moved())

    def action_go_to_file(self, step: int) -> None:
        self.action_move(step)

    def action_go_to_change(self, step: int) -> None:
        self.action_move(step)

    def action_go_to_end(self, direction: int) -> None:
        self.action_move(direction * len(self.rows))

    def action_page(self, direction: int) -> None:
        self.move_page(direction)
        self.post_message(self.Moved())

    def action_choose(self) -> None:
        if self.change is not None:
            self.post_message(self.Chosen())

    def on_row_list_clicked(self, event: RowList.Clicked) -> None:
        event.stop()
        self.action_choose()


class ChangesScreen(ModalScreen[None]):
    """Lists the changes, opens their reviews, and reverts whole files."""

    PLACE: Final = "changes"
    BINDINGS: ClassVar[list[BindingType]] = [*CLOSING, *bindings_of("send_comments", place=PLACE)]

    def __init__(self, folder: FolderChanges | ChangesSince, prompt: PromptInput) -> None:
        """Comments go to `prompt`."""
        super().__init__()
        self._folder = folder
        self._prompt = prompt
        self._list = ChangeList()
        self._title = Static(classes="changes-title", markup=False)
        self._since = Static(classes="changes-since", markup=False)
        self._notes = Static(classes="changes-notes", markup=False)
        self._about = Static(classes="changes-about", markup=False)
        self._keys = Static(classes="changes-keys", markup=False)
        self._guard = AnswerGuard(QuestionScreen.clock, self)
        """Armed by what changes what a key that reverts would act on."""
        self._doomed: Review | None = None
        """The file to revert when the user presses the key again, as it was when asked."""
        self._all_doomed = False
        """Whether pressing the key again reverts all files."""
        self._reviewed = ""
        """The file reviewed last. On return, the cursor goes to it."""
        self._is_saying = False
        self._writing = asyncio.Lock()
        """Held from a key that changes files until the change is shown. Undoing waits for it."""

    def compose(self) -> ComposeResult:
        with Vertical(id="changes"):
            yield from (self._title, self._since, self._list, self._notes, self._about, self._keys)

    @property
    def _is_in_worktree(self) -> bool:
        """Whether it may be one of ours, judging by the name of its parent folders."""
        return any(part.endswith(".worktrees") for part in self._folder.root.parts)

    def on_mount(self) -> None:
        self.set_focus(self._list)
        self.on_folder_changes_changed()

    def on_folder_changes_changed(self) -> None:
        self._show_list()

    def _show_list(self, wanted: str = "") -> None:
        changes = self._folder.changes
        self._list.show_changes([changes[path] for path in sorted(changes)], wanted)
        since = self._folder.since
        self._title.update(f"Changes  {self._folder.summary()}" if changes else "Changes")
        who = f"since {since} (any program)"
        notes = self._folder.notes
        nothing = f"No change is known since {since}." if notes else f"Nothing has changed since {since}."
        self._since.update(who if changes else nothing)
        self._notes.update(make_visible("\n".join(notes)))
        self._notes.display = bool(notes)
        told = KEYS_OF_CHANGES * bool(changes) + KEYS
        if changes and self._is_in_worktree:
            told = told.replace(RELOAD, COPY + RELOAD)
        if comments := self._prompt.comments:
            told = f"{{send_comments}} {counted(comments)} to the prompt · {told}"
        self._keys.update(keys_in_force(self).hint(told))
        if not self._is_saying:
            self._show_about()

    def _show_about(self) -> None:
        self._is_saying = False
        change = self._list.change
        self._about.update("" if change is None else Content.styled(in_full(change), "$foreground-muted"))

    def _say(self, text: str, style: str = "") -> None:
        """Show this in place of the file's details, until the user moves on."""
        self._is_saying = True
        self._about.update(shown(text, style))

    def on_change_list_moved(self) -> None:
        """Cancel a pending question about the previous file, and show the details of this one."""
        self._doomed = None
        self._all_doomed = False
        self._show_about()

    def on_change_list_chosen(self) -> None:
        self.on_change_list_moved()
        if self._list.change is not None:
            self._reviewed = self._list.change.path
            self.app.push_screen(ReviewScreen(self._folder, self._reviewed, self._prompt))

    def on_screen_resume(self) -> None:
        self._guard.arm()
        self._show_list(self._reviewed)

    # What the user changes

    async def on_key(self, event: events.Key) -> None:
        """Handle a key that reverts at once, and only after what it reverts was shown."""
        is_answer = self._guard.takes(event)
        for binding in bindings_of_key(self, event.key):
            if binding.action in ("revert", "revert_all"):
                event.stop()
                if is_answer:
                    await self.run_action(binding.action)
                else:
                    again = keys_in_force(self).hint(f"press {{{binding.id}}} again")
                    self.notify(self._guard.why_not(again), severity="warning")

    def action_revert(self) -> None:
        """Revert the file. If more than lines of it have changed, ask first, and revert it if it's still the same."""
        self._all_doomed = False
        if self._doomed is not None:
            doomed, self._doomed = self._doomed, None
            self._write(lambda: self._revert(doomed))
        elif self._list.change is not None:
            self._guard.arm()
            self._revert_or_ask(self._list.change)

    @work
    async def _revert_or_ask(self, change: FileChange) -> None:
        async with self._writing:
            if (review := await self._reviewed_or_asked(change)) is not None:
                await self._show_result(lambda: self._revert(review))

    async def _reviewed_or_asked(self, change: FileChange) -> Review | None:
        """Return the change, for reverting it at once; ask if more than lines of the file have changed."""
        name = make_visible_path(change.path)
        if change.before_unknown is not None:
            self._say(f"{name} can't be reverted: {UNKNOWN}: {change.before_unknown}.", "$text-warning")
            return None
        try:
            review = await self._folder.review(change.path)
        except ChangesError as error:
            self._say(str(error), "$text-error")
            return None
        if review.change is None or self._list.change is None or self._list.change.path != change.path:
            return None  # it's unchanged, or the user has moved on
        if review.is_edit:
            return review
        self._doomed = review
        counts = " ".join(filter(None, count_words(review.change)))
        self._guard.arm()
        again = keys_in_force(self).hint("press {revert} again")
        self._say(f"{again} to revert {name}{f' ({counts})' if counts else ''}", "$text-warning")
        return None

    async def _revert(self, doomed: Review) -> str:
        try:
            await self._folder.revert_file(doomed)
        except ChangedMeanwhile:
            review = ReviewScreen(self._folder, doomed.path, self._prompt, earlier=doomed, note=NOT_REVERTED)
            self.app.push_screen(review)
            return ""
        undo = keys_in_force(self).hint("; {undo_revert} undoes this")
        return f"{make_visible_path(doomed.path)} is back to what it was at {self._folder.since}{undo}"

    def action_revert_all(self) -> None:
        """Ask first; then revert every file that can be reverted."""
        if self._all_doomed:
            self._all_doomed = False
            self._write(self._revert_all)
        elif self._folder.changes:
            self.on_change_list_moved()
            self._all_doomed = True
            self._guard.arm()
            again = keys_in_force(self).hint("press {revert_all} again")
            self._say(f"{again} to revert {_files(len(self._folder.changes))}", "$text-warning")

    async def _revert_all(self) -> str:
        paths, failures = sorted(self._folder.changes), []
        for path in paths:
            try:
                await self._folder.revert_file(await self._folder.review(path))
            except ChangesError as error:
                failures.append(str(error))
        if failures:
            done = _files(len(paths) - len(failures))
            raise ChangesError("", f"{done} reverted. {failures[0]}" + _more(len(failures) - 1))
        undo = keys_in_force(self).hint("; press {undo_revert} to undo them one by one")
        return f"{_files(len(paths))} as at {self._folder.since}{undo}"

    def action_copy_back(self) -> None:
        self.on_change_list_moved()
        change = self._list.change
        if change is not None:
            self._write(lambda: self._copy_back(change.path))

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

    def action_send_comments(self) -> None:
        """Go back to the prompt, which begins with the comments."""
        if self._prompt.comments:
            put_comments_into(self._prompt)
        else:
            self._say(keys_in_force(self).hint(NO_COMMENTS))

    def action_undo(self) -> None:
        self._write(self._undo, waits=True)

    async def _undo(self) -> str:
        self._doomed, self._all_doomed = None, False  # the question is no longer shown
        try:
            path = await self._folder.undo()
        except ChangedMeanwhile as error:
            review = ReviewScreen(self._folder, error.path, self._prompt, earlier=error.reverted, note=NOT_UNDONE)
            self.app.push_screen(review)
            return ""
        return f"{make_visible_path(path)} has its changes back" if path else "Nothing to undo."

    @work
    async def _write(self, change: Callable[[], Awaitable[str]], *, waits: bool = False) -> None:
        """Run `change`, one at a time: while another runs, wait or do nothing."""
        if waits or not self._writing.locked():
            async with self._writing:
                await self._show_result(change)

    async def _show_result(self, change: Callable[[], Awaitable[str]]) -> None:
        """Run `change`, and show its result or error."""
        try:
            said, style = await change(), "$text-success"
        except ChangesError as error:
            said, style = str(error), "$text-error"
        self._guard.arm()
        self.on_folder_changes_changed()
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
            self.on_folder_changes_changed()
            self._say("Read all files.")

    def action_close(self) -> None:
        """Cancel a pending question, or leave. Ignored while a file is being written, to keep undo possible."""
        if self._doomed is not None or self._all_doomed:
            self.on_change_list_moved()
        elif not self._writing.locked():
            self.dismiss()


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _more(count: int) -> str:
    return f" And {count:,} more." if count else ""
