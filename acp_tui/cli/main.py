"""The entry point: reads the command line and runs what it asks for. Each way loads only what it needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from acp_tui.cli import arguments, requests
from acp_tui.cli.environment import find_home, forget_coerced_locale, reason_not_to_draw
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.saying import say, say_error
from acp_tui.cli.visible_output import visible_output

if TYPE_CHECKING:
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.settings import SettingsRead
    from acp_tui.client.transcript.record_to import RecordTo


def main(argv: Sequence[str] | None = None) -> int:
    """Run acp-tui with `argv` (default: the process's own arguments); returns the exit status."""
    if os.name != "posix":
        sys.stderr.write(
            "acp-tui needs a POSIX system (Linux, macOS): it runs commands on a PTY.\n"
            "On Windows it works inside WSL: https://learn.microsoft.com/windows/wsl\n"
        )
        return ExitCode.ERROR
    find_home(os.environ)
    forget_coerced_locale(os.environ)
    with visible_output():
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    try:
        status = _run(arguments.read_arguments(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()  # here, where it can be told that nobody reads on
        return status
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else ExitCode.ERROR
    except KeyboardInterrupt:
        return ExitCode.CANCELLED
    except Exception as error:  # noqa: BLE001 - the boundary; where it came from is shown on request
        if isinstance(error, BrokenPipeError) and not sys.stdout.isatty():
            _give_up_stdout()
            return ExitCode.DONE  # `| head` has all that it wants
        if os.environ.get("ACP_TUI_DEBUG"):
            import traceback  # what no other run should load

            traceback.print_exc()  # here, where it is made visible
            return ExitCode.ERROR
        sys.stderr.write(
            f"acp-tui: internal error: {type(error).__name__}: {error}\n"
            "  ACP_TUI_DEBUG=1 shows where; please report it with that\n"
        )
        return ExitCode.ERROR


def _give_up_stdout() -> None:
    """Let what is left in its buffer go nowhere; else Python fails on it once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _run(request: requests.Request) -> int:
    match request:
        case requests.Run(agent, cwd, record, is_plain):
            return _run_with(agent, cwd, record, is_plain=is_plain)
        case requests.Exec():
            return _run_exec(request)
        case requests.Demo(scenario, speed, is_plain):
            return _run_demo(scenario, speed, is_plain=is_plain)
        case requests.Doctor(agent, cwd, prompt, output_format):
            return _run_doctor(agent, cwd, prompt, output_format)
        case requests.Check():
            return _run_check(request)
        case requests.ListRules(output_format):
            from acp_tui.cli.check import print_rules

            return print_rules(output_format)
        case requests.ShowSettings(cwd, is_markdown):
            return _show_reference(cwd, "settings", is_markdown=is_markdown)
        case requests.ShowKeys(is_markdown):
            return _show_reference(Path.cwd(), "keys", is_markdown=is_markdown)
        case requests.Replay():
            return _run_replay(request)
        case requests.Inspect(source):
            return _run_inspect(source)
        case requests.Render():
            from acp_tui.cli.render import run_render

            return run_render(request)
        case requests.Redact():
            return _run_redact(request)
        case requests.Mock():
            from acp_tui.cli.mock import run_mock

            return run_mock(request)
        case requests.Completion(what):
            from acp_tui.cli.shell_completion import print_completion

            return print_completion(what)
        case requests.ChooseAgent(cwd, record):
            return _let_choose(cwd, record)
        case requests.Resume():
            return _resume(request)
        case requests.ListSessions(cwd, words, as_json):
            from acp_tui.cli.sessions import list_sessions

            return list_sessions(cwd, words, as_json=as_json)
        case requests.ExportSession(session_id, file):
            from acp_tui.cli.sessions import export_session

            return export_session(session_id, file)
        case requests.ListAgents(update, as_json, is_verbose):
            from acp_tui.cli.agents import list_agents

            return list_agents(update=update, as_json=as_json, is_verbose=is_verbose)
        case requests.ListScenarios():
            from acp_tui.workbench.demo import shipped

            available = shipped.available()
            width = max(map(len, available))
            for name, description in available.items():
                print(f"{name:<{width}}  {description}")
            return ExitCode.DONE
        case _:
            assert_never(request)


def _find(choice: requests.AgentChoice) -> AgentCommand | int:
    """The agent's command; an exit status where there is none, the reason being said."""
    from acp_tui.client.agents import catalogue
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.errors import AgentNotFound, ClientError

    if choice.name is None:
        return AgentCommand(Path(choice.argv[0]).name, choice.argv)
    try:
        return catalogue.find_agent(choice.name).ready()
    except ClientError as error:
        say_error(error)
        return ExitCode.NOT_FOUND if isinstance(error, AgentNotFound) else ExitCode.USAGE


def _read_settings(project: Path | None = None) -> SettingsRead | int:
    """The user's settings, with a trusted project's in the folder `project`.

    An exit status where it is not safe to go on without what is wrong in them.
    """
    from acp_tui.client import settings
    from acp_tui.client.errors import SettingsError

    try:
        read = settings.read_settings(settings.settings_file())
        if any(problem.key.startswith("refuse") for problem in read.problems):
            read.checked()  # a rule that cannot be read would not refuse
        if project is not None:
            from acp_tui.client.settings.project_settings import with_trusted_project

            read = with_trusted_project(read, project, settings.trust_file())
    except SettingsError as error:
        say_error(error)
        return ExitCode.USAGE
    return read


def _notes(read: SettingsRead) -> tuple[str, ...]:
    """What the user should know of the settings, and can go on with."""
    return (*map(str, read.problems), *read.warnings)


def _run_with(choice: requests.AgentChoice, cwd: Path, record: RecordTo | None, *, is_plain: bool) -> int:
    found = _find(choice)
    return found if isinstance(found, int) else _show(found, cwd, record, is_plain=is_plain)


def _run_doctor(
    choice: requests.AgentChoice | None, cwd: Path, prompt: str | None, output_format: str
) -> int:
    from acp_tui.cli.doctor import run_doctor

    if choice is None:
        return run_doctor(None, cwd, prompt, output_format)
    from acp_tui.cli.first_run import ready_to_run

    found = _find(choice)
    if isinstance(found, int):
        return found
    agreed = ready_to_run(found)
    return ExitCode.USAGE if agreed is None else run_doctor(agreed, agreed.cwd or cwd, prompt, output_format)


def _run_check(request: requests.Check) -> int:
    found = _find(request.agent)
    if isinstance(found, int):
        return found
    from acp_tui.cli.check import run_check
    from acp_tui.cli.first_run import ready_to_run

    agreed = ready_to_run(found)
    if agreed is None:
        return ExitCode.USAGE
    return run_check(agreed, request.prompt, request.limit_s, request.format, request.record)


def _let_choose(cwd: Path, record: RecordTo | None) -> int:
    if _has_terminal():
        return _show(None, cwd, record)
    from acp_tui.cli.agents import list_agents

    return list_agents()


def _resume(request: requests.Resume) -> int:
    given = _find(request.agent) if request.agent is not None else None
    read = _settings_to_draw_with("to read sessions without one: acp-tui sessions")
    if isinstance(given, int) or isinstance(read, int):
        return given if isinstance(given, int) else ExitCode.USAGE
    from acp_tui.cli.resume import find_resumed
    from acp_tui.cli.screen import run_screen

    found = find_resumed(request.session_id, request.cwd, given)
    if isinstance(found, ExitCode):
        return found
    return run_screen(found.command, found.cwd, read.settings, _notes(read), request.record, found.opening)


def _has_terminal() -> bool:
    # The screen is drawn on stderr, which is the terminal also where stdout is a pipe.
    return sys.stdin.isatty() and sys.stderr.isatty()


def _show(
    command: AgentCommand | None, cwd: Path, record: RecordTo | None = None, *, is_plain: bool = False
) -> int:
    read = _read_settings()
    if isinstance(read, int):
        return read
    if command is not None and (is_plain or read.settings.appearance.plain):
        from acp_tui.cli.plain.run import run_plain

        return run_plain(command, cwd, read.settings, _notes(read), record)
    if not _can_draw("for a turn without one: acp-tui exec"):
        return ExitCode.USAGE
    from acp_tui.cli.screen import run_screen

    return run_screen(command, cwd, read.settings, _notes(read), record)


def _settings_to_draw_with(otherwise: str) -> SettingsRead | int:
    """The settings; an exit status where there is no terminal to draw on, or they stop us."""
    return _read_settings() if _can_draw(otherwise) else ExitCode.USAGE


def _can_draw(otherwise: str) -> bool:
    """Whether there is a terminal to draw on; where there is none, that is said."""
    if not _has_terminal():
        sys.stderr.write(f"acp-tui needs a terminal; {otherwise}\n")
        return False
    reason = reason_not_to_draw(os.environ)
    if reason:
        say(reason)
    return not reason


def _show_reference(cwd: Path, of: str, *, is_markdown: bool) -> int:
    from acp_tui.cli.reference import print_keys, print_settings

    read = _read_settings(cwd)
    if isinstance(read, int):
        return read
    tell = print_settings if of == "settings" else print_keys
    return tell(read, is_markdown=is_markdown)


def _run_exec(request: requests.Exec) -> int:
    found, read = _find(request.agent), _read_settings(request.cwd)
    if isinstance(found, int) or isinstance(read, int):
        return found if isinstance(found, int) else ExitCode.USAGE
    from acp_tui.cli.exec import run_exec
    from acp_tui.cli.first_run import ready_to_run

    command = ready_to_run(found)
    if command is None:
        return ExitCode.USAGE
    for note in _notes(read):
        say(note)
    return run_exec(
        command, command.cwd or request.cwd, request.prompt, request.format, read.settings, request.record
    )


def _settings_to_show_with(source: Path | str, otherwise: str) -> SettingsRead | int:
    """As `_settings_to_draw_with`; what is wrong with a recording is said before that there is no terminal."""
    # With one it is opened once, since it may be a pipe.
    if isinstance(source, Path) and not _has_terminal():
        from acp_tui.client.errors import ClientError
        from acp_tui.client.transcript.reader import open_recording

        try:
            open_recording(source).close()
        except ClientError as error:
            say_error(error)
            return ExitCode.USAGE
    return _settings_to_draw_with(otherwise)


def _run_replay(request: requests.Replay) -> int:
    read = _settings_to_show_with(request.source, "for a file instead: acp-tui render")
    if isinstance(read, int):
        return read
    from acp_tui.cli.replay import run_replay

    return run_replay(
        request.source,
        request.pace,
        request.until,
        read.settings,
        _notes(read),
        is_followed=request.is_followed,
    )


def _run_inspect(source: Path | str) -> int:
    read = _settings_to_show_with(source, "for its frames: jq -c .frame FILE")
    if isinstance(read, int):
        return read
    from acp_tui.cli.inspect import run_inspect

    return run_inspect(source, read.settings, _notes(read))


def _run_redact(request: requests.Redact) -> int:
    from acp_tui.cli.redact import run_redact
    from acp_tui.workbench.redact.redacting import Wishes

    wishes = Wishes(request.secrets, request.drop_contents, request.keep_contents, request.drops_media)
    return run_redact(request.file, request.output, wishes)


def _run_demo(scenario: str | None, speed: float, *, is_plain: bool) -> int:
    from acp_tui.client.agents.demo import demo_command, with_project
    from acp_tui.workbench.demo import shipped

    name = scenario or shipped.DEFAULT
    if name not in shipped.names() and (problem := _problem_of_scenario(name)):
        say(problem)
        return ExitCode.USAGE
    command = with_project(demo_command(name, speed))
    return _show(command, Path(), is_plain=is_plain)  # it has a folder of its own


def _problem_of_scenario(name: str) -> str | None:
    """What is wrong with a scenario of the user's own; said here, it does not come from an agent that dies."""
    from acp_tui.workbench.demo.scenario import ScenarioError, UnknownScenario, load

    try:
        load(name)
    except UnknownScenario as error:
        return f"{error}; acp-tui demo --list shows those that come with acp-tui"
    except ScenarioError as error:
        return str(error)
    return None
