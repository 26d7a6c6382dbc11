"""Runs the user interface: agents in the hub around it outlive no crash of the screen, and what goes wrong is told.

Textual takes what is written to stderr meanwhile, so that it would be lost: it is kept until the terminal is free.
Failures that the user can do something about never come here: they are told where they happen.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_tui.cli import code_of
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.tree import Appearance, Settings
from acp_tui.ui.kit.terminal_colours import ask_terminal, has_unicode, light_or_dark

if TYPE_CHECKING:
    from textual.app import App

    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.transcript.record_to import RecordTo
    from acp_tui.ui.tab.host import Opening
    from acp_tui.ui.tab.reopening import LeftSession

MOST_KEPT: Final = 20
"""What comes later mostly follows from the first ones."""


def run_screen(
    command: AgentCommand | None,
    cwd: Path,
    settings: Settings,
    notes: Sequence[str],
    record: RecordTo | None = None,
    opening: Opening | None = None,
) -> int:
    """Work with the agent until the user quits, None: with one that the user chooses; returns the exit status.

    `notes` is what to say of the settings; with `opening` that session is shown first.
    """
    settings = replace(settings, appearance=fitted(settings.appearance))
    with told_afterwards():
        status, left, folders = asyncio.run(_run(command, cwd, settings, notes, record, opening))
    had_terminals = "acp_tui.client.terminals.emulator" in sys.modules  # a command was shown
    if left or folders or had_terminals:
        from acp_tui.cli.sessions import say_what_is_left  # the recordings are complete now

        say_what_is_left(left, folders, had_terminals=had_terminals)
    return status


def fitted(appearance: Appearance) -> Appearance:
    """With what is not set as it fits the terminal."""
    return replace(
        appearance,
        theme=appearance.theme or _theme_of_terminal(),
        ascii=appearance.ascii or not has_unicode(os.environ),
    )


def _theme_of_terminal() -> str:
    with ThreadPoolExecutor(1) as asking:
        shade = asking.submit(light_or_dark, os.environ, ask_terminal)
        # The screen is loaded while the terminal answers.
        from acp_tui.ui.kit import themes
        from acp_tui.ui.shell import app  # noqa: F401 - it is needed next

        return themes.theme_for(shade.result(), os.environ)


async def _run(
    command: AgentCommand | None,
    cwd: Path,
    settings: Settings,
    notes: Sequence[str],
    record: RecordTo | None,
    opening: Opening | None,
) -> tuple[int, Sequence[LeftSession], Sequence[Path]]:
    """The exit status, the sessions that can be come back to, and the folders of the tabs."""
    from acp_tui.client.sessions.hub import open_hub
    from acp_tui.ui.shell.app import AcpTuiApp  # not before the terminal is asked how it looks

    async with open_hub() as hub:
        app = AcpTuiApp(hub, command, cwd, settings=settings, notes=notes, settings_file=settings_file())
        app.record_to = record
        app.opening = opening
        try:
            await run_app(app)
        finally:
            app.let_go_of_terminal()
        folders = [tab.cwd for tab in app.tabs]
        return app.return_code or code_of(app.failure), app.left_sessions(), folders


async def run_app(app: App[Any]) -> None:
    """Run it until the user quits."""
    # A closed window and a `kill` end us as Ctrl+Q does: the terminal is left as it was, and agents that ignore the end
    # of their input are ended too.
    for number in (signal.SIGHUP, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, app.exit)
    await app.run_async()


# What went wrong inside


class _Kept(logging.Handler):
    """The first records, each once, as texts, since a traceback would keep alive whatever it went through."""

    def __init__(self, *, shows_where: bool) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.more = 0
        self._shows_where = shows_where

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        # Most runs have nothing to keep.
        from acp_tui.conversation.visible import make_visible, make_visible_line

        text = (
            make_visible(self.format(record)) if self._shows_where else make_visible_line(_in_a_line(record))
        )
        if text in self.texts or len(self.texts) == MOST_KEPT:
            self.more += 1
        else:
            self.texts.append(text)


@contextmanager
def told_afterwards() -> Iterator[None]:
    """What is logged in the block as wrong is written to stderr behind it, however it ends."""
    kept = _Kept(shows_where=bool(os.environ.get("ACP_TUI_DEBUG")))
    log = logging.getLogger()  # the event loop logs there what nobody has waited for
    log.addHandler(kept)
    try:
        yield
    finally:
        log.removeHandler(kept)
        if kept.texts:
            sys.stderr.write(_told(kept))


def _told(kept: _Kept) -> str:
    head = (
        "acp-tui: internal errors; please report them with the output of ACP_TUI_DEBUG=1, which shows where"
    )
    more = [f"and {kept.more} more"] if kept.more else []
    return "\n  ".join([head, *kept.texts, *more]) + "\n"


def _in_a_line(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info is not None else None
    return record.getMessage() if error is None else f"{record.getMessage()}: {type(error).__name__}: {error}"
