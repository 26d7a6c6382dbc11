"""The dialog with all tabs, their state, and the sessions that hosts keep; and what becomes of those at the end."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from acp_tui.ui.kit.filtered_list import FilteredList, Picker
from acp_tui.ui.kit.frame import Frame
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.session.tab_state import MARKS
from acp_tui.ui.tab.loading import preloaded
from acp_tui.ui.tab.tabs import Tab, Tabs

if TYPE_CHECKING:
    from acp_tui.client.hosting.finding import HostedSession

KEYS: Final = "Enter go to it · Alt+↑ ↓ move it · Alt+W close it · Esc close"


class Board(ModalScreen[None]):
    """Lists the tabs as they stand, also while they change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        Binding("alt+up", "move(-1)", "Move the tab up", show=False, priority=True),
        Binding("alt+w", "close_tab", "Close the tab", show=False, priority=True),
        Binding("alt+down", "move(1)", "Move the tab down", show=False, priority=True),
    ]

    def __init__(
        self,
        tabs: Tabs,
        close: Callable[[Tab], Coroutine[Any, Any, None]],
        show_hosted: Callable[[HostedSession], Coroutine[Any, Any, None]],
    ) -> None:
        """`close` closes a tab once the user is sure; `show_hosted` shows a session of a host."""
        super().__init__(classes="dialog")
        self._tabs = tabs
        self._close = close
        self._show_hosted = show_hosted
        self._hosted: Sequence[HostedSession] = ()
        self._list = FilteredList(_rows(tabs), empty="No such tab")

    def compose(self) -> ComposeResult:
        """The rows in a frame."""
        yield Frame(Content("Tabs"), KEYS, self._list)

    def on_mount(self) -> None:
        """Begin at the tab in front, and follow what happens in all of them."""
        self._list.action_move(next((at for at, tab in enumerate(self._tabs) if tab is self._tabs.front), 0))
        self._tabs.listeners.append(self._show)
        self.run_worker(self._look_for_hosts())

    async def _look_for_hosts(self) -> None:
        await preloaded(["acp_tui.client.hosting.finding"])
        from acp_tui.client.hosting.finding import (
            hosted_sessions,
        )  # loading point: when it is first asked for

        self._hosted = await hosted_sessions()
        self._show()

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        self._tabs.listeners.remove(self._show)

    def _show(self) -> None:
        others = [
            one
            for one in self._hosted
            if not any(one.is_shown_by(tab.link.agent, tab.session) for tab in self._tabs)
        ]
        self._list.show_rows((*_rows(self._tabs), *map(_hosted_row, others)))

    def action_move(self, direction: int) -> None:
        """Change the place of the tab at the cursor."""
        tab = self._tab
        if tab is not None:
            self._tabs.move(tab, direction)

    @property
    def _tab(self) -> Tab | None:
        """The one at the cursor; None where a hosted session is."""
        row = self._list.row
        return next((tab for tab in self._tabs if row is not None and tab is row.value), None)

    def action_close_tab(self) -> None:
        """Close the tab at the cursor; the board goes first, since it may stand over that tab."""
        tab = self._tab
        if tab is not None:
            self.dismiss(None)
            self.app.run_worker(self._close(tab))

    async def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        """Go there."""
        tab = self._tab
        self.dismiss(None)
        if tab is not None:
            await self._tabs.go_to(tab)
        else:
            self.app.run_worker(self._show_hosted(message.row.value))


def hosted_at_quit(count: int) -> Picker[str]:
    """Gives "leave" where so many sessions go on in their hosts, "end" where they do not, None to go on."""
    what = "session" if count == 1 else f"{count} sessions"
    rows = [
        PickerRow("leave", f"Leave the {what} running", "acp-tui attach reopens it"),
        PickerRow("end", f"Close the {what}", "for every terminal"),
    ]
    return Picker("Quit", rows, search=False)


def _rows(tabs: Tabs) -> tuple[PickerRow[Tab], ...]:
    return tuple(_row(number, tab, is_front=tab is tabs.front) for number, tab in enumerate(tabs, 1))


def _row(number: int, tab: Tab, *, is_front: bool) -> PickerRow[Tab]:
    mark, _ = MARKS[tab.state]
    state = f"{tab.state.value} · here" if is_front else tab.state.value
    return PickerRow(tab, f"{number:>2} {mark} {tab.tab_name()}", tab.doing, aside=state)


def _hosted_row(hosted: HostedSession) -> PickerRow[Any]:
    doing = " · ".join(filter(None, (hosted.agent, hosted.cwd.name, *hosted.waiting[:1])))
    label = f"{hosted.host}: {hosted.title or hosted.session_id}"
    return PickerRow(hosted, label, doing, group="In hosts", aside=hosted.state)
