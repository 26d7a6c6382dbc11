"""The inspector's screen: the list of frames, which of them to show, the selected frame, and progress."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from anyio import to_thread
from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input, Static

from acp_tui.client.errors import ClientError
from acp_tui.client.settings.settings import Settings
from acp_tui.client.transcript.frame_log import FrameLog
from acp_tui.ui.base.app import BaseApp, keep_what_is_loaded
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.desktop import copy
from acp_tui.ui.replay.timeline import growth_of
from acp_tui.workbench.inspect.inspection import Detail, Inspection, inspect_agent, inspect_file
from acp_tui.workbench.inspect.search import Query, Term, read_query, toggled
from acp_tui.workbench.inspector.frame_list import FrameList
from acp_tui.workbench.inspector.frame_view import FrameView
from acp_tui.workbench.inspector.rows import progress_line, title_of


class InspectorHelp(HelpScreen):
    """Help to read only, because commands apply to the selected frame."""

    KEYS = "↑ ↓ PgUp PgDn scroll · {dialog_close} close"

    def __init__(self) -> None:
        super().__init__(("inspector", "frames", "app"), is_all=False)


WHAT = 'session/prompt -chunk is:error is:lint is:open "several words"'


class _Field(Input):
    """An input whose text doesn't trigger a layout and a full redraw with each letter."""

    virtual_size = Reactive(Size(0, 0))


class QueryBar(Horizontal):
    """The line where the user types which frames to show, hidden until it's asked for. The screen interprets it."""

    DEFAULT_CSS = """
    QueryBar { height: 1; display: none; }
    QueryBar Input { width: 1fr; min-width: 24; }
    QueryBar Static { width: auto; height: 1; }
    """
    PLACE: Final = "query"
    BINDINGS = bindings_of(place=PLACE)

    class Changed(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """The user submitted the text or closed the line. A filter stays."""

    def __init__(self) -> None:
        super().__init__()
        self._field = _Field(placeholder=WHAT, compact=True, select_on_focus=False)
        self._field.cursor_blink = False  # it would redraw while nothing happens

    def compose(self) -> ComposeResult:
        yield Static("Show only: ", markup=False)
        yield self._field

    def ask(self, text: str) -> None:
        self.display = True
        field = self._field
        with self.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self.screen.set_focus(field)  # at once, because the next key may be on its way

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_close()

    def action_close(self) -> None:
        self.display = False
        self.post_message(self.Closed())


KEYS: Final = "{help} help; {inspect_filter} filter; {inspect_leave} close; {inspect_other} to the frame"
WIDE_CELLS: Final = 110
"""From this width on, the frame is next to the list."""
FOLLOWED_S: Final = 0.25
WRITTEN_S: Final = 0.15


class InspectorScreen(Screen[None]):
    """Inspects one agent or one recording."""

    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (WIDE_CELLS, "-beside")]  # noqa: RUF012 - Textual has no ClassVar here either
    PLACE: Final = "inspector"
    BINDINGS = bindings_of(place=PLACE)

    def __init__(self, inspection: Inspection, title: str, *, grows: Path | None = None) -> None:
        """`grows` is a recording that may still grow, None for a running agent."""
        super().__init__()
        self._inspection = inspection
        self._heading = title
        self._grows = grows
        self._title = Static(id="inspector-title", markup=False)
        self._list = FrameList(inspection, follows=grows is None)
        self._view = FrameView()
        self._ask = QueryBar()
        self._standing = Static(id="inspector-standing", markup=False)
        self._detail: Detail | None = None
        self._detail_timer: Timer | None = None
        self._look_timer: Timer | None = None

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
        """Show the progress, and update the selected frame if more is known."""
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

    def _tell(self) -> None:
        keys, width = keys_in_force(self).hint(KEYS), self._standing.content_size.width
        progress = progress_line(self._inspection, follows=self._list.follows, keys=keys, width=width)
        self._standing.update(progress, layout=False)

    def _warn(self, text: str) -> None:
        self.notify(text, severity="warning", markup=False)

    # Filtering

    def action_filter(self) -> None:
        self._ask.ask(" ".join(map(str, self._inspection.query)))

    def on_query_bar_changed(self, message: QueryBar.Changed) -> None:
        if self._look_timer is not None:
            self._look_timer.stop()
        # Once the user stops typing, because each filter reads everything.
        self._look_timer = self.set_timer(WRITTEN_S, partial(self._show_only, read_query(message.text)))

    def on_query_bar_closed(self) -> None:
        self.set_focus(self._list)

    def _show_only(self, query: Query) -> None:
        self._inspection.show_only(query)
        self._list.show_again()
        self._tell()

    def action_only(self, state: str) -> None:
        self._show_only(toggled(self._inspection.query, Term(f"is:{state}")))

    def action_show_all(self) -> None:
        self._show_only(())

    # The frame

    def action_partner(self) -> None:
        """Go from a request to its response or back, even if the filter hides it."""
        index, cursor = self._inspection.index, self._list.cursor
        row = index.row(cursor) if index.first <= cursor < index.end else None
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
        self._make_screen = partial(InspectorScreen, inspection, file.name, grows=file)

    def on_mount(self) -> None:
        self.tell_notes(self._notes)
        self.call_after_refresh(keep_what_is_loaded)

    def get_default_screen(self) -> InspectorScreen:
        return self._make_screen()


async def open_inspector(above: Screen[Any], source: FrameLog | Path, title: str) -> None:
    """Inspect the past and future frames of a running agent, or a recording that may grow."""
    try:
        inspection = (
            await to_thread.run_sync(inspect_file, source) if isinstance(source, Path) else inspect_agent(source)
        )
    except ClientError as error:
        above.notify(str(error), severity="error", markup=False)
        return
    grows = source if isinstance(source, Path) else None
    await above.app.push_screen(InspectorScreen(inspection, title, grows=grows))
