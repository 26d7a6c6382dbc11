"""Shared by the tests of the screen: how to get a screen with an agent process."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from syrupy.assertion import SnapshotAssertion
from textual._compositor import Compositor
from textual.app import App
from textual.pilot import Pilot

from acp_tui.client.sessions.session import Listener, Session, Unsubscribe
from acp_tui.client.settings.tree import Settings
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.kit import answer_guard
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.tab.host import Opening
from support.desks import Desk, OpenDesk, desk_of
from support.frame_log import FrameLog
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


@pytest.fixture
def keys_are_held(monkeypatch: pytest.MonkeyPatch, no_key_is_held: None) -> None:
    """Let a key that could begin a sentence count only if nothing follows it."""
    monkeypatch.setattr(answer_guard, "HOLD_S", HOLD_S)


@pytest.fixture(autouse=True)
def notices_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a notice stay until a busy machine comes to look for it."""
    monkeypatch.setattr(BaseApp, "NOTIFICATION_TIMEOUT", 600)


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


@pytest.fixture
def paints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint every frame, for a test that counts what is drawn."""
    monkeypatch.setattr(Compositor, "render_update", paint)


@pytest.fixture
def keys_wait(monkeypatch: pytest.MonkeyPatch, keys_do_not_wait: None) -> None:
    """Let a key be as old as its event says."""
    monkeypatch.setattr(answer_guard, "MIN_WAIT_S", MIN_WAIT_S)


@pytest.fixture
def subscriptions(monkeypatch: pytest.MonkeyPatch) -> list[Listener]:
    """The current listeners of all sessions."""
    listening: list[Listener] = []
    subscribe = Session.subscribe

    def watched(self: Session, listener: Listener) -> Unsubscribe:
        unsubscribe = subscribe(self, listener)
        listening.append(listener)

        def end() -> None:
            unsubscribe()
            if listener in listening:
                listening.remove(listener)

        return end

    monkeypatch.setattr(Session, "subscribe", watched)
    return listening


@pytest.fixture
def open_desk(tmp_path: Path, frame_log: FrameLog) -> OpenDesk:
    """Opens the app with a scripted agent that works in `tmp_path`."""

    @asynccontextmanager
    async def opened(
        *script: str, settings: Settings | None = None, opening: Opening | None = None
    ) -> AsyncIterator[Desk]:
        async with desk_of(script, tmp_path, frame_log, settings, opening) as desk:
            yield desk

    return opened
