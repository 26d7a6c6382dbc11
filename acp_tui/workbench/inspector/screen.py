"""The inspector's screen: the list of frames, the selected frame, and progress."""

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
from acp_tui.client.settings.settings import Settings
from acp_tui.client.transcript.frame_log import FrameLog
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.base.app import BaseApp, keep_what_is_loaded
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.desktop import copy
from acp_tui.ui.kit.filtered_list import Picker
from acp_tui.ui.replay.player import read_spot
from acp_tui.ui.replay.timeline import growth_of
from acp_tui.workbench.inspect import Detail, Inspection, inspect_agent, inspect_file
from acp_tui.workbench.inspect.index import IndexRow
from acp_tui.workbench.inspect.outline import pretty
from acp_tui.workbench.inspect.search import Query, QueryError, Term, read_query, toggled
from acp_tui.workbench.inspector.frame_list import FrameList
from acp_tui.workbench.inspector.frame_view import FrameView
from acp_tui.workbench.inspector.query_bar import QueryBar, QueryMode, SaveDialog, choices, like
from acp_tui.workbench.inspector.rows import progress_line, title_of


class InspectorHelp(HelpScreen):
    """Help to read only, because commands apply to the selected frame."""

    KEYS = "↑ ↓ PgUp PgDn scroll · {dialog_close} close"

    def __init__(self) -> None:
        super().__init__(("inspector", "frames", "frame", "app"), is_all=False)


KEYS: Final = (
    "{inspect_help} help; {inspect_filter} filter; {inspect_find} find; {inspect_leave} close;"
    " {inspect_other} to the frame"
)
WIDE_CELLS: Final = 110
"""From this width on, the frame is next to the list."""
FOLLOWED_S: Final = 0.25
WRITTEN_S: Final = 0.15
DIRECTIONS: Final = ("", "in", "out", "stderr")


