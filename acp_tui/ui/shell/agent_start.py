"""What is asked of the user and said to them before an agent starts; starting it is its caller's business."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from textual.app import App

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.remembered import note_used, recent_agents, recent_file
from acp_tui.client.errors import AgentStartFailed
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.dialogs.trust import agreed_command


async def ready_to_start(app: App[Any], command: AgentCommand) -> AgentCommand:
    """The command once the user has agreed to it, now or before. Raises AgentStartFailed where they do not.

    What a known agent runs is said before its first run, and what follows from where it runs each time. To be awaited
    in a worker.
    """
    agreed = await agreed_command(app, command)
    if agreed is None:
        raise AgentStartFailed(f"{command.name} was not started: you did not agree to run it")
    if command.place_note:
        _say(app, f"{command.name} {command.place_note}.", severity="warning")
    if command.is_listed:
        is_first = command.name not in await to_thread.run_sync(recent_agents, recent_file())
        if is_first and command.package is None:
            _say(app, f"{command.name} runs: {command.line}")
        await to_thread.run_sync(note_used, command.name, recent_file())
    return agreed


def _say(app: App[Any], text: str, *, severity: Any = "information") -> None:
    app.notify(make_visible_line(text), title="Agent", severity=severity, markup=False)
