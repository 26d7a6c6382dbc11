"""Keeps the pictures of prompts that wait beside their queue, which holds text alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from acp_tui.ui.widgets.prompt import PastedImage

if TYPE_CHECKING:
    from acp_tui.client.sessions.prompt_queue import PromptQueue


class Prompt(NamedTuple):
    """What is sent at once."""

    text: str
    images: tuple[PastedImage, ...] = ()


class QueuedImages:
    """The way into a queue and out of it for prompts with pictures."""

    def __init__(self) -> None:
        self._by_queue: WeakKeyDictionary[PromptQueue, dict[int, tuple[PastedImage, ...]]]
        self._by_queue = WeakKeyDictionary()

    def add(self, queue: PromptQueue, prompt: Prompt) -> None:
        """Behind the others."""
        queue.add(prompt.text)
        if prompt.images:
            self._by_queue.setdefault(queue, {})[queue.prompts[-1].key] = prompt.images

    def next(self, queue: PromptQueue) -> Prompt | None:
        """Take the one that is to be sent now."""
        key = queue.prompts[0].key if queue.prompts else 0
        text = queue.next()
        return None if text is None else Prompt(text, self.of(queue, key))

    def all_in(self, queue: PromptQueue) -> list[Prompt]:
        """What waits, in order; it stays there."""
        images = self._by_queue.get(queue, {})
        return [Prompt(prompt.text, images.get(prompt.key, ())) for prompt in queue.prompts]

    def of(self, queue: PromptQueue, key: int) -> tuple[PastedImage, ...]:
        """Take the pictures of a prompt that has left the queue."""
        return self._by_queue.get(queue, {}).pop(key, ())
