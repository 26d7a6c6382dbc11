"""Owns every agent, outside any user interface, so that no agent outlives us even if the screen crashes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Unpack

import anyio

from acp_tui.client.errors import ClientError

if TYPE_CHECKING:
    # Importing an agent loads the wire types, which must not delay the first frame.
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.sessions.agent import Agent, StartOptions

log = logging.getLogger(__name__)


class SessionHub:
    """Starts and ends agents; made by `open_hub`."""

    def __init__(self) -> None:
        self._runs: set[asyncio.Task[None]] = set()
        """One for each agent, also while it starts or ends."""
        self._works: set[asyncio.Task[object]] = set()
        self.agents: list[Agent] = []

    @staticmethod
    def preload() -> None:
        """Load what `start_agent` needs. Call it in a thread while the event loop draws."""
        import_module("acp_tui.client.sessions.agent")
        import_module("acp_tui.client.sessions.session_history")

    async def start_agent(self, command: AgentCommand, **start: Unpack[StartOptions]) -> Agent:
        """Start the agent's process. Raises AgentNotFound and AgentNotRunnable."""
        from acp_tui.client.sessions.agent import Agent  # loading point: what `preload` loads

        agent = Agent(command, **start)
        is_settled = asyncio.Event()
        run = asyncio.create_task(self._run(agent, is_settled))
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)
        try:
            await is_settled.wait()
        except BaseException:
            run.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.gather(run, return_exceptions=True)
            raise
        if agent not in self.agents:
            await run  # which raises why
        return agent

    async def outlasting(self, work: Coroutine[Any, Any, object]) -> None:
        """Await work that goes on if only the caller is canceled."""
        task = asyncio.ensure_future(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_note_failure)
            raise

    async def _run(self, agent: Agent, is_settled: asyncio.Event) -> None:
        def note_open() -> None:
            self.agents.append(agent)
            is_settled.set()

        try:
            await agent.run(note_open)
        except Exception:
            if agent not in self.agents:
                raise  # it never started, and start_agent reports it
            log.exception("the task of %s failed", agent.title)
        finally:
            is_settled.set()
            if agent in self.agents:
                self.agents.remove(agent)

    async def aclose(self) -> None:
        """Cancel what is left to do, and end every agent at the same time."""
        for work in self._works:
            work.cancel()
        await asyncio.gather(*[agent.stop() for agent in self.agents])
        if self._runs:
            await asyncio.wait(self._runs)


def _note_failure(work: asyncio.Task[object]) -> None:
    """Note what failed when nobody awaited it anymore. Otherwise asyncio would call any failure an internal error."""
    error = None if work.cancelled() else work.exception()
    if isinstance(error, ClientError):
        log.info("failed after its caller was canceled: %s", error)  # the conversation shows it
    elif error is not None:
        log.error("failed after its caller was canceled", exc_info=error)


@asynccontextmanager
async def open_hub() -> AsyncIterator[SessionHub]:
    """A hub. When the block ends, however it ends, no agent and no terminal is left."""
    hub = SessionHub()
    try:
        yield hub
    finally:
        with anyio.CancelScope(shield=True):
            await hub.aclose()
