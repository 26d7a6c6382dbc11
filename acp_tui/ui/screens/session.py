"""The screen of a session: where it is shown, the prompt, the status line, and the way to an agent.

The first frame holds the prompt and the status line; everything that knows conversations comes after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from acp_tui.client.settings.tree import Settings
from acp_tui.ui.commands import bindings
from acp_tui.ui.keyed_app import follow_keys, keys_in_force
from acp_tui.ui.preloading import preload
from acp_tui.ui.screens.session_start import Opening
from acp_tui.ui.screens.session_writing import SessionWriting
from acp_tui.ui.tabs import TabState
from acp_tui.ui.widgets.prompt import PromptFrame, PromptInput
from acp_tui.ui.widgets.queue_lines import QueueLines
from acp_tui.ui.widgets.starting_line import StartingLine
from acp_tui.ui.widgets.status_line import Status, StatusLine
from acp_tui.ui.widgets.tab_line import TabLine

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.session import Session
    from acp_tui.ui.agent_link import AgentLink
    from acp_tui.ui.welcoming import Welcoming
    from acp_tui.ui.widgets.conversation.view import ConversationView
    from acp_tui.ui.widgets.session_panel import SessionPanel
    from acp_tui.ui.widgets.welcome import Welcome

LEAST_AGENT: Final = 4
"""So many cells of an agent's name stand in its tab."""


