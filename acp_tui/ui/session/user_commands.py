"""The user's commands for a session: one for a line of the status, and one by which the editor follows the agent.

The first, for a branch or the price of a day, runs at calm moments only: when a session opens, when a turn ends, and
when the title changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import anyio
from textual.widget import Widget

from acp_tui.client.settings.settings import Appearance
from acp_tui.client.user_programs import run_program
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, ToolCallEntry
from acp_tui.conversation.plain_text import plain_text
from acp_tui.conversation.tool_calls import Location, changed_paths
from acp_tui.conversation.visible import make_visible_line

LIMIT_S: Final = 5.0
MAX_CHARACTERS: Final = 80


class StatusCommand:
    """Runs the command of the settings for one session, and keeps what it printed last."""

    def __init__(
        self,
        place: Widget,
        conversation: Conversation,
        cwd: Path,
        facts: dict[str, str],
        show: Callable[[], None],
        warn: Callable[[str], None],
    ) -> None:
        """`facts` are variables for the command; `show` is called with new output, and `warn` with a problem."""
        self._place = place
        self._conversation = conversation
        self._cwd = cwd
        self._facts = facts
        self._show = show
        self._warn = warn
        self._argv: tuple[str, ...] = ()
        self._was_idle = True
        self._title = conversation.title
        self._is_running = False
        self._is_due = False
        """Whether it should run again after the present run."""
        self._has_failed = False
        """Whether the user was told that this command fails."""
        self.line = ""
        """What the command printed, safe to show; "" for nothing."""

    def run_if_due(self, appearance: Appearance) -> None:
        """Run the command if the settings or the title are new, or a turn has ended.

        Cheap: called whenever a fact changes.
        """
        argv = appearance.status_command if "command" in appearance.status else ()
        was_idle, self._was_idle = self._was_idle, self._conversation.is_idle
        title, self._title = self._title, self._conversation.title
        if argv != self._argv:
            self._argv, self._has_failed, self.line = argv, False, ""
            self.refresh()
        elif self._was_idle and (not was_idle or self._title != title):
            self.refresh()

    def refresh(self) -> None:
        """Run the command now, or again after it has ended."""
        if self._is_running:
            self._is_due = True
        elif self._argv:
            self._is_running = True
            self._place.run_worker(self._run(), group="status_command")

    async def _run(self) -> None:
        try:
            self._is_due = True
            while self._is_due and self._argv:
                self._is_due = False
                await self._run_once(self._argv)
        finally:
            self._is_running = False

    async def _run_once(self, argv: tuple[str, ...]) -> None:
        if "/" in argv[0] and not argv[0].startswith("/"):
            problem, output = "must be a full path, or a name in PATH", b""
        else:
            problem, output = await run_program(argv, self._env(), LIMIT_S, cwd=self._cwd, wants_output=True)
        if argv != self._argv:
            return
        self.line = "" if problem else first_line(output)
        if problem and not self._has_failed:
            self._has_failed = True
            self._warn(f"appearance.status_command: {argv[0]} {problem}")
        self._show()

    def _env(self) -> dict[str, str]:
        usage, models = self._conversation.usage, (o for o in self._conversation.options if o.category == "model")
        told = {
            "ACP_TUI_CWD": str(self._cwd),
            "ACP_TUI_TITLE": self._conversation.shown_title,
            "ACP_TUI_MODEL": next((str(option.value) for option in models), ""),
            "ACP_TUI_TOKENS": "" if usage is None else str(usage.used),
            "ACP_TUI_COST": "" if usage is None or usage.cost_amount is None else str(usage.cost_amount),
            **self._facts,
        }
        return {name: value.replace("\0", "") for name, value in told.items()}


def first_line(output: bytes) -> str:
    """The first line with words of a command's output, without escape sequences, shortened and safe to show."""
    lines = (line.strip() for line in plain_text(output, is_complete=True).splitlines())
    line = make_visible_line(next(filter(None, lines), ""))
    return line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 1]}…"


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
