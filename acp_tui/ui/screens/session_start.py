"""How a tab comes to its session: the agent is started, the session opened, and again where the agent is gone.

What the session looks like is `session`'s, what an agent wants before that is the desks'.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from textual import work

from acp_tui.ui.keyed_app import keys_in_force
from acp_tui.ui.memory import keep_what_is_loaded
from acp_tui.ui.preloading import BEFORE_A_SESSION, BEFORE_AN_AGENT, BEFORE_TAKING_STOCK, preload
from acp_tui.ui.screens.session_actions import SessionActions
from acp_tui.ui.tabs import TabState

if TYPE_CHECKING:
    from acp_tui.client.agents.command import Phase
    from acp_tui.client.errors import ClientError
    from acp_tui.client.sessions.session import Session
    from acp_tui.ui.agent_link import AgentLink
    from acp_tui.ui.changes_desk import ChangesDesk
    from acp_tui.ui.sessions_desk import SessionsDesk
    from acp_tui.ui.widgets.session_panel import SessionPanel

Opening: TypeAlias = Callable[["SessionsDesk"], Awaitable["Session"]]
"""How a tab comes to its session. Raises ClientError."""

HEAD_START_S: Final = 0.5
"""How long the agent's start waits for what the files are now; beyond that, both go on side by side."""
MOST_NAMED: Final = 5
"""Other tabs of the agent, where it is asked whether to stop it."""
MOST_TITLE_CELLS: Final = 40
STILL_STARTING: Final = "The session is still being opened."


