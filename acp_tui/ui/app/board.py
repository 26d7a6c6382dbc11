"""The board (F10): all tabs, and sessions that hosts and agents have, in which order, and what each of them does."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, Final, TypeAlias

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from acp_tui.client.errors import ClientError
from acp_tui.client.hosting.finding import HostedSession, hosted_sessions
from acp_tui.client.sessions.marks import Mark, SessionMarks, key_of
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.dialogs.session_rows import ARCHIVED, PINNED
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.frame import Dialog, Frame
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.session.status_line import MARKS, TabState
from acp_tui.ui.tab.tab import Tab
from acp_tui.ui.tab.tabs import Tabs

Close: TypeAlias = Callable[[Tab], Coroutine[Any, Any, None]]
ShowHosted: TypeAlias = Callable[[HostedSession], Coroutine[Any, Any, None]]
Act: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
KEYS: Final = "{list_choose} go to it · {board_up} {board_down} move"


class Board(Dialog[Act | None]):
    """Lists the tabs with their current states. Returns what to do once it is gone, which happens once."""

    PLACE: ClassVar[Place] = "board"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place=PLACE)

    def __init__(self, tabs: Tabs, close: Close, show_hosted: ShowHosted) -> None:
        """`close` closes a tab after confirmation; `show_hosted` shows a hosted session."""
        super().__init__()
        self._tabs = tabs
        self._close = close
        self._show_hosted = show_hosted
        self._hosted: Sequence[HostedSession] = ()
        self._elsewhere: list[tuple[Tab, PastSession]] = []
        """What agents have in memory and no tab shows, each with a tab of its agent."""
        self._marks = SessionMarks().all()
        self._shows_archived = False
        self._list = FilteredList(self._rows(), empty="No such tab")

    def compose(self) -> ComposeResult:
        yield Frame(Content("Tabs"), self._keys, self._list)

    def on_mount(self) -> None:
        rows = self._rows()
        self._list.action_move(next((at for at, row in enumerate(rows) if row.value is self._tabs.front), 0))
        self._tabs.listeners.append(self._show)
        self.run_worker(self._look_for_hosts())
        self.run_worker(self._ask_agents())

    async def _look_for_hosts(self) -> None:
        self._hosted = await hosted_sessions()
        self._show()

    async def _ask_agents(self) -> None:
        for tab in {tab.link: tab for tab in self._tabs}.values():
            with suppress(ClientError):
                self._elsewhere += [(tab, session) for session in await tab.actions.history.open_elsewhere()]
                self._show()

    def on_unmount(self) -> None:
        self._tabs.listeners.remove(self._show)

    def _show(self) -> None:
        others = [
            one for one in self._hosted if not any(one.is_shown_by(tab.link.agent, tab.session) for tab in self._tabs)
        ]
        hosted = {one.session_id for one in self._hosted}
        kept = [_kept_row(tab, session) for tab, session in self._elsewhere if session.session_id not in hosted]
        self._list.show_rows((*self._rows(), *map(_hosted_row, others), *kept))

    def _rows(self) -> list[PickerRow[Tab]]:
        """The tabs in their order, those of pinned sessions first. A tab that needs the user is never hidden."""
        front, folders = self._tabs.front, {tab.cwd for tab in self._tabs}
        rows = [
            _row(number, tab, self._mark(tab), is_front=tab is front, names_folder=len(folders) > 1)
            for number, tab in enumerate(self._tabs, 1)
            if self._shows_archived
            or not self._mark(tab).is_archived
            or tab is front
            or tab.state in (TabState.NEEDS_YOU, TabState.FAILED)
        ]
        return sorted(rows, key=lambda row: not self._mark(row.value).is_pinned)

    def _mark(self, tab: Tab) -> Mark:
        agent, session = tab.link.agent, tab.session
        if agent is None or session is None:
            return Mark()
        return self._marks.get(key_of(agent.command.name, session.session_id), Mark())

    @property
    def _keys(self) -> str:
        archived = ARCHIVED[self._shows_archived]
        return f"{KEYS} · {{board_archived}} {archived} · {{board_close}} close · {{dialog_close}} back"

    def action_switch_archived(self) -> None:
        self._shows_archived = not self._shows_archived
        self.query_one(Frame).show_keys(self._keys)
        self._show()

    def action_move(self, direction: int) -> None:
        tab = self._tab
        if tab is not None:
            self._tabs.move(tab, direction)

    @property
    def _tab(self) -> Tab | None:
        """The tab at the cursor; None at a session without one."""
        row = self._list.row
        return next((tab for tab in self._tabs if row is not None and tab is row.value), None)

    def action_close_tab(self) -> None:
        """Close the tab at the cursor. The board closes first, because it may be above that tab."""
        tab = self._tab
        if tab is not None:
            self.dismiss(partial(self._close, tab))

    def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        chosen: HostedSession | Tab | Act = message.row.value
        if isinstance(chosen, HostedSession):
            self.dismiss(partial(self._show_hosted, chosen))
        elif not isinstance(chosen, Tab):
            self.dismiss(chosen)
        elif chosen in self._tabs:  # it may have been closed just now
            self.dismiss(partial(self._tabs.go_to, chosen))


def _row(number: int, tab: Tab, mark: Mark, *, is_front: bool, names_folder: bool) -> PickerRow[Tab]:
    sign, _ = MARKS[tab.state]
    folder = make_visible_line(tab.cwd.name) if names_folder else ""
    words = (folder, tab.state.value, "hosted" * tab.link.is_hosted, "here" * is_front, "archived" * mark.is_archived)
    label = f"{number:>2} {sign} {PINNED * mark.is_pinned}{tab.name()}"
    return PickerRow(tab, label, tab.doing, aside=" · ".join(filter(None, words)))


def _kept_row(tab: Tab, session: PastSession) -> PickerRow[Act]:
    facts = (session.agent, str(session.cwd))
    label = session.title or f"untitled {session.session_id}"
    opening = partial(tab.actions.history.open, session)
    return PickerRow(opening, label, " · ".join(facts), group="In agents", aside=session.doing)


def _hosted_row(hosted: HostedSession) -> PickerRow[Any]:
    facts = (hosted.agent, str(hosted.cwd), *hosted.waiting[:1])
    aside = " · ".join(filter(None, (hosted.host, hosted.age, hosted.state)))
    label = hosted.title or f"untitled {hosted.session_id}"
    return PickerRow(hosted, label, " · ".join(facts), group="In hosts", aside=aside)
