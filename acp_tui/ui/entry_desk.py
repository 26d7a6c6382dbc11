"""What a user does with an entry of a conversation: opens its files in the editor, saves what is attached to it.

It neither knows how an editor is told a line (`editor`) nor what a file is to be called (`client.saving`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import to_thread
from textual.screen import Screen

from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import (
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    TextResource,
    is_for_user,
)
from acp_tui.conversation.entries import Compaction, Entry, Message, ToolCallEntry
from acp_tui.conversation.tool_calls import BlockContent, Location, TextDiff
from acp_tui.conversation.tool_text import shown_location
from acp_tui.conversation.visible import make_visible, make_visible_path
from acp_tui.ui.drawings.blocks import block_label
from acp_tui.ui.editor import edit

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from acp_tui.client.saving import Saveable
    from acp_tui.ui.widgets.session_panel import SessionPanel

T = TypeVar("T")


class EntryDesk:
    """The entry under the cursor; without a cursor, the last one that has what is wanted.

    Its async methods are to run in a worker of the screen, since they wait for the user.
    """

    def __init__(self, screen: Screen[Any], panel: SessionPanel | None) -> None:
        """Without a panel there is nothing yet, which is said."""
        self._screen = screen
        self._panel = panel

    async def edit_location(self) -> None:
        """Give the terminal to the user's editor, with a file that a tool call works on."""
        location = await self._choose(locations_of, self._shown, "Open which file?", "names no file")
        if location is None:
            return
        file = self._cwd / location.path
        if not await to_thread.run_sync(_exists, file):
            self._say(f"There is no file {make_visible_path(location.path)}")
            return
        problem = edit(self._screen.app, file, location.line)
        # An editor with a window of its own leaves no other trace here.
        opened = f"Opened in your editor: {make_visible_path(self._shown(location))}"
        self._say(problem or opened, is_problem=bool(problem))

    async def save_attached(self) -> None:
        """Write a picture, a sound or a file that the agent attached into the session's directory."""
        from acp_tui.client.saving import SavingFailed, save_block

        block = await self._choose(attached_to, block_label, "Save which of these?", "has nothing attached")
        if block is None:
            return
        try:
            file = await to_thread.run_sync(save_block, block, self._cwd)
        except SavingFailed as error:
            self._say(str(error))
        else:
            self._say(f"Saved as {make_visible_path(str(file))}", is_problem=False)

    async def _choose(
        self, found_in: Callable[[Entry], Sequence[T]], label: Callable[[T], str], question: str, lack: str
    ) -> T | None:
        """What is found in the entry, of several what the user chooses; None where there is nothing, which is said."""
        from acp_tui.ui.screens.picker import Picker, PickerRow

        if self._panel is None or self._panel.session is None:
            self._say("There is no session yet.")
            return None
        entry = self._panel.view.entry_under_cursor
        entries = self._panel.conversation.entries if entry is None else [entry]
        found = next(filter(None, map(found_in, reversed(entries))), ())
        if not found:
            self._say(f"This entry {lack}." if entry is not None else f"The conversation {lack}.")
        if len(found) <= 1:
            return next(iter(found), None)
        rows = [PickerRow(each, label(each)) for each in found]
        return await self._screen.app.push_screen_wait(Picker(question, rows))

    @property
    def _cwd(self) -> Path:
        assert self._panel is not None
        assert self._panel.session is not None
        return self._panel.session.cwd

    def _shown(self, location: Location) -> str:
        return shown_location(location, str(self._cwd))

    def _say(self, text: str, *, is_problem: bool = True) -> None:
        severity: SeverityLevel = "warning" if is_problem else "information"
        self._screen.notify(make_visible(text), severity=severity, markup=False)


def locations_of(entry: Entry) -> Sequence[Location]:
    """Where a tool call works, each place once; the files that it changes, where it names no others."""
    if not isinstance(entry, ToolCallEntry):
        return ()
    call = entry.call
    named = {(one.path, one.line): one for one in call.locations}
    known = {one.path for one in call.locations}
    changed = {
        item.path: Location(item.path)
        for item in call.content
        if isinstance(item, TextDiff) and item.path not in known
    }
    return [*named.values(), *changed.values()]


def attached_to(entry: Entry) -> Sequence[Saveable]:
    """The blocks that can be a file, as far as they are the agent's and for the user."""
    saveable = Image | Audio | BlobResource | TextResource
    return [block for block in _blocks_of(entry) if isinstance(block, saveable) and is_for_user(block)]


def _blocks_of(entry: Entry) -> Iterable[ContentBlock]:
    match entry:
        case Message(role="agent" | "thought", parts=parts):
            return [part for part in parts if not isinstance(part, TextBuffer)]
        case ToolCallEntry(call=call):
            return [item.block for item in call.content if isinstance(item, BlockContent)]
        case Compaction(summary=summary):
            return summary
        case _:
            return ()


def _exists(file: Path) -> bool:
    try:
        return file.exists()
    except (OSError, ValueError):  # no file can be called so
        return False
