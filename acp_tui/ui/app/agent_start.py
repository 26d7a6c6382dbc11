"""Starts the agent of a tab, once the user has agreed and the settings are known. Loaded with the wire types."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread
from textual.app import App

from acp_tui.client.agents.command import AgentCommand, Phase
from acp_tui.client.agents.remembered import in_its_sandbox, introduction, recent_file
from acp_tui.client.errors import NotAgreed
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import INTERACTIVE, policy_of
from acp_tui.client.sessions.hub import SessionHub
from acp_tui.client.settings.settings import Settings
from acp_tui.client.transcript import RecordTo
from acp_tui.client.transcript.recorder import SecretsSent
from acp_tui.client.transcript.recording_plan import recording_plan
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.dialogs.trust import agreed_command


async def start_agent(
    app: App[Any],
    hub: SessionHub,
    command: AgentCommand,
    cwd: Path,
    settings_in_force: Callable[[], Awaitable[Settings]],
    on_phase: Callable[[Phase], None],
    record_to: RecordTo | None,
) -> Agent:
    """Start the agent, for the caller to initialize. Await it in a worker. Raises AgentStartFailed."""
    if command.is_host:
        from acp_tui.client.hosting.finding import attached  # loading point: only for hosted sessions

        return await attached(hub, command, on_phase)
    settings = await settings_in_force()
    trace_context = settings.agent.trace_context.as_mapping()
    return await hub.start_agent(
        await ready_to_start(app, in_its_sandbox(command, settings)),
        cwd=cwd,
        offer=replace(INTERACTIVE, trace_context=trace_context),
        on_phase=on_phase,
        policy=policy_of(settings),
        secrets=SecretsSent({**os.environ, **command.env}) if settings.sessions.host != "never" else None,
        keeps_frames=True,
        recordings=recording_plan(
            settings.recordings,
            cwd,
            partial(app.notify, title="Recording", severity="warning", timeout=10, markup=False),
            to=record_to,
            screen=(app.size.width, app.size.height),
        ),
    )


async def ready_to_start(app: App[Any], command: AgentCommand) -> AgentCommand:
    """The command, if the user agrees to it or has agreed before. Raises NotAgreed otherwise.

    Tells the user what a known agent runs before its first run, and the consequences of where it runs each time. Await
    it in a worker.
    """
    agreed = await agreed_command(app, command)
    if agreed is None:
        raise NotAgreed(f"{command.name} wasn't started, because you didn't agree to run it")
    if command.place_note:
        _say(app, f"{command.name} {command.place_note}.", severity="warning")
    if news := await to_thread.run_sync(introduction, command, recent_file()):
        _say(app, news)
    return agreed


def _say(app: App[Any], text: str, *, severity: Any = "information") -> None:
    app.notify(make_visible_line(text), severity=severity, markup=False)
