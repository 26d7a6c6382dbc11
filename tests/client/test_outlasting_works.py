"""Works that go on when whoever awaits them is gone, such as the turn of a tab that was closed."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from acp_tui.client.errors import AgentLost
from acp_tui.client.sessions.hub import SessionHub, open_hub


async def _canceled(hub: SessionHub, work: asyncio.Future[None]) -> None:
    """Return when someone awaits the work, and no longer."""
    caller = asyncio.ensure_future(hub.outlasting(_await(work)))
    await asyncio.sleep(0)  # the caller begins
    await asyncio.sleep(0)  # and the work that it awaits
    caller.cancel()
    with suppress(asyncio.CancelledError):
        await caller


async def _await(work: asyncio.Future[None]) -> None:
    await work


async def test_it_goes_on_without_its_caller_and_a_failure_is_noted(caplog: pytest.LogCaptureFixture) -> None:
    untold: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: untold.append(told))
    caplog.set_level("INFO", "acp_tui.client.sessions.hub")
    async with open_hub() as hub:
        work = asyncio.get_running_loop().create_future()
        await _canceled(hub, work)
        assert not work.cancelled()
        work.set_exception(AgentLost("the agent is gone"))
        for _ in range(5):
            await asyncio.sleep(0)
    assert "the agent is gone" in caplog.text
    assert untold == []
