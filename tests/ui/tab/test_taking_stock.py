"""The workspace's files are read in the background; only the first prompt waits for that."""

from __future__ import annotations

import math
from typing import Any

import anyio
import pytest

from acp_tui.client.changes import tracker
from acp_tui.ui.tab import opening
from support.agents import settle
from support.desks import SESSION
from support.tabs import OpenTabs

TURN = 'answer(expect("session/prompt"), stopReason="end_turn")\nserve_until_closed()'


class Crowded:
    """A folder that takes as long to read as a test wants."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.looked = anyio.Event(), anyio.Event()
        capture = tracker.capture

        async def capture_late(*arguments: Any) -> Any:
            self.begun.set()
            await self.looked.wait()
            return await capture(*arguments)

        monkeypatch.setattr(tracker, "capture", capture_late)


async def test_only_the_first_prompt_waits_for_a_look_at_the_files(
    open_tabs: OpenTabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowded = Crowded(monkeypatch)
    monkeypatch.setattr(opening, "STOCK_LIMIT_S", math.inf)
    async with open_tabs(SESSION, TURN) as desk:
        await desk.has_session()
        await desk.send("go")
        await crowded.begun.wait()
        await settle()
        assert desk.sent("session/prompt") == []
        crowded.looked.set()
        await desk.gets("session/prompt")


async def test_a_prompt_does_not_wait_for_ever(open_tabs: OpenTabs, monkeypatch: pytest.MonkeyPatch) -> None:
    Crowded(monkeypatch)
    monkeypatch.setattr(opening, "STOCK_LIMIT_S", 0)
    async with open_tabs(SESSION, TURN) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.gets("session/prompt")
