"""Where one writes what to look for in the conversation; it says at which match of how many one is."""

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
    """Looks through one conversation while it is open; closing it removes it."""

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
        """The text, and how the search stands."""
        yield Static("Find ", markup=False)
        yield Input(compact=True, placeholder="in the conversation", select_on_focus=False)
        yield self._standing

    def on_mount(self) -> None:
        """Name the keys in force."""
        self._standing.update(f"  {self._keys}")

    def begin(self, query: str = "") -> None:
        """Have the focus; look for `query`, where there is one."""
        field = self.query_one(Input)
        self.screen.set_focus(field)  # at once: what is typed next must not overtake it
        if query:
            field.value = query
            field.cursor_position = len(query)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look while it is being written."""
        event.stop()
        self._look()

    def _look(self) -> None:
        query = self.query_one(Input).value  # not an event's, behind which more may have been written
        if query != self._sought:
            self._sought = query
            self._view.look_for(query)

    @property
    def _keys(self) -> str:
        return keys_in_force(self).hint(KEYS)

    def show_standing(self, standing: Standing) -> None:
        """Say at which match of how many one is."""
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
        """To the next or the previous match of all that is written."""
        await caught_up(self.query_one(Input))
        self._look()
        self._view.action_find(direction)

    def action_close(self) -> None:
        """Look for nothing any more, and go back to where one writes."""
        self._view.look_for("")
        self.remove()
        self.screen.set_focus(self.screen.query_one("#prompt"))
