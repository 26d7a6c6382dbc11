"""Screens where programs in terminals have the keyboard, and screens whose prompt remembers."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import join
from typing import Final

from textual import events

from acp_tui.client.line_comments import Comment
from acp_tui.client.line_comparison import PlacedLine
from acp_tui.client.prompts.history import HistoryFile, PastPrompt
from acp_tui.client.prompts.memory import Draft, DraftFile, DraftKey
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.settings import Appearance, KeyChoice, Settings
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import (
    CommandRun,
    SessionUpdate,
    TerminalOpened,
    TerminalWaiting,
)
from acp_tui.ui.dialogs.take_over import TakenTerminal, TakeOver
from acp_tui.ui.kit.themes import DARK
from acp_tui.ui.prompt.recall import Recall
from support.screens import CWD, SIZE, Page, ScreenApp, open_page

# Programs in terminals, one of which has the keyboard

RAW = """
import os, sys, tty
tty.setraw(0)
sys.stdout.write({first!r} + 'ready\\r\\n')
sys.stdout.flush()
while True: print(repr(os.read(0, 1000)), end='\\r\\n', flush=True)
"""
"""Prints what it receives, byte by byte, after printing `first`."""
INTERRUPTED = """
import time
try:
    print('ready', flush=True)
    time.sleep(60)
except KeyboardInterrupt: print('interrupted')
"""
"""Ends at Ctrl+C."""


class TakenOver(Page):
    """A page with a running program; `f6` gives it the keyboard."""

    @property
    def state(self) -> TerminalState:
        """Those of the program's terminal."""
        return next(iter(self.session.conversation.terminals.values()))

    @property
    def is_taken_over(self) -> bool:
        """Whether the terminal fills the window."""
        return isinstance(self.pilot.app.screen, TakeOver)

    @property
    def terminal(self) -> TakenTerminal:
        """The terminal that fills the window."""
        return self.pilot.app.screen.query_one(TakenTerminal)

    async def shows(self, text: str) -> None:
        """Wait until the screen shows this."""
        await self.until(lambda: text in self.text)

    async def takes_over(self) -> None:
        """Give the program the keyboard, and wait until it has printed something and knows its size."""
        await self.press("f6")
        await self.until(lambda: self.is_taken_over and bool(self.lines[1]))
        await self.until(lambda: (self.state.columns, self.state.rows) == self.terminal.size)

    async def mouse(self, kind: type[events.MouseEvent], x: int, y: int, button: int = 0) -> None:
        """Send a mouse event at a cell of the terminal."""
        await self.pilot._post_mouse_events([kind], self.terminal, offset=(x, y), button=button)
        await self.settled()

    @property
    def said(self) -> str:
        """The last notice's text; empty if there is none yet."""
        return self.notices[-1].message if self.notices else ""


@asynccontextmanager
async def running(cwd: Path, source: str, size: tuple[int, int] = (100, 30)) -> AsyncIterator[TakenOver]:
    """A page on which the user runs this program."""
    async with showing(size=size) as page:
        (cwd / "program").write_text(source)
        page.session.move(cwd, ())
        await page.session.commands.run(join([sys.executable, "-S", "program"]))
        try:
            yield page
        finally:
            await page.session.aclose()


@asynccontextmanager
async def showing(*updates: SessionUpdate, size: tuple[int, int] = (100, 30)) -> AsyncIterator[TakenOver]:
    """A page that shows terminals without running programs."""
    async with open_page(*updates, size=size) as page:
        yield TakenOver(page.pilot, page.session, page.connection, page.clock)


def opened(name: str) -> list[SessionUpdate]:
    """A user's command in its own terminal."""
    return [TerminalOpened(TerminalId(name), f"run {name}"), CommandRun(f"run {name}", TerminalId(name))]


def waits(name: str) -> TerminalWaiting:
    """It waits for the user's input."""
    return TerminalWaiting(TerminalId(name), True)


# A prompt that remembers earlier prompts and drafts, in the test's own state folder. A second page is like a restart

ELSEWHERE: Final = Path("/home/me/src/other-project")
COMMENT: Final = Comment((PlacedLine("a.py", "+", "new", None, 5),), Path("/nowhere"), None, "Why?")
"""On a line of a diff."""


@asynccontextmanager
async def open_recalling_page(*, size: tuple[int, int] = SIZE, is_shown: bool = True) -> AsyncIterator[Page]:
    """A page that has loaded the saved prompts and drafts."""
    async with open_page(size=size, is_shown=is_shown) as page:
        await remembers(page)
        yield page


async def remembers(page: Page) -> Recall:
    """Wait until they are loaded."""
    await page.until(lambda: bool(_recalls(page)))
    await page.settled()
    return _recalls(page)[0]


def _recalls(page: Page) -> list[Recall]:
    return [each for each in page.prompt.key_helpers if isinstance(each, Recall)]


def kept(*texts: str, folder: Path = CWD, at: str = "2026-11-20T12:00:00+00:00") -> None:
    """Prompts sent in earlier runs, oldest first."""
    history_file().append([PastPrompt(text, str(folder), at, "Agent") for text in texts])


def history_file() -> HistoryFile:
    """Where sent prompts are saved."""
    return HistoryFile(state_folder() / "history.jsonl", 100)


def kept_texts() -> Sequence[str]:
    """The saved prompts, oldest first."""
    return [prompt.text for prompt in history_file().read()]


async def use_vim(page: Page) -> None:
    """Use Vim's keys, once they are loaded."""
    await page.until(lambda: page.prompt.editing_mode is not None)
    app = page.pilot.app
    assert isinstance(app, ScreenApp)
    app.use_settings(Settings(appearance=Appearance(DARK.name), keys=(KeyChoice("preset", ("vim", "vim-prompt")),)))
    await page.settled()


def draft_file() -> DraftFile:
    """Where drafts are saved."""
    return DraftFile(state_folder() / "drafts.json")


def drafts_kept() -> dict[DraftKey, str]:
    """The texts in it, the latest last."""
    return {place: draft.text for place, draft in draft_file().read().items()}


def leave(session: str, text: str, *, folder: Path = CWD, agent: str = "", is_blank: bool = True) -> DraftKey:
    """Leave a draft there, as an earlier run would."""
    place = DraftKey(str(folder), session)
    draft_file().change({place: Draft(text, agent, is_blank)})
    return place
