"""What commands need to run: the agent's command, the settings, a terminal to draw on.

If one is missing, prints that and raises SystemExit with the exit status.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from acp_tui.cli import ExitCode, code_of
from acp_tui.cli.arguments import ChosenAgent, nearest, taken_as_id
from acp_tui.cli.command import Late
from acp_tui.cli.commands import COMMANDS
from acp_tui.cli.leaving import can_host
from acp_tui.client.agents.command import AgentCommand, SandboxPlan, sandboxes_of
from acp_tui.client.errors import AgentNotFound, ClientError, SettingsError
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.reader import read_settings

if TYPE_CHECKING:
    import acp_tui.cli.installing
    import acp_tui.client.settings.project_settings
    import acp_tui.client.settings.trust
    from acp_tui.client.settings.reader import SettingsRead
    from acp_tui.client.settings.settings import Settings
else:
    acp_tui = Late("acp_tui")

DUMB_TERMINALS: Final = frozenset({"", "dumb", "unknown"})
"""Values of TERM for terminals that can't move the cursor."""
NO_HOSTS: Final = "sessions.host has no effect without the package websockets: acp-tui host tells how to get it"


def exit_after(error: ClientError, status: ExitCode = ExitCode.USAGE) -> SystemExit:
    """Print an error and return the exception to raise."""
    from acp_tui.cli.output import say_error  # most runs print no error

    say_error(error)
    return SystemExit(status)


class ExitOnError:
    """While this context is open, a ClientError is printed and ends the program."""

    def __init__(self, status: ExitCode | None = ExitCode.USAGE) -> None:
        """`status` None: the one that the error has."""
        self._status = status

    def __enter__(self) -> None: ...

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        if isinstance(error, ClientError):
            raise exit_after(error, code_of(error) if self._status is None else self._status) from None


def command_of(choice: ChosenAgent, resumed: str | None = None) -> AgentCommand:
    """Return the agent's command. `resumed` is the session's ID in the command line, if there is one."""
    command = _command_of(choice, resumed)
    return replace(
        command,
        protocol=choice.protocol or command.protocol,
        sandbox=choice.sandbox or command.sandbox,
        system_prompt=choice.system_prompt or command.system_prompt,
        options=choice.options,
    )


def _command_of(choice: ChosenAgent, resumed: str | None) -> AgentCommand:
    if choice.name is None:
        return AgentCommand(Path(choice.argv[0]).name, choice.argv)
    from acp_tui.client.agents.catalogue import find_agent  # not for a command line or the demo

    try:
        listed = find_agent(choice.name)
        if listed.obstacle and listed.offer is not None:
            made = acp_tui.cli.installing.install_asking(listed.offer)
            if made is not None:
                return made.command
        return listed.ready()
    except ClientError as error:
        is_unknown = isinstance(error, AgentNotFound)
        flag = f"--{choice.name}"
        flagged = (f"{each.name} {flag}".strip() for each in COMMANDS for one in each.options if flag in one.flags)
        if is_unknown and resumed:
            unknown = f"a prompt for one that isn't recorded needs its agent, too: AGENT PROMPT --resume {resumed}"
            error.hint = f"{taken_as_id(resumed)}\n{unknown}"
        elif is_unknown and resumed is not None:
            meant = f"AGENT {shlex.quote(choice.name)} --resume"
            error.hint = f"a prompt of one word needs its agent, too: {meant}\n{error.hint}"
        elif is_unknown and (near := nearest(choice.name, (each.name for each in COMMANDS)) or next(flagged, "")):
            _agents, _, others = error.hint.partition("\n")
            error.hint = f"did you mean acp-tui {near}?\n{others}"
        raise exit_after(error, ExitCode.NOT_FOUND if is_unknown else ExitCode.USAGE) from None


def settings_in_force() -> SettingsRead:
    """Return the user's settings. Stops if it isn't safe to continue with a problem in them."""
    with ExitOnError():
        read = read_settings(settings_file())
    if read.rule_problems:
        what = "\n".join(problem.text for problem in read.rule_problems)
        raise exit_after(SettingsError(what, hint="acp-tui doesn't start with an invalid rule: fix or remove it"))
    return read


def settings_in(project: Path) -> SettingsRead:
    """Return the user's settings with a trusted project's. The screen reads the latter after drawing. May stop, too."""
    read = settings_in_force()
    with ExitOnError():
        decisions = acp_tui.client.settings.trust.trust_file()
        return acp_tui.client.settings.project_settings.with_trusted_project(read, project, decisions)


def sandbox_plan(command: AgentCommand, settings: Settings) -> SandboxPlan | None:
    """What the agent is to run in; None for no sandbox."""
    with ExitOnError(None):
        return command.planned_in(sandboxes_of(settings))


def notes_of(read: SettingsRead) -> tuple[str, ...]:
    """Return problems in the settings that don't prevent a start."""
    is_in_vain = read.settings.sessions.host != "never" and not can_host()
    return (*map(str, read.problems), *read.warnings, *[NO_HOSTS] * is_in_vain)


def has_terminal() -> bool:
    # The screen is drawn on stderr, which is a terminal even if stdout is a pipe, or by Textual in a web page.
    return _is_web_page() or (sys.stdin.isatty() and sys.stderr.isatty())


def _is_web_page() -> bool:
    return os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver")


def why_plain(settings: Settings, *, is_wanted: bool) -> str:
    """Return what turns plain mode on; "" for the screen. `is_wanted`: by the option."""
    if is_wanted:
        return "--plain"
    if _is_web_page():
        return ""
    if os.environ.get("ACP_TUI_PLAIN", "0") not in ("", "0"):
        return "ACP_TUI_PLAIN"
    if settings.appearance.plain:
        return "the setting appearance.plain"
    is_dumb = os.environ.get("TERM", "") in DUMB_TERMINALS and sys.stdin.isatty() and sys.stdout.isatty()
    return "this terminal, which can't be drawn on" if is_dumb else ""


def require_screen(otherwise: str) -> None:
    """Require a terminal that can be drawn on. `otherwise` says what works without one."""
    if not has_terminal():
        sys.stderr.write(f"acp-tui needs a terminal; {otherwise}\n")
        raise SystemExit(ExitCode.USAGE)
    reason = reason_not_to_draw(os.environ)
    if reason:
        sys.stderr.write(f"acp-tui: {reason}\n")
        raise SystemExit(ExitCode.USAGE)


def reason_not_to_draw(environ: Mapping[str, str]) -> str:
    """Return why this terminal can't show a full screen, and what to do; "" if it can."""
    term = environ.get("TERM", "")
    if term not in DUMB_TERMINALS:
        return ""
    what = f"TERM={term} is a terminal that acp-tui can't draw on" if term else "TERM isn't set"
    return (
        f"{what}, and acp-tui draws a full screen\n"
        "  To work line by line: acp-tui AGENT. For one turn without a screen: acp-tui exec.\n"
        "  Or set TERM to your terminal's type, such as xterm-256color"
    )
