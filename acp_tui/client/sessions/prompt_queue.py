"""Prompts that wait for the turn to end, in the order they're sent. The queue sends nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class PastedImage:
    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    images: tuple[PastedImage, ...] = ()
    key: int = 0
    """Identifies the prompt wherever it is in a queue: others may be sent while the user looks at it."""


class PromptQueue:
    """The waiting prompts of one session. While held, it returns none until the user continues."""

    def __init__(self) -> None:
        self._prompts: list[Prompt] = []
        self._last_key = 0
        self.is_held = False
        """A turn was cancelled or failed, so the waiting prompts may not fit anymore."""
        self._due: float | None = None

    @property
    def prompts(self) -> Sequence[Prompt]:
        """The next one first."""
        return tuple(self._prompts)

    def add(self, text: str, images: tuple[PastedImage, ...] = (), *, is_first: bool = False) -> None:
        self._last_key += 1
        self._prompts.insert(0 if is_first else len(self._prompts), Prompt(text, images, self._last_key))

    @property
    def due(self) -> float | None:
        """When the user wants the held prompts sent, in seconds since the epoch; None if they didn't say."""
        return self._due if self.is_held else None

    def hold(self, due: float | None = None) -> None:
        """Return none until `go_on`. An empty queue isn't held."""
        self.is_held, self._due = bool(self._prompts), due

    def go_on(self) -> None:
        self.is_held = False

    def next(self) -> Prompt | None:
        """Remove and return the prompt to send now."""
        return None if self.is_held or not self._prompts else self._prompts.pop(0)

    def take(self, key: int) -> Prompt | None:
        """Remove and return this prompt, to change or drop it; None if it has been sent."""
        found = self._find(key)
        if found is None:
            return None
        self._prompts.remove(found)
        self.is_held = self.is_held and bool(self._prompts)
        return found

    def move(self, key: int, step: int) -> None:
        """Move a prompt `step` places later, or earlier if negative, as far as there are places."""
        found = self._find(key)
        if found is not None:
            to = max(0, self._prompts.index(found) + step)
            self._prompts.remove(found)
            self._prompts.insert(to, found)

    def _find(self, key: int) -> Prompt | None:
        return next((prompt for prompt in self._prompts if prompt.key == key), None)
