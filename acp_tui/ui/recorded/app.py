"""The app of a replay: no hub, no agent; it looks as the settings say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from textual.screen import Screen

from acp_tui.client.settings.tree import Settings
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.replay_table import REPLAY_COMMANDS
from acp_tui.ui.kit.memory import keep_what_is_loaded
from acp_tui.ui.recorded.film import Film
from acp_tui.ui.recorded.keymap import replay_keymap
from acp_tui.ui.recorded.pace import Pace
from acp_tui.ui.recorded.screen import ReplayScreen
from acp_tui.ui.recorded.spot import Spot


class ReplayApp(BaseApp):
    """Shows one recording."""

    TITLE = "acp-tui replay"

    def __init__(
        self,
        film: Film,
        *,
        pace: Pace | None = None,
        until: Spot | None = None,
        is_followed: bool = False,
        settings: Settings | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """As `ReplayScreen` says; `notes` is what is wrong in the settings."""
        super().__init__(settings, notes)
        self.keymap = replay_keymap(self.keymap)
        self._make_screen = partial(
            ReplayScreen,
            film,
            pace=pace or Pace(),
            until=until,
            is_followed=is_followed,
            settings=self.settings,
        )

    def on_mount(self) -> None:
        """Say what is wrong in the settings, briefly."""
        self.tell_notes(self._notes)
        self.call_after_refresh(keep_what_is_loaded)

    def get_default_screen(self) -> ReplayScreen:
        """The replay."""
        return self._make_screen()

    def commands_for(self, screen: Screen[object]) -> Iterator[Command]:
        """What can be done by key, and another theme."""
        yield from (*REPLAY_COMMANDS, *super().commands_for(screen))
