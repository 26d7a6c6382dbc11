"""One agent as its tabs share it: how it starts, the running process, and what its sessions get from you."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from anyio import CancelScope

if TYPE_CHECKING:
    from acp_tui.client.agents.command import Phase
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.driver import Additions

StartAgent = Callable[[Callable[["Phase"], None]], Awaitable["Agent"]]
"""Starts the agent's process, telling each phase. Raises ClientError."""


class AgentLink:
    """The way to one agent; made with the first of its tabs."""

    def __init__(self, start: StartAgent | None, name: str = "") -> None:
        """Without `start` there is none to connect to: somebody else has made the session."""
        self.name = name
        """What the user calls the agent, as a line that can be shown."""
        self.agent: Agent | None = None
        """Set once the handshake is done."""
        self.starting: Agent | None = None
        """Set before: it may ask something, and nothing else is to be wanted of it yet."""
        self.additions: Additions | None = None
        """What each session gets; None before the first start."""
        self.listeners: list[Callable[[], None]] = []
        """Called when the agent asks something that belongs to no session."""
        self.starting_again = asyncio.Lock()
        """Held by the tab that starts a new process: the others are to use that one."""
        self._start = start
        self._tabs: set[Any] = set()

    @property
    def running(self) -> Agent:
        """The agent, which has been started."""
        assert self.agent is not None
        return self.agent

    @property
    def can_start(self) -> bool:
        """Whether a process can be started."""
        return self._start is not None

    @property
    def is_hosted(self) -> bool:
        """Whether a host keeps the agent and its sessions when we go."""
        return self.agent is not None and self.agent.command.is_host and self.agent.lost is None

    @property
    def is_lost(self) -> bool:
        """Whether there is no process that could be spoken to."""
        return self.agent is None or self.agent.lost is not None

    async def start(self, on_phase: Callable[[Phase], None], limit_s: float | None) -> Agent:
        """A new process, with the handshake done; where that cannot be, none is left. Raises ClientError."""
        assert self._start is not None
        self.agent = None
        agent = self.starting = await self._start(on_phase)
        agent.on_elicitations = self._tell
        try:
            await agent.initialize(limit_s)
        except BaseException:  # the tab may be closed meanwhile
            with CancelScope(shield=True):
                await agent.stop()
            raise
        self.agent = agent
        return agent

    async def stop(self, reason: str) -> None:
        """End the process; its sessions say why."""
        agent, self.agent = self.agent or self.starting, None
        if agent is None:
            return
        sessions = tuple(agent.sessions.values())
        try:
            await agent.stop()
        finally:  # it ends also where nobody waits for that any more
            for session in sessions:
                session.disconnect(reason)

    def _tell(self) -> None:
        for listener in tuple(self.listeners):
            listener()

    # Whose it is

    def join(self, tab: object) -> None:
        """This tab uses the agent."""
        self._tabs.add(tab)

    async def leave(self, tab: object) -> None:
        """This tab does not any more; with the last one the agent ends."""
        self._tabs.discard(tab)
        if not self._tabs and self.starting is not None:
            await self.starting.stop()
