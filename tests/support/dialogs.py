"""One dialog on an empty screen, and what the sessions dialog can list."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Final

import anyio
from textual.app import App
from textual.events import Paste
from textual.notifications import Notify
from textual.pilot import Pilot
from textual.screen import Screen

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.client.transcript.index import RecordedSession
from acp_tui.conversation.facts import SessionId, SessionPage, SessionStatus, SessionSummary
from acp_tui.ui.dialogs.session_rows import HOSTED, NEEDS_YOU, OPEN, OpenMode, SessionRow
from acp_tui.ui.kit.themes import DARK, OWN_THEMES, stylesheets
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.textual_gaps.internals import patch_textual
from support.screens import Shown
from support.settling import settle
from support.waiting import TEST_LIMIT_S

# What a test does to a dialog and reads from it

SIZE: Final = (100, 30)
NOTHING: Final = object()
"""No result yet; None is a result."""


class DialogApp(App[None]):
    """Shows a dialog as soon as it runs, and keeps its result."""

    CSS_PATH: Final = [*stylesheets()]  # type: ignore[misc]

    def __init__(self, dialog: Screen[Any], *, theme: str = DARK.name) -> None:
        patch_textual()
        super().__init__()
        self._dialog = dialog
        self.animation_level = "none"  # as with reduced motion
        self.result: Any = NOTHING
        self.said: list[str] = []
        """The notices so far."""
        for own in OWN_THEMES:
            self.register_theme(own)
        self.theme = theme

    def on_notify(self, event: Notify) -> None:
        """Keep what was said."""
        self.said.append(event.notification.message)

    def on_mount(self) -> None:
        """Show the dialog."""
        self.push_screen(self._dialog, self._keep)

    def _keep(self, result: Any) -> None:
        self.result = result


class DialogPage(Shown):
    """A dialog under test."""

    def __init__(self, pilot: Pilot[None], app: DialogApp) -> None:
        super().__init__(pilot)
        self.app = app

    @property
    def result(self) -> Any:
        """The dialog's result; NOTHING while it is open."""
        return self.app.result

    @property
    def words(self) -> str:
        """The screen's text, however its lines break."""
        return " ".join(word for word in self.text.split() if word not in "│╭╮╰╯▌▐")

    async def write(self, text: str) -> None:
        """Paste into the focused widget."""
        self.app.post_message(Paste(text))
        await self.settled()

    async def settled(self) -> None:
        """Wait until all messages are handled, laid out, and painted."""
        await settle(self.pilot)
        await self.pilot.wait_for_animation()
        await settle(self.pilot)


@asynccontextmanager
async def open_dialog(
    dialog: Screen[Any], *, size: tuple[int, int] = SIZE, theme: str = DARK.name
) -> AsyncIterator[DialogPage]:
    """The dialog, open for at most `TEST_LIMIT_S`."""
    app = DialogApp(dialog, theme=theme)
    with anyio.fail_after(TEST_LIMIT_S):
        async with app.run_test(size=size, notifications=True) as pilot:
            page = DialogPage(pilot, app)
            await page.settled()
            yield page


# Sources for the sessions dialog: realistic ones, and hostile ones

HERE = Path("/home/me/project")
ELSEWHERE = Path("/home/me/work/durations/packages/parser")


def recorded(
    session_id: str,
    title: str,
    *,
    agent: str = "other",
    prompts: int = 2,
    cwd: Path = Path("/project"),
    last_at: float = 2.0,
    command: tuple[str, ...] = (),
) -> PastSession:
    """A recorded session."""
    name = SessionId(session_id)
    file = f"/recordings/{session_id}".replace("\0", "")
    whole = RecordedSession(
        name, agent, command or (agent,), cwd, title, last_at, last_at, prompts, (file,), agents=(agent,), origin=file
    )
    return PastSession(agent, name, cwd, title, last_at, recorded=whole)