class SessionStart(SessionActions):
    """The part of the session screen that begins, fails and begins again."""

    def __init__(
        self, link: AgentLink | None, cwd: Path, opening: Opening | None, clock: Callable[[], float]
    ) -> None:
        """`opening` None: a new session."""
        super().__init__(cwd, clock)
        self._link = link
        self._opening = opening
        self._agent_title = ""
        """What the agent is called, once it is known; a line that can be shown."""
        self._phase = "starting"
        self._has_begun = False
        self._is_connecting = False
        """The first session is still to come."""
        self._is_reread = False
        """What is shown can only be read, until it goes on in an agent."""
        self.failure: ClientError | None = None
        """Why there is no session; None once there is one."""

    @work
    async def connect(self) -> None:
        """Start the agent, open a session and show it; or show why that did not work."""
        self._is_connecting = True
        try:
            await self._connect()
        finally:
            self._is_connecting = False

    async def _connect(self) -> None:
        from anyio import move_on_after, to_thread

        assert self._link is not None
        if not self._link.can_start:
            await self._reread(self._link)
            return
        await to_thread.run_sync(preload, BEFORE_TAKING_STOCK)
        changes = self._take_stock()
        await to_thread.run_sync(preload, BEFORE_AN_AGENT)
        with move_on_after(HEAD_START_S):
            await changes.ready()
        self._take_desks(self._link, self._cwd)
        await self._open(self._opening or _begin)
        self._do_what_can_wait()
        keep_what_is_loaded()

    def _do_what_can_wait(self) -> None:
        """While the agent's process starts there is time for it."""
        if not self._has_begun:
            self._has_begun = True
            self._load_the_rest()

    @work
    async def _load_the_rest(self) -> None:
        from anyio import to_thread

        await to_thread.run_sync(preload, BEFORE_A_SESSION)
        self.tabbed.begin_to_follow()
        self._help_writing()

    async def _reread(self, link: AgentLink) -> None:
        """Show a session that needs no agent; its folder may be gone."""
        from anyio import to_thread

        assert self._opening is not None
        await to_thread.run_sync(preload, (*BEFORE_AN_AGENT, *BEFORE_A_SESSION, "acp_tui.ui.reopening"))
        self._take_desks(link, self._cwd)
        await self._open(self._opening)
        self.tabbed.begin_to_follow()

    def _take_desks(self, link: AgentLink, cwd: Path) -> None:
        from acp_tui.ui.agent_desk import AgentDesk
        from acp_tui.ui.sessions_desk import SessionsDesk

        self._desk = AgentDesk(self, link, cwd, self._settings, self._on_phase)
        self._sessions = SessionsDesk(self._desk, cwd, self._show_agents_session)
        self._has_desks.set()

    def _take_stock(self) -> ChangesDesk:
        """Begin to keep what the files are, where no other tab has begun already."""
        self._changes = self.tabbed.changes_in(self._cwd)
        return self._changes

    async def _open(self, opening: Opening) -> None:
        from anyio import to_thread

        from acp_tui.client.errors import ClientError

        assert self._sessions is not None
        try:
            session = await opening(self._sessions)
        except ClientError as error:
            if self._link is None or self._link.is_lost or len(self.tabbed.tabs) < 2:
                await self._fail(error)
            else:
                await self._give_up(error)
            return
        if self._changes is not None:
            self._say_phase("taking stock of the files")
            await self._changes.ready()  # before anything is asked of the agent
        await to_thread.run_sync(preload, BEFORE_A_SESSION)
        await self._show_agents_session(session)

    async def _fail(self, error: ClientError) -> None:
        """Tell what went wrong where the conversation would stand."""
        self.failure = error
        from acp_tui.client.errors import AgentLost
        from acp_tui.conversation import reducer
        from acp_tui.conversation.conversation import Conversation
        from acp_tui.conversation.updates import Disconnected
        from acp_tui.ui.widgets.session_panel import SessionPanel

        stderr_tail = error.detail if isinstance(error, AgentLost) else ""
        parts = (str(error), "" if stderr_tail else error.detail, error.hint)
        conversation = Conversation()
        reducer.apply(conversation, Disconnected("\n".join(filter(None, parts)), stderr_tail))
        await self._show_panel(SessionPanel(conversation))
        self._say_phase(keys_in_force(self).hint("no session; {restart} tries again; {quit} quits"))

    async def _give_up(self, error: ClientError) -> None:
        """The agent runs, only this session is not to be had: back to the other tabs."""
        assert self._desk is not None
        await self._desk.leave()
        self._desk.say_error(error)
        self.tabbed.run_worker(self.tabbed.take_away(self))

    def _on_phase(self, phase: Phase) -> None:
        if phase is not phase.GONE:  # that is said with its reason
            self._say_phase(phase.value)
        if phase is phase.INITIALIZING:
            self._do_what_can_wait()

    def _say_phase(self, phase: str) -> None:
        self._phase = phase
        if self.is_attached:
            self._show_status()

    @work(exclusive=True, group="restart")
    async def action_restart(self) -> None:
        """Start the agent again, and go on with the session as far as the agent remembers it."""
        session = self._session
        if self._desk is None or self._link is None or not self._link.can_start:
            self.notify("There is no agent that could be started again.")
        elif self._is_connecting:
            self.notify(STILL_STARTING)
        elif session is None:
            await self._open(self._opening or _begin)
        elif session.conversation.is_connected and not await self._desk.confirm(self._restart_question):
            return
        else:
            await self._go_on(session)

    @property
    def _restart_question(self) -> str:
        """The same process serves other tabs, too: what becomes of them is to be known."""
        from acp_tui.ui.widgets.fields.row_list import cut  # the dialog that asks has loaded it

        question = "Stop the agent and start it again?"
        others = [
            cut(tab.tab_title, MOST_TITLE_CELLS)
            for tab in self.tabbed.tabs
            if tab is not self and tab.link is self.link
        ]
        if not others:
            return question
        tabs = "another tab" if len(others) == 1 else f"{len(others)} other tabs"
        names = ", ".join(f"“{name}”" for name in others[:MOST_NAMED])
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        return f"{question} That also ends {tabs} of this agent: {names}{more}"

    async def _go_on(self, session: Session) -> None:
        from acp_tui.client.errors import ClientError

        assert self._desk is not None
        assert self._sessions is not None
        if session.conversation.is_connected:
            await self._desk.link.stop("You have stopped the agent to start it again")
        try:
            again = await self._sessions.go_on(session)
        except ClientError as error:
            self._desk.say_error(error)
        else:
            await self._show_agents_session(again)

    async def begin_anew(self) -> None:
        """Close the session, and begin another in its place; where that cannot be, the tab stays, and it is said."""
        from acp_tui.client.errors import ClientError

        if self._desk is None or self._sessions is None or self._is_connecting:
            self.notify(STILL_STARTING)
            return
        if not self._desk.link.can_start:
            self.notify("There is no agent here that could begin another session.", severity="warning")
            return
        if self._session is not None:
            await self._sessions.close(self._session)
        try:
            await self._show_agents_session(await self._sessions.begin())
        except ClientError as error:
            self._desk.say_error(error)

    @property
    def state(self) -> TabState:
        """What is to be said of this tab."""
        if self._panel is None:
            return TabState.STARTING
        from acp_tui.ui.status import tab_state

        if self._is_reread:
            return TabState.IDLE
        return tab_state(self._panel.conversation, has_news=self._has_news)

    # What the screen does

    def _help_writing(self) -> object:
        raise NotImplementedError

    async def _show_panel(self, panel: SessionPanel) -> None:
        raise NotImplementedError

    def _show_status(self) -> None:
        raise NotImplementedError


async def _begin(sessions: SessionsDesk) -> Session:
    return await sessions.begin()
