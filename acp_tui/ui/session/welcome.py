"""What an empty session shows until the first prompt. `tab.sessions.Welcoming` gathers the content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from rich.segment import Segment
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip

from acp_tui.conversation.facts import OfferedCommand
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.keys import follow_keys, keys_in_force
from acp_tui.ui.commands.table import STEPS, bindings_of
from acp_tui.ui.kit.line_view import StripView
from acp_tui.ui.kit.row_list import NO_ROW, NumberedRows, PickerRow, RowList
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import cut, width_cells, wrap

LABEL_CELLS: Final = 8
WAY_CELLS: Final = 5
MARK_CELLS: Final = 2
MAX_RECENT: Final = 5
MIN_RECENT: Final = 3
"""This many sessions are shown before anything else gets its long form."""
BLANK: Final = Strip([])

MakeRows: TypeAlias = Callable[[int], Sequence[PickerRow[str]]]
"""Returns the recent sessions as rows of so many cells."""


class WelcomeSize(NamedTuple):
    """How much of everything to show."""

    recent: int
    has_ways_in_full: bool = False
    has_ways: bool = True
    has_tip: bool = False
    has_gaps: bool = False


ROOMS: Final = (
    *(WelcomeSize(recent, full, True, True, True) for full in (True, False) for recent in range(5, MIN_RECENT - 1, -1)),
    *(WelcomeSize(recent, has_tip=has_tip) for recent in (5, 3, 2) for has_tip in (True, False)),
    WelcomeSize(2, has_ways=False),
    WelcomeSize(1, has_ways=False),
)
"""The layouts, from the roomiest down. The first one that fits is used."""


class Welcome(Vertical, can_focus=True):
    """Facts, recent sessions to choose from, and ways to start."""

    DEFAULT_CSS = "Welcome { height: 1fr; display: none; } Welcome > RowList { height: auto; }"

    PLACE: Final = "welcome"
    BINDINGS = bindings_of(*STEPS, place=PLACE)

    class Chosen(Message):
        """Posted when the user wants to open this session."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, agent: str = "", greeting: str = "", folder: str = "") -> None:
        """`agent` is the agent's name with its version; `greeting` is the text of its command."""
        super().__init__()
        self.can_focus = False  # until there are sessions to choose from
        self._agent = make_visible_line(agent)
        self._greeting = greeting
        self._folder = make_visible_line(folder)
        self._model = ""
        self._tip = ""
        self.is_told = False
        """Whether it knows the recent sessions."""
        self._has_keys = False
        """Whether it has the focus. Textual sets `has_focus` only after the event."""
        self._commands: Sequence[OfferedCommand] = ()
        self._make_rows: MakeRows = lambda cells: ()
        self._head, self._tail = StripView(), StripView()
        self._rows = NumberedRows(most_rows=MAX_RECENT, rows_around=0)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._rows
        yield self._tail

    # What it shows

    def update_for(self, commands: Sequence[OfferedCommand], model: str, *, is_wanted: bool) -> None:
        """Show the welcome, with the agent's commands and model, or hide it."""
        if is_wanted is not self.display:
            self.display = is_wanted
        if (commands, model) != (self._commands, self._model):
            self._commands, self._model = commands, model
            self._draw()

    def tell(self, *, folder: str, make_rows: MakeRows, tip: str) -> None:
        """Show the session's folder and the recent sessions. The texts are untrusted."""
        self._folder, self._make_rows, self._tip = make_visible_line(folder), make_rows, tip
        self.is_told = True
        self._draw()

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self._draw, init=False)
        follow_keys(self, self._draw)

    @on(events.Resize)
    def _draw(self) -> None:
        width, height = self.content_size
        if not self.display or not width or not self.is_attached:
            return
        palette = palette_for(self.app.current_theme)
        all_rows = self._make_rows(width - MARK_CELLS)
        for room in ROOMS:
            rows = all_rows[: room.recent]
            head = list(self._head_lines(width, palette, len(rows), room))
            tip = [("Tip: ", palette.accent), (self._tip, palette.muted)]
            tail = [*[BLANK] * room.has_gaps, *wrap(tip, width)] if room.has_tip and self._tip else []
            if len(head) + len(rows) + len(tail) <= height:
                break
        self.can_focus = bool(rows)
        self._head.show(head, len(head))
        self._rows.show(rows, min(max(self._rows.cursor, 0), len(rows) - 1) if self._has_keys else NO_ROW)
        self._rows.display = bool(rows)
        self._tail.show(tail, len(tail))

    def _head_lines(self, width: int, palette: Palette, recent: int, room: WelcomeSize) -> Iterator[Strip]:
        """What is known from the start, and below it, so that it stays in its place, the heading of the sessions."""
        yield Strip([Segment("acp-tui", palette.accent + palette.strong)])
        for label, value in (("agent", self._agent), ("model", self._model), ("folder", self._folder)):
            if value:
                what = cut(value, max(width - LABEL_CELLS, 2))
                yield Strip([Segment(f"{label:<{LABEL_CELLS}}", palette.muted), Segment(what, palette.text)])
        if self._greeting:
            yield from [BLANK] * room.has_gaps
            yield from wrap([(self._greeting, palette.text)], width)
        if room.has_ways:
            yield from [BLANK] * room.has_gaps
            yield from self._ways(width, palette, are_in_full=room.has_ways_in_full)
        if recent:
            yield from [BLANK] * room.has_gaps
            yield Strip([Segment(cut(self._heading(recent, width), width), palette.muted)])

    def _heading(self, recent: int, width: int) -> str:
        """The heading of the rows, with the keys that lead to them."""
        keymap = keys_in_force(self)
        number = f"1-{recent}" if recent > 1 else "1"
        if self._has_keys:
            return keymap.hint(f"Recent sessions here: {number} or {{list_choose}} opens one · {{focus_prompt}} back")
        ways = keymap.hint(f"{{leave_prompt}}, then {number}")
        whole = " · ".join(filter(None, (f"Recent sessions here: {ways}", keymap.hint("{choose_session} all"))))
        return whole if width_cells(whole) <= width else f"Recent: {ways}"

    def _ways(self, width: int, palette: Palette, *, are_in_full: bool) -> Iterator[Strip]:
        """What can be typed, and what each does, in a line for each, or in one, as far as they fit."""
        room, segments = max(width - WAY_CELLS, 2), list[Segment]()
        ways = (
            ("@", "file", "attach a file, folder, or picture"),
            ("/", "command", _commands([command.name for command in self._commands], room)),
            ("!", "shell", "run a command in the session's folder"),
            (keys_in_force(self).shown("help"), "help", "help and all keys"),
        )
        for label, word, text in ways:
            gap = "   " * bool(segments)
            if label and are_in_full:
                told = Segment(cut(text, room), palette.muted)
                yield Strip([Segment(f"{label:<{WAY_CELLS}}", palette.accent), told])
            elif label and sum(map(len, (*(one.text for one in segments), gap, label, word))) < width:
                segments += [Segment(gap + label, palette.accent), Segment(f" {word}", palette.muted)]
        if not are_in_full:
            yield Strip(segments)

    # Choosing

    def on_focus(self) -> None:
        self._has_keys = True
        self._draw()

    def on_blur(self) -> None:
        self._has_keys = False
        self._rows.cursor = NO_ROW
        self._draw()

    def action_move(self, step: int) -> None:
        self._rows.move(step)

    @on(RowList.Clicked)
    def action_choose(self) -> None:
        if self._rows.row is not None:
            self.post_message(self.Chosen(self._rows.row.value))

    def action_number(self, number: int) -> None:
        if number <= len(self._rows.rows):
            self.post_message(self.Chosen(self._rows.rows[number - 1].value))


def _commands(names: Sequence[str], width: int) -> str:
    """As many of an agent's commands as fit, with whole names, and one for all that begin with the same word."""
    shown = list(dict.fromkeys(_FAMILY.split(make_visible_line(name))[0] or name for name in names))
    told = ", ".join(shown)
    while shown and width_cells(f"commands: {told}") > width:
        shown.pop()
        told = ", ".join((*shown, "…"))
    return f"commands: {told}" if shown else "commands"


_FAMILY: Final = re.compile(r"[ :]")
