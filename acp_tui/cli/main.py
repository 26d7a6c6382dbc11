"""The entry point: reads the command line and runs what it asks for. Each way loads only what it needs."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from acp_tui.cli import arguments
from acp_tui.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.settings import SettingsRead


def main(argv: Sequence[str] | None = None) -> int:
    """Run acp-tui with `argv` (default: the process's own arguments); returns the exit status."""
    if os.name != "posix":
        sys.stderr.write(
            "acp-tui needs a POSIX system (Linux, macOS): it runs commands on a PTY.\n"
            "On Windows it works inside WSL: https://learn.microsoft.com/windows/wsl\n"
        )
        return ExitCode.ERROR
    try:
        return _run(arguments.read_arguments(sys.argv[1:] if argv is None else argv))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else ExitCode.ERROR
    except KeyboardInterrupt:
        return ExitCode.CANCELLED
    except Exception as error:
        if os.environ.get("ACP_TUI_DEBUG"):
            raise
        sys.stderr.write(
            f"acp-tui: internal error: {type(error).__name__}: {error}\n"
            "  ACP_TUI_DEBUG=1 shows where; please report it with that\n"
        )
        return ExitCode.ERROR


def _run(request: arguments.Request) -> int:
    match request:
        case arguments.Run(agent, cwd):
            return _run_on_screen(agent, cwd)
        case arguments.Exec(agent, cwd, prompt, output_format):
            return _run_exec(agent, cwd, prompt, output_format)
        case arguments.Demo(scenario, speed):
            return _run_demo(scenario, speed)
        case arguments.ListAgents():
            return _list_agents()
        case arguments.ListScenarios():
            from acp_tui.demo import shipped

            available = shipped.available()
            width = max(map(len, available))
            for name, description in available.items():
                print(f"{name:<{width}}  {description}")
            return ExitCode.DONE
        case _:
            assert_never(request)


def _find(choice: arguments.AgentChoice) -> AgentCommand | int:
    """The agent's command; an exit status where there is none, the reason being said."""
    from acp_tui.client.agents import known
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.errors import AgentNotFound, ClientError

    if choice.name is None:
        return AgentCommand(Path(choice.argv[0]).name, choice.argv)
    try:
        return known.find_agent(choice.name, known.config_file())
    except ClientError as error:
        _say(error)
        return ExitCode.NOT_FOUND if isinstance(error, AgentNotFound) else ExitCode.USAGE


def _read_settings() -> SettingsRead | int:
    """The user's settings; an exit status where it is not safe to go on without what is wrong in them."""
    from acp_tui.client import settings
    from acp_tui.client.errors import SettingsError

    try:
        read = settings.read_settings(settings.settings_file())
        if any(problem.key.startswith("refuse") for problem in read.problems):
            read.checked()  # a rule that cannot be read would not refuse
    except SettingsError as error:
        _say(error)
        return ExitCode.USAGE
    return read


def _notes(read: SettingsRead) -> tuple[str, ...]:
    """What the user should know of the settings, and can go on with."""
    return (*map(str, read.problems), *read.warnings)


def _say(error: Exception) -> None:
    sys.stderr.write(f"acp-tui: {error}\n")
    hint = getattr(error, "hint", "")
    if hint:
        sys.stderr.write(f"  {hint}\n")


def _run_on_screen(choice: arguments.AgentChoice, cwd: Path) -> int:
    found = _find(choice)
    return found if isinstance(found, int) else _show(found, cwd)


def _show(command: AgentCommand, cwd: Path) -> int:
    # The screen is drawn on stderr, which is the terminal also where stdout is a pipe.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        sys.stderr.write("acp-tui needs a terminal; for a turn without one: acp-tui exec\n")
        return ExitCode.USAGE
    read = _read_settings()
    if isinstance(read, int):
        return read
    from acp_tui.cli.screen import run_screen

    return run_screen(command, cwd, read.settings, _notes(read))


def _run_exec(choice: arguments.AgentChoice, cwd: Path, prompt: str | None, output_format: str) -> int:
    found, read = _find(choice), _read_settings()
    if isinstance(found, int) or isinstance(read, int):
        return found if isinstance(found, int) else ExitCode.USAGE
    from acp_tui.cli.exec import run_exec

    for note in _notes(read):
        sys.stderr.write(f"acp-tui: {note}\n")
    return run_exec(found, cwd, prompt, output_format, read.settings)


def _run_demo(scenario: str | None, speed: float) -> int:
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.demo import shipped
    from acp_tui.demo.project import copy_project

    name = scenario or shipped.DEFAULT
    if not shipped.path_of(name).is_file():
        sys.stderr.write(f"acp-tui: there is no scenario {name!r}; acp-tui demo --list shows them\n")
        return ExitCode.USAGE
    # The demo works on a project of its own in a folder of its own: nothing of the user's is touched.
    with tempfile.TemporaryDirectory(prefix="acp-tui-demo-") as folder:
        project = Path(folder).resolve() / "project"
        copy_project(project)
        argv = (sys.executable, "-m", "acp_tui.demo", name, "--speed", str(speed))
        return _show(AgentCommand("demo", argv), project)


def _list_agents() -> int:
    import shutil

    from acp_tui.client.agents import known
    from acp_tui.client.errors import SettingsError

    try:
        agents = known.all_agents(known.config_file())
    except SettingsError as error:
        _say(error)
        return ExitCode.USAGE
    print("Which agent? acp-tui knows these:\n")
    for name, agent in sorted(agents.items()):
        is_here = shutil.which(agent.argv[0]) is not None
        how = "ready" if is_here else f"not installed: {agent.install_hint or 'the command is not on PATH'}"
        print(f"  acp-tui {name:<12} {how}")
    print("\nAny command that speaks ACP is an agent: acp-tui -- COMMAND")
    print("No agent at hand? acp-tui demo shows how it looks and works.")
    print(f"Names of your own go into {known.config_file()}")
    return ExitCode.DONE
