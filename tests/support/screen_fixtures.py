"""The fixtures of every test of a screen: no waits for a busy machine, frames to count, and text to compare."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, Final

import pytest
from syrupy.assertion import SnapshotAssertion
from textual._compositor import Compositor
from textual.app import App
from textual.pilot import Pilot

from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.kit import answer_guard
from acp_tui.ui.kit.question_screen import QuestionScreen
from support.pictured import TextPicture
from support.screens import rows
from support.settling import paint

MIN_WAIT_S: Final = answer_guard.MIN_WAIT_S
"""As it is outside the tests."""


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each answer to our questions come long after the question."""
    monkeypatch.setattr(QuestionScreen, "clock", staticmethod(count().__next__))


@pytest.fixture(autouse=True)
def keys_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a key count as pressed when it is read: its wait on a busy machine has nothing to do with a test's clock."""
    monkeypatch.setattr(answer_guard, "MIN_WAIT_S", math.inf)


HOLD_S: Final = answer_guard.HOLD_S
"""As it is outside the tests."""


@pytest.fixture(autouse=True)
def no_key_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a key that could begin a sentence count at once."""
    monkeypatch.setattr(answer_guard, "HOLD_S", 0.0)


@pytest.fixture(autouse=True)
def notices_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a notice stay until a busy machine comes to look for it."""
    monkeypatch.setattr(BaseApp, "NOTIFICATION_TIMEOUT", 600)


@pytest.fixture
def paints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint every frame, for a test that counts what is drawn."""
    monkeypatch.setattr(Compositor, "render_update", paint)


@pytest.fixture
def text_compare(snapshot: SnapshotAssertion) -> Callable[..., bool]:
    """`snap_compare` for the text of a screen alone, which needs no eye to see what has changed."""

    async def text_of(app: App[Any], size: tuple[int, int], prepare: Callable[[Pilot[Any]], Awaitable[None]]) -> str:
        async with app.run_test(size=size) as pilot:
            await prepare(pilot)
            return "".join(f"{row.text.rstrip()}\n" for row in rows(pilot))

    def compare(
        app: App[Any], *, terminal_size: tuple[int, int], run_before: Callable[[Pilot[Any]], Awaitable[None]]
    ) -> bool:
        return asyncio.run(text_of(app, terminal_size, run_before)) == snapshot(extension_class=TextPicture)

    return compare
