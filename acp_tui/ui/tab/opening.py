"""How a tab gets its session: starts the agent, opens the session, and does both again after a connection loss."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import anyio

from acp_tui.client.errors import AgentUnreachable, ClientError
from acp_tui.ui.base.app import keep_what_is_loaded
from acp_tui.ui.tab import loading
from acp_tui.ui.tab.stage import NO_AGENT_HERE, STILL_OPENING

if TYPE_CHECKING:
    from acp_tui.client.agents.command import Phase
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.sessions.session_history import PastSession
    from acp_tui.ui.tab.tab import Opening, Tab

SHORT_PATIENCE_S: Final = 0.1
"""If an agent takes longer to open a session, there is time to load what draws it."""
PATIENCE_S: Final = 0.5
"""If it takes still longer, there is time to load what only a session needs."""
STOCK_LIMIT_S: Final = 0.05
"""How long a prompt waits until the files are read. What isn't read by then counts only if it's provably older."""


class SessionStarter:
    """Opens the session of one tab: the first one, and each that replaces it."""

    def __init__(self, tab: Tab, opening: Opening | None) -> None:
        """Without `opening`, it starts a new session."""
        self._tab = tab
        self._opening = opening
        self._has_begun = False
        self._is_connecting = False
        """Whether the first session is still being opened."""
        self.is_reconnecting = False
        """Whether a session is being continued over another connection."""
        self._try_now = asyncio.Event()
        """Ends the pause before the next try to open the session again."""
        self.is_open = asyncio.Event()
        """Set when the first session is shown, or couldn't be opened."""
        self.is_under_way = asyncio.Event()
        """Set when the agent is being started, or won't be."""
        self._takes_stock = asyncio.Event()
        """Set when the scan of the files has begun."""

    @property
    def past(self) -> PastSession | None:
        """The earlier session that the tab opens first; None for another one."""
        return getattr(self._opening, "past", None)

    async def connect(self) -> None:
        """Start the agent, open a session, and show it; or show why that failed; or do nothing if there is none."""
        self._is_connecting = True
        try:
            if self._tab.link.can_start:
                await self._connect()
            elif self._opening is not None:
                # Show a session that needs no agent. Its folder may be gone.
                await loading.preload_in_thread(loading.BEFORE_AN_AGENT, loading.BEFORE_A_SESSION)
                self.is_under_way.set()
                await self._open()
                self._tab.app.begin_to_follow()
        finally:
            self._is_connecting = False
        if not self._tab.link.can_start:
            self.is_under_way.set()
            await self._tab.writing.help()

    async def _connect(self) -> None:
        await loading.preload_in_thread(loading.BEFORE_AN_AGENT)
        self.is_under_way.set()
        await self._open()
        self.is_open.set()
        await self.painted()
        await loading.preload_in_thread(loading.BEFORE_TRACKING_CHANGES)
        self._tab.follow_changes()
        self._takes_stock.set()
        self._do_what_can_wait()
        if len(self._tab.app.tabs) < 2:  # with another tab, that tab could never be freed
            keep_what_is_loaded()

    def _do_what_can_wait(self) -> None:
        """Load the rest in the background, once the session is open or the agent turns out to be slow.

        Earlier, it would take the processor from the messages that open the session.
        """
        if not self._has_begun:
            self._has_begun = True
            self._tab.run(self._load_the_rest())

    async def _load_the_rest(self) -> None:
        with anyio.move_on_after(SHORT_PATIENCE_S):
            await self.is_open.wait()
        await loading.preload_in_thread(loading.BEFORE_A_SESSION)
        with anyio.move_on_after(PATIENCE_S):
            await self.is_open.wait()
        await self.painted()
        self._tab.app.begin_to_follow()
        await self._tab.writing.help()
        await loading.preload_in_thread(loading.BEFORE_A_COMMAND)
        await self.is_open.wait()
        if self.past is not None and self._tab.session is not None and len(self._tab.app.tabs) < 2:
            await self._tab.actions.welcoming.remind()

    async def _open(self) -> None:
        try:
            session = await self._opened()
        except ClientError as error:
            if self._tab.link.is_lost or len(self._tab.app.tabs) < 2:
                await self._tab.show_failure(error)
            else:
                await self._tab.give_up(error)
            return
        self._tab.show_open(self._tab.agent.title)
        await self.painted()
        await loading.preload_in_thread(loading.BEFORE_A_SESSION)
        await self._tab.show(session)

    async def _opened(self) -> Session:
        """The session. If it was shown before it was open, it is opened again whenever its connection is lost."""
        opening, sessions = self._opening or (lambda sessions: sessions.begin()), self._tab.sessions
        sessions.has_shown_early = False
        # Until it is open, nobody else continues it: part of its history may be missing.
        self.is_reconnecting = True
        try:
            return await opening(sessions)
        except AgentUnreachable as error:
            if not error.is_temporary or not sessions.has_shown_early:
                raise
            return await sessions.again(opening, self._pause)
        finally:
            self.is_reconnecting = False

    async def _pause(self, seconds: float) -> None:
        self._try_now.clear()
        with anyio.move_on_after(seconds):
            await self._try_now.wait()

    async def painted(self) -> None:
        """Return once changes to the screen are painted. Loading modules before that would delay them."""
        if not self._tab.screen.is_current:
            return
        is_painted = asyncio.Event()
        self._tab.screen.call_after_refresh(is_painted.set)
        with anyio.move_on_after(PATIENCE_S):  # a tab that has gone into the background isn't painted
            await is_painted.wait()

    async def stock_taken(self) -> None:
        """Return once the files are read, or very soon. From then on, the agent can change them."""
        if not self._tab.link.can_start:
            return
        await self._takes_stock.wait()
        if self._tab.changes is not None:
            with anyio.move_on_after(STOCK_LIMIT_S):
                await self._tab.changes.ready()
            self._tab.changes.release()

    def note_phase(self, phase: Phase) -> None:
        if phase not in (phase.READY, phase.GONE):  # then the session is shown, or the reason why there is none
            self._tab.show_phase(phase.value)
        if phase is phase.INITIALIZING:
            self._do_what_can_wait()

    def note_connection(self) -> None:
        """Reconnect if the session's connection was lost and the agent may come back."""
        session, agent = self._tab.session, self._tab.link.agent
        if session is None or agent is None or self.is_reconnecting:
            return
        if not session.conversation.is_connected and agent.may_come_back:
            self._tab.run(self._reconnect(session), group="restart")

    async def _reconnect(self, session: Session) -> None:
        """Continue a session once its agent can be reached again."""
        try:
            with self._continuing():
                await self._tab.show(await self._tab.sessions.reconnected(session))
        except ClientError as error:
            if not self._tab.link.has_lost_host:  # the status line says so
                self._tab.say_error(error)

    @contextmanager
    def _continuing(self) -> Iterator[None]:
        """Have what is entered in the meantime wait for the session."""
        self.is_reconnecting = True
        try:
            yield
        finally:
            self.is_reconnecting = False
            self._tab.show_phase("")
            self._tab.writing.send_next()

    async def restart(self) -> None:
        """Restart the agent, and continue the session as far as the agent remembers it. Raises ClientError."""
        session = self._tab.session
        if not self._tab.link.can_start:
            self._tab.say(f"{self._tab.writing.why_not or 'There is no agent to restart'}.")
        elif self._is_connecting and session is not None and not session.conversation.is_connected:
            self._try_now.set()
        elif self._is_connecting:
            self._tab.say(f"{STILL_OPENING}.")
        elif session is None:
            await self._open()
        elif self._tab.link.has_lost_host:
            if await self._tab.agent.confirm("The session's host is gone. Start one again with this session?"):
                command = await self._tab.app.dialogs.hosted_again(session, self._tab.settings.recordings)
                self._tab.link.follow(self._tab.app.link_to(command, session.cwd))
                await self._go_on(session)
        elif session.is_cut_off and not session.conversation.is_connected:
            await self._reconnect(session)
        elif session.conversation.is_connected:
            if await self._tab.agent.may_restart():
                with self._continuing():
                    await self._tab.link.stop()
                    await self._go_on(session)
        elif await self._tab.sessions.may_open(session.session_id):
            await self._go_on(session)

    async def _go_on(self, session: Session) -> None:
        try:
            with self._continuing():
                await self._tab.show(await self._tab.sessions.go_on(session))
        except ClientError as error:
            if session.conversation.is_connected:
                raise
            session.apply(self._tab.panels.loss_of(error))  # a notice would be gone before it is read

    async def begin_anew(self) -> None:
        """Close the session and start another in its place. If that fails, the tab stays and the user is told."""
        if self._is_connecting:
            self._tab.say(f"{STILL_OPENING}.")
            return
        if not self._tab.link.can_start:
            self._tab.say(NO_AGENT_HERE, severity="warning")
            return
        if self._tab.session is not None:
            await self._tab.sessions.close(self._tab.session)
        try:
            await self._tab.show(await self._tab.sessions.begin())
        except ClientError as error:
            self._tab.say_error(error)
