"""Prompts that wait for the turn to end, in the order in which they are sent. It sends nothing."""

from __future__ import annotations

from collections.abc import Sequence

from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class QueuedPrompt:
    """A prompt that waits."""

    key: int
    """By this it is known, wherever it stands: others may be sent while the user looks at it."""
    text: str


class PromptQueue:
    """The waiting prompts of one session. Held back, it gives none until the user lets it go on."""

    def __init__(self) -> None:
        self._prompts: list[QueuedPrompt] = []
        self._last_key = 0
        self.is_held = False
        """A turn was cancelled or failed: what waits may not fit any more."""

    @property
    def prompts(self) -> Sequence[QueuedPrompt]:
        """The next one first."""
        return tuple(self._prompts)

    def add(self, text: str) -> None:
        """One more, behind the others."""
        self._last_key += 1
        self._prompts.append(QueuedPrompt(self._last_key, text))

    def hold(self) -> None:
        """Give none until `go_on`. An empty queue holds nothing back."""
        self.is_held = bool(self._prompts)

    def go_on(self) -> None:
        """The user wants what waits to be sent."""
        self.is_held = False

    def next(self) -> str | None:
        """Take the one that is to be sent now."""
        return None if self.is_held or not self._prompts else self._prompts.pop(0).text

    def pull_back(self) -> str | None:
        """Take the last one out again, to be changed or dropped."""
        return self.take(self._prompts[-1].key) if self._prompts else None

    def take(self, key: int) -> str | None:
        """Take this one out, to be changed or dropped; None where it has been sent meanwhile."""
        found = self._find(key)
        if found is None:
            return None
        self._prompts.remove(found)
        self.is_held = self.is_held and bool(self._prompts)
        return found.text

    def move(self, key: int, step: int) -> None:
        """Have it sent so many places later, or earlier for a negative `step`, as far as there are places."""
        found = self._find(key)
        if found is not None:
            to = max(0, self._prompts.index(found) + step)
            self._prompts.remove(found)
            self._prompts.insert(to, found)

    def _find(self, key: int) -> QueuedPrompt | None:
        return next((prompt for prompt in self._prompts if prompt.key == key), None)
