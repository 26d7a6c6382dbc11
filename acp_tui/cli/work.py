"""`acp-tui [AGENT]`, `acp-tui run`, and `acp-tui demo`: works with an agent, on the screen or line by line.

`acp-tui demo --list --format json` prints a list of objects with `name` and `description`.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.arguments import Given, WrongUse
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.prerequisites import command_of, has_terminal, notes_of, require_screen, settings_in_force
from acp_tui.cli.screen import run_screen

if TYPE_CHECKING:
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.transcript.record_to import RecordTo

# Each way loads only what it needs: the first frame waits for it.


def run(given: Given) -> int:
    """Work with the agent that is named, go on with an earlier session, or let the user choose an agent."""
    if given.web is not None:
        return _in_browser(given)
    if given.resume is not None:
        return _resume(given)
    if given.agent is not None:
        command, cwd = command_of(given.agent), given.cwd
        if given.worktree is not None:
            cwd = _worktree(cwd, given.worktree)
        return _work(command, cwd, given.record, is_plain=given.plain)
    if given.worktree is not None:
        raise WrongUse("--worktree needs an agent: acp-tui AGENT --worktree [NAME]")
    if given.plain:
        raise WrongUse("--plain needs an agent: acp-tui AGENT --plain; to list them: acp-tui agents")
    if has_terminal():
        return _work(None, given.cwd, given.record)
    from acp_tui.cli.agents import list_agents

    return list_agents()


def _in_browser(given: Given) -> int:
    if given.plain:
        raise WrongUse("--web shows a screen, so it doesn't go with --plain")
    from acp_tui.cli.web import serve_in_browser

    return serve_in_browser(int(given.web))


def _worktree(cwd: Path, name: str) -> Path:
    """A folder in a new git worktree, for the session to work in."""
    from acp_tui.cli.saying import say
    from acp_tui.client.worktrees import WorktreeFailed, add_worktree

    try:
        worktree = asyncio.run(add_worktree(cwd, name))
    except WorktreeFailed as error:
        say(str(error))
        raise SystemExit(ExitCode.ERROR) from error
    return Path(worktree.folder)


def _work(
    command: AgentCommand | None, cwd: Path, record: RecordTo | None = None, *, is_plain: bool = False
) -> int:
    read = settings_in_force()
    if command is not None and (is_plain or read.settings.appearance.plain):
        from acp_tui.cli.plain import run_plain

        return run_plain(command, cwd, read.settings, notes_of(read), record)
    require_screen("to run one turn without it: acp-tui exec")
    return run_screen(command, cwd, read.settings, notes_of(read), record)


def _resume(given: Given) -> int:
    if given.plain:
        raise WrongUse("--resume needs the screen, so it can't be used with --plain")
    command = command_of(given.agent) if given.agent is not None else None
    require_screen("to read sessions without it: acp-tui sessions")
    read = settings_in_force()
    from acp_tui.cli.sessions import find_resumed

    found = find_resumed(given.resume, given.cwd, command)
    return run_screen(found.command, found.cwd, read.settings, notes_of(read), given.record, found.opening)


def demo(given: Given) -> int:
    """Work with the scripted agent, or list its scenarios."""
    if given.web is not None:
        return _in_browser(given)
    from acp_tui.workbench import demo as shipped

    if given.list:
        available = shipped.available()
        if given.format == "json":
            print(
                json.dumps(
                    [{"name": name, "description": text} for name, text in available.items()], indent=2
                )
            )
            return ExitCode.DONE
        width = max(map(len, available))
        for name, description in available.items():
            print(f"{name:<{width}}  {description}")
        return ExitCode.DONE
    name = given.word or shipped.DEFAULT
    if name not in shipped.names():
        _check_scenario(name)
    from acp_tui.client.agents.catalogue import demo_command, with_project

    command = with_project(demo_command(name, given.speed, 2 if given.protocol == "2" else 1))
    return _work(command, Path(), is_plain=given.plain)  # it has a folder of its own


def _check_scenario(name: str) -> None:
    """Say what is wrong with a scenario of the user's own, before it comes from an agent that dies."""
    from acp_tui.cli.saying import say
    from acp_tui.workbench.demo.scenario import ScenarioError, UnknownScenario, load

    try:
        load(name)
        return
    except UnknownScenario as error:
        say(f"{error}; to list them: acp-tui demo --list")
    except ScenarioError as error:
        say(str(error))
    raise SystemExit(ExitCode.USAGE)
