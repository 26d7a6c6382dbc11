"""All tabs at a glance: what each is about, how it stands, and what it is doing. Enter goes to one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.frame import Frame
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.session.tab_state import MARKS
from acp_tui.ui.tab.tabs import Tab, Tabs

KEYS: Final = "Enter go there · Alt+↑ ↓ move it · Alt+W close it · Esc close"


class Board(ModalScreen[None]):
    """Lists the tabs as they stand, also while they change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        Binding("alt+up", "move(-1)", "Move the tab up", show=False, priority=True),
        Binding("alt+w", "close_tab", "Close the tab", show=False, priority=True),
        Binding("alt+down", "move(1)", "Move the tab down", show=False, priority=True),
    ]

    def __init__(self, tabs: Tabs, close: Callable[[Tab], Coroutine[Any, Any, None]]) -> None:
        """`close` closes a tab once the user is sure."""
        super().__init__(classes="dialog")
        self._tabs = tabs
        self._close = close
        self._list = FilteredList(_rows(tabs), empty="No such tab")

    def compose(self) -> ComposeResult:
        """The rows in a frame."""
        yield Frame(Content("Tabs"), KEYS, self._list)

    def on_mount(self) -> None:
        """Begin at the tab in front, and follow what happens in all of them."""
        self._list.action_move(next((at for at, tab in enumerate(self._tabs) if tab is self._tabs.front), 0))
        self._tabs.listeners.append(self._show)

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        self._tabs.listeners.remove(self._show)

    def _show(self) -> None:
        self._list.show_rows(_rows(self._tabs))

    def action_move(self, direction: int) -> None:
        """Change the place of the tab at the cursor."""
        row = self._list.row
        if row is not None:
            self._tabs.move(row.value, direction)

    def action_close_tab(self) -> None:
        """Close the tab at the cursor; the board goes first, since it may stand over that tab."""
        row = self._list.row
        if row is not None:
            self.dismiss(None)
            self.app.run_worker(self._close(row.value))

    async def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        """Go there."""
        self.dismiss(None)
        await self._tabs.go_to(message.row.value)


def _rows(tabs: Tabs) -> tuple[PickerRow[Tab], ...]:
    return tuple(_row(number, tab, is_front=tab is tabs.front) for number, tab in enumerate(tabs, 1))


def _row(number: int, tab: Tab, *, is_front: bool) -> PickerRow[Tab]:
    mark, _ = MARKS[tab.state]
    state = f"{tab.state.value} · here" if is_front else tab.state.value
    return PickerRow(tab, f"{number:>2} {mark} {tab.tab_name()}", tab.doing, aside=state)
