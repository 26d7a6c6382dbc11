"""One agent, shared by its tabs: how to start it, the running process, and what its sessions get from the user."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.client.agents.command import AgentCommand, Phase
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.driver import Additions

StartAgent = Callable[[Callable[["Phase"], None]], Awaitable["Agent"]]
"""Starts the agent's process, reporting each phase. Raises ClientError."""


class AgentLink:
    """The connection to one agent, created with its first tab."""

    def __init__(self, start: StartAgent | None, name: str = "", command: AgentCommand | None = None) -> None:
        """Without `start`, there is no agent to start: the caller has created the session."""
        self.name = name
        """The user's name for the agent, or its command's, safe to show on one line."""
        self.command = command
        """What `start` runs or connects to."""
        self.agent: Agent | None = None
        """Set when the handshake is done."""
        self.starting: Agent | None = None
        """Set before the handshake: the agent may ask something, but isn't ready for requests."""
        self.additions: Additions | None = None
        """What each session gets; None before the first start."""
        self.listeners: list[Callable[[], None]] = []
        """Called when the agent asks something outside of any session."""
        self.starting_again = asyncio.Lock()
        """Held by the tab that starts a new process. The other tabs then use that process."""
        self._start = start
        self._tabs: set[Any] = set()

    @property
    def can_start(self) -> bool:
        return self._start is not None

    @property
    def is_hosted(self) -> bool:
        """Whether a host keeps the agent and its sessions when acp-tui quits."""
        return self.agent is not None and self.agent.command.is_host and self.agent.lost is None

    @property
    def sandbox(self) -> str:
        """The name of the sandbox that the agent runs in; "" for none."""
        return self.agent.sandbox_name if self.agent is not None else ""

    def can_work_in(self, folder: Path) -> bool:
        """Whether this process can have a session in the folder."""
        return self.agent is None or self.agent.can_work_in(folder)

    @property
    def has_lost_host(self) -> bool:
        """Whether its host on this machine has ended, so that only another one can continue the session."""
        if self.command is None or not self.command.is_host or self.command.is_elsewhere or not self.is_lost:
            return False
        return self.agent is None or not self.agent.may_come_back

    def follow(self, other: AgentLink) -> None:
        self.name, self.command, self._start = other.name, other.command, other._start

    @property
    def is_lost(self) -> bool:
        """Whether there is no running process."""
        return self.agent is None or self.agent.lost is not None

    async def start(self, on_phase: Callable[[Phase], None], limit_s: float | None) -> Agent:
        """Start a new process and do the handshake. Leaves no process if that fails. Raises ClientError."""
        assert self._start is not None
        self.agent = None
        agent = self.starting = await self._start(on_phase)
        agent.on_elicitations = self._tell
        try:
            await agent.initialize(limit_s)
        except BaseException:  # the tab may be closed during the handshake
            with anyio.CancelScope(shield=True):
                await agent.stop()
            raise
        self.agent = agent
        return agent

    @property
    def start_log(self) -> Iterable[str] | None:
        """What an agent that one tab waits for has said besides messages, the latest line last; None without one."""
        agent = self.agent or self.starting
        return agent.said if agent is not None and agent.lost is None and len(self._tabs) < 2 else None

    def stop_start(self) -> None:
        """End an agent that `start_log` is of. What is waited for fails."""
        agent = self.agent or self.starting
        if agent is not None and self.start_log is not None:
            agent.give_up(f"You stopped {agent.title} while it started")

    async def stop(self, reason: str = "") -> None:
        """End the process, because the user wants that. Its sessions show the reason, if there is one."""
        agent, self.agent = self.agent or self.starting, None
        if agent is None:
            return
        sessions = tuple(agent.sessions.values())
        try:
            await agent.stop()
        finally:  # it ends even if this task is canceled
            for session in sessions:
                session.disconnect(reason, is_fault=False)

    def _tell(self) -> None:
        for listener in tuple(self.listeners):
            listener()

    # Its tabs

    def join(self, tab: object) -> None:
        """Register a tab that uses the agent."""
        self._tabs.add(tab)

    async def leave(self, tab: object) -> None:
        """Remove a tab. The agent ends with the last one."""
        self._tabs.discard(tab)
        if not self._tabs and self.starting is not None:
            await self.starting.stop()
