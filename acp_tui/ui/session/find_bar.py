"""The field to search the conversation. It shows the number of the current match, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from acp_tui.ui.commands.keys import caught_up, keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.rendering.wrapping import SEPARATOR, width_cells

if TYPE_CHECKING:
    from acp_tui.ui.conversation.searching import SearchState
    from acp_tui.ui.conversation.view import ConversationView

HEAD: Final = "Find "
GAP: Final = "  "
KEYS: Final = ("{next_match} next · {previous_match} previous · {dialog_close} close", "{dialog_close} close")
MIN_FIELD_CELLS: Final = 16
"""The field gets at least this much; keys without room aren't told."""


class FindBar(Horizontal):
    """Searches one conversation while it is open. Closing removes it."""

    DEFAULT_CSS = """
    FindBar { height: 1; padding: 0 2; }
    FindBar Input { width: 1fr; }
    FindBar Static { width: auto; height: 1; }
    """

    PLACE: Final = "find"
    BINDINGS = bindings_of(place=PLACE)

    def __init__(self, view: ConversationView, query: str = "") -> None:
        """It takes the focus once it is mounted, and searches for `query`, if it isn't empty."""
        super().__init__()
        self._view = view
        self._query = query
        self._sought = ""
        self._found = ""
        self._keys: Sequence[str] = KEYS[1:]
        self._field = Input(compact=True, placeholder="in the conversation", select_on_focus=False)
        self._state = Static(markup=False)

    def compose(self) -> ComposeResult:
        yield Static(HEAD, markup=False)
        yield self._field
        yield self._state

    def on_mount(self) -> None:
        self.begin(self._query)

    def begin(self, query: str = "") -> None:
        """Take the focus, and search for `query`, if it isn't empty."""
        self.screen.set_focus(self._field)  # at once, so that the next keys don't overtake it
        if query:
            self._field.value = query
            self._field.cursor_position = len(query)

    @on(Input.Changed)
    def _search_anew(self, event: Input.Changed) -> None:
        event.stop()
        self._search()

    def _search(self) -> None:
        query = self._field.value  # not from the event, which may be older
        if query != self._sought:
            self._sought = query
            self._view.look_for(query)

    @on(events.Resize)
    def _tell(self) -> None:
        room = self.content_size.width - width_cells(HEAD) - MIN_FIELD_CELLS - width_cells(GAP)
        keys = [keys_in_force(self).hint(text) for text in self._keys]
        ways = (SEPARATOR.join(filter(None, (self._found, text))) for text in keys)
        self._state.update(GAP + next((way for way in ways if width_cells(way) <= room), self._found))

    def show_state(self, state: SearchState) -> None:
        query = self._field.value.strip()
        more = "" if state.is_done else "…"
        if not query:
            self._found = ""
        elif not state.total:
            self._found = f"looking{more}" if more else "nothing found"
        else:
            self._found = f"{state.current or '-'}/{state.total}{more}"
        self._keys = KEYS if state.total else KEYS[1:]
        self._tell()

    async def action_step(self, direction: int) -> None:
        """Go to the next or the previous match, after everything typed so far."""
        await caught_up(self._field)
        self._search()
        self._view.action_find(direction)

    def action_close(self) -> None:
        """End the search, and focus the prompt; in a replay, which has none, the conversation."""
        self._view.look_for("")
        self.display = False  # it isn't opened again
        self.remove()
        prompts = self.screen.query("#prompt")
        if prompts:
            self.screen.set_focus(prompts.first())
        else:
            self._view.focus()
