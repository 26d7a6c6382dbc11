"""Where one looks for an earlier prompt: a list over the prompt, which narrows to the words that are typed.

The draft stays as it is until one is chosen.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from acp_tui.client.prompts import PromptHistory, Query
from acp_tui.ui.kit.row_list import RowList
from acp_tui.ui.prompt.history.past_rows import PastRows
from acp_tui.ui.rendering.wrapping import width_cells

MOST_FOUND: Final = 500
"""Whoever has not found it among so many types another word."""


class HistorySearch(Vertical):
    """Looks through the prompts of one project, or of all, while it is open; closing it removes it."""

    DEFAULT_CSS = """
    HistorySearch, HistorySearch > Static { height: auto; }
    HistorySearch Horizontal { height: 1; }
    HistorySearch Input { width: 1fr; }
    HistorySearch Horizontal > Static { width: auto; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False, id="history_close"),
        Binding("ctrl+r,up", "move(-1)", "Older", show=False, priority=True, id="history_older"),
        Binding("down", "move(1)", "Newer", show=False, priority=True, id="history_newer"),
        Binding("pageup", "page(-1)", "A page older", show=False, priority=True, id="history_page_up"),
        Binding("pagedown", "page(1)", "A page newer", show=False, priority=True, id="history_page_down"),
        Binding(
            "enter,tab", "choose", "Put it into the prompt", show=False, priority=True, id="history_choose"
        ),
        Binding("shift+tab", "toggle_all", "All projects", show=False, priority=True, id="history_projects"),
    ]

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
        self._input.cursor_blink = False  # it would draw while nothing happens

    def compose(self) -> ComposeResult:
        """What is found, and below it, next to the prompt, what is looked for."""
        yield self._head
        yield self._rows
        with Horizontal():
            yield Static("Search ", markup=False)
            yield self._input

    def begin(self) -> None:
        """Have the focus."""
        self._input.focus()
        self.look()

    def look(self) -> None:
        """Show what matches, the latest of it chosen."""
        query = Query(self._input.value)
        found = self._history.find(query, None if self._is_everywhere else self._folder, MOST_FOUND)
        self._rows.show_prompts(found, query, Path(self._folder))
        self._rows.display = bool(found)
        self._show_head()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look while it is being written."""
        event.stop()
        self.look()

    def on_resize(self) -> None:
        """Say as much as there is room for."""
        self._show_head()

    def _show_head(self) -> None:
        count = len(self._rows.rows)
        found = f"{count}{'+' if count == MOST_FOUND else ''} found" if count else "nothing found"
        here, there = "this project", "all projects"
        where, other = (there, here) if self._is_everywhere else (here, there)
        heads = [
            f"{found} in {where} · Shift+Tab {other} · Enter takes it · Esc back",
            f"{found} in {where} · Shift+Tab {other}",
            f"{found} · Shift+Tab {other}",
        ]
        width = self._head.content_size.width or self.app.size.width
        self._head.update(next((head for head in heads if width_cells(head) <= width), heads[-1]))

    # What the user does

    def action_move(self, step: int) -> None:
        """To an older or a newer one."""
        self._rows.move(step)

    def action_page(self, direction: int) -> None:
        """Further into the past, or back."""
        self._rows.page(direction)

    def action_toggle_all(self) -> None:
        """Look in all projects, or in this one."""
        self._is_everywhere = not self._is_everywhere
        self.look()

    def action_choose(self) -> None:
        """Put the chosen one into the draft; where there is none, go on searching."""
        row = self._rows.row
        if row is not None:
            self.post_message(self.Chosen(row.value.text))
            self.close()

    def on_row_list_clicked(self, event: RowList.Clicked) -> None:
        """A click chooses."""
        event.stop()
        self.action_choose()

    def action_close(self) -> None:
        """Leave the draft as it is."""
        self.close()

    def close(self) -> None:
        """Be gone, and go back to where one writes."""
        self.screen.set_focus(self.screen.query_one("#prompt"))
        self.remove()
