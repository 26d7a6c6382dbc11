"""Shows the files that the agent works on in the user's own editor, by the command of the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import anyio
from textual.widget import Widget

from acp_tui.client.user_programs import run_program
from acp_tui.conversation.entries import Entry, ToolCallEntry
from acp_tui.conversation.tool_calls import Location, changed_paths

LIMIT_S: Final = 5.0
PAUSE_S: Final = 0.5
"""After each run, so that an editor can be read while an agent works fast."""


class EditorFollower:
    """Runs the command for the latest place only: those that come while it runs are skipped."""

    def __init__(self, place: Widget, cwd: Path, warn: Callable[[str], None]) -> None:
        """`warn` is called with a problem, once for each command."""
        self._place = place
        self._cwd = cwd
        self._warn = warn
        self._shown: Location | None = None
        self._next: Location | None = None
        self._failed: tuple[str, ...] = ()
        """The command of which the user was told that it fails."""

    def note(self, entries: Sequence[Entry], argv: tuple[str, ...]) -> None:
        """Follow to where the last of these entries works now, if it's a file of the session's folder."""
        at = next((found for entry in reversed(entries) if (found := _place_of(entry)) is not None), None)
        if at is None or at in (self._shown, self._next) or self._cwd not in Path(at.path).parents:
            return
        is_running = self._next is not None
        self._next = at
        if not is_running:
            self._place.run_worker(self._run(argv), group="follow")

    async def _run(self, argv: tuple[str, ...]) -> None:
        while self._next is not None and self._next != self._shown:
            at = self._shown = self._next
            words = [word.replace("{line}", str(at.line or 1)).replace("{path}", at.path) for word in argv]
            problem, _ = await run_program(words, {}, LIMIT_S, cwd=self._cwd)
            if problem and argv != self._failed:
                self._failed = argv
                self._warn(f"follow.command: {argv[0]} {problem}")
            await anyio.sleep(PAUSE_S)
        self._next = None


def _place_of(entry: Entry) -> Location | None:
    """Where a tool call works: the last place that it names, or the last file that it changes."""
    if not isinstance(entry, ToolCallEntry):
        return None
    changed = [Location(path) for path in changed_paths(entry.call.content)]
    return next(reversed((*changed, *entry.call.locations)), None)