class SessionScreen(SessionWriting):
    """Shows one session; without one, how far the agent has come and why it got no further."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(),
        # Bindings, not key methods: after such a method the key would still move the focus, from the prompt on.
        Binding("escape,tab", "focus_prompt", "Back to the prompt", show=False),
    ]

    def __init__(
        self,
        link: AgentLink | None,
        cwd: Path | None = None,
        *,
        opening: Opening | None = None,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`cwd` is where sessions work. Without `link`, whoever has a session calls `show_session`.

        `opening` None: a new session.
        """
        super().__init__(link, cwd or Path.cwd(), opening, clock)
        self._settings = settings or Settings()
        self._state = TabState.STARTING
        """As it was when the tabs were told last."""
        self._welcoming: Welcoming | None = None

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield TabLine(id="tabs")
        with Vertical(id="session"):
            if self._link is not None and self._link.can_start:
                yield StartingLine(self._link.name, self._clock)
        yield QueueLines(id="queue")
        yield PromptFrame(id="prompt-frame")
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        """Start the agent once the first frame is on its way."""
        self._prompt.focus()
        self._show_status()
        self.tabbed.tabs.add(self)
        follow_keys(self, self._show_status)
        if self._link is not None:
            self.call_after_refresh(self.connect)
        else:
            self.call_after_refresh(self._help_writing)

    def on_changes_desk_changed(self) -> None:
        """Say how much has changed, and what."""
        self._show_status()
        if self._sidebar is not None:
            self._sidebar.look_at_changes()

    def on_screen_resume(self) -> None:
        """The tab comes to the front, or a dialog above it is gone."""
        self.look_again()

    def look_again(self) -> None:
        """What the tab had to say is seen, what was held back is shown."""
        self._has_news = False
        self.show_tabs()
        self._show_status()
        self._show_sidebar()
        if self._panel is not None and self._panel.is_mounted:
            self._panel.view.come_to_front()
        if self._desk is not None:
            self._desk.questions.look_again()

    def _note_state(self) -> None:
        """What the tabs say of this one; that a turn has ended is news where nobody saw it."""
        state, self._state = self._state, self.state
        if state is TabState.WORKING and self._state is not state and self.tabbed.tabs.front is not self:
            self._has_news = True
        if self._state is not state:
            self.tabbed.tabs.tell()

    @property
    def tab_title(self) -> str:
        """What to call the tab: the session's title, else how its first prompt begins, else the agent's name."""
        from acp_tui.ui.status import title_of

        title = title_of(self._panel.conversation) if self._panel is not None else ""
        return title or self._agent_title or self._phase

    def tab_name(self, cells: int = 200) -> str:
        """The agent with the title of its tab, in so many cells; where they are few, the title gets most of them."""
        from acp_tui.ui.status import title_of
        from acp_tui.ui.widgets.fields.row_list import cut

        agent = self._link.name if self._link is not None and self._link.name else self._agent_title
        title = title_of(self._panel.conversation) if self._panel is not None else ""
        if not title:
            return cut(self._agent_title or agent or self._phase, cells)
        return cut(f"{cut(agent, max(cells // 3, LEAST_AGENT))}: {title}" if agent else title, cells)

    @property
    def doing(self) -> str:
        """Which agent works where in this tab, and at what."""
        from acp_tui.ui.status import doing

        now = doing(self._panel.conversation) if self._panel is not None else self._phase
        return " · ".join(filter(None, (self._agent_title, self._cwd.name, now)))

    def show_tabs(self) -> None:
        """Show which tabs there are, and whether one of them waits for the user."""
        for line in self.query(TabLine):
            line.show(self.tabbed.tabs)
        self._show_status()

    async def _show_agents_session(self, session: Session | None) -> None:
        from acp_tui.client.sessions.session_history import RereadSession

        self._is_reread = isinstance(session, RereadSession)
        if isinstance(session, RereadSession):
            await self.show_session(session, session.recorded.agent)
        elif session is not None and self._desk is not None and self._desk.agent is not None:
            await self.show_session(session, self._desk.agent.title)

    async def show_session(self, session: Session, agent_title: str) -> None:
        """Show this session from now on."""
        from acp_tui.conversation.visible import make_visible_line
        from acp_tui.ui.agent_link import AgentLink

        if self._desk is None:
            self._take_desks(AgentLink(None), session.cwd)
        self._agent_title = make_visible_line(agent_title)
        self.failure = None
        for prompt in self.query(PromptInput):  # none where the screen is not composed yet
            prompt.cwd = session.cwd
        await self._show_panel(self._panel_of(session))

    def _panel_of(self, session: Session) -> SessionPanel:
        """A panel that shows as much of the session as the settings say."""
        from acp_tui.ui.drawings.folds import folds_of
        from acp_tui.ui.widgets.session_panel import SessionPanel

        folds, images = folds_of(self._settings.conversation), self._settings.appearance.images
        agent = self._desk.agent if self._desk is not None else None
        return SessionPanel(
            session.conversation,
            session,
            clock=self._clock,
            folds=folds,
            images=images,
            agent=_named(agent) or self._agent_title,
            greeting=agent.command.greeting if agent is not None else "",
        )

    def use_settings(self, settings: Settings) -> None:
        """These hold from now on, as far as the agent was not started with others."""
        self._settings = settings
        if self._desk is not None:
            self._desk.use_settings(settings)
        self._show_sidebar()
        if self._panel is not None and self._panel.is_mounted:
            from acp_tui.ui.drawings.folds import folds_of

            self._panel.view.show_as(folds_of(settings.conversation), settings.appearance.images)

    async def _show_panel(self, panel: SessionPanel) -> None:
        shown, self._panel = self._panel, panel
        if shown is not None:
            self._prompt.reject_not_yet()  # it would go to another session
            await self.query("FindBar").remove()
            await shown.remove()
        await self.query(StartingLine).remove()
        for place in self.query("#session"):  # none where the user has quit meanwhile
            await place.mount(panel, before=next(iter(place.children), None))
            self._tell_sidebar(panel)
            if self.is_blank:
                self._say_welcome(panel)
        if self._recall is not None and panel.session is not None:
            self._recall.show_session(panel.session)
        self._show_status()
        for prompt in self.query(PromptInput):
            prompt.send_what_waits()

    @work(exclusive=True, group="welcome")
    async def _say_welcome(self, panel: SessionPanel) -> None:
        """Show what is known of the folder and of earlier sessions there."""
        from anyio import to_thread

        await to_thread.run_sync(preload, ("acp_tui.ui.welcoming",))
        from acp_tui.ui.welcoming import Welcoming

        self._welcoming = Welcoming(self)
        await self._welcoming.tell(panel.welcome)

    @work
    async def on_welcome_chosen(self, message: Welcome.Chosen) -> None:
        """Open that session."""
        if self._welcoming is not None:
            await self._welcoming.open(message.key)

    def _tell_sidebar(self, panel: SessionPanel) -> None:
        """Let it tell of this session from now on."""
        from acp_tui.ui.sidebar_desk import SidebarDesk

        if self._sidebar is None:
            self._sidebar = SidebarDesk(self, panel)
        self._sidebar.use(panel, self._desk, self._changes)
        self._show_sidebar()

    def on_resize(self) -> None:
        """There may be room for the sidebar now, or no more."""
        self._show_sidebar()

    def _show_sidebar(self) -> None:
        """Show what it has to say, or hide it, as the settings and the user want it."""
        if self._sidebar is not None:
            self._sidebar.look(self._settings.appearance.sidebar)

    def on_session_panel_facts_changed(self) -> None:
        """Say so in the status line and the sidebar, and show what the agent asks."""
        if self in self.app.screen_stack:  # else `look_again` does when the tab comes to the front
            self._show_status()
            self._show_sidebar()
        self._note_state()
        for prompt in self.query(PromptInput):  # none where the user has quit meanwhile
            prompt.note_requests(self._panel.conversation.permissions if self._panel is not None else ())
        self._prompting.show_waiting(self._session)
        if self._desk is not None and self._panel is not None:
            self._desk.questions.look_for_questions(self._panel.session)

    def _show_status(self) -> None:
        panel = self._panel
        for prompt in self.query(PromptInput):  # none while it is composed
            prompt.note_agent(is_gone=panel is not None and not panel.conversation.is_connected)
        if panel is None or panel.session is None:
            self._say_status(Status(phase=self._phase))
            for line in self.query(StartingLine):
                line.show_phase(self._phase)
            return
        if self._is_reread:
            self._say_status(Status(phase=self._rereading))
            return
        from acp_tui.ui.status import facts_of, state_of

        facts = facts_of(panel.conversation)
        if self._changes is not None and self._changes.summary():
            facts = (*facts, self._changes.summary())
        if not panel.is_following:
            below = f"{panel.new_entries} new" if panel.new_entries else "more"
            # Not End: in the prompt, where one mostly is, that leads to the end of the line.
            facts = (f"{below} below{keys_in_force(self).hint(': {follow}')}", *facts)
        state = state_of(panel.conversation)
        self._say_status(Status(agent=self._agent_title, state=state, facts=facts, work=panel.work))

    def _say_status(self, status: Status) -> None:
        status = status._replace(elsewhere=self._elsewhere)
        for line in self.query(StatusLine):  # none where the user has quit meanwhile
            line.show(status)

    @property
    def _elsewhere(self) -> str:
        """Which other tabs wait for the user, with the key that leads there; "" for none."""
        tabs = enumerate(self.tabbed.tabs, 1)
        waiting = [number for number, tab in tabs if tab is not self and tab.state is TabState.NEEDS_YOU]
        if not waiting:
            return ""
        which = f"tab {waiting[0]} needs" if len(waiting) == 1 else f"{len(waiting)} tabs need"
        key = keys_in_force(self).hint(" · {next_needing}")
        return f"{which} you{key}"

    # From its widgets

    def on_conversation_view_searched(self, message: ConversationView.Searched) -> None:
        """Say how the search stands, where it is asked for."""
        from acp_tui.ui.widgets.find_bar import FindBar

        for bar in self.query(FindBar):
            bar.show_standing(message.standing)

    def on_session_panel_left(self) -> None:
        """Back to the draft."""
        self._prompt.focus()


def _named(agent: Agent | None) -> str:
    """The agent with its version, as it introduced itself; "" without one."""
    if agent is None:
        return ""
    version = agent.identity.version if agent.identity is not None else ""
    return f"{agent.title} {version}".strip()
