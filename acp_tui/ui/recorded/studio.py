"""The session's screen, headless, at a moment of a film. Nothing in it comes from this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

import anyio
from rich.terminal_theme import TerminalTheme
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from acp_tui.client.settings.tree import Appearance, Settings
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import session_facts
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.conversation.drawing import folds_of
from acp_tui.ui.kit.themes import DARK
from acp_tui.ui.prompt import PromptFrame, PromptInput
from acp_tui.ui.recorded.film import Film
from acp_tui.ui.recorded.formats import CannotRender, Frame, tidy_svg
from acp_tui.ui.recorded.panel import RecordedPanel
from acp_tui.ui.recorded.player import Player
from acp_tui.ui.session.sidebar import SIDEBAR_FROM_COLUMNS, Section, Sidebar, SidebarState
from acp_tui.ui.session.status import facts_of, state_of
from acp_tui.ui.session.status_line import Status, StatusLine
from acp_tui.ui.textual_gaps.internals import lay_out_and_paint, painted_rows

QUIET_ROUNDS: Final = 3
"""A message can cause another, and that a layout."""
POLL_S: Final = 0.005
SETTLE_LIMIT_S: Final = 60.0


class PictureScreen(Screen[None]):
    """The screen of a recorded session. It only shows; it can't act."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "toggle_plan", "Fold the plan", show=False, priority=True),
        Binding("ctrl+o", "toggle_all", "Unfold everything", show=False, priority=True),
    ]

    def __init__(self, film: Film, settings: Settings) -> None:
        super().__init__()
        self._film = film
        self._settings = settings
        self.panel: RecordedPanel | None = None

    def compose(self) -> ComposeResult:
        """From top to bottom, as in a tab."""
        yield Vertical(id="session")
        yield PromptFrame(id="prompt-frame")
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        """Show the initial state, before any session."""
        self.set_focus(self.query_one(PromptInput))
        self.show_facts()

    async def show(self, conversation: Conversation) -> None:
        """Show this conversation."""
        before = self.panel
        folds, images = folds_of(self._settings.conversation), self._settings.appearance.images
        self.panel = RecordedPanel(conversation, self._film.header.cwd, folds=folds, images=images)
        if before is not None:
            await before.remove()
        place = self.query_one("#session")
        await place.mount(self.panel, before=next(iter(place.children), None))
        self.show_facts()

    def show_facts(self) -> None:
        """Update the status line and the sidebar."""
        prompt, line = self.query_one(PromptInput), self.query_one(StatusLine)
        if self.panel is None:
            line.show(Status(phase="waiting for the agent"))
            return
        conversation = self.panel.conversation
        prompt.note_requests(conversation.permissions)
        agent = make_visible_line(self._film.agent)
        line.show(Status(agent=agent, state=state_of(conversation), facts=facts_of(conversation)))
        if self.app.size.width >= SIDEBAR_FROM_COLUMNS:
            self._show_sidebar(conversation)

    def _show_sidebar(self, conversation: Conversation) -> None:
        """Show what the recording knows, which excludes changed files."""
        if not self.query(Sidebar):
            self.add_class("-with-sidebar")
            self.query_one("#session").mount(Sidebar(id="sidebar"))
        # Not the whole path: the home folder's owner is private.
        folder = Path(self._film.header.cwd).name
        facts = session_facts(conversation, self._film.agent, folder, None)
        plans = tuple(conversation.plans.values())
        for sidebar in self.query(Sidebar):
            sidebar.show(SidebarState(plans, (), "", facts, are_changes_known=False))

    def on_session_panel_facts_changed(self) -> None:
        """Update the facts."""
        self.show_facts()

    def action_toggle_plan(self) -> None:
        """Fold or unfold the plan; in the sidebar if it's there."""
        for sidebar in self.query(Sidebar):
            sidebar.toggle(Section.PLAN)
            return
        if self.panel is not None:
            self.panel.toggle_plan()

    def action_toggle_all(self) -> None:
        """Fold or unfold everything."""
        if self.panel is not None:
            self.panel.view.toggle_all()

    def on_prompt_input_leave_requested(self) -> None:
        """Focus the card if something waits; otherwise the conversation."""
        if self.panel is not None:
            if self.panel.card.display:
                self.set_focus(self.panel.card)
            else:
                self.panel.view.focus()

    def on_prompt_input_page_requested(self, message: PromptInput.PageRequested) -> None:
        """Page through the conversation."""
        if self.panel is not None:
            self.panel.view.action_page(message.direction)


