"""One dialog on an empty screen: what a test does to it and reads from it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from textual.app import App
from textual.events import Key, Paste
from textual.notifications import Notify
from textual.pilot import Pilot
from textual.screen import Screen

from acp_tui.ui.kit.themes import DARK, OWN_THEMES, stylesheets
from acp_tui.ui.textual_gaps.internals import patch_textual
from support.screens import rows
from support.settling import settle, until_so
from support.waiting import TEST_LIMIT_S

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


class DialogPage:
    """A dialog under test. Its async methods return when the screen has settled."""

    def __init__(self, pilot: Pilot[None], app: DialogApp) -> None:
        self.pilot = pilot
        self.app = app

    @property
    def result(self) -> Any:
        """The dialog's result; NOTHING while it is open."""
        return self.app.result

    @property
    def lines(self) -> list[str]:
        """The rows of the screen."""
        return [strip.text.rstrip() for strip in rows(self.pilot)]

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(self.lines)

    @property
    def words(self) -> str:
        """The screen's text, however its lines break."""
        return " ".join(word for word in self.text.split() if word not in "│╭╮╰╯▌▐")

    async def press(self, *keys: str) -> None:
        """Press these keys in order."""
        for key in keys:
            self.app.post_message(Key(key, " " if key == "space" else key if len(key) == 1 else None))
            await self.settled()

    async def write(self, text: str) -> None:
        """Paste into the focused widget."""
        self.app.post_message(Paste(text))
        await self.settled()

    async def click(self, text: str) -> None:
        """Click the first place that shows this text."""
        row = next((at for at, line in enumerate(self.lines) if text in line), None)
        assert row is not None, f"{text!r} isn't on the screen:\n{self.text}"
        column = self.lines[row].index(text)
        widget, region = self.app.screen.get_widget_at(column, row)
        await self.pilot.click(widget, offset=(column - region.x, row - region.y))
        await self.settled()

    async def settled(self) -> None:
        """Wait until all messages are handled, laid out, and painted."""
        await settle(self.pilot)
        await self.pilot.wait_for_animation()
        await settle(self.pilot)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a worker's result."""
        await until_so(self.pilot, condition, lambda: self.text)


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
