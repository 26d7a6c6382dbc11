"""Runs the user interface. Makes sure that no agent survives a crash of the screen, and that errors are reported.

Textual captures what is written to stderr while it runs, so that would be lost. It's kept until the terminal is free.
Failures that the user can do something about are reported where they happen, not here.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp_tui.cli import code_of
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.kit.terminal_colors import ask_terminal, has_unicode, keep_keys, light_or_dark

if TYPE_CHECKING:
    from acp_tui.cli.leaving import LeftByHost
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.sessions.session_history import LeftSession
    from acp_tui.client.transcript import RecordTo
    from acp_tui.ui.app.app import AcpTuiApp
    from acp_tui.ui.base.app import BaseApp
    from acp_tui.ui.tab.tab import Opening

MAX_KEPT: Final = 20
"""Later errors mostly follow from the first ones."""


def run_screen(
    command: AgentCommand | None,
    cwd: Path,
    settings: Settings,
    notes: Sequence[str],
    record: RecordTo | None = None,
    opening: Opening | None = None,
    *,
    prompt: str | None = None,
    shell: LeftByHost | None = None,
) -> int:
    """Work with the agent until the user quits. Returns the exit status. With `command` None, the user chooses one.

    `notes` has remarks about the settings. With `opening`, that session is shown first. `prompt` is sent in the first
    session. With `shell`, the sessions may go on without the screen.
    """
    settings = replace(settings, appearance=fitted(settings.appearance))
    with told_afterwards():
        status, left, folders = asyncio.run(_run(command, cwd, settings, notes, record, opening, prompt, shell))
    had_terminals = "acp_tui.client.terminals.emulator" in sys.modules  # a command was shown
    if left or folders or had_terminals:
        from acp_tui.cli.sessions import say_what_is_left  # the recordings are complete now

        say_what_is_left(left, folders, had_terminals=had_terminals)
    return status


def fitted(appearance: Appearance) -> Appearance:
    """Fill in unset values so that they fit the terminal. What is typed from now on is for the screen."""
    if sys.stdin.isatty():
        keep_keys(sys.stdin.fileno())
    return replace(
        appearance,
        theme=appearance.theme or _app_class().theme_for(light_or_dark(os.environ, _asked), os.environ),
        ascii=appearance.ascii or not has_unicode(os.environ),
    )


def _asked() -> bytes:
    heard = ask_terminal(_app_class)  # which loads while the terminal answers
    _app_class().feed_early(heard)  # it may have keys
    return heard


def _app_class() -> type[AcpTuiApp]:
    from acp_tui.ui.app.app import AcpTuiApp  # only after asking the terminal how it looks

    return AcpTuiApp


async def _run(
    command: AgentCommand | None,
    cwd: Path,
    settings: Settings,
    notes: Sequence[str],
    record: RecordTo | None,
    opening: Opening | None,
    prompt: str | None,
    shell: LeftByHost | None,
) -> tuple[int, Sequence[LeftSession], Sequence[Path]]:
    """Return the exit status, the sessions that can be resumed, and the folders of the tabs."""
    async with open_hub() as hub:
        app = _app_class()(hub, command, cwd, settings=settings, notes=notes, settings_file=settings_file())
        app.record_to = record
        app.opening = opening
        app.first_prompt = prompt
        if shell is not None:
            app.can_leave = True
            shell.when_killed(app.hang_up)
        try:
            await run_app(app)
        finally:
            app.let_go_of_terminal()
        if shell is not None and app.leaves:
            from acp_tui.cli.host import go_on  # after the screen

            app.prompt_memory.let_go()
            await go_on(hub, shell, app.moves, app.settings.notifications)
            return 0, (), ()
        return app.return_code or code_of(app.failure), app.left_sessions(), [tab.cwd for tab in app.tabs]


async def run_app(app: BaseApp) -> None:
    # A closed window and a `kill` end us as Ctrl+Q does: the terminal is restored, and agents that ignore the end of
    # their input are ended too. Ctrl+C is a signal again once the screen has gone: what is told then isn't lost by it.
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, app.hang_up)
    loop.add_signal_handler(signal.SIGTERM, app.exit)
    loop.add_signal_handler(signal.SIGINT, app.exit)
    try:
        await app.run_async()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)


# Internal failures


class _KeptRecords(logging.Handler):
    """Keeps the first records, each once, as text, because a traceback would keep all of its objects alive."""

    def __init__(self, *, shows_where: bool) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.more = 0
        self._shows_where = shows_where

    def emit(self, record: logging.LogRecord) -> None:
        text = make_visible(self.format(record)) if self._shows_where else make_visible_line(_in_a_line(record))
        if text in self.texts or len(self.texts) == MAX_KEPT:
            self.more += 1
        else:
            self.texts.append(text)


@contextmanager
def told_afterwards() -> Iterator[None]:
    """Write what was logged as an error within the block to stderr after it, however it ends."""
    kept = _KeptRecords(shows_where=bool(os.environ.get("ACP_TUI_DEBUG")))
    log = logging.getLogger()  # the event loop logs errors there that nothing waited for
    log.addHandler(kept)
    try:
        yield
    finally:
        log.removeHandler(kept)
        if kept.texts:
            sys.stderr.write(_told(kept))


def _told(kept: _KeptRecords) -> str:
    head = "acp-tui: internal errors; please report them with the output of ACP_TUI_DEBUG=1, which shows where"
    more = [f"and {kept.more} more"] if kept.more else []
    return "\n  ".join([head, *kept.texts, *more]) + "\n"


def _in_a_line(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info is not None else None
    return record.getMessage() if error is None else f"{record.getMessage()}: {type(error).__name__}: {error}"
