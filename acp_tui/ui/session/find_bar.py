"""The field to search the conversation. It shows the number of the current match, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from acp_tui.ui.commands.keys import caught_up, keys_in_force
from acp_tui.ui.commands.table import bindings_of

if TYPE_CHECKING:
    from acp_tui.ui.conversation.searching import Standing
    from acp_tui.ui.conversation.view import ConversationView

KEYS: Final = "{next_match} next · {previous_match} previous · {end_search} close"


class FindBar(Horizontal):
    """Searches one conversation while it is open. Closing removes it."""

    DEFAULT_CSS = """
    FindBar { height: 1; padding: 0 2; }
    FindBar Input { width: 1fr; }
    FindBar Static { width: auto; height: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place="find")

    def __init__(self, view: ConversationView) -> None:
        super().__init__()
        self._view = view
        self._sought = ""
        self._standing = Static(markup=False)

    def compose(self) -> ComposeResult:
        """The field, and the state of the search."""
        yield Static("Find ", markup=False)
        yield Input(compact=True, placeholder="in the conversation", select_on_focus=False)
        yield self._standing

    def on_mount(self) -> None:
        """Show the keys in force."""
        self._standing.update(f"  {self._keys}")

    def begin(self, query: str = "") -> None:
        """Take the focus, and search for `query`, if it isn't empty."""
        field = self.query_one(Input)
        self.screen.set_focus(field)  # at once, so that the next keys don't overtake it
        if query:
            field.value = query
            field.cursor_position = len(query)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search while the user types."""
        event.stop()
        self._look()

    def _look(self) -> None:
        query = self.query_one(Input).value  # not from the event, which may be older
        if query != self._sought:
            self._sought = query
            self._view.look_for(query)

    @property
    def _keys(self) -> str:
        return keys_in_force(self).hint(KEYS)

    def show_standing(self, standing: Standing) -> None:
        """Show the number of the current match, and how many there are."""
        query = self.query_one(Input).value.strip()
        more = "" if standing.is_done else "…"
        if not query:
            text = self._keys
        elif not standing.total:
            text = f"looking{more}" if more else "nothing found"
        else:
            text = f"{standing.current or '-'}/{standing.total}{more} · {self._keys}"
        self._standing.update(f"  {text}")

    async def action_step(self, direction: int) -> None:
        """Go to the next or the previous match, after everything typed so far."""
        await caught_up(self.query_one(Input))
        self._look()
        self._view.action_find(direction)

    def action_close(self) -> None:
        """End the search, and focus the prompt."""
        self._view.look_for("")
        self.remove()
        self.screen.set_focus(self.screen.query_one("#prompt"))
