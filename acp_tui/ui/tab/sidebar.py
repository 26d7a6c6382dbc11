"""Controls when the sidebar is shown, and what it shows. Gathers nothing while it is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.conversation import SubagentState
from acp_tui.conversation.wording import from_home, session_facts, spent_words, subagent_state
from acp_tui.ui.conversation.subagents import name_of
from acp_tui.ui.session.sidebar import SIDEBAR_FROM_COLUMNS, Sidebar, SidebarSection, SidebarState, SubagentRow
from acp_tui.ui.tab.stage import NO_SESSION

if TYPE_CHECKING:
    from acp_tui.client.changes import ChangedPath
    from acp_tui.ui.tab.tab import Tab

MIN_COLUMNS: Final = 72
"""In a narrower terminal, too little of the conversation would be left."""


class SidebarController:
    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._wish: bool | None = None
        """What the user chose by key; None to follow the settings."""
        self._widget: Sidebar | None = None
        """Mounted when it is shown for the first time."""
        self._recency: dict[str, ChangedPath] = {}
        """The changed files, the newest at the end."""
        self._newest: tuple[ChangedPath, ...] | None = None
        """The newest first; None if that needs updating."""

    def update(self) -> None:
        """Show or hide the sidebar, according to the user's choice and the width, and update it."""
        session, was_shown = self._tab.session, self.sidebar is not None
        if session is not None and self._is_wanted:
            self._shown_sidebar().show(self._state(session))
        elif self.sidebar is not None:
            if self.sidebar.has_focus_within:
                self._tab.screen.set_focus(self._tab.prompt)
            self.sidebar.display = False
            self._tab.screen.remove_class("-with-sidebar")
        if was_shown is (self.sidebar is None):
            self._tab.screen.show_status()  # it doesn't repeat what the sidebar lists

    def update_changes(self) -> None:
        self._newest = None
        self.update()

    def turn(self) -> None:
        """Show the sidebar. If it is shown, focus it; if it has the focus, hide it and focus the prompt."""
        sidebar = self.sidebar
        if self._tab.session is None:
            self._tab.say(f"{NO_SESSION}.")
        elif sidebar is None and self._width < MIN_COLUMNS:
            self._tab.say(f"The sidebar needs {MIN_COLUMNS} columns.", severity="warning")
        elif sidebar is None or sidebar.has_focus:
            self._wish = sidebar is None
            self.update()
        else:
            self._tab.screen.set_focus(sidebar)

    def toggle_plan(self) -> bool:
        """Fold or unfold the plan in the sidebar. Returns False if the sidebar is hidden."""
        if self.sidebar is None:
            return False
        self.sidebar.toggle(SidebarSection.PLAN)
        return True

    # Whether it is shown

    @property
    def sidebar(self) -> Sidebar | None:
        """The widget, while it is shown."""
        return self._widget if self._tab.screen.has_class("-with-sidebar") else None

    @property
    def _width(self) -> int:
        return self._tab.app.size.width

    @property
    def _is_wanted(self) -> bool:
        if self._width < MIN_COLUMNS:
            return False
        if self._wish is not None:
            return self._wish
        setting = self._tab.settings.appearance.sidebar
        return setting == "on" or (setting == "auto" and self._width >= SIDEBAR_FROM_COLUMNS)

    def _shown_sidebar(self) -> Sidebar:
        self._tab.screen.add_class("-with-sidebar")
        if self._widget is None:
            self._widget = Sidebar(id="sidebar")
            self._tab.screen.place.mount(self._widget)
        self._widget.display = True
        return self._widget

    # What it shows

    def _state(self, session: Session) -> SidebarState:
        changes = self._tab.changes
        if self._newest is None:
            self._newest = self._newest_first(changes.changes if changes is not None else {})
        summary = changes.summary() if changes is not None else ""
        conversation = session.conversation
        plans = tuple(conversation.plans.values())
        start = conversation.turn_start or 0  # of those that began before, the conversation tells
        subagents = (
            each for each in conversation.subagents.values() if each.entry >= start or not each.conversation.is_idle
        )
        return SidebarState(plans, self._newest, summary, self._facts(session), subagents=tuple(map(_row, subagents)))

    def _newest_first(self, changes: Mapping[str, ChangedPath]) -> tuple[ChangedPath, ...]:
        known = self._recency
        for path in known.keys() - changes.keys():
            del known[path]
        for path, change in changes.items():
            if known.get(path) != change:
                known.pop(path, None)
                known[path] = change
        return tuple(reversed(known.values()))

    def _facts(self, session: Session) -> tuple[tuple[str, str], ...]:
        additions = self._tab.link.additions
        names = (server.name for server in (additions.servers if additions is not None else ()))
        told = self._tab.settings.appearance.status
        return session_facts(session.conversation, self._agent, from_home(session.cwd), names, told)

    @property
    def _agent(self) -> str:
        agent = self._tab.link.agent
        if agent is None:
            return "none"
        version = agent.identity.version if agent.identity is not None else None
        return f"{agent.title} {version}" if version else agent.title


def _row(subagent: SubagentState) -> SubagentRow:
    *_, spent = spent_words(subagent.conversation).split(" · ")  # there is room for only one of them
    return SubagentRow(subagent.session_id, name_of(subagent), subagent_state(subagent), spent)
