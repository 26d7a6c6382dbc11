"""`acp-tui [AGENT]`, `acp-tui run`, and `acp-tui demo`: work with an agent on the screen, or as in `start_modes`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui import demo as shipped
from acp_tui.cli import prerequisites
from acp_tui.cli.arguments import Args, options_of
from acp_tui.cli.command import Late
from acp_tui.cli.leaving import leavable
from acp_tui.cli.screen import run_screen
from acp_tui.client.agents.demo_agent import demo_command, with_project
from acp_tui.client.agents.starting import end_early, start_early
from acp_tui.client.settings.location import project_settings_file, settings_file
from acp_tui.client.settings.mcp import servers_at_start

if TYPE_CHECKING:
    import acp_tui.cli.start_modes
    from acp_tui.cli.plain.chat import Opening
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.transcript import RecordTo
else:
    acp_tui = Late("acp_tui")

# Each way only loads what it needs, because the first frame waits for it.


def run(args: Args) -> int:
    """Work with the named agent, or let the user choose one, on the screen or in the requested way."""
    is_simple = args.resume is None and args.worktree is None and not args.plain
    if is_simple and (args.agent is not None or prerequisites.has_terminal()):
        command = prerequisites.command_of(args.agent) if args.agent is not None else None
        return work_with(command, args.cwd, args.record, prompt=args.prompt)
    return acp_tui.cli.start_modes.run(args, work_with)


def demo(args: Args) -> int:
    """Work with the scripted agent, or list its scenarios."""
    if args.list or args.word not in (None, *shipped.names()):
        return acp_tui.cli.start_modes.demo(args, play)
    return play(args.word or shipped.DEFAULT, args)


def play(scenario: str, args: Args) -> int:
    command = with_project(demo_command(scenario, args.speed, 2 if args.protocol == "2" else 1))
    command = replace(command, sandbox=args.sandbox or "", options=options_of(args))
    return work_with(command, Path(), is_plain=args.plain, prompt=args.prompt)  # it has its own folder


def work_with(
    command: AgentCommand | None,
    cwd: Path,
    record: RecordTo | None = None,
    *,
    is_plain: bool = False,
    prompt: str | None = None,
    opening: Opening | None = None,
    notes: Sequence[str] = (),
) -> int:
    """Work with the agent, in lines if something turns plain mode on. With `command` None, the user chooses one.

    `prompt` is sent first. `opening` opens a session in lines; the screen's callers have their own. `notes` are told
    with those about the settings.
    """
    read = prerequisites.settings_in_force()
    notes = (*filter(None, notes), *prerequisites.notes_of(read))
    if why := prerequisites.why_plain(read.settings, is_wanted=is_plain):
        from acp_tui.cli.plain import run_plain
        from acp_tui.cli.sessions import say_how_to_resume

        return run_plain(command, cwd, read.settings, why, notes, record, prompt, opening, leave=say_how_to_resume)
    prerequisites.require_screen("to run one turn without it: acp-tui exec")
    shell = leavable(read.settings.sessions)
    if command is None:
        return run_screen(command, cwd, read.settings, notes, record, shell=shell)
    servers_at_start(settings_file())  # before any agent can write there
    # It starts while the screen loads. A project's settings, which the screen reads, may change its sandbox.
    plan = prerequisites.sandbox_plan(command, read.settings)
    if plan is None or not project_settings_file(cwd).exists():
        start_early(command, command.cwd or cwd, plan)
    try:
        return run_screen(command, cwd, read.settings, notes, record, prompt=prompt, shell=shell)
    finally:
        end_early()
