"""The find bar of a replay, where there is no prompt to go back to."""

from __future__ import annotations

from acp_tui.ui.session import find_bar


class FindBar(find_bar.FindBar):
    """Looks through what has been replayed. Its name is that of its kind: the keys of the search are found by it."""

    def action_close(self) -> None:
        """Look for nothing any more, and go back to the conversation."""
        self._view.look_for("")
        self._view.focus()
        self.remove()
