"""Working with an agent line by line, for screen readers and terminals that cannot be drawn on: `--plain`.

The terminal belongs to the main thread, the agent to the event loop of another.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from anyio.from_thread import BlockingPortal, start_blocking_portal

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.plain.chat import Chat
from acp_tui.cli.plain.commands import command_for
from acp_tui.cli.plain.console import Console
from acp_tui.cli.plain.words import ours
from acp_tui.cli.terminal import ready_to_run
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.settings import Settings
from acp_tui.client.transcript.record_to import RecordTo
from acp_tui.conversation.visible import make_visible


class _Host:
    """Takes what the user does from the main thread to the loop, and waits until it is taken in."""

    def __init__(self, portal: BlockingPortal, chat: Chat) -> None:
        self._portal = portal
        self._chat = chat

    def take_line(self, line: str) -> None:
        self._portal.call(self._chat.take_line, line)

    def interrupt(self, *, had_draft: bool) -> None:
        self._portal.call(self._chat.interrupt, had_draft)

    def end(self) -> None:
        self._portal.call(self._chat.end)


def run_plain(
    command: AgentCommand,
    cwd: Path,
    settings: Settings,
    notes: Sequence[str],
    record: RecordTo | None = None,
) -> int:
    """Work with the agent line by line until the user ends it; returns the exit status.

    `notes` is what to say of the settings.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("acp-tui --plain needs a terminal; to pipe a prompt in: acp-tui exec\n")
        return ExitCode.USAGE
    agreed = ready_to_run(command)
    is_plain_terminal = os.environ.get("TERM", "dumb") == "dumb"
    console = Console(marks_prompts=settings.appearance.prompt_marks and not is_plain_terminal)
    for note in notes:
        console.say(ours(make_visible(note)))
    with start_blocking_portal() as portal:
        chat = portal.call(Chat, console, command_for, agreed, agreed.cwd or cwd, settings, record)
        status = portal.start_task_soon(chat.run)
        console.serve(_Host(portal, chat))
        if not status.done():
            portal.call(partial(chat.end, ExitCode.CANCELLED))
        return status.result()