class InspectorScreen(Screen[None]):
    """Inspects one agent or one recording."""

    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (WIDE_CELLS, "-beside")]  # noqa: RUF012 - Textual has no ClassVar here either
    PLACE: ClassVar[Place] = "inspector"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place=PLACE)

    def __init__(self, inspection: Inspection, title: str, *, folder: Path, grows: Path | None = None) -> None:
        """`folder` is where files are written; `grows` is a recording that may still grow, None for a running agent."""
        super().__init__()
        self._inspection = inspection
        self._heading = title
        self._folder = folder
        self._grows = grows
        self._title = Static(id="inspector-title", markup=False)
        self._list = FrameList(inspection, follows=grows is None)
        self._view = FrameView()
        self._ask = QueryBar()
        self._standing = Static(id="inspector-standing", markup=False)
        self._detail: Detail | None = None
        self._detail_timer: Timer | None = None
        self._look_timer: Timer | None = None
        self._sought_from: tuple[int, int] | None = None
        """The frame to search from and the direction, until a match is found."""

    def compose(self) -> ComposeResult:
        """From top to bottom. On a wide screen, the frame is next to the list."""
        yield self._title
        yield Container(self._list, self._view, id="inspector")
        yield self._ask
        yield self._standing

    def on_mount(self) -> None:
        self._title.update(title_of(self._heading, self._inspection.source.header))
        self.set_focus(self._list)
        self.run_worker(self._inspection.run())
        if self._grows is not None:
            self.run_worker(self._follow(self._grows))

    async def _follow(self, file: Path) -> None:
        try:
            async for _ in growth_of(file):
                self._inspection.wake()
        except (OSError, RuntimeError) as error:
            self._warn(f"New writes to it aren't shown: {error}")

    # What is shown

    def on_frame_list_drawn(self) -> None:
        """Show the progress, go to a pending match, and update the selected frame if more is known."""
        self._seek()
        self._tell()
        if self._detail is not None and self._inspection.is_new(self._detail.row):
            self.on_frame_list_moved()

    def on_frame_list_moved(self) -> None:
        """Show the newly selected frame. When following, not every new one."""
        if not self._list.follows:
            self._tell()
            self._show_detail()
        elif self._detail_timer is None:
            self._detail_timer = self.set_timer(FOLLOWED_S, self._show_detail)

    def on_frame_list_opened(self) -> None:
        self.set_focus(self._view)

    @work(exclusive=True, group="detail")
    async def _show_detail(self) -> None:
        self._detail_timer = None
        self._detail = await self._read_detail()
        self._view.show(self._detail, self._inspection.source.header.started_at)

    async def _read_detail(self) -> Detail | None:
        try:
            return await self._inspection.detail(self._list.cursor)
        except OSError as error:
            self._warn(f"The frame can't be read: {error.strerror or error}")
            return None

    @property
    def _row(self) -> IndexRow | None:
        index, cursor = self._inspection.index, self._list.cursor
        return index.row(cursor) if index.first <= cursor < index.end else None

    def _tell(self) -> None:
        keys, width = keys_in_force(self).hint(KEYS), self._standing.content_size.width
        progress = progress_line(self._inspection, follows=self._list.follows, keys=keys, width=width)
        self._standing.update(progress, layout=False)

    def _warn(self, text: str) -> None:
        self.notify(text, severity="warning", markup=False)

    # Searching

    def action_find(self) -> None:
        self._ask.ask(QueryMode.FIND)

    def action_filter(self) -> None:
        self._ask.ask(QueryMode.FILTER, " ".join(map(str, self._inspection.query)))

    def action_go_to(self) -> None:
        self._ask.ask(QueryMode.GO)

    def on_query_bar_changed(self, message: QueryBar.Changed) -> None:
        if self._look_timer is not None:
            self._look_timer.stop()
        try:
            query = read_query(message.text) if message.mode is QueryMode.FILTER else ()
        except QueryError as error:
            self._ask.say(str(error))
            return
        self._ask.say("")
        if message.mode is QueryMode.FIND:
            self._soon(partial(self._look_for, message.text))
        elif message.mode is QueryMode.FILTER:
            self._soon(partial(self._show_only, query))

    def _soon(self, do: Callable[[], None]) -> None:
        """Call `do` once the user stops typing, because each search reads everything."""
        self._look_timer = self.set_timer(WRITTEN_S, do)

    def on_query_bar_done(self, message: QueryBar.Done) -> None:
        if message.mode is QueryMode.GO and not self._go_to(message.text):
            return
        self._ask.display = False
        self.set_focus(self._list)

    def on_query_bar_closed(self, message: QueryBar.Closed) -> None:
        """End the search. A filter stays."""
        if message.mode is QueryMode.FIND:
            self._inspection.look_for(())
        self.set_focus(self._list)
        self._tell()

    def _look_for(self, text: str) -> None:
        self._inspection.look_for((Term("text", text.lower()),) if text.strip() else ())
        self._sought_from = (self._list.cursor - 1, 1) if text.strip() else None
        self._tell()

    def action_step(self, direction: int) -> None:
        if self._inspection.progress.found is None:
            self.notify("No search yet. Press / to search.")
            return
        self._sought_from = (self._list.cursor, direction)
        self._seek()

    def _seek(self) -> None:
        """Go to the pending match, if it's found."""
        if self._sought_from is None:
            return
        position, direction = self._sought_from
        match = self._inspection.match_from(position, direction)
        if match is not None:
            self._sought_from = None
            self._list.go_to(match)
        elif self._inspection.progress.searched >= self._inspection.index.end:
            self._sought_from = None
            if not self._ask.is_shown:
                self.notify("No more matches.")

    def _go_to(self, text: str) -> bool:
        """Go to the place that `text` names; return whether it was understood."""
        position = self._place(text.strip())
        if position is None:
            self._ask.say(QueryMode.GO.value[1])
            return False
        self._list.go_to(position)
        return True

    def _place(self, text: str) -> int | None:
        try:
            spot = read_spot(text.removeprefix("#"))
        except ValueError:
            return None
        return spot.events if spot.seconds is None else self._inspection.index.position_at(spot.seconds)

    # Filtering

    def _show_only(self, query: Query) -> None:
        self._inspection.show_only(query)
        self._list.show_again()
        self._tell()

    def action_only(self, state: str) -> None:
        self._show_only(toggled(self._inspection.query, Term("is", state)))

    def action_show_all(self) -> None:
        self._show_only(())

    def action_direction(self) -> None:
        """Cycle through frames from the agent, to the agent, stderr, and everything."""
        query = self._inspection.query
        now = next((term.value for term in query if term.field == "dir"), "")
        value = DIRECTIONS[(DIRECTIONS.index(now) + 1) % len(DIRECTIONS)] if now in DIRECTIONS else ""
        rest = tuple(term for term in query if term.field != "dir")
        self._show_only((*rest, Term("dir", value)) if value else rest)

    def action_narrow(self, hides: bool) -> None:
        """Show only frames like the selected one, or hide them."""
        if self._row is not None:
            term = replace(like(self._row), is_negated=hides)
            self._show_only(toggled(self._inspection.query, term))

    @work
    async def action_choose(self) -> None:
        rows = choices(self._inspection.index, self._inspection.query)
        term = await self.app.push_screen_wait(Picker("Show only", rows))
        if term is not None:
            self._show_only(toggled(self._inspection.query, term))

    def action_raw(self) -> None:
        """Show secrets and keep them in copies and files, or mask them again."""
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
        """Go from a request to its response or back, even if the filter hides it."""
        row = self._row
        if row is None or row.partner is None:
            self.notify("This frame has no counterpart.")
            return
        if self._inspection.query and not self._inspection.shows(row.partner):
            self._show_only(())
        self._list.go_to(row.partner)

    @work
    async def action_copy(self) -> None:
        detail = await self._read_detail()
        if detail is not None:
            await copy(self, detail.line.data.decode("utf-8", "replace"))

    @work
    async def action_copy_pretty(self) -> None:
        """Copy the frame, formatted over several lines."""
        detail = await self._read_detail()
        if detail is not None:
            text = detail.line.data.decode("utf-8", "replace")
            with suppress(ValueError):  # it isn't JSON
                text = await to_thread.run_sync(pretty, text)
            await copy(self, text)

    @work
    async def action_save_all(self) -> None:
        written = await self.app.push_screen_wait(SaveDialog(self._inspection, self._folder))
        if written is not None:
            self.notify(f"Written to {make_visible_line(str(written))}", markup=False)

    # Navigation

    def action_other(self) -> None:
        self.set_focus(self._list if self.focused is self._view else self._view)

    @work
    async def action_help(self) -> None:
        await self.app.push_screen_wait(InspectorHelp())

    def action_leave(self) -> None:
        """Return to the session; without one, exit."""
        if self.app.screen_stack[0] is self:
            self.app.exit()
        else:
            self.dismiss()


class InspectApp(BaseApp):
    TITLE = "acp-tui inspect"

    def __init__(
        self, inspection: Inspection, file: Path, *, settings: Settings | None = None, notes: Sequence[str] = ()
    ) -> None:
        super().__init__(settings, notes)
        self._make_screen = partial(InspectorScreen, inspection, file.name, folder=Path.cwd(), grows=file)

    def on_mount(self) -> None:
        self.tell_notes(self._notes)
        self.call_after_refresh(keep_what_is_loaded)

    def get_default_screen(self) -> InspectorScreen:
        return self._make_screen()


async def open_inspector(above: Screen[Any], source: FrameLog | Path, title: str, folder: Path) -> None:
    """Inspect the past and future frames of a running agent, or a recording that may grow."""
    try:
        inspection = (
            await to_thread.run_sync(inspect_file, source) if isinstance(source, Path) else inspect_agent(source)
        )
    except ClientError as error:
        above.notify(str(error), severity="error", markup=False)
        return
    grows = source if isinstance(source, Path) else None
    await above.app.push_screen(InspectorScreen(inspection, title, folder=folder, grows=grows))
