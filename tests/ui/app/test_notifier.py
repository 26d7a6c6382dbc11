"""When the terminal is notified of events in the tabs."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from acp_tui.client.settings.settings import Notifications
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.updates import (
    PermissionAnswered,
    PromptSent,
    Renamed,
    SessionUpdate,
    StateReported,
    TurnEnded,
)
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.app.notifier import (
    KEEP_TITLE,
    PUT_TITLE_BACK,
    Notifier,
    window_title,
)
from support.folding import ask
from support.screens import Page, open_page

PROMPT = PromptSent((Text("Mend it"),))
DONE = TurnEnded("end_turn")
DRAWN = "Mend it"
"""The tab's name."""
ALL = Notifications(needs_you=("osc777",), done=("osc9",), minimum_turn_s=0, title=False)


@dataclass
class Told:
    """A page with a notifier, and what its terminal was sent."""

    page: Page
    notifier: Notifier
    written: list[str]

    @property
    def app(self) -> AcpTuiApp:
        app = self.page.pilot.app
        assert isinstance(app, AcpTuiApp)
        return app

    async def happens(self, *updates: SessionUpdate) -> list[str]:
        """The session receives this; returns what is written in response."""
        self.written.clear()
        for update in updates:
            self.page.session.apply(update)
            await self.page.settled()
        return list(self.written)


@asynccontextmanager
async def watched(settings: Notifications, *, is_focused: bool = False) -> AsyncIterator[Told]:
    """A page with an idle session."""
    async with open_page() as page:
        app = page.pilot.app
        assert isinstance(app, AcpTuiApp)
        app.settings = replace(app.settings, notifications=settings)
        written: list[str] = []
        notifier = Notifier(app, written.append, {"TERM": "xterm"})
        app.tabs.listeners.append(notifier.check_tabs)
        notifier.check_tabs()
        app.app_focus = is_focused
        yield Told(page, notifier, written)


async def test_no_notice_goes_to_a_user_who_is_looking():
    async with watched(ALL, is_focused=True) as told:
        assert await told.happens(PROMPT, ask(1, "c"), DONE) == []


async def test_a_decision_and_an_end_are_told_each_in_its_way():
    async with watched(ALL) as told:
        assert await told.happens(PROMPT, ask(1, "c", title="Delete it")) == [
            f"\x1b]777;notify;{DRAWN};needs your decision\x1b\\"
        ]
        assert await told.happens(PermissionAnswered(RequestKey(1), "opt-1", None)) == []
        [done] = await told.happens(DONE)
        assert re.fullmatch(rf"\x1b\]9;acp-tui: {DRAWN}: done after <1 s\x1b\\", done)


async def test_the_end_of_a_short_turn_is_not_told():
    async with watched(replace(ALL, minimum_turn_s=10)) as told:
        assert await told.happens(PROMPT, DONE) == []


async def test_the_title_shows_the_state_and_is_put_back():
    async with watched(Notifications(title=True), is_focused=True) as told:
        assert told.written == [KEEP_TITLE + window_title("Agent")]
        assert await told.happens(PROMPT) == [window_title(f"◐ {DRAWN}")]
        assert await told.happens(ask(1, "c")) == [window_title(f"▲ {DRAWN}")]
        assert await told.happens(Renamed("The stars")) == [window_title("▲ The stars")]
        told.written.clear()
        told.notifier.close()
        told.notifier.close()
        assert told.written == [PUT_TITLE_BACK]


async def test_the_users_command_is_run_and_its_failure_said_once(tmp_path: Path):
    note = tmp_path / "note"
    write = f"import os; open({str(note)!r}, 'a').write(os.environ['ACP_TUI_EVENT']); exit(3)"
    settings = replace(ALL, done=("command",), command=(sys.executable, "-c", write))
    async with watched(settings) as told:
        assert await told.happens(PROMPT, DONE, PROMPT, DONE) == []
        await told.app.workers.wait_for_complete(
            [worker for worker in told.app.workers if worker.group == "notifications"]
        )
        await told.page.settled()
        assert note.read_text() == "donedone"
        said = [notice.message for notice in told.page.notices]
        assert said == [f"notifications.command: {sys.executable} ended with status 3"]


async def test_work_that_the_agent_begins_by_itself_is_told_as_a_turn_is():
    """R2-STATE: title and notifications follow the state; a repeated idle isn't another end."""
    running, idle = StateReported("running"), StateReported("idle", "end_turn")
    async with watched(replace(ALL, needs_you=(), title=True)) as told:
        await told.happens(PROMPT, DONE)
        assert await told.happens(running) == [window_title(f"◐ {DRAWN}")]
        notice, *_ = await told.happens(idle)
        assert "done after" in notice
        assert await told.happens(idle, idle) == []
