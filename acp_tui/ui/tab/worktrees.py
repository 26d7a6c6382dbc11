"""Starts sessions in git worktrees, and asks what to do with the worktree when its last tab closes."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anyio import to_thread

from acp_tui.client import worktrees
from acp_tui.client.agents.command import AgentCommand
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.conversation.wording import from_home
from acp_tui.ui.changes.follower import files
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow

if TYPE_CHECKING:
    from acp_tui.ui.tab.tab import Tab

MAX_NAMED: Final = 5


class WorktreeChoice(Enum):
    KEEP = "keep"
    BRING_BACK = "bring back"
    DELETE = "delete"


class WorktreesController:
    """Handles the worktrees of a tab. Use it in a worker."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._removed_later: partial[Coroutine[Any, Any, None]] | None = None
        self.is_kept = False
        """Whether the user, asked last, chose to keep what they chose in a comparison, with its tab."""
        self.left_for: Path | None = None
        """The folder that the worktree came from, once the user has chosen to delete the worktree."""

    async def begin(self, name: str = "", command: AgentCommand | None = None) -> Tab | None:
        """Start a session of this or another agent in a new worktree, in a new tab; None if that fails."""
        try:
            worktree = await worktrees.add_worktree(self._tab.cwd, name)
        except worktrees.WorktreeFailed as error:
            self._tab.say_error(error)
            return None
        tab = await self.open(worktree, command)
        about = f"Worktree {worktree.name}, from the last commit: it doesn't include uncommitted changes in"
        renamed = worktrees.why_renamed(worktree, name)
        self._tab.say(f"{renamed} {about} {_shown(worktree.origin)}.".lstrip())
        return tab

    async def open(self, worktree: worktrees.Worktree, command: AgentCommand | None = None) -> Tab:
        """Start a session of this or another agent in a worktree, in a new tab."""
        folder = Path(worktree.folder)
        link, name = self._tab.link, ""
        if command is None and not link.can_work_in(folder):
            # another process, in the same sandbox around that folder
            command, name = link.command, self._tab.agent_name
        if command is not None:
            link = self._tab.app.link_to(command, folder, name)
        return await self._tab.app.open_tab(link, folder)

    async def may_leave(self, others: Sequence[Tab] = (), *, is_chosen: bool | None = None) -> bool:
        """Ask what to do with the tab's worktree, and copy its changes back. Returns False if the tab should stay.

        `others` are about to close, too. `is_chosen` is whether the worktree was chosen in a comparison; None without
        one. Returns True at once if the tab isn't in a worktree, or another tab works there too. The worktree itself
        stays until `remove` is called, because the agent still works in it.
        """
        worktree = await to_thread.run_sync(worktrees.known_worktree, self._tab.cwd)
        if worktree is None:
            return True
        staying = (tab for tab in self._tab.app.tabs if tab is not self._tab and tab not in others)
        if any(tab.cwd.is_relative_to(worktree.root) for tab in staying):
            return True
        try:
            return await self._may_leave(worktree, is_chosen)
        except worktrees.WorktreeFailed as error:
            self._tab.say_error(error)
            return False

    async def _may_leave(self, worktree: worktrees.Worktree, is_chosen: bool | None) -> bool:
        changes = await worktrees.changes_in(worktree)
        about = {None: "whose tab closes", True: "the one you chose", False: "not chosen"}[is_chosen]
        asked = f"Worktree {worktree.name}, {about}: keep it?"
        rows = _rows(worktree, changes)
        if is_chosen and changes:  # nobody chooses what is to be lost
            rows.pop()
        elif is_chosen is not None and not changes:
            rows.reverse()
        fate = await self._tab.ask(Picker(asked, rows, search=False), in_front=True)
        self.is_kept = is_chosen is True and fate is WorktreeChoice.KEEP
        if fate is None or self.is_kept:
            return False
        # Before anything is copied: it may be impossible to delete the worktree without losing commits.
        keeps_branch = fate is WorktreeChoice.BRING_BACK and await worktrees.has_commits(worktree)
        if fate is WorktreeChoice.BRING_BACK:
            brought = await worktrees.bring_back(worktree, changes)
            if brought.conflicts:
                count = len(brought.written)  # a file may change at the moment of writing
                done = f"Only {count} files were copied" if count else "Nothing was copied"
                merge = f" Merge its branch {worktree.branch} with git, or copy them by hand." if keeps_branch else ""
                self._tab.say(
                    f"{done}: these files have conflicting changes in {_shown(worktree.origin)}:"
                    f" {_named(brought.conflicts)}. The worktree keeps them in {_shown(worktree.root)}.{merge}",
                    severity="warning",
                )
                return False
            count, origin = len(brought.written), _shown(worktree.origin)
            copied = f"Copied {count} {'file' if count == 1 else 'files'} to {origin}, uncommitted."
            self._tab.say(copied if count else f"{origin} already had the changes.")
        if fate is not WorktreeChoice.KEEP:
            self._removed_later = partial(worktrees.remove_worktree, worktree, keeps_branch=keeps_branch)
            self.left_for = Path(worktree.origin)
            self._tab.app.leaving_folders.add(Path(worktree.root))
        return True

    async def remove(self) -> None:
        """Remove the worktree, if the user chose that and no other tab works there."""
        remove, self._removed_later = self._removed_later, None
        if remove is not None:
            try:
                await remove()
            except worktrees.WorktreeFailed as error:
                self._tab.say_error(error)
            self._tab.app.leaving_folders -= {Path(remove.args[0].root)}


def _rows(worktree: worktrees.Worktree, changes: Sequence[worktrees.ChangedFile]) -> list[PickerRow[WorktreeChoice]]:
    keep = PickerRow(WorktreeChoice.KEEP, "Keep it", f"{_shown(worktree.root)}, on branch {worktree.branch}")
    if not changes:
        return [PickerRow(WorktreeChoice.DELETE, "Delete it", "Nothing changed in it"), keep]
    named = _named([change.path for change in changes])
    back = PickerRow(
        WorktreeChoice.BRING_BACK,
        f"Copy its changes to {_shown(worktree.origin)} and delete it",
        f"uncommitted: {named}. A branch with commits stays.",
    )
    return [
        keep,
        back,
        PickerRow(WorktreeChoice.DELETE, "Delete it with its changes", f"You lose {files(len(changes))}: {named}"),
    ]


def _shown(folder: str) -> str:
    return make_visible_path(from_home(Path(folder)))


def _named(paths: Sequence[str]) -> str:
    """The names of the first few files, and how many more there are."""
    shown = ", ".join(make_visible_path(path) for path in paths[:MAX_NAMED])
    more = len(paths) - MAX_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
