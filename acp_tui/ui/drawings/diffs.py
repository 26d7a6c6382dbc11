"""Keeps what was compared for the diffs that something shows, and compares further; draws nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from acp_tui.conversation.tool_calls import TextDiff
from acp_tui.conversation.tool_text import shown_path
from acp_tui.ui.rendering.diff import DiffRenderer

STEPS_AT_ONCE: Final = 3
"""Steps of about a millisecond between which keys get their turn."""

Key: TypeAlias = tuple[str, str | None, str]


class Comparisons:
    """A renderer for each diff that is shown now; of others, only the last that was compared for each path."""

    def __init__(self) -> None:
        self._renderers: dict[Key, DiffRenderer] = {}
        self._before: dict[str, DiffRenderer] = {}

    def keep(self, diffs: Iterable[TextDiff]) -> None:
        """Have a renderer for each of these. What was replaced is not compared any further."""
        ready = {key[0]: renderer for key, renderer in self._renderers.items() if renderer.is_ready}
        kept = {_key(diff): self._renderers.get(_key(diff)) for diff in diffs}
        self._renderers = {key: renderer or DiffRenderer(*key) for key, renderer in kept.items()}
        self._before = {**self._before, **ready}

    def advance(self) -> bool:
        """Compare a little further; True when there is nothing left to compare."""
        steps_left = STEPS_AT_ONCE
        for renderer in self._renderers.values():
            before = renderer.steps_made
            if not renderer.advance(steps_left):
                return False
            steps_left -= renderer.steps_made - before
        self._before.clear()
        return True

    def renderer(self, diff: TextDiff, cwd: str) -> DiffRenderer:
        """What draws this one; it may not be ready."""
        # The content may have changed since it was kept: what is new is compared when that is told.
        renderer = self._renderers.setdefault(_key(diff), DiffRenderer(*_key(diff)))
        renderer.path = shown_path(diff.path, cwd)
        return renderer

    def before(self, diff: TextDiff) -> DiffRenderer | None:
        """What was shown of the same file before; it is ready."""
        return self._before.get(diff.path)


def _key(diff: TextDiff) -> Key:
    return diff.path, diff.old_text, diff.new_text
