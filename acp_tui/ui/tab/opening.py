"""How a tab gets its session: starts the agent, opens the session, and does both again after a loss."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol

from anyio import move_on_after

from acp_tui.client.errors import ClientError
from acp_tui.ui.base.app import keep_what_is_loaded
from acp_tui.ui.tab.host import Opening, OpensSessions, TabHost
from acp_tui.ui.tab.loading import (
    BEFORE_A_COMMAND,
    BEFORE_A_SESSION,
    BEFORE_AN_AGENT,
    BEFORE_TAKING_STOCK,
    preloaded,
)

if TYPE_CHECKING:
    from acp_tui.client.agents.command import Phase
    from acp_tui.client.sessions.session import Session
    from acp_tui.ui.tab.agent import AgentController, SessionsController

PATIENCE_S: Final = 0.5
"""An agent that needs longer to start leaves time to load what only a session needs."""
STOCK_LIMIT_S: Final = 6.0
"""How long a prompt waits for what the files are now."""
SAY_SO_S: Final = 0.5
"""A prompt that waits longer is said to wait."""
STILL_STARTING: Final = "The session is still being opened."


class StartingHost(TabHost, Protocol):
    """A tab that is still to come to its session."""

    @property
    def agent(self) -> AgentController:
        """What is done with the agent; it is loaded for that."""

    @property
    def sessions(self) -> SessionsController:
        """What is done with the agent's sessions; likewise."""

    def follow_changes(self) -> None:
        """Find out what the files are now, and what changes from then on."""

    async def help_writing(self) -> None:
        """Load what helps to write a prompt."""

    def show_phase(self, phase: str) -> None:
        """Say how far the agent has come."""

    async def show_failure(self, error: ClientError) -> None:
        """Tell what went wrong where the conversation would stand."""

    async def give_up(self, error: ClientError) -> None:
        """The agent runs, only this session is not to be had: back to the other tabs."""


async def _begin(sessions: OpensSessions) -> Session:
    return await sessions.begin()


