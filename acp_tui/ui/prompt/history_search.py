"""The list above the prompt that searches earlier prompts. The draft stays until the user chooses one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from acp_tui.client.prompts import PastPrompt, PromptHistory, Query
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.keys import caught_up
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.row_list import GAP, MIN_LABEL_CELLS, PickerRow, RowList, short_folder, short_time
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import cut, width_cells

MOST_ROWS: Final = 8
ROWS_AROUND: Final = 14
"""The rows of the screen left for the conversation, the prompt, and the rest."""
BEFORE_MATCH: Final = 8
"""How many characters to show before a match that would otherwise be out of sight."""


class PastRows(RowList):
    """The matches. The latest is at the bottom, next to the prompt."""

    def __init__(self) -> None:
        super().__init__(rows_around=ROWS_AROUND, most_rows=MOST_ROWS)
        self._query = Query("")
        self._here: Path | None = None
        self._now = datetime.now().astimezone()

    def show_prompts(self, found: Sequence[PastPrompt], query: Query, here: Path | None) -> None:
        """Show `found`, latest first. Other folders than `here` are named; None names them all.

        The cursor stays on its prompt while the query stays the same; otherwise it goes to the latest.
        """
        chosen = self.row.value.text if self.row and query == self._query else None
        self._query, self._here = query, here
        self._now = datetime.now().astimezone()
        rows = [PickerRow(prompt, prompt.text) for prompt in reversed(found)]
        texts = [prompt.text for prompt in reversed(found)]
        cursor = texts.index(chosen) if chosen in texts else len(rows) - 1
        self.show(rows, cursor)

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        prompt: PastPrompt = self.rows[index].value
        lines = prompt.text.strip().count("\n")
        more = f" + {lines} line{'s' if lines > 1 else ''}" if lines else ""
        room = width - 2 - width_cells(more)
        aside = self._aside(prompt, room)
        room -= width_cells(aside)
        label = shown_line(prompt.text.strip(), self._query.pattern, room)
        is_at = index == self.cursor
        # In the terminal's own colors, muted text is unreadable on the cursor's background.
        text, muted = (palette.text + Style(bold=True), palette.text) if is_at else (palette.text, palette.muted)
        return [
            Segment("❯ " if is_at else "  ", palette.accent),
            *_marked(label, self._query.pattern, text, palette.match),
            Segment(more, muted),
            Segment(" " * (room - width_cells(label)) + aside, muted),
        ]

    def _aside(self, prompt: PastPrompt, room: int) -> str:
        """The time and folder, as far as they fit; the folder first."""
        folder = short_folder(Path(prompt.folder), self._here)
        when = _when(prompt.at, self._now)
        for parts in ((folder, when), (folder,), (when,)):
            aside = "".join(GAP + part for part in parts if part)
            if room - width_cells(aside) >= MIN_LABEL_CELLS:
                return aside
        return ""


def _when(at: str, now: datetime) -> str:
    """How long ago it was; "" if the file contains no valid time."""
    try:
        return short_time(datetime.fromisoformat(at).astimezone(), now)
    except (ValueError, OverflowError, OSError):
        return ""


def shown_line(text: str, pattern: re.Pattern[str] | None, width: int) -> str:
    """The first line of `text`, cut to `width`. If a later line has the match, that follows the start."""
    first = make_visible_line(text.partition("\n")[0])
    label = cut(first, max(width, 4))
    match = pattern.search(text) if pattern is not None else None
    if match is None or pattern is None or pattern.search(label):
        return label
    before = min(BEFORE_MATCH, width // 6)
    begin = max(text.rfind("\n", 0, match.start()) + 1, match.start() - before)
    found = make_visible_line(text[begin:].partition("\n")[0].strip())
    start = cut(first, max(width // 3, 4))
    return cut(f"{start.removesuffix('…')}… {found}", max(width, 4))


def _marked(label: str, pattern: re.Pattern[str] | None, style: Style, match_style: Style) -> list[Segment]:
    """The label with the matches marked."""
    segments, at = [], 0
    for match in pattern.finditer(label) if pattern is not None else ():
        segments += [Segment(label[at : match.start()], style), Segment(match[0], style + match_style)]
        at = match.end()
    return [*segments, Segment(label[at:], style)]


MOST_FOUND: Final = 500
"""With more matches than this, the user types another word."""


class HistorySearch(Vertical):
    """Searches the prompts of one project, or of all. Closing it removes it."""

    DEFAULT_CSS = """
    HistorySearch, HistorySearch > Static { height: auto; }
    HistorySearch Horizontal { height: 1; }
    HistorySearch Input { width: 1fr; }
    HistorySearch Horizontal > Static { width: auto; }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place="history")

    class Chosen(Message):
        """The user wants this prompt in the draft."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, history: PromptHistory, folder: str) -> None:
        super().__init__()
        self._history = history
        self._folder = folder
        self._is_everywhere = False
        self._head = Static(markup=False)
        self._rows = PastRows()
        self._input = Input(compact=True, placeholder="words of an earlier prompt", select_on_focus=False)
        self._input.cursor_blink = False  # it would redraw while nothing happens

    def compose(self) -> ComposeResult:
        """The matches, and below them the query, next to the prompt."""
        yield self._head
        yield self._rows
        with Horizontal():
            yield Static("Search ", markup=False)
            yield self._input

    def begin(self) -> None:
        """Take the focus."""
        self.screen.set_focus(self._input)  # at once, so that the next key doesn't overtake it
        self.look()

    def look(self) -> None:
        """Show the matches and choose the latest."""
        query = Query(self._input.value)
        found = self._history.find(query, None if self._is_everywhere else self._folder, MOST_FOUND)
        self._rows.show_prompts(found, query, Path(self._folder))
        self._rows.display = bool(found)
        self._show_head()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search while the user types."""
        event.stop()
        self.look()

    def on_resize(self) -> None:
        """Fit the heading to the width."""
        self._show_head()

    def _show_head(self) -> None:
        count = len(self._rows.rows)
        found = f"{count}{'+' if count == MOST_FOUND else ''} found" if count else "nothing found"
        here, there = "this project", "all projects"
        where, other = (there, here) if self._is_everywhere else (here, there)
        heads = [
            f"{found} in {where} · Shift+Tab {other} · Enter uses it · Esc back",
            f"{found} in {where} · Shift+Tab {other}",
            f"{found} · Shift+Tab {other}",
        ]
        width = self._head.content_size.width or self.app.size.width
        self._head.update(next((head for head in heads if width_cells(head) <= width), heads[-1]))

    # What the user does

    async def action_move(self, step: int) -> None:
        """Go to an older or a newer match."""
        await caught_up(self._input)
        self.look()
        self._rows.move(step)

    def action_page(self, direction: int) -> None:
        """Page into the past, or back."""
        self._rows.move_page(direction)

    def action_toggle_all(self) -> None:
        """Search all projects, or only this one."""
        self._is_everywhere = not self._is_everywhere
        self.look()

    async def action_choose(self) -> None:
        """Put the chosen prompt into the draft. Without matches, the search stays open."""
        await caught_up(self._input)
        self.look()  # the last key may still be on its way from the field
        row = self._rows.row
        if row is not None:
            self.post_message(self.Chosen(row.value.text))
            self.close()

    async def on_row_list_clicked(self, event: RowList.Clicked) -> None:
        """Choose the clicked prompt."""
        event.stop()
        await self.action_choose()

    def action_close(self) -> None:
        """Leave the draft as it is."""
        self.close()

    def close(self) -> None:
        """Remove the search and focus the prompt."""
        self.screen.set_focus(self.screen.query_one("#prompt"))
        self.remove()
