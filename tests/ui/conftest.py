"""What tests of the screen share: the way to a screen with an agent's process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from acp_tui.client.settings.tree import Settings
from acp_tui.ui.screens.question_screen import QuestionScreen
from acp_tui.ui.screens.session_start import Opening
from support.desks import Desk, OpenDesk, desk_of
from support.frame_log import FrameLog


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer to a question of ours comes long after the question."""
    monkeypatch.setattr(QuestionScreen, "clock", staticmethod(count().__next__))


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
