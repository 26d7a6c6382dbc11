"""Shared by the tests of the screen: how to get a screen with an agent process."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import pytest
from textual.widget import Widget

from acp_tui.client.sessions.session import Listener, Session, Unsubscribe
from acp_tui.client.settings.settings import Settings
from acp_tui.ui.kit import answer_guard
from acp_tui.ui.tab.tab import Opening
from support.agents import scripted
from support.desks import Desk, OpenDesk, desk_of
from support.frame_log import FrameLog
from support.screen_checks import (
    HOLD_S,
    MIN_WAIT_S,
    keys_do_not_wait,
    no_key_is_held,
    notices_stay,
    paints,
    text_compare,
    unhurried,
)
from support.tabs import OpenTabs, TabDesk, tabs_of

__all__ = ["keys_do_not_wait", "no_key_is_held", "notices_stay", "paints", "text_compare", "unhurried"]


@pytest.fixture
def keys_are_held(monkeypatch: pytest.MonkeyPatch, no_key_is_held: None) -> None:
    """Let a key that could begin a sentence count only if nothing follows it."""
    monkeypatch.setattr(answer_guard, "HOLD_S", HOLD_S)


@pytest.fixture
def keys_wait(monkeypatch: pytest.MonkeyPatch, keys_do_not_wait: None) -> None:
    """Let a key be as old as its event says."""
    monkeypatch.setattr(answer_guard, "MIN_WAIT_S", MIN_WAIT_S)


@pytest.fixture
def far_screen(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Have the terminal confirm all that it is given, as tmux does, and nothing ever get from there to the user.

    Returns a terminal whose `was_glanced_at` tells whether what is left now was there for a moment.
    """

    def when_shown(_key: object, _widget: Widget, tell: Callable[[float], None], **how: bool) -> None:
        if how["is_known"]:
            tell(time.monotonic())

    fence = SimpleNamespace(
        when_shown=when_shown,
        is_awaited=lambda _: True,
        was_glanced_at=lambda _: True,
        leave=lambda _: None,
        has_input_since=lambda _: False,
        lag_s=1.0,
    )
    monkeypatch.setattr(answer_guard, "fence_of", lambda _: fence)
    return fence


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


@pytest.fixture
def open_tabs(tmp_path: Path, frame_log: FrameLog) -> OpenTabs:
    """Opens a tab, which no screen shows, with a scripted agent that works in `tmp_path`."""

    @asynccontextmanager
    async def opened(
        *script: str, settings: Settings | None = None, opening: Opening | None = None
    ) -> AsyncIterator[TabDesk]:
        command = scripted("\n".join(map(dedent, script)))
        async with tabs_of(command, tmp_path, frame_log, settings, opening) as desk:
            yield desk

    return opened
