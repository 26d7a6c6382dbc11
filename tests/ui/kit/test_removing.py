"""A widget removed by a worker is gone, even if the worker is canceled while it waits for that."""

from __future__ import annotations

import asyncio

import pytest
from textual.widget import Widget
from textual.worker import Worker, WorkerCancelled

from acp_tui.ui.base.app import BaseApp
from support.settling import until_so


class Lingering(Widget):
    """Isn't gone before it may go."""

    def __init__(self) -> None:
        super().__init__()
        self.is_going = asyncio.Event()
        self.may_go = asyncio.Event()

    async def on_unmount(self) -> None:
        self.is_going.set()
        await self.may_go.wait()


async def _remove(widget: Widget) -> None:
    await widget.remove()


async def _being_removed(app: BaseApp) -> tuple[Lingering, Worker[None]]:
    lingering = Lingering()
    await app.screen.mount(lingering)
    worker = app.screen.run_worker(_remove(lingering))
    await lingering.is_going.wait()
    return lingering, worker


async def test_a_cancelled_worker_leaves_the_removal_of_its_widget_alone() -> None:
    async with BaseApp().run_test() as pilot:
        lingering, worker = await _being_removed(pilot.app)
        worker.cancel()
        with pytest.raises(WorkerCancelled):
            await worker.wait()
        lingering.may_go.set()
        await until_so(pilot, lambda: not lingering.is_attached)
        assert pilot.app.is_running


async def test_quitting_while_a_worker_removes_a_widget_ends_the_app_in_order() -> None:
    async with BaseApp().run_test() as pilot:
        lingering, worker = await _being_removed(pilot.app)
        worker.cancel()
        with pytest.raises(WorkerCancelled):
            await worker.wait()
        lingering.may_go.set()
        pilot.app.exit()
    assert pilot.app.return_code == 0
