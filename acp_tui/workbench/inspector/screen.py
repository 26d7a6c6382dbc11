"""The inspector's screen: the list of frames, which of them to show, the selected frame, and progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from anyio import to_thread
from rich.segment import Segment
from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Input, Static

from acp_tui.client.errors import ClientError
from acp_tui.client.settings.settings import Settings
from acp_tui.client.transcript.frame_log import FrameLog, LineKind
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.base.app import BaseApp, keep_what_is_loaded
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import MOVING, bindings_of
from acp_tui.ui.kit.desktop import copy
from acp_tui.ui.kit.line_view import LineView
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, cut_spans, fold, wrap
from acp_tui.ui.replay.timeline import growth_of
from acp_tui.workbench.conformance import Finding, Severity
from acp_tui.workbench.inspect.index import MessageKind
from acp_tui.workbench.inspect.inspection import Detail, Inspection, inspect_agent, inspect_file
from acp_tui.workbench.inspect.outline import MAX_LINES, OutlineLine, Role
from acp_tui.workbench.inspect.search import Query, Term, read_query, toggled
from acp_tui.workbench.inspector.frame_list import FrameList
from acp_tui.workbench.inspector.rows import began_at, duration, progress_line, size, title_of

INDENT: Final = 2
MAX_INDENT_SHARE: Final = 3
"""The maximum indent is the width divided by this, so that text fits at any depth."""


def drawn(line: OutlineLine, width: int, palette: Palette) -> list[Strip]:
    """The rows of a line. Rows after the first are indented further."""
    indent = min(line.depth * INDENT, width // MAX_INDENT_SHARE)
    styles = {
        Role.KEY: palette.syntax_tag,
        Role.TEXT: palette.syntax_string,
        Role.NUMBER: palette.syntax_number,
        Role.WORD: palette.syntax_keyword,
        Role.SIGN: palette.syntax_operator,
        Role.ASIDE: palette.muted,
    }
    spans = [(make_visible_line(text), styles[role]) for text, role in line.pieces]
    return [
        Strip([Segment(" " * (indent if first else indent + INDENT)), *segments])
        for first, segments in _folded(spans, max(width - indent - INDENT, 2))
    ]


def _folded(spans: list[Span], width: int) -> Iterator[tuple[bool, list[Segment]]]:
    ranges = fold("".join(text for text, _ in spans), width)
    for at, segments in enumerate(cut_spans(spans, ranges)):
        yield at == 0, segments


WAYS: Final = {
    LineKind.IN: "from the agent",
    LineKind.OUT: "to the agent",
    LineKind.STDERR: "on stderr",
    LineKind.NOTE: "",
}


class FrameView(LineView, can_focus=True):
    ALLOW_SELECT = False
    ALSO: ClassVar[tuple[Place, ...]] = ("reading",)
    BINDINGS = bindings_of("read_on", *MOVING)

    def __init__(self) -> None:
        super().__init__(id="frame")
        self._detail: Detail | None = None
        self._started_at = ""
        self._rows: list[Strip] = []

    def show(self, detail: Detail | None, started_at: str) -> None:
        before = self._detail
        self._detail, self._started_at = detail, started_at
        if before is None or detail is None or before.row.position != detail.row.position:
            self.go_to_line(0)
        self.redraw()

    @on(events.Resize)
    def redraw(self) -> None:
        width, palette = self.scrollable_content_region.width - 1, palette_for(self.app.current_theme)
        self._rows = list(self._drawn(self._detail, width, palette)) if self._detail and width > 4 else []
        self.count_lines(len(self._rows))

    def _drawn(self, detail: Detail, width: int, palette: Palette) -> Iterator[Strip]:
        for text, style in self._about(detail, palette):
            yield from wrap([(text, style)], width)
        if detail.outline is None:
            text = make_visible(detail.line.data[: 1 << 20].decode("utf-8", "replace"))
            for line in text.split("\n")[:MAX_LINES]:
                yield from (Strip(segments) for _, segments in _folded([(line, palette.text)], width))
            return
        for outlined in detail.outline:
            yield from drawn(outlined, width, palette)

    def _about(self, detail: Detail, palette: Palette) -> Iterator[Span]:
        row = detail.row
        what = "" if row.form is MessageKind.TEXT else "no message" if row.form is MessageKind.JUNK else row.form.value
        parts = (f"#{row.position}", f"{row.at_s:.3f} s", clock_at(self._started_at, row.at_s), WAYS[row.kind], what)
        yield " · ".join(filter(None, (*parts, size(row.size)))), palette.muted
        yield from self._about_partner(detail, palette)
        for note in detail.notes:
            yield from _about_rule(note, palette)
        yield "", palette.text

    def _about_partner(self, detail: Detail, palette: Palette) -> Iterator[Span]:
        row = detail.row
        key = keys_in_force(self).shown("inspect_partner")
        method = make_visible_line(row.label.method)
        if row.form is MessageKind.REQUEST and row.partner is None:
            yield f"{method} {'has no answer' if detail.is_over else 'waits for its answer'}", palette.warning
        elif row.form is MessageKind.REQUEST and row.took_s is not None:
            yield (f"{method}, answered in {duration(row.took_s)} by #{row.partner} ({key} goes there)", palette.text)
        elif row.form is MessageKind.RESPONSE and row.partner is None:
            yield "it answers no request", palette.warning
        elif row.form is MessageKind.RESPONSE and row.took_s is not None:
            yield (f"response to {method}, #{row.partner}, in {duration(row.took_s)} ({key} goes there)", palette.text)

    def draw_line(self, line: int, width: int) -> Strip:
        return Strip([Segment(" "), *self._rows[line]])

    def action_move(self, step: int) -> None:
        self.go_to_line(self.scroll_offset.y + step)

    def action_go_to_end(self, direction: int) -> None:
        self.go_to_line(0 if direction < 0 else len(self._rows))


def _about_rule(note: Finding, palette: Palette) -> Iterator[Span]:
    rule, (*earlier, _) = note.rule, note.frames
    style = {Severity.ERROR: palette.error, Severity.WARNING: palette.warning}.get(rule.severity, palette.text)
    since = f" (since #{earlier[0]})" if earlier else ""
    yield f"{rule.severity.value} {rule.rule_id}: {make_visible_line(note.text)}{since}", style
    yield f"  {rule.advice} {rule.reference}", palette.muted


def clock_at(started_at: str, at_s: float) -> str:
    """The local time of an event; "" if unknown."""
    began = began_at(started_at)
    try:
        return f"{began + timedelta(seconds=at_s):%H:%M:%S}" if began else ""
    except OverflowError:
        return ""


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

    @on(Input.Changed)
    def _tell_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    @on(Input.Submitted)
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

    @on(FrameList.Drawn)
    def _note_drawn(self) -> None:
        """Show the progress, and update the selected frame if more is known."""
        self._tell()
        if self._detail is not None and self._inspection.is_new(self._detail.row):
            self._note_selected()

    @on(FrameList.Moved)
    def _note_selected(self) -> None:
        """Show the newly selected frame. When following, not every new one."""
        if not self._list.follows:
            self._tell()
            self._show_detail()
        elif self._detail_timer is None:
            self._detail_timer = self.set_timer(FOLLOWED_S, self._show_detail)

    @on(FrameList.Opened)
    def _go_to_frame(self) -> None:
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

    @on(QueryBar.Changed)
    def _filter(self, message: QueryBar.Changed) -> None:
        if self._look_timer is not None:
            self._look_timer.stop()
        # Once the user stops typing, because each filter reads everything.
        self._look_timer = self.set_timer(WRITTEN_S, partial(self._show_only, read_query(message.text)))

    @on(QueryBar.Closed)
    def _go_to_list(self) -> None:
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
