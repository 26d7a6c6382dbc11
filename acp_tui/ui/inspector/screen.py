"""The inspector's screen: the list of frames, the frame under the cursor, and progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from anyio import to_thread
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from acp_tui.client.errors import ClientError
from acp_tui.client.settings.tree import Settings
from acp_tui.client.transcript.frame_log import FrameLog
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.base.app import BaseApp, keep_what_is_loaded
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.inspector.ask_line import AskLine, SaveDialog, Wish, choices, like, save_all, save_one
from acp_tui.ui.inspector.frame_list import FrameList
from acp_tui.ui.inspector.frame_view import FrameView
from acp_tui.ui.inspector.rows import standing_of, title_of
from acp_tui.ui.kit.clipboard import copy
from acp_tui.ui.kit.filtered_list import Picker
from acp_tui.ui.recorded.film import growth_of
from acp_tui.ui.recorded.player import read_spot
from acp_tui.workbench.inspect import Detail, Inspection, inspect_agent, inspect_file
from acp_tui.workbench.inspect.index import Row
from acp_tui.workbench.inspect.outline import pretty
from acp_tui.workbench.inspect.search import Query, QueryError, Term, read_query, toggled


class InspectorHelp(HelpScreen):
    """To be read: what can be done has to do with the frame under the cursor."""

    KEYS = "↑ ↓ PgUp PgDn read · Esc close"

    def __init__(self) -> None:
        super().__init__(("inspector", "frames", "frame", "app"), is_all=False)


KEYS: Final = (
    "{inspect_help} help; {inspect_filter} filter; {inspect_find} find; {inspect_leave} close;"
    " {inspect_other} to the frame"
)
WIDE_CELLS: Final = 110
"""From here on the frame stands beside the list."""
FOLLOWED_S: Final = 0.25
WRITTEN_S: Final = 0.15
DIRECTIONS: Final = ("", "in", "out", "stderr")


class InspectorScreen(Screen[None]):
    """Looks at one agent, or at one recording."""

    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (WIDE_CELLS, "-beside")]  # noqa: RUF012 - no ClassVar in Textual either
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place="inspector")

    def __init__(
        self, inspection: Inspection, title: str, *, folder: Path, grows: Path | None = None
    ) -> None:
        """`folder` is where files are written; `grows` is the file that may still be written to, None: a live agent."""
        super().__init__()
        self._inspection = inspection
        self._heading = title
        self._folder = folder
        self._grows = grows
        self._title = Static(id="inspector-title", markup=False)
        self._list = FrameList(inspection, follows=grows is None)
        self._view = FrameView()
        self._ask = AskLine()
        self._standing = Static(id="inspector-standing", markup=False)
        self._detail: Detail | None = None
        self._detail_timer: Timer | None = None
        self._look_timer: Timer | None = None
        self._sought_from: tuple[int, int] | None = None
        """Where the next match is to be gone to as soon as there is one: from which frame, in which direction."""

    def compose(self) -> ComposeResult:
        """From top to bottom; where there is room, the frame stands beside the list."""
        yield self._title
        yield Container(self._list, self._view, id="inspector")
        yield self._ask
        yield self._standing

    def on_mount(self) -> None:
        """Begin to look."""
        self._title.update(title_of(self._heading, self._inspection.source.header))
        self._list.focus()
        self.run_worker(self._inspection.run())
        if self._grows is not None:
            self.run_worker(self._follow(self._grows))

    async def _follow(self, file: Path) -> None:
        try:
            async for _ in growth_of(file):
                self._inspection.wake()
        except (OSError, RuntimeError) as error:
            self._warn(f"New writes to it aren't shown: {error}")

    # What is to be seen

    def on_frame_list_drawn(self) -> None:
        """Say how far it has come; go on to a match that was waited for; what is known of the frame may be more."""
        self._seek()
        self._tell()
        if self._detail is not None and self._inspection.is_new(self._detail.row):
            self.on_frame_list_moved()

    def on_frame_list_moved(self) -> None:
        """Show the other frame; of those that come by themselves not each."""
        if not self._list.follows:
            self._tell()
            self._show_detail()
        elif self._detail_timer is None:
            self._detail_timer = self.set_timer(FOLLOWED_S, self._show_detail)

    def on_frame_list_opened(self) -> None:
        """Into it."""
        self._view.focus()

    @work(exclusive=True, group="detail")
    async def _show_detail(self) -> None:
        self._detail_timer = None
        self._detail = await self._read_detail()
        self._view.show(self._detail, self._inspection.source.header.started_at)

    async def _read_detail(self) -> Detail | None:
        """Of the frame under the cursor."""
        try:
            return await self._inspection.detail(self._list.cursor)
        except OSError as error:
            self._warn(f"The frame can't be read: {error.strerror or error}")
            return None

    @property
    def _row(self) -> Row | None:
        """What is known of the frame under the cursor."""
        index, cursor = self._inspection.index, self._list.cursor
        return index.row(cursor) if index.first <= cursor < index.end else None

    def _tell(self) -> None:
        keys, width = keys_in_force(self).hint(KEYS), self._standing.content_size.width
        standing = standing_of(self._inspection, follows=self._list.follows, keys=keys, width=width)
        self._standing.update(standing, layout=False)

    def _warn(self, text: str) -> None:
        self.notify(text, severity="warning", markup=False)

    # Looking for something

    def action_find(self) -> None:
        """Write what to look for."""
        self._ask.ask(Wish.FIND)

    def action_filter(self) -> None:
        """Write what to show."""
        self._ask.ask(Wish.FILTER, " ".join(map(str, self._inspection.query)))

    def action_go_to(self) -> None:
        """Write where to go."""
        self._ask.ask(Wish.GO)

    def on_ask_line_changed(self, message: AskLine.Changed) -> None:
        """Look, or narrow, while it is being written."""
        if self._look_timer is not None:
            self._look_timer.stop()
        try:
            query = read_query(message.text) if message.wish is Wish.FILTER else ()
        except QueryError as error:
            self._ask.say(str(error))
            return
        self._ask.say("")
        if message.wish is Wish.FIND:
            self._soon(partial(self._look_for, message.text))
        elif message.wish is Wish.FILTER:
            self._soon(partial(self._show_only, query))

    def _soon(self, do: Callable[[], None]) -> None:
        """Once the user writes no more: each search goes through everything."""
        self._look_timer = self.set_timer(WRITTEN_S, do)

    def on_ask_line_done(self, message: AskLine.Done) -> None:
        """Back to the list, or to where one wants to be."""
        if message.wish is Wish.GO and not self._go_to(message.text):
            return
        self._ask.display = False
        self.set_focus(self._list)

    def on_ask_line_closed(self, message: AskLine.Closed) -> None:
        """Look for nothing any more; what is shown is still narrowed."""
        if message.wish is Wish.FIND:
            self._inspection.look_for(())
        self._list.focus()
        self._tell()

    def _look_for(self, text: str) -> None:
        self._inspection.look_for((Term("text", text.lower()),) if text.strip() else ())
        self._sought_from = (self._list.cursor - 1, 1) if text.strip() else None
        self._tell()

    def action_step(self, direction: int) -> None:
        """To the next match or the previous one."""
        if self._inspection.standing.found is None:
            self.notify("No search yet. Press / to search.")
            return
        self._sought_from = (self._list.cursor, direction)
        self._seek()

    def _seek(self) -> None:
        """Go to the match that is wanted, if it is found by now."""
        if self._sought_from is None:
            return
        position, direction = self._sought_from
        match = self._inspection.match_from(position, direction)
        if match is not None:
            self._sought_from = None
            self._list.go_to(match)
        elif self._inspection.standing.searched >= self._inspection.index.end:
            self._sought_from = None
            if not self._ask.is_shown:
                self.notify("No more matches.")

    def _go_to(self, text: str) -> bool:
        """Whether it could be understood."""
        position = self._place(text.strip())
        if position is None:
            self._ask.say(Wish.GO.value[1])
            return False
        self._list.go_to(position)
        return True

    def _place(self, text: str) -> int | None:
        try:
            spot = read_spot(text.removeprefix("#"))
        except ValueError:
            return None
        return spot.events if spot.seconds is None else self._inspection.index.position_at(spot.seconds)

    # What is shown

    def _show_only(self, query: Query) -> None:
        self._inspection.show_only(query)
        self._list.show_again()
        self._tell()

    def action_only(self, state: str) -> None:
        """Show only these, or others too."""
        self._show_only(toggled(self._inspection.query, Term("is", state)))

    def action_show_all(self) -> None:
        """Show everything."""
        self._show_only(())

    def action_direction(self) -> None:
        """The agent's frames, the client's, stderr, everything."""
        query = self._inspection.query
        now = next((term.value for term in query if term.field == "dir"), "")
        value = DIRECTIONS[(DIRECTIONS.index(now) + 1) % len(DIRECTIONS)] if now in DIRECTIONS else ""
        rest = tuple(term for term in query if term.field != "dir")
        self._show_only((*rest, Term("dir", value)) if value else rest)

    def action_narrow(self, hides: bool) -> None:
        """Show only frames like the one under the cursor, or all but those."""
        if self._row is not None:
            term = replace(like(self._row), is_negated=hides)
            self._show_only(toggled(self._inspection.query, term))

    @work
    async def action_choose(self) -> None:
        """Choose from what there is; what was chosen already is taken away again."""
        rows = choices(self._inspection.index, self._inspection.query)
        term = await self.app.push_screen_wait(Picker("Show only", rows))
        if term is not None:
            self._show_only(toggled(self._inspection.query, term))

    def action_raw(self) -> None:
        """Show secrets, and keep them in copies and files; or mask them again."""
        inspection = self._inspection
        if not inspection.mask.is_needed:
            self.notify("There are none: they were masked in the recording.")
            return
        inspection.show_raw(not inspection.is_raw)
        self.set_class(inspection.is_raw, "-raw")
        self._list.show_again()
        self._show_detail()
        if inspection.is_raw:
            self._warn("Secrets are shown, and kept in copies and files. Press R to mask them again.")

    # The frame

    def action_partner(self) -> None:
        """To the answer of a request, to the request of an answer; shown or not."""
        row = self._row
        if row is None or row.partner is None:
            self.notify("This frame has no counterpart.")
            return
        if self._inspection.query and not self._inspection.shows(row.partner):
            self._show_only(())
        self._list.go_to(row.partner)

    @work
    async def action_copy(self) -> None:
        """Copy the frame as it is."""
        detail = await self._read_detail()
        if detail is not None:
            await self._copy(detail.line.data.decode("utf-8", "replace"))

    @work
    async def action_copy_pretty(self) -> None:
        """Copy it over several lines."""
        detail = await self._read_detail()
        if detail is not None:
            text = detail.line.data.decode("utf-8", "replace")
            with suppress(ValueError):  # it is no JSON
                text = await to_thread.run_sync(pretty, text)
            await self._copy(text)

    async def _copy(self, text: str) -> None:
        await copy(self, text)

    @work
    async def action_save(self) -> None:
        """Write the frame to a file."""
        detail = await self._read_detail()
        if detail is not None:
            await self._save(save_one(detail, is_raw=self._inspection.is_raw, folder=self._folder))

    @work
    async def action_save_all(self) -> None:
        """Write what is shown to a file."""
        await self._save(save_all(self._inspection, folder=self._folder))

    async def _save(self, dialog: SaveDialog) -> None:
        written = await self.app.push_screen_wait(dialog)
        if written is not None:
            self.notify(f"Written to {make_visible_line(str(written))}", markup=False)

    # Around it

    def action_other(self) -> None:
        """From the list to the frame, and back."""
        (self._list if self.focused is self._view else self._view).focus()

    @work
    async def action_help(self) -> None:
        """Show the keys."""
        await self.app.push_screen_wait(InspectorHelp())

    def action_leave(self) -> None:
        """Back to the session; where there is none, that is the end."""
        if self.app.screen_stack[0] is self:
            self.app.exit()
        else:
            self.dismiss()


class InspectApp(BaseApp):
    """Shows one recording, frame by frame."""

    TITLE = "acp-tui inspect"

    def __init__(
        self,
        inspection: Inspection,
        file: Path,
        *,
        settings: Settings | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """`notes` is what is wrong in the settings."""
        super().__init__(settings, notes)
        self._make_screen = partial(InspectorScreen, inspection, file.name, folder=Path.cwd(), grows=file)

    def on_mount(self) -> None:
        """Say what is wrong in the settings, briefly."""
        self.tell_notes(self._notes)
        self.call_after_refresh(keep_what_is_loaded)

    def get_default_screen(self) -> InspectorScreen:
        """The inspector."""
        return self._make_screen()


async def open_inspector(above: Screen[Any], source: FrameLog | Path, title: str, folder: Path) -> None:
    """Show what has passed so far, and what passes, of an agent that runs or in a recording that may grow."""
    try:
        inspection = (
            await to_thread.run_sync(inspect_file, source)
            if isinstance(source, Path)
            else inspect_agent(source)
        )
    except ClientError as error:
        above.notify(str(error), severity="error", markup=False)
        return
    grows = source if isinstance(source, Path) else None
    await above.app.push_screen(InspectorScreen(inspection, title, folder=folder, grows=grows))
