"""The dialogs over the tabs, including the board of all tabs and hosted sessions.

Loaded after the start, or with the first command.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Final, TypeAlias

from anyio import to_thread
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import SessionNotOpened
from acp_tui.client.hosting.finding import HostedSession, hosted_again, hosted_sessions
from acp_tui.client.sessions.marks import Mark, SessionMarks, key_of
from acp_tui.client.sessions.session_history import SessionFromRecording, past_session, recording_store
from acp_tui.client.settings.project_settings import ProjectSettings
from acp_tui.client.settings.reader import SettingsRead
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.app.settings.follower import LiveSettings
from acp_tui.ui.app.settings.screen import ChooseTheme, SettingsScreen
from acp_tui.ui.commands.command import Command, Place
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import COMMANDS, bindings_of
from acp_tui.ui.dialogs.agents import AgentChoice, choose_agent
from acp_tui.ui.dialogs.session_rows import ARCHIVED, PINNED
from acp_tui.ui.dialogs.trust import TrustSettingsDialog
from acp_tui.ui.kit.filtered_list import FilteredList, Picker
from acp_tui.ui.kit.frame import Frame
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.session.status_line import MARKS, TabState
from acp_tui.ui.tab.actions import is_possible
from acp_tui.ui.tab.loading import preload_in_thread
from acp_tui.ui.tab.reopening import LeftSession, left_sessions
from acp_tui.ui.tab.tab import Tab
from acp_tui.ui.tab.tabs import Tabs

Close: TypeAlias = Callable[[Tab], Coroutine[Any, Any, None]]
ShowHosted: TypeAlias = Callable[[HostedSession], Coroutine[Any, Any, None]]
Act: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
KEYS: Final = "Enter go to it · {board_up} {board_down} move"


class Board(ModalScreen[Act | None]):
    """Lists the tabs with their current states. Returns what to do once it is gone, which happens once."""

    PLACE: ClassVar[Place] = "board"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        *bindings_of(place=PLACE),
    ]

    def __init__(self, tabs: Tabs, close: Close, show_hosted: ShowHosted) -> None:
        """`close` closes a tab after confirmation; `show_hosted` shows a hosted session."""
        super().__init__(classes="dialog")
        self._tabs = tabs
        self._close = close
        self._show_hosted = show_hosted
        self._hosted: Sequence[HostedSession] = ()
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

    async def _look_for_hosts(self) -> None:
        self._hosted = await hosted_sessions()
        self._show()

    def on_unmount(self) -> None:
        self._tabs.listeners.remove(self._show)

    def _show(self) -> None:
        others = [
            one for one in self._hosted if not any(one.is_shown_by(tab.link.agent, tab.session) for tab in self._tabs)
        ]
        self._list.show_rows((*self._rows(), *map(_hosted_row, others)))

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
        return keys_in_force(self).hint(f"{KEYS} · {{board_archived}} {archived} · {{board_close}} close · Esc back")

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
        """The tab at the cursor; None at a hosted session."""
        row = self._list.row
        return next((tab for tab in self._tabs if row is not None and tab is row.value), None)

    def action_close_tab(self) -> None:
        """Close the tab at the cursor. The board closes first, because it may be above that tab."""
        tab = self._tab
        if tab is not None:
            self.dismiss(partial(self._close, tab))

    def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        chosen: HostedSession | Tab = message.row.value
        if isinstance(chosen, HostedSession):
            self.dismiss(partial(self._show_hosted, chosen))
        elif chosen in self._tabs:  # it may have been closed just now
            self.dismiss(partial(self._tabs.go_to, chosen))


class Dialogs:
    """Opens dialogs over the tab in front. Await its methods in a worker."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app

    async def at_quit(self, count: int, *, are_hosted: bool = True) -> str | None:
        """Ask what to do with hosted or working sessions: "leave" them running, "end" them; None to stay in the app."""
        what = "session" if count == 1 else f"{count} sessions"
        rows = [
            PickerRow("leave", f"Leave the {what} running", "acp-tui attach reopens it"),
            PickerRow(
                "end", f"Close the {what}", "for every terminal" if are_hosted else "and end what the agent does"
            ),
        ]
        return await self._app.push_screen_wait(Picker("Quit", rows, search=False))

    async def choose_agent(self, *, worktrees: bool) -> AgentChoice | None:
        """Let the user choose an agent to start, with `worktrees` also in a new worktree; None if they cancel."""
        return await choose_agent(self._app, worktrees=worktrees)

    async def show_board(self, tabs: Tabs, close: Close, show_hosted: ShowHosted) -> None:
        """Show all tabs, and what each one is about. Go to the one that is chosen."""
        act = await self._app.push_screen_wait(Board(tabs, close, show_hosted))
        if act is not None:
            await act()

    async def hosted_again(self, session_id: SessionId, recordings: RecordingSettings) -> AgentCommand:
        """Start a host that continues a recorded session, and return it as an agent. Raises ClientError."""
        recorded = await to_thread.run_sync(SessionIndex(recording_store(recordings)).find, session_id)
        if recorded is None:
            raise SessionNotOpened("No recording has a prompt of this session, so no other host can continue it")
        return (await hosted_again(past_session(recorded))).command

    async def inspect(self, tab: Tab) -> None:
        """Show the frames between acp-tui and the tab's agent, or those of its recording."""
        await preload_in_thread(["acp_tui.workbench.inspector.screen"])
        from acp_tui.workbench.inspector.screen import open_inspector  # loading point: on first use

        agent = tab.link.agent or tab.link.starting
        if agent is not None and agent.frames is not None:
            await open_inspector(tab.screen, agent.frames, agent.title, tab.cwd)
        elif isinstance(tab.session, SessionFromRecording):
            file = tab.session.recorded.recordings[-1]
            await open_inspector(tab.screen, file, file.name, tab.cwd)
        else:
            tab.say("There is no agent to inspect yet.")

    async def show_settings(self, live: LiveSettings, choose_theme: ChooseTheme) -> None:
        await self._app.push_screen_wait(SettingsScreen(live, choose_theme))

    async def trusts(self, project: ProjectSettings, user: SettingsRead) -> bool:
        return await self._app.push_screen_wait(TrustSettingsDialog(project, user))

    def possible(self, tab: Tab, places: Collection[Place]) -> Iterator[Command]:
        """The commands of these places that can do something in the tab now."""
        for command in COMMANDS:
            is_offered = command.action and not command.follows and command.where in places
            if is_offered and is_possible(command, tab):
                yield command

    def left_sessions(self, tabs: Iterable[Tab]) -> Sequence[LeftSession]:
        return left_sessions(tabs)


def _row(number: int, tab: Tab, mark: Mark, *, is_front: bool, names_folder: bool) -> PickerRow[Tab]:
    sign, _ = MARKS[tab.state]
    folder = make_visible_line(tab.cwd.name) if names_folder else ""
    words = (folder, tab.state.value, "hosted" * tab.link.is_hosted, "here" * is_front, "archived" * mark.is_archived)
    label = f"{number:>2} {sign} {PINNED * mark.is_pinned}{tab.name()}"
    return PickerRow(tab, label, tab.doing, aside=" · ".join(filter(None, words)))


def _hosted_row(hosted: HostedSession) -> PickerRow[Any]:
    facts = (hosted.agent, str(hosted.cwd), *hosted.waiting[:1])
    aside = " · ".join(filter(None, (hosted.host, hosted.age, hosted.state)))
    label = hosted.title or f"untitled {hosted.session_id}"
    return PickerRow(hosted, label, " · ".join(facts), group="In hosts", aside=aside)
