"""Prompts that wait for the turn to end, in the order they're sent. The queue sends nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class QueuedPrompt:
    """A prompt that waits."""

    key: int
    """Identifies the prompt wherever it is in the queue: others may be sent while the user looks at it."""
    text: str


class PromptQueue:
    """The waiting prompts of one session. While held, it returns none until the user continues."""

    def __init__(self) -> None:
        self._prompts: list[QueuedPrompt] = []
        self._last_key = 0
        self.is_held = False
        """A turn was cancelled or failed, so the waiting prompts may not fit anymore."""

    @property
    def prompts(self) -> Sequence[QueuedPrompt]:
        """The next one first."""
        return tuple(self._prompts)

    def add(self, text: str) -> None:
        """Add a prompt at the end."""
        self._last_key += 1
        self._prompts.append(QueuedPrompt(self._last_key, text))

    def hold(self) -> None:
        """Return none until `go_on`. An empty queue isn't held."""
        self.is_held = bool(self._prompts)

    def go_on(self) -> None:
        """Continue sending the waiting prompts."""
        self.is_held = False

    def next(self) -> str | None:
        """Remove and return the prompt to send now."""
        return None if self.is_held or not self._prompts else self._prompts.pop(0).text

    def pull_back(self) -> str | None:
        """Remove and return the last prompt, to change or drop it."""
        return self.take(self._prompts[-1].key) if self._prompts else None

    def take(self, key: int) -> str | None:
        """Remove and return this prompt, to change or drop it; None if it has been sent."""
        found = self._find(key)
        if found is None:
            return None
        self._prompts.remove(found)
        self.is_held = self.is_held and bool(self._prompts)
        return found.text

    def move(self, key: int, step: int) -> None:
        """Move a prompt `step` places later, or earlier if negative, as far as there are places."""
        found = self._find(key)
        if found is not None:
            to = max(0, self._prompts.index(found) + step)
            self._prompts.remove(found)
            self._prompts.insert(to, found)

    def _find(self, key: int) -> QueuedPrompt | None:
        return next((prompt for prompt in self._prompts if prompt.key == key), None)
