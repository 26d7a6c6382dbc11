"""What was killed last (Ctrl+K, Ctrl+U, Ctrl+W and their kin), to be yanked back; it edits nothing."""

from __future__ import annotations


class Killed:
    """One text. What is killed in a row, with nothing else between, is one."""

    def __init__(self) -> None:
        self.text = ""
        self._state: object = None

    def add(self, text: str, *, is_before: bool, state: object, state_after: object) -> None:
        """Killed before the cursor or behind it; the two states tell whether anything happened since the last."""
        if self._state is None or state != self._state:
            self.text = text
        else:
            self.text = text + self.text if is_before else self.text + text
        self._state = state_after

    def keep(self, text: str) -> None:
        """This alone."""
        self.text, self._state = text, None
