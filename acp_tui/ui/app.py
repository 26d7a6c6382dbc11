"""The Textual app: stylesheets, themes, and the one screen there is so far."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.types import CSSPathType

from acp_tui.ui.screens.session import SessionScreen
from acp_tui.ui.stylesheets import stylesheets
from acp_tui.ui.themes import DARK, OWN_THEMES

if TYPE_CHECKING:
    # Loaded after the first frame: it brings the wire types along.
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.sessions.hub import SessionHub
    from acp_tui.client.sessions.phase import Phase
    from acp_tui.client.sessions.session import Session


class AcpTuiApp(App[None]):
    """Works with one agent. The hub around it owns the agent's process and outlives the app."""

    TITLE = "acp-tui"
    CSS_PATH: ClassVar[CSSPathType | None] = [*stylesheets()]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Quit", show=False, priority=True)]

    def __init__(self, hub: SessionHub, command: AgentCommand, cwd: Path, *, theme: str = DARK.name) -> None:
        super().__init__()
        self._hub = hub
        self._command = command
        self._cwd = cwd
        for own in OWN_THEMES:
            self.register_theme(own)
        self.theme = theme

    def get_default_screen(self) -> SessionScreen:
        """The session's."""
        return SessionScreen(self._start)

    async def _start(self, on_phase: Callable[[Phase], None]) -> tuple[Session, str]:
        from anyio import to_thread

        # The wire types take longer to load than a frame may: in a thread, so that keys are answered meanwhile.
        await to_thread.run_sync(_preload, self._hub)
        agent = await self._hub.start_agent(self._command, on_phase=on_phase)
        await agent.initialize()
        return await agent.new_session(self._cwd), agent.title


def _preload(hub: SessionHub) -> None:
    import_module("acp_tui.ui.widgets.session_panel")
    hub.preload()
