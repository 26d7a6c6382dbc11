"""A page whose prompt remembers: earlier prompts and drafts in the test's own state folder.

A second page in the same test is like a restart of acp-tui.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from acp_tui.client.prompts import PastPrompt
from acp_tui.client.prompts.history import HistoryFile
from acp_tui.client.prompts.memory import DraftFile
from acp_tui.client.settings.location import state_folder
from acp_tui.ui.prompt.recall import Recall
from support.screens import CWD, SIZE, Page, open_page

ELSEWHERE: Final = Path("/home/me/src/other-project")


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


def draft_file() -> DraftFile:
    """Where drafts are saved."""
    return DraftFile(state_folder() / "drafts.json")
