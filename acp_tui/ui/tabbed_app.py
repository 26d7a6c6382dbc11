"""An app of tabs: opens, closes and changes them. Each is a session's screen, on a stack of its own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work

from acp_tui.client.settings.tree import Settings
from acp_tui.ui.pacing import PacedApp
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.ui.tab.host import Opening
from acp_tui.ui.tab.screen import SessionScreen
from acp_tui.ui.tab.tabs import FIRST_MODE, Tab, Tabs

if TYPE_CHECKING:
    from acp_tui.client.prompts import PromptMemory
    from acp_tui.ui.changes_desk import ChangesDesk


class TabbedApp(PacedApp):
    """Owns what tabs share: the list of them, and what has changed in the folders that they work in."""

    DEFAULT_MODE = FIRST_MODE

    def __init__(self) -> None:
        super().__init__()
        self.settings = Settings()
        self.tabs = Tabs(self)
        self._changes: dict[Path, ChangesDesk] = {}
        self._memory: PromptMemory | None = None

    async def open_tab(self, link: AgentLink, cwd: Path, opening: Opening | None = None) -> Tab:
        """A new tab for a session of this agent, in front."""
        make = partial(SessionScreen, link, cwd, opening=opening, settings=self.settings)
        return await self.tabs.open(make)

    def changes_in(self, cwd: Path) -> ChangesDesk:
        """What has changed in a folder since the first of its tabs was opened, until the last one is closed."""
        from acp_tui.client.changes import Limits
        from acp_tui.ui.changes_desk import ChangesDesk

        desk = self._changes.get(cwd)
        if desk is None:
            kept = self.settings.changes
            limits = Limits(kept.max_file_bytes, kept.max_total_bytes, kept.max_files)
            desk = self._changes[cwd] = ChangesDesk(self, cwd, limits)
            desk.start()
        return desk

    @property
    def prompt_memory(self) -> PromptMemory:
        """What was written in the prompts of all tabs, and in earlier runs as far as it is kept."""
        from acp_tui.client.prompts import PromptMemory
        from acp_tui.client.settings import state_folder

        if self._memory is None:
            history = self.settings.history
            self._memory = PromptMemory(state_folder() if history.keep else None, history.max_entries)
        return self._memory

    def begin_to_follow(self) -> None:
        """A first tab is there: what can wait for that begins now."""

    # What the user does

    async def action_step_tab(self, direction: int) -> None:
        """Go to the tab to the right (1) or to the left (-1)."""
        await self.tabs.step(direction)

    async def action_go_to_tab(self, number: int) -> None:
        """Go to a tab by its number, from 1 on."""
        tabs = tuple(self.tabs)
        if number <= len(tabs):
            await self.tabs.go_to(tabs[number - 1])

    async def action_next_needing(self) -> None:
        """Go to the next tab in which something waits for the user."""
        if not await self.tabs.go_to_next_needing():
            self.notify("No other tab needs you.")

    @work
    async def action_close_tab(self) -> None:
        """Close the tab in front."""
        if self.tabs.front is not None:
            await self.close_tab(self.tabs.front)

    async def close_tab(self, tab: Tab) -> None:
        """Close a tab and its session, once the user is sure; in place of the last one, begin another session."""
        if not await tab.may_close():
            return
        if len(self.tabs) > 1:
            await self.take_away(tab)
            await tab.leave()
        else:
            await tab.begin_anew()

    def take_away_later(self, tab: Tab) -> None:
        """Take this tab away once it has done what it is doing."""
        self.run_worker(self.take_away(tab))

    async def take_away(self, tab: Tab) -> None:
        """Take a tab away, and what was followed for it alone."""
        await self.tabs.close(tab)
        followed = [tab.changes for tab in self.tabs]
        for cwd, desk in tuple(self._changes.items()):
            if desk not in followed:
                self._changes.pop(cwd).end()

    @work
    async def action_show_board(self) -> None:
        """Show all tabs, and what each is about."""
        from acp_tui.ui.screens.board import Board

        await self.push_screen_wait(Board(self.tabs, self.close_tab))
