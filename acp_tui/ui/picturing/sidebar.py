"""The sidebar beside a recorded session: what its recording knows. Which files have changed, it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from textual.screen import Screen

from acp_tui.conversation.wording import session_facts
from acp_tui.ui.drawings.sidebar import SidebarState
from acp_tui.ui.replaying.film import Film
from acp_tui.ui.sidebar_desk import FROM_COLUMNS, SidebarDesk
from acp_tui.ui.widgets.session_panel import SessionPanel


class RecordedSidebar(SidebarDesk):
    """Shown where a user would see it without asking for it."""

    def __init__(self, screen: Screen[None], panel: SessionPanel, film: Film) -> None:
        super().__init__(screen, panel)
        self._film = film

    @property
    def _is_wanted(self) -> bool:
        return self._width >= FROM_COLUMNS

    def _state(self) -> SidebarState:
        return replace(super()._state(), are_changes_known=False)

    def _facts(self) -> tuple[tuple[str, str], ...]:
        # Not the whole path: whose home it was in is nobody's business.
        folder = Path(self._film.header.cwd).name
        return session_facts(self._panel.conversation, self._film.agent, folder, None)
