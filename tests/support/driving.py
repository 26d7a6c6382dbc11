"""Drivers of recorded agents, as front ends have them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from acp_tui.client.sessions.driver import FrontEndLink, SessionDriver
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from support.agents import scripted
from support.waiting import LIMIT_S


@asynccontextmanager
async def driving(script: str, cwd: Path) -> AsyncIterator[SessionDriver]:
    """A driver of an agent that is recorded. The same script is the same agent."""
    plan = RecordingPlan(cwd, store=recording_store(RecordingSettings()))
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(scripted(script), recordings=plan)
            await agent.initialize()
            yield SessionDriver(FrontEndLink(agent), no_login, cwd)


async def no_login(_: object) -> bool:
    return False