class _PictureApp(BaseApp):
    """An app that looks the same everywhere."""

    def __init__(self, film: Film, theme: str) -> None:
        # A link would name this machine, and in a film has a random ID.
        settings = Settings(appearance=Appearance(theme, images="blocks", reduced_motion=True, links=False))
        self._film = film
        super().__init__(settings, environ={})  # ignore NO_COLOR of this terminal
        if theme not in self.available_themes:
            known = ", ".join(sorted(self.available_themes))
            raise CannotRender(f"there is no theme {theme!r}", hint=f"known: {known}")

    def get_default_screen(self) -> PictureScreen:
        """The only screen."""
        return PictureScreen(self._film, self.settings)


class Studio:
    """Shows moments of one film; see `open_studio`. Its methods return when the screen is settled."""

    def __init__(self, pilot: Pilot[Any], film: Film) -> None:
        self.player = Player(film)
        self._pilot = pilot

    async def show(self, moment: int, *, is_at_top: bool = False) -> None:
        """Show this moment, which must not be before the last one shown."""
        player, panel = self.player, self._panel
        while player.moment < moment:
            for touch in player.step().touched:
                if panel is not None and touch.conversation is panel.conversation:
                    panel.note(touch.change)
        conversation = self.conversation
        is_there = player.front is not None or conversation.entries
        if is_there and (panel is None or panel.conversation is not conversation):
            await self._screen.show(conversation)
        self._screen.show_facts()
        await self.settle()
        if is_at_top and self._panel is not None:
            self._panel.view.action_top()
            await self.settle()

    async def press(self, *keys: str) -> None:
        """Press keys. They can't affect any session."""
        await self._pilot.press(*keys)
        await self.settle()

    @property
    def conversation(self) -> Conversation:
        """The conversation on the screen."""
        return self.player.conversation(self.player.front)

    @property
    def strips(self) -> list[Strip]:
        """The screen as painted, from top to bottom."""
        return painted_rows(self._pilot.app.screen)

    @property
    def svg(self) -> str:
        """The screen as a picture."""
        return picture_of(self._pilot.app)

    @property
    def colors(self) -> TerminalTheme:
        """The color values of the theme, with the screen's background."""
        app = self._pilot.app
        background = Color.parse(app.theme_variables["background"]).rgb
        foreground = Color.parse(app.theme_variables["foreground"]).rgb
        ansi = app.ansi_theme.ansi_colors
        return TerminalTheme(background, foreground, [ansi[number] for number in range(16)])

    @property
    def _screen(self) -> PictureScreen:
        screen = self._pilot.app.screen_stack[0]
        assert isinstance(screen, PictureScreen)
        return screen

    @property
    def _panel(self) -> RecordedPanel | None:
        return self._screen.panel

    async def settle(self) -> None:
        """Wait until everything is read, drawn, and laid out."""
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
        # While the emulator loads, no terminal has a screen.
        is_loading = any(panel.view.terminal_screens.screen(state) is None for state in list(terminals)[:1])
        return panel.is_settled and not is_loading


def picture_of(app: App[Any]) -> str:
    """The screen of an app, as SVG."""
    return tidy_svg(app.export_screenshot(title="acp-tui", simplify=True), _frame(app))


def _frame(app: App[Any]) -> Frame | None:
    """The window frame in the theme's colors; None if those are the terminal's own."""
    if app.current_theme.ansi:
        return None
    variables = app.theme_variables
    return Frame(variables["surface"], variables["panel"], variables["foreground"])


@asynccontextmanager
async def open_studio(film: Film, size: tuple[int, int], theme: str = DARK.name) -> AsyncIterator[Studio]:
    """Open a screen of this size (columns and rows). Raises CannotRender."""
    async with _PictureApp(film, theme or DARK.name).run_test(size=size, notifications=False) as pilot:
        yield Studio(pilot, film)
