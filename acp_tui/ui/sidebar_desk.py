"""When the sidebar is shown, and what it says of a session, its agent and its folder; it draws nothing.

While the sidebar is hidden nothing is gathered for it, and the widget is loaded when it is first shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from acp_tui.ui.widgets.prompt import PromptInput

if TYPE_CHECKING:
    from textual.screen import Screen

    from acp_tui.client.changes import FileChange
    from acp_tui.client.sessions.session import Session, Unsubscribe
    from acp_tui.conversation.conversation import Change
    from acp_tui.conversation.tool_calls import TerminalId
    from acp_tui.ui.agent_desk import AgentDesk
    from acp_tui.ui.changes_desk import ChangesDesk
    from acp_tui.ui.drawings.sidebar import SidebarState
    from acp_tui.ui.widgets.session_panel import SessionPanel
    from acp_tui.ui.widgets.sidebar import Sidebar

FROM_COLUMNS: Final = 150
"""On so wide a screen there is room for it without being asked for."""
LEAST_COLUMNS: Final = 72
"""On a narrower one too little of the conversation would be left."""


class SidebarDesk:
    """Serves the screen of one tab."""

    def __init__(self, screen: Screen[None], panel: SessionPanel) -> None:
        self._screen = screen
        self._panel = panel
        self._desk: AgentDesk | None = None
        self._changes: ChangesDesk | None = None
        self._setting: Literal["auto", "on", "off"] = "auto"
        self._wish: bool | None = None
        """What the user chose by key; None: as the settings say."""
        self._recency: dict[str, FileChange] = {}
        """The changed files, the newest at the end."""
        self._newest: tuple[FileChange, ...] | None = None
        """The newest first; None where that is to be found out anew."""
        self._running: set[TerminalId] = set()
        self._heard: Session | None = None
        """The session that is listened to."""
        self._unsubscribe: Unsubscribe = lambda: None

    def use(self, panel: SessionPanel, desk: AgentDesk | None, changes: ChangesDesk | None) -> None:
        """Tell of these from now on."""
        self._panel, self._desk, self._changes, self._newest = panel, desk, changes, None

    def look(self, setting: Literal["auto", "on", "off"]) -> None:
        """Show it or not, as the user wishes and as there is room, with what is to be said now."""
        self._setting = setting
        if self._is_wanted:
            self._shown_sidebar().show(self._state())
            self._listen()
        elif self.sidebar is not None:
            self._hide(self.sidebar)

    def look_at_changes(self) -> None:
        """Other files have changed."""
        self._newest = None
        self.look(self._setting)

    def turn(self) -> None:
        """Show it; where it is shown, go there; from there, hide it and go back to the prompt."""
        sidebar = self.sidebar
        if sidebar is None and self._width < LEAST_COLUMNS:
            self._screen.notify(f"The sidebar needs {LEAST_COLUMNS} columns.", severity="warning")
        elif sidebar is None or sidebar.has_focus:
            self._wish = sidebar is None
            self.look(self._setting)
        else:
            sidebar.focus()

    def toggle_plan(self) -> bool:
        """Fold or unfold the plan there; False where the sidebar is hidden."""
        if self.sidebar is None:
            return False
        from acp_tui.ui.drawings.sidebar import Section

        self.sidebar.toggle(Section.PLAN)
        return True

    # Whether it is shown

    @property
    def sidebar(self) -> Sidebar | None:
        """The widget, while it is shown."""
        if not self._screen.has_class("-with-sidebar"):
            return None
        from acp_tui.ui.widgets.sidebar import Sidebar

        return self._screen.query_one(Sidebar)

    @property
    def _width(self) -> int:
        return self._screen.app.size.width

    @property
    def _is_wanted(self) -> bool:
        if self._width < LEAST_COLUMNS or self._panel.session is None:
            return False
        if self._wish is not None:
            return self._wish
        return self._setting == "on" or (self._setting == "auto" and self._width >= FROM_COLUMNS)

    def _shown_sidebar(self) -> Sidebar:
        from acp_tui.ui.widgets.sidebar import Sidebar

        self._screen.add_class("-with-sidebar")
        for sidebar in self._screen.query(Sidebar):
            sidebar.display = True
            return sidebar
        sidebar = Sidebar(id="sidebar")
        self._screen.query_one("#session").mount(sidebar)
        return sidebar

    def _hide(self, sidebar: Sidebar) -> None:
        if sidebar.has_focus:
            self._screen.query_one(PromptInput).focus()
        sidebar.display = False
        self._screen.remove_class("-with-sidebar")
        self._unsubscribe()
        self._heard = None

    # What it says

    def _state(self) -> SidebarState:
        from acp_tui.ui.drawings.sidebar import SidebarState

        conversation = self._panel.conversation
        if self._newest is None:
            self._newest = self._newest_first(self._changes.changes if self._changes is not None else {})
        summary = self._changes.summary() if self._changes is not None else ""
        return SidebarState(tuple(conversation.plans.values()), self._newest, summary, self._facts())

    def _newest_first(self, changes: Mapping[str, FileChange]) -> tuple[FileChange, ...]:
        known = self._recency
        for path in known.keys() - changes.keys():
            del known[path]
        for path, change in changes.items():
            if known.get(path) != change:
                known.pop(path, None)
                known[path] = change
        return tuple(reversed(known.values()))

    def _facts(self) -> tuple[tuple[str, str], ...]:
        from acp_tui.conversation.wording import from_home, session_facts

        conversation, session = self._panel.conversation, self._panel.session
        assert session is not None
        self._running = {name for name, state in conversation.terminals.items() if not state.has_exited}
        servers = self._desk.link.servers if self._desk is not None else ()
        names = (server.name for server in servers)
        return session_facts(conversation, self._agent(), from_home(session.cwd), names)

    def _agent(self) -> str:
        agent = self._desk.agent if self._desk is not None else None
        if agent is None:
            return "none"
        version = agent.identity.version if agent.identity is not None else None
        return f"{agent.title} {version}" if version else agent.title

    def _listen(self) -> None:
        """Hear of terminals that begin and end: the panel passes on no more of them than their entries."""
        session = self._panel.session
        if session is None or session is self._heard:
            return

        def hear(change: Change) -> None:
            if change.terminal is not None:
                state = session.conversation.terminals[change.terminal]
                if state.has_exited == (change.terminal in self._running):
                    self.look(self._setting)

        self._unsubscribe()
        self._unsubscribe = session.subscribe(hear)
        self._heard = session