class Opener:
    """Opens the session of one tab: the first one, and each that takes its place."""

    def __init__(self, host: StartingHost, opening: Opening | None) -> None:
        """`opening` None: a new session."""
        self._host = host
        self._opening = opening
        self._has_begun = False
        self._is_connecting = False
        """The first session is still to come."""
        self.is_reconnecting = False
        """A session is to go on over another connection."""
        self._is_open = asyncio.Event()
        """The first session is shown, or is not to be had."""
        self.is_under_way = asyncio.Event()
        """Set when the agent is being started, or nobody is to start it."""
        self._takes_stock = asyncio.Event()
        """What the files are now is being found out."""

    @property
    def wants_session(self) -> bool:
        """Whether there is a way to one."""
        return self._opening is not None or self._host.link.can_start

    @property
    def _agent(self) -> AgentController:
        return self._host.agent

    @property
    def _sessions(self) -> SessionsController:
        return self._host.sessions

    async def connect(self) -> None:
        """Start the agent, open a session and show it; or show why that did not work."""
        self._is_connecting = True
        try:
            if self._host.link.can_start:
                await self._connect()
            else:
                await self._reread()
        finally:
            self._is_connecting = False

    async def _connect(self) -> None:
        await preloaded(BEFORE_AN_AGENT)
        self.is_under_way.set()
        await self._open()
        self._is_open.set()
        await self.painted()
        await preloaded(BEFORE_TAKING_STOCK)
        self._host.follow_changes()
        self._takes_stock.set()
        self._do_what_can_wait()
        if len(self._host.shell.tabs) < 2:  # another tab would be kept for good with it
            keep_what_is_loaded()

    def _do_what_can_wait(self) -> None:
        """While the agent's process starts there is time for it; for most of it, only while a slow one does."""
        if not self._has_begun:
            self._has_begun = True
            self._host.run(self._load_the_rest())

    async def _load_the_rest(self) -> None:
        await preloaded(BEFORE_A_SESSION)
        with move_on_after(PATIENCE_S):
            await self._is_open.wait()
        await self.painted()
        self._host.shell.begin_to_follow()
        await self._host.help_writing()
        await preloaded(BEFORE_A_COMMAND)

    async def _reread(self) -> None:
        """Show a session that needs no agent; its folder may be gone."""
        await preloaded(BEFORE_AN_AGENT, BEFORE_A_SESSION)
        self.is_under_way.set()
        await self._open()
        self._host.shell.begin_to_follow()

    async def _open(self) -> None:
        try:
            session = await (self._opening or _begin)(self._sessions)
        except ClientError as error:
            if self._host.link.is_lost or len(self._host.shell.tabs) < 2:
                await self._host.show_failure(error)
            else:
                await self._host.give_up(error)
            return
        await preloaded(BEFORE_A_SESSION)
        await self._host.show(session)

    async def painted(self) -> None:
        """Return once what was changed on the screen is seen there; what is loaded before that would hold it up."""
        is_painted = asyncio.Event()
        self._host.screen.call_after_refresh(is_painted.set)
        with move_on_after(PATIENCE_S):  # a tab in the background is not painted
            await is_painted.wait()

    async def stock_taken(self) -> None:
        """Return once it is known what the files are, before a prompt lets the agent change them; or at the limit."""
        if not self._host.link.can_start:
            return
        with move_on_after(STOCK_LIMIT_S):
            with move_on_after(SAY_SO_S) as short:
                await self._await_stock()
            if short.cancelled_caught:
                self._host.say("Your prompt is sent once it is known what the files are now.")
                await self._await_stock()

    async def _await_stock(self) -> None:
        await self._takes_stock.wait()
        if self._host.changes is not None:
            await self._host.changes.ready()

    def note_phase(self, phase: Phase) -> None:
        """The agent has come so far."""
        if phase is not phase.GONE:  # that is said with its reason
            self._host.show_phase(phase.value)
        if phase is phase.INITIALIZING:
            self._do_what_can_wait()

    def note_connection(self) -> None:
        """Where the connection of the session has broken, another one is wanted."""
        session, agent = self._host.session, self._host.link.agent
        if session is None or agent is None or self.is_reconnecting:
            return
        if not session.conversation.is_connected and agent.may_come_back:
            self._host.screen.run_worker(self._reconnect(session), exclusive=True, group="restart")

    async def _reconnect(self, session: Session) -> None:
        """Go on with a session as soon as there is a way to its agent again."""
        self.is_reconnecting = True
        try:
            await self._host.show(await self._sessions.reconnected(session))
        except ClientError as error:
            self._host.say_error(error)
        finally:
            self.is_reconnecting = False
            self._host.show_phase("")

    async def restart(self) -> None:
        """Start the agent again, and go on with the session as far as the agent remembers it."""
        session = self._host.session
        if not self._host.link.can_start:
            self._host.say("There is no agent to restart.")
        elif self._is_connecting:
            self._host.say(STILL_STARTING)
        elif session is None:
            await self._open()
        elif session.is_cut_off and not session.conversation.is_connected:
            await self._reconnect(session)
        elif session.conversation.is_connected and not await self._agent.may_restart():
            return
        else:
            await self._go_on(session)

    async def _go_on(self, session: Session) -> None:
        if session.conversation.is_connected:
            await self._host.link.stop("You stopped the agent to restart it")
        try:
            await self._host.show(await self._sessions.go_on(session))
        except ClientError as error:
            self._host.say_error(error)

    async def begin_anew(self) -> None:
        """Close the session, and begin another in its place; where that cannot be, the tab stays, and it is said."""
        if self._is_connecting:
            self._host.say(STILL_STARTING)
            return
        if not self._host.link.can_start:
            self._host.say("There is no agent here to start another session with.", severity="warning")
            return
        if self._host.session is not None:
            await self._sessions.close(self._host.session)
        try:
            await self._host.show(await self._sessions.begin())
        except ClientError as error:
            self._host.say_error(error)
