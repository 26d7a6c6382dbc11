"""How tasks begin in the app's event loop, on every Python."""

from __future__ import annotations

import asyncio
from typing import Any

from textual.pilot import Pilot

from acp_tui.ui.base.app import BaseApp


async def test_a_task_begins_after_the_call_that_creates_it() -> None:
    """Textual has them begin within it, from Python 3.12 on; see `BaseApp.on_load`."""
    order: list[str] = []

    async def work() -> None:
        order.append("task")

    async def create(pilot: Pilot[Any]) -> None:
        task = asyncio.create_task(work())
        order.append("caller")
        await task
        pilot.app.exit()

    await BaseApp().run_async(headless=True, auto_pilot=create)
    assert order == ["caller", "task"]