class NoSessions:
    """No tabs, no agent sessions and no recordings; tests override what they need."""

    command = AgentCommand("agent", (), is_listed=True)
    agent_title = ""
    clock = staticmethod(time.monotonic)
    listeners: ClassVar[list[Callable[[], None]]] = []

    def in_tabs(self) -> Sequence[SessionRow]:
        return ()

    def key_in_tabs(self, session: PastSession) -> str:
        return ""

    def panel_asking(self, key: str) -> SessionPanel | None:
        return None

    async def look_at_tabs(self) -> None: ...

    async def in_hosts(self) -> Sequence[SessionRow]:
        return ()

    async def in_agents(self) -> Sequence[tuple[AgentCommand, Sequence[SessionSummary]]]:
        return ()

    async def open(self, row: SessionRow) -> None: ...

    async def begin(self) -> None: ...

    async def close(self, key: str) -> None: ...

    def move(self, key: str, direction: int) -> None: ...

    async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
        return SessionPage(())

    async def status(self, session_id: SessionId) -> SessionStatus | None:
        return None

    async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        return ()

    async def line_with(self, session: PastSession, words: str) -> str:
        return ""

    def judge(self, session: PastSession) -> tuple[OpenMode, str]:
        return OpenMode.AGENT, ""

    async def fate(self, session: PastSession) -> Sequence[str]:
        return ()

    async def delete(self, session: PastSession) -> None: ...

    async def rename(self, session: PastSession) -> None: ...

    async def pin(self, session: PastSession) -> None: ...

    async def archive(self, session: PastSession) -> None: ...

    def marked(self, past: Iterable[PastSession]) -> list[PastSession]:
        return list(past)


class SampleSessions(NoSessions):
    """Sessions from each source, in two folders."""

    command = AgentCommand("claude", (), is_listed=True)

    def __init__(self, now: datetime) -> None:
        self._now = now

    async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
        titles = ("Mend the parser of durations", None, "Write tests for the scheduler", "翻訳を直す")
        return SessionPage(
            tuple(
                SessionSummary(
                    SessionId(f"session-{at}"),
                    (HERE, ELSEWHERE)[at % 2],
                    title,
                    (self._now - timedelta(days=at * 4)).isoformat(),
                )
                for at, title in enumerate(titles)
            ),
            "next",
        )

    async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        at = self._now.timestamp()
        return (
            recorded("session-0", "Why", agent="claude", prompts=12, cwd=HERE, last_at=at - 300),
            recorded("r1", "Explain the scheduler", agent="demo", prompts=1, cwd=HERE, last_at=at - 7200),
        )

    def judge(self, session: PastSession) -> tuple[OpenMode, str]:
        if session.agent == "demo":
            return OpenMode.RECORDING, "its folder is gone"
        return OpenMode.AGENT, ""

    def in_tabs(self) -> Sequence[SessionRow]:
        at = self._now.timestamp()
        pinned = PastSession("codex", SessionId("c"), ELSEWHERE, is_pinned=True)
        return (
            SessionRow(
                "tab-1", "Fix the build", OPEN, None, "claude", HERE, at - 30, "main", "+12 -3", " 1 ●", "", "Done.",
                is_tab=True, is_current=True,
            ),
            SessionRow(
                "tab-2", "Rewrite the parser", NEEDS_YOU, pinned, "codex", ELSEWHERE, at, "parser", "+210 -98", " 2 ▲",
                "", "Run the tests", is_tab=True,
            ),
        )  # fmt: skip

    async def in_hosts(self) -> Sequence[SessionRow]:
        past = PastSession("Gemini", SessionId("g"), HERE, "Halve the start time")
        row = SessionRow("g", past.title, HOSTED, past, "gemini-2", HERE, self._now.timestamp() - 9000)
        return (replace(row, mark="   ⇄", state="working"),)


class HostileSessions(NoSessions):
    """Every text is this one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.command = AgentCommand(text, (), is_listed=True)

    async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
        text = self.text
        if cursor is not None:
            raise ClientError(text, hint=text, detail=text)
        folder = Path(text.replace("\0", ""))
        return SessionPage(
            tuple(SessionSummary(SessionId(text + str(at)), folder, (text, None)[at], text) for at in (0, 1)),
            "more",
        )

    async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        return (recorded(self.text, self.text, agent=self.text),)

    async def line_with(self, session: PastSession, words: str) -> str:
        return self.text

    def judge(self, session: PastSession) -> tuple[OpenMode, str]:
        return OpenMode.NONE, self.text
