"""A line of a user's command for the status line, such as a branch or the price of a day.

It runs at calm moments only: when a session opens, when a turn ends, and when the title changes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from textual.widget import Widget

from acp_tui.client.settings.settings import Appearance
from acp_tui.client.user_programs import run_program
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.plain_text import plain_text
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
