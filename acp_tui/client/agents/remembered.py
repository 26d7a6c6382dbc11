"""What acp-tui remembers about agents: which were used last, and what the user has agreed to run. Asks nothing.

Running a package means downloading and running third-party code (R-REG-8). Consent is for one package in one version,
run by one exact command and environment. A recording may be from anyone: consent to the command in one is for one
folder, sandbox, and environment, and for the program that PATH leads to. If any of them changes, the user is asked
again.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from acp_tui.client.agents.command import DEMO, AgentCommand
from acp_tui.client.errors import SettingsError
from acp_tui.client.private_files import decide, decisions, read_json_state, write_json_state
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.settings import NO_SANDBOX, Settings

MAX_RECENT: Final = 50


def recent_file() -> Path:
    return state_folder() / "recent-agents.json"


def recent_agents(file: Path) -> tuple[str, ...]:
    content = read_json_state(file)
    names = content if isinstance(content, list) else []
    return tuple(name for name in names if isinstance(name, str))[:MAX_RECENT]


def note_used(name: str, file: Path) -> None:
    names = [name, *(other for other in recent_agents(file) if other != name)]
    with suppress(OSError):
        write_json_state(file, names[:MAX_RECENT])


def introduction(command: AgentCommand, file: Path) -> str:
    """Note that an agent is used. Returns what it runs if its user has never seen that, otherwise "".

    A package needs consent, and asking for it shows the command. The demo is part of acp-tui.
    """
    if not command.is_listed:
        return ""
    is_new = command.package is None and command.name != DEMO and command.name not in recent_agents(file)
    note_used(command.name, file)
    return f"{command.name} {command.way}" if is_new else ""


MAX_KEPT: Final = 20
"""Per agent. The oldest are dropped first."""


def consent_file() -> Path:
    return state_folder() / "agreed-commands.json"


def in_its_sandbox(command: AgentCommand, settings: Settings) -> AgentCommand:
    """What a recording names, in the sandbox that it would get, which the user agrees to with it."""
    is_open = command.recorded_in is not None and not command.sandbox
    return replace(command, sandbox=settings.agent.sandbox) if is_open else command


def is_agreed(command: AgentCommand, file: Path) -> bool:
    """Whether it may run without asking."""
    if command.package is None and command.recorded_in is None:
        return True
    return _digest(command) in decisions(file).get(command.name, {})


def agree(command: AgentCommand, file: Path) -> None:
    """Store that the user agreed to run this command. Raises SettingsError if the file can't be written."""
    try:
        decide(file, command.name, _digest(command), command.line, MAX_KEPT)  # the line is for who reads the file
    except OSError as error:
        raise SettingsError(
            f"your consent to run {command.name} can't be kept in {file}: {error.strerror}",
            hint="it lasts until acp-tui ends",
        ) from error


def note_run(command: AgentCommand, cwd: Path, sandbox: str, file: Path) -> None:
    """Note that a command runs, so that the user isn't asked about it when a recording of it is continued.

    `sandbox` is the name of what it runs in, "" for none. A listed agent is found by its name, and an address runs
    nothing here.
    """
    if not (command.is_listed or command.address is not None):
        ran = replace(command, recorded_in=cwd, sandbox=sandbox or NO_SANDBOX)
        with suppress(SettingsError):
            if not is_agreed(ran, file):
                agree(ran, file)


def what_runs(command: AgentCommand) -> tuple[str, ...]:
    """What the user is asked, and everything they agree to, one line each. The text is untrusted."""
    package, question = command.package, f"Run {command.name} for the first time?"
    if package is None:
        question = "Run this command to continue the session?"
        what = f"Its recording names the command. It would run in {command.recorded_in}, as you,"
    elif package.runner:
        what = f"{package.runner} downloads {package.spec} (version {package.version}) and runs it as you,"
    else:
        what = f"your program {package.spec} runs as you, the way the agent registry says,"
    env = (f"with {name}={value}" for name, value in command.env.items())
    return (question, f"{what} with all your permissions.", command.line, *env)


def _digest(command: AgentCommand) -> str:
    package = command.package
    version = package.version if package is not None else ""
    facts: list[object] = [command.name, version, command.argv, sorted(command.env.items())]
    if command.recorded_in is not None:
        search = {**os.environ, **command.env}.get("PATH")
        facts += [str(command.recorded_in), command.sandbox, shutil.which(command.argv[0], path=search)]
    return sha256(json.dumps(facts).encode("utf-8", "surrogatepass")).hexdigest()
