"""A workspace with changes, and the screens that show them: how tests change and read both."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

import anyio
import pytest
from textual.app import App, ComposeResult
from textual.notifications import Notify
from textual.pilot import Pilot

from acp_tui.client.changes import ChangedPath, ChangeLimits
from acp_tui.client.changes.tracker import ChangeTracker
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.changes.follower import FolderChanges
from acp_tui.ui.changes.list import ChangeList, ChangesScreen, Preview
from acp_tui.ui.kit.themes import DARK, LIGHT, OWN_THEMES, stylesheets
from acp_tui.ui.prompt.input import PromptInput
from support.dialogs import DialogPage
from support.settling import until_so
from support.waiting import LIMIT_S, TEST_LIMIT_S

LOOKS: Final = {
    "80x24-dark": (DARK.name, (80, 24)),
    "80x24-light": (LIGHT.name, (80, 24)),
    "120x40-dark": (DARK.name, (120, 40)),
    "120x40-light": (LIGHT.name, (120, 40)),
    "100x30-ansi": ("ansi-dark", (100, 30)),
}
BEGAN: Final = datetime(2026, 11, 22, 14, 3)
ONE_FILE: Final = {"a.txt": b"one\n"}


def make_repository(root: Path, files: dict[str, bytes]) -> None:
    """A repository with these files committed."""
    if shutil.which("git") is None:
        pytest.skip("git isn't installed")
    root.mkdir(exist_ok=True)
    write(root, files)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        command = ["git", "-c", "user.name=n", "-c", "user.email=e", *words]
        subprocess.run(command, cwd=root, capture_output=True, check=True, timeout=LIMIT_S)


def write(root: Path, files: dict[str, bytes]) -> None:
    """Write these files."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class ChangesApp(App[None]):
    """A prompt, and a desk that follows a directory."""

    CSS_PATH: Final = [*stylesheets()]  # type: ignore[misc]
    VERTICAL_BREAKPOINTS = BaseApp.VERTICAL_BREAKPOINTS

    def __init__(self, root: Path, *, limits: ChangeLimits | None = None, theme: str = DARK.name) -> None:
        super().__init__()
        self._root = root
        self._limits = limits
        self.desk: FolderChanges
        for own in OWN_THEMES:
            self.register_theme(own)
        self.theme = theme
        self.prompt = PromptInput()
        self.said: list[str] = []
        """The notices so far."""

    def compose(self) -> ComposeResult:
        """Show the prompt."""
        yield self.prompt

    def on_notify(self, event: Notify) -> None:
        """Keep what was said."""
        self.said.append(event.notification.message)

    def on_mount(self) -> None:
        """Start to follow."""
        self.desk = FolderChanges(self, self._root, self._limits, now=lambda: BEGAN)
        self.desk.start()


class ChangesPage(DialogPage):
    """The screens of the desk."""

    def __init__(self, pilot: Pilot[None], app: ChangesApp, root: Path) -> None:
        super().__init__(pilot, cast(Any, app))
        self.root = root
        self.desk = app.desk
        self.prompt = app.prompt

    async def change(self, files: dict[str, bytes]) -> None:
        """Write these files, and let the desk notice."""
        write(self.root, files)
        await self.desk.rescan()
        await self.settled()

    async def open_list(self) -> None:
        """Show the list."""
        if self.desk.is_listed_or_say():
            self.pilot.app.push_screen(ChangesScreen(self.desk, self.prompt.comments))
            await self.settled()
            await self.until_previewed()
        await self.settled()

    async def until_previewed(self) -> None:
        """Wait until the list shows the change of the file at the cursor."""
        screen = self.pilot.app.screen
        await self.until(lambda: screen.query_one(Preview).change == screen.query_one(ChangeList).change)

    async def open_review(self) -> None:
        """Show the review of the first file."""
        await self.open_list()
        await self.press("enter")
        await self.until_shown("· since")

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for the result of a thread or the watch."""
        await until_so(self.pilot, condition, lambda: self.text)
        await self.settled()

    async def until_shown(self, text: str) -> None:
        """Wait until the screen shows this."""
        await self.until(lambda: text in self.words)

    async def press_until(self, text: str, *keys: str) -> None:
        """Press these keys, and wait until the screen shows their result."""
        await self.press(*keys)
        await self.until_shown(text)


def looks_as_it_did(
    compare: Callable[..., bool],
    root: Path,
    look: tuple[str, tuple[int, int]],
    prepare: Callable[[ChangesPage], Awaitable[None]],
) -> bool:
    """Whether the screen after `prepare` matches its stored picture."""
    theme, size = look
    app = ChangesApp(root, theme=theme)

    async def run(pilot: Pilot[Any]) -> None:
        with anyio.fail_after(TEST_LIMIT_S):
            await app.desk.ready()
            await prepare(ChangesPage(pilot, app, root))

    return compare(app, terminal_size=size, run_before=run)


@asynccontextmanager
async def open_changes(
    root: Path,
    *,
    size: tuple[int, int] = (100, 30),
    limits: ChangeLimits | None = None,
) -> AsyncIterator[ChangesPage]:
    """The app, with a desk that has read all files."""
    app = ChangesApp(root, limits=limits)
    with anyio.fail_after(TEST_LIMIT_S):
        async with app.run_test(size=size, notifications=True) as pilot:
            await app.desk.ready()
            page = ChangesPage(pilot, app, root)
            await page.settled()
            yield page


# What a tracker lists after rescanning the disk


async def changes(tracker: ChangeTracker) -> dict[str, ChangedPath]:
    """The changes, by path."""
    await tracker.rescan()
    return dict(tracker.changes)


async def sizes(tracker: ChangeTracker, path: str) -> tuple[int | None, int | None]:
    """The size of a changed file before and now; None where there is no file."""
    review = await tracker.review(path)
    before, after = (None if state is None else state.size for state in (review.before, review.after))
    return before, after


async def kinds(tracker: ChangeTracker) -> dict[str, str]:
    """The kind of each path's change."""
    return {path: change.kind for path, change in (await changes(tracker)).items()}


def let_the_clock_tick(directory: Path, by_ns: int = 20_000_000) -> None:
    """Wait until a new file is younger than the earlier ones, by more than this."""
    newest = max(path.lstat().st_ctime_ns for path in directory.rglob("*"))
    probe = directory.parent / "probe"
    while True:
        probe.write_bytes(b"x")
        if probe.stat().st_ctime_ns > newest + by_ns:
            return
