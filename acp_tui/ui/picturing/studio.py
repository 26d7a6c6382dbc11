"""The session's own screen, headless: shows a moment of a film as a user would have seen it, and is read as lines.

Nothing in it is of this machine: no clock, no settings, no history, no terminal that would be asked anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

import anyio
from textual import work
from textual.app import App
from textual.pilot import Pilot
from textual.strip import Strip
from textual.types import CSSPathType

from acp_tui.client.settings.tree import Appearance, Settings
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.drawings.folds import folds_of
from acp_tui.ui.picturing.errors import CannotRender
from acp_tui.ui.picturing.formats import Frame, tidy_svg
from acp_tui.ui.picturing.sidebar import RecordedSidebar
from acp_tui.ui.replaying.film import Film
from acp_tui.ui.replaying.panel import RecordedPanel
from acp_tui.ui.replaying.player import Player
from acp_tui.ui.screens.session import SessionScreen
from acp_tui.ui.settings_app import SettingsApp
from acp_tui.ui.status import facts_of, state_of
from acp_tui.ui.stylesheets import stylesheets
from acp_tui.ui.textual_internals import lay_out_and_paint, painted_rows
from acp_tui.ui.themes import DARK
from acp_tui.ui.widgets.session_panel import SessionPanel
from acp_tui.ui.widgets.status_line import Status

QUIET_ROUNDS: Final = 3
"""One message leads to another, which may lead to a layout."""
POLL_S: Final = 0.005
SETTLE_LIMIT_S: Final = 60.0


class _PictureScreen(SessionScreen):
    """A session's screen whose session is a film's: it neither starts an agent nor knows earlier prompts."""

    def __init__(self, film: Film, settings: Settings) -> None:
        super().__init__(None, Path(film.header.cwd), settings=settings)
        self._film = film
        self._agent_title = make_visible_line(film.agent)
        self._phase = "waiting for the agent"

    @work
    async def _help_writing(self) -> None:
        """Nothing: what was written here before is nobody's business."""

    async def show_film(self, conversation: Conversation, cwd: str) -> None:
        """Show this conversation from now on."""
        folds, images = folds_of(self._settings.conversation), self._settings.appearance.images
        await self._show_panel(RecordedPanel(conversation, cwd, folds=folds, images=images))

    def _tell_sidebar(self, panel: SessionPanel) -> None:
        if self._sidebar is None:
            self._sidebar = RecordedSidebar(self, panel, self._film)
        super()._tell_sidebar(panel)

    def look_at_sidebar(self) -> None:
        """Commands have begun and ended, of which the panel tells nothing."""
        self._show_sidebar()

    def _show_status(self) -> None:
        panel = self._panel
        if panel is None:
            self._say_status(Status(phase=self._phase))
        else:
            facts, state = facts_of(panel.conversation), state_of(panel.conversation)
            self._say_status(Status(agent=self._agent_title, state=state, facts=facts))


class _PictureApp(SettingsApp):
    """Looks the same wherever it runs."""

    CSS_PATH: ClassVar[CSSPathType | None] = [*stylesheets()]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (24, "-high")]  # noqa: RUF012 - no ClassVar in Textual either

    def __init__(self, film: Film, theme: str) -> None:
        settings = Settings(appearance=Appearance(theme, images="blocks", reduced_motion=True))
        self._film = film
        super().__init__(Path(film.header.cwd), settings, (), None)
        if theme not in self.available_themes:
            known = ", ".join(sorted(self.available_themes))
            raise CannotRender(f"there is no theme {theme!r}", hint=f"known: {known}")

    def _set_look(self, appearance: Appearance) -> None:
        super()._set_look(appearance)
        self.theme = self._known_theme(appearance.theme)  # whatever NO_COLOR says of this terminal
        self.no_color, self._looks = False, []

    def get_default_screen(self) -> _PictureScreen:
        """The only one."""
        return _PictureScreen(self._film, self.settings)


class Studio:
    """Shows moments of one film; made by `open_studio`. Its methods return when nothing moves any more."""

    def __init__(self, pilot: Pilot[Any], film: Film) -> None:
        self.player = Player(film)
        self._pilot = pilot

    async def show(self, moment: int, *, is_at_top: bool = False) -> None:
        """Show this moment, which is none before the last one that was shown."""
        player, panel = self.player, self._panel
        while player.moment < moment:
            for touch in player.step().touched:
                if panel is not None and touch.conversation is panel.conversation:
                    panel.note(touch.change)
        conversation = self.conversation
        is_there = player.front is not None or conversation.entries
        if is_there and (panel is None or panel.conversation is not conversation):
            await self._screen.show_film(conversation, player.film.header.cwd)
        self._screen.look_at_sidebar()
        await self.settle()
        if is_at_top and self._panel is not None:
            self._panel.view.action_top()
            await self.settle()

    async def press(self, *keys: str) -> None:
        """Press keys. There is no session that they could do anything to."""
        await self._pilot.press(*keys)
        await self.settle()

    @property
    def conversation(self) -> Conversation:
        """What is shown."""
        return self.player.conversation(self.player.front)

    @property
    def strips(self) -> list[Strip]:
        """The screen as it is painted, from top to bottom."""
        return painted_rows(self._pilot.app.screen)

    @property
    def svg(self) -> str:
        """The screen as a picture."""
        return picture_of(self._pilot.app)

    @property
    def _screen(self) -> _PictureScreen:
        screen = self._pilot.app.screen_stack[0]
        assert isinstance(screen, _PictureScreen)
        return screen

    @property
    def _panel(self) -> RecordedPanel | None:
        return next(iter(self._screen.query(RecordedPanel)), None)

    async def settle(self) -> None:
        """Wait until everything is read, drawn and laid out."""
        with anyio.fail_after(SETTLE_LIMIT_S):
            quiet = 0
            while quiet < QUIET_ROUNDS:
                is_still = self._is_still
                quiet = quiet + 1 if is_still else 0
                if not is_still:
                    await anyio.sleep(POLL_S)
                await lay_out_and_paint(self._pilot)

    @property
    def _is_still(self) -> bool:
        panel = self._panel
        if panel is None:
            return True
        terminals = panel.conversation.terminals.values()
        # While the emulator is being loaded there is no screen for any of them.
        is_loading = any(panel.view.terminal_screens.screen(state) is None for state in list(terminals)[:1])
        return panel.is_settled and not is_loading


def picture_of(app: App[Any]) -> str:
    """What an app shows, as SVG."""
    return tidy_svg(app.export_screenshot(title="acp-tui", simplify=True), _frame(app))


def _frame(app: App[Any]) -> Frame | None:
    """The window around it in the colours of the theme; None where those are the terminal's own."""
    if app.current_theme.ansi:
        return None
    variables = app.theme_variables
    return Frame(variables["surface"], variables["panel"], variables["foreground"])


@asynccontextmanager
async def open_studio(film: Film, size: tuple[int, int], theme: str = DARK.name) -> AsyncIterator[Studio]:
    """A screen of this size (columns and rows). Raises CannotRender."""
    async with _PictureApp(film, theme or DARK.name).run_test(size=size, notifications=False) as pilot:
        yield Studio(pilot, film)
