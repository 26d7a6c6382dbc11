"""Prompts that wait for the turn to end, in the order in which they were written. It sends nothing."""

from __future__ import annotations

from collections.abc import Sequence


class PromptQueue:
    """The waiting prompts of one session. Held back, it gives none until the user lets it go on."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self.is_held = False
        """A turn was cancelled or failed: what waits may not fit any more."""

    @property
    def texts(self) -> Sequence[str]:
        """The next one first."""
        return tuple(self._texts)

    def add(self, text: str) -> None:
        """One more, behind the others."""
        self._texts.append(text)

    def hold(self) -> None:
        """Give none until `go_on`. An empty queue holds nothing back."""
        self.is_held = bool(self._texts)

    def go_on(self) -> None:
        """The user wants what waits to be sent."""
        self.is_held = False

    def next(self) -> str | None:
        """Take the one that is to be sent now."""
        return None if self.is_held or not self._texts else self._texts.pop(0)

    def pull_back(self) -> str | None:
        """Take the last one out again, to be changed or dropped."""
        text = self._texts.pop() if self._texts else None
        self.is_held = self.is_held and bool(self._texts)
        return text
