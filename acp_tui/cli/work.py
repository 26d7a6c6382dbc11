"""`acp-tui [AGENT]`, `acp-tui run` and `acp-tui demo`: works with an agent, on the screen or line by line."""

from __future__ import annotations

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
    if given.resume is not None:
        return _resume(given)
    if given.agent is not None:
        return _work(command_of(given.agent), given.cwd, given.record, is_plain=given.plain)
    if given.plain:
        raise WrongUse("--plain wants an agent: acp-tui AGENT --plain; acp-tui agents lists them")
    if has_terminal():
        return _work(None, given.cwd, given.record)
    from acp_tui.cli.agents import list_agents

    return list_agents()


def _work(
    command: AgentCommand | None, cwd: Path, record: RecordTo | None = None, *, is_plain: bool = False
) -> int:
    read = settings_in_force()
    if command is not None and (is_plain or read.settings.appearance.plain):
        from acp_tui.cli.plain import run_plain

        return run_plain(command, cwd, read.settings, notes_of(read), record)
    require_screen("for a turn without one: acp-tui exec")
    return run_screen(command, cwd, read.settings, notes_of(read), record)


def _resume(given: Given) -> int:
    if given.plain:
        raise WrongUse("--resume wants the screen, so it does not go with --plain")
    command = command_of(given.agent) if given.agent is not None else None
    require_screen("to read sessions without one: acp-tui sessions")
    read = settings_in_force()
    from acp_tui.cli.sessions import find_resumed

    found = find_resumed(given.resume, given.cwd, command)
    return run_screen(found.command, found.cwd, read.settings, notes_of(read), given.record, found.opening)


def demo(given: Given) -> int:
    """Work with the scripted agent, or list its scenarios."""
    from acp_tui.workbench.demo import shipped

    if given.list:
        available = shipped.available()
        width = max(map(len, available))
        for name, description in available.items():
            print(f"{name:<{width}}  {description}")
        return ExitCode.DONE
    name = given.word or shipped.DEFAULT
    if name not in shipped.names():
        _check_scenario(name)
    from acp_tui.client.agents.demo import demo_command, with_project

    command = with_project(demo_command(name, given.speed))
    return _work(command, Path(), is_plain=given.plain)  # it has a folder of its own


def _check_scenario(name: str) -> None:
    """Say what is wrong with a scenario of the user's own, before it comes from an agent that dies."""
    from acp_tui.cli.saying import say
    from acp_tui.workbench.demo.scenario import ScenarioError, UnknownScenario, load

    try:
        load(name)
        return
    except UnknownScenario as error:
        say(f"{error}; acp-tui demo --list shows those that come with acp-tui")
    except ScenarioError as error:
        say(str(error))
    raise SystemExit(ExitCode.USAGE)
