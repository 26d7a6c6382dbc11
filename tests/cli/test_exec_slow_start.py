"""The notice about a slow start: once, in time, and never after the start has ended."""

from __future__ import annotations

import anyio
import pytest

from acp_tui.cli.terminal import PATIENCE_S, SlowStart
from support.waiting import LIMIT_S


async def test_a_slow_start_is_said_once_with_its_step_and_how_to_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    slept: list[float] = []
    is_over, is_said = anyio.Event(), anyio.Event()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await is_over.wait()

    def say(text: str) -> None:
        said.append(text)
        is_said.set()

    monkeypatch.setattr(anyio, "sleep", sleep)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            with SlowStart(tasks, "gemini", say) as start:
                start.step = "initializing"
                is_over.set()
                await is_said.wait()
    assert slept == [PATIENCE_S]
    assert said == ["waiting for gemini: initializing ... (Ctrl+C to stop)"]


async def test_after_the_start_no_timer_is_left() -> None:
    said: list[str] = []
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            with SlowStart(tasks, "gemini", said.append):
                await anyio.lowlevel.checkpoint()
    assert said == []


async def test_a_start_that_is_over_at_once_is_not_spoken_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_tui.cli.terminal.PATIENCE_S", 0)
    said: list[str] = []
    async with anyio.create_task_group() as tasks:
        with SlowStart(tasks, "gemini", said.append):
            pass
    assert said == []
