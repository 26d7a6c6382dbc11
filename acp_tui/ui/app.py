"""The Textual app: stylesheets, themes, and the one screen there is so far."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen
from textual.types import CSSPathType

from acp_tui.client.settings.tree import Appearance, Settings
from acp_tui.ui.commands import COMMANDS
from acp_tui.ui.pacing import PacedApp
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.screens.session import SessionScreen
from acp_tui.ui.stylesheets import stylesheets
from acp_tui.ui.themes import ANSI_DARK, DARK, OWN_THEMES

if TYPE_CHECKING:
    # Loaded after the first frame: it brings the wire types along.
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.hub import SessionHub
    from acp_tui.client.sessions.phase import Phase


class AcpTuiApp(PacedApp):
    """Works with one agent. The hub around it owns the agent's process and outlives the app."""

    TITLE = "acp-tui"
    CSS_PATH: ClassVar[CSSPathType | None] = [*stylesheets()]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (24, "-high")]  # noqa: RUF012 - no ClassVar in Textual either
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Quit", show=False, priority=True)]

    def __init__(
        self,
        hub: SessionHub,
        command: AgentCommand,
        cwd: Path,
        *,
        settings: Settings | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """`notes` is what the user should know of the settings."""
        super().__init__()
        self._hub = hub
        self._command = command
        self._cwd = cwd
        self.settings = settings or Settings()
        self._notes = tuple(notes)
        for own in OWN_THEMES:
            self.register_theme(own)
        self._set_look(self.settings.appearance)
        self.last_key_at = 0.0
        """When the last key came, by the event loop's clock: what can wait makes room for its echo."""

    def _set_look(self, appearance: Appearance) -> None:
        self.no_color = bool(os.environ.get("NO_COLOR"))  # an empty one means nothing (https://no-color.org)
        # What colours tell apart in other themes, this one tells apart by attributes.
        self.theme = ANSI_DARK if self.no_color else self._known_theme(appearance.theme)
        if appearance.reduced_motion:
            self.animation_level = "none"
        looks: list[LineFilter] = [NoColor(enabled=self.no_color), Ascii(enabled=appearance.ascii)]
        self._looks = [look for look in looks if look.enabled]

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What each line goes through before it is shown; NO_COLOR leaves no greys either, as Textual's own would."""
        own = (each for each in super().get_line_filters() if not isinstance(each, Monochrome))
        return [*own, *self._looks]

    def _known_theme(self, name: str) -> str:
        if name and name not in self.available_themes:
            self._notes += (f"appearance.theme: there is no theme {name!r}; known: {_names(self)}",)
        return name if name in self.available_themes else DARK.name

    def on_mount(self) -> None:
        """Say what is wrong in the settings: in a word where it is more than one thing."""
        if len(self._notes) == 1:
            self.notify(self._notes[0], title="Settings", severity="warning", markup=False)
        elif self._notes:
            self.notify(
                f"{len(self._notes)} things are wrong: /settings shows them",
                title="Settings",
                severity="warning",
            )

    def action_show_settings_notes(self) -> None:
        """Show what is wrong in the settings."""
        from acp_tui.ui.screens.reading import ReadingScreen

        text = "\n\n".join(self._notes) or "Nothing is wrong in the settings."
        self.push_screen(ReadingScreen("Settings", text))

    async def on_event(self, event: events.Event) -> None:
        """Note keys before anything is done with them."""
        if isinstance(event, events.Key):
            self.last_key_at = asyncio.get_running_loop().time()
        await super().on_event(event)

    def get_default_screen(self) -> SessionScreen:
        """The session's."""
        return SessionScreen(self._start_agent, self._cwd, settings=self.settings)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The command palette: Textual's own commands, and ours from the table that the keys come from too."""
        yield from super().get_system_commands(screen)
        if isinstance(screen, SessionScreen):
            for command in COMMANDS:
                if command.action:
                    yield SystemCommand(
                        command.title, command.help, partial(self.run_action, command.action, screen)
                    )

    async def _start_agent(self, on_phase: Callable[[Phase], None]) -> Agent:
        from anyio import to_thread

        # The wire types take longer to load than a frame may: in a thread, so that keys are answered meanwhile.
        await to_thread.run_sync(self._hub.preload)
        from acp_tui.client.sessions.offers import INTERACTIVE
        from acp_tui.client.sessions.policy import policy_of

        trace_context = self.settings.agent.trace_context.as_mapping()
        return await self._hub.start_agent(
            self._command,
            offer=replace(INTERACTIVE, trace_context=trace_context),
            on_phase=on_phase,
            policy=policy_of(self.settings),
        )


def _names(app: App[None]) -> str:
    return ", ".join(sorted(app.available_themes))
