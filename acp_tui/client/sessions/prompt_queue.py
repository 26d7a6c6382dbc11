"""Prompts that wait for the turn to end, in the order they're sent, or for a time. The queue sends nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from itertools import count, takewhile
from math import inf, isfinite
from typing import TYPE_CHECKING

from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.sessions.schedule import Schedule


_KEYS = count(1)
"""A prompt keeps its key when it changes the queue."""


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
    schedule: Schedule | None = None
    """When it joins the queue, for one that waits for a time."""
    is_early: bool = False
    """It was entered before there was a session. Whether it's a command is known only then."""
    is_reason: bool = False
    """It says why a request was rejected."""

    @property
    def written(self) -> str:
        """What the user wrote to have it sent."""
        return self.text if self.schedule is None else self.schedule.written


class PromptQueue:
    """The waiting prompts of one session. While held, it returns none until the user continues."""

    def __init__(self) -> None:
        self._prompts: list[Prompt] = []
        self._scheduled: list[Prompt] = []
        self.is_held = False
        """A turn was cancelled or failed, so the waiting prompts may not fit anymore."""
        self.why_held = ""
        """Which of that, in a few words; "" if the user knows."""

    @property
    def prompts(self) -> Sequence[Prompt]:
        return tuple(self._prompts)

    def add(
        self,
        text: str,
        images: tuple[PastedImage, ...] = (),
        *,
        is_first: bool = False,
        is_early: bool = False,
        is_reason: bool = False,
    ) -> None:
        """Let it wait behind all others, or before them. A reason waits only behind the reasons before it."""
        prompt = Prompt(text, images, next(_KEYS), is_early=is_early, is_reason=is_reason)
        before = takewhile(lambda waits: not is_first and (waits.is_reason or not is_reason), self._prompts)
        self._prompts.insert(len([*before]), prompt)

    def take_over(self, other: PromptQueue) -> None:
        """Have what waits in `other` wait here, behind the rest."""
        self._prompts, other._prompts = [*self._prompts, *other._prompts], []
        self._scheduled, other._scheduled = [*self._scheduled, *other._scheduled], []
        self._sort()

    @property
    def scheduled(self) -> Sequence[Prompt]:
        """Those that wait for a time, the next one first."""
        return tuple(self._scheduled)

    def schedule(self, schedule: Schedule, images: tuple[PastedImage, ...] = ()) -> None:
        self._scheduled.append(Prompt(schedule.text, images, next(_KEYS), schedule))
        self._sort()

    def reschedule(self, key: int, schedule: Schedule | None) -> bool:
        """Have this prompt wait for another time, or for none. Returns False if the user removed it."""
        found = self._find(key)
        if found is None:
            return False
        self._scheduled.remove(found)
        if schedule is not None:
            self._scheduled.append(replace(found, schedule=schedule))
            self._sort()
        return True

    def _sort(self) -> None:
        self._scheduled.sort(key=lambda each: each.schedule.due if each.schedule is not None else 0.0)

    def hurry(self, key: int) -> bool:
        """Have this prompt be due now. Returns False if it doesn't wait for a time."""
        found = self._find(key)
        if found is None or found.schedule is None:
            return False
        if isfinite(found.schedule.due):  # otherwise the command runs already
            self.reschedule(key, found.schedule._replace(due=0.0))
        return True

    def take_due(self, now: float) -> list[tuple[Prompt, Schedule]]:
        """Return what was scheduled for this moment or earlier. Each waits until `reschedule` is called."""
        due = [
            (each, each.schedule) for each in self._scheduled if each.schedule is not None and each.schedule.due <= now
        ]
        for prompt, schedule in due:
            self.reschedule(prompt.key, schedule._replace(due=inf))
        return due

    def end_repeats(self) -> bool:
        """Drop what would be sent again and again. Returns whether anything would."""
        once = [each for each in self._scheduled if each.schedule is None or not each.schedule.every_s]
        has_ended, self._scheduled = len(once) < len(self._scheduled), once
        return has_ended

    @property
    def times(self) -> Sequence[float]:
        """When the user wants prompts sent, in seconds since the epoch; infinite while a command of theirs decides."""
        return tuple(each.schedule.due for each in self._scheduled if each.schedule is not None)

    def hold(self, why: str = "") -> None:
        """Return none until `go_on`. An empty queue isn't held."""
        self.is_held, self.why_held = bool(self._prompts), why

    def go_on(self) -> None:
        self.is_held = False

    def next(self, *, is_asked_for: bool = False) -> Prompt | None:
        """Remove and return the prompt to send now. What is held is sent one by one, as the user asks for it."""
        if not self._prompts or self.is_held is not is_asked_for:
            return None
        prompt = self._prompts.pop(0)
        self.is_held = self.is_held and bool(self._prompts)
        return prompt

    def take(self, key: int) -> Prompt | None:
        """Remove and return this prompt, to change or drop it; None if it has been sent."""
        found = self._find(key)
        if found is None:
            return None
        if found.schedule is not None:
            self._scheduled.remove(found)
            return replace(found, text=found.written)
        self._prompts.remove(found)
        self.is_held = self.is_held and bool(self._prompts)
        return found

    def move(self, key: int, step: int) -> None:
        """Move a prompt `step` places later, or earlier if negative, as far as there are places."""
        found = self._find(key)
        if found is not None and found.schedule is None:
            to = max(0, self._prompts.index(found) + step)
            self._prompts.remove(found)
            self._prompts.insert(to, found)

    def _find(self, key: int) -> Prompt | None:
        return next((prompt for prompt in (*self._prompts, *self._scheduled) if prompt.key == key), None)
