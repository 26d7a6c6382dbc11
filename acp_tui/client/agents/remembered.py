"""What acp-tui remembers of agents: which ones were used last, and what the user has agreed to run. It asks nothing.

Running a package means to download and run code of others (R-REG-8). The consent is to this package in this version,
run by this very command and environment: whatever of it changes is asked about again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import SettingsError
from acp_tui.client.files import replace_file
from acp_tui.client.settings.location import state_folder


def read_kept(file: Path) -> object:
    """What it holds; None where there is none, or it is of no use."""
    try:
        content: object = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content


def write_kept(file: Path, content: object) -> None:
    """Replace what it holds. Of two that write at once the last wins. Raises OSError."""
    replace_file(file, json.dumps(content).encode())


MOST_RECENT: Final = 50


def recent_file() -> Path:
    """Where the names are kept."""
    return state_folder() / "recent-agents.json"


def recent_agents(file: Path) -> tuple[str, ...]:
    """The names, the last used first."""
    content = read_kept(file)
    names = content if isinstance(content, list) else []
    return tuple(name for name in names if isinstance(name, str))[:MOST_RECENT]


def note_used(name: str, file: Path) -> None:
    """Put this name first."""
    names = [name, *(other for other in recent_agents(file) if other != name)]
    with suppress(OSError):
        write_kept(file, names[:MOST_RECENT])


MOST_KEPT: Final = 20
"""Of an agent; the oldest go first."""
_Consents: TypeAlias = dict[str, dict[str, str]]
"""By the name of the agent, then by digest; the value is what a person would look for in the file."""


def consent_file() -> Path:
    """Where the decisions are kept."""
    return state_folder() / "agreed-packages.json"


def is_agreed(command: AgentCommand, file: Path) -> bool:
    """Whether it may run without a question."""
    return command.package is None or _digest(command) in _read(file).get(command.name, {})


def agree(command: AgentCommand, file: Path) -> None:
    """Keep that the user agreed to run this. Raises SettingsError where it cannot be written."""
    consents = _read(file)
    of_agent = {**consents.get(command.name, {}), _digest(command): command.line}
    consents[command.name] = dict(list(of_agent.items())[-MOST_KEPT:])
    try:
        write_kept(file, consents)
    except OSError as error:
        raise SettingsError(
            f"your consent to run {command.name} can't be kept in {file}: {error.strerror}",
            hint="it lasts until acp-tui ends",
        ) from error


def what_runs(command: AgentCommand) -> tuple[str, ...]:
    """All that there is to agree to, a line each; the texts are others'."""
    package = command.package
    assert package is not None
    if package.runner:
        what = f"{package.runner} downloads {package.spec} (version {package.version}) and runs it as you,"
    else:
        what = f"your program {package.spec} runs as you, the way the agent registry says,"
    env = (f"with {name}={value}" for name, value in command.env.items())
    return (f"{what} with all your permissions.", command.line, *env)


def _digest(command: AgentCommand) -> str:
    package = command.package
    version = package.version if package is not None else ""
    exact = json.dumps([command.name, version, command.argv, sorted(command.env.items())])
    return sha256(exact.encode("utf-8", "surrogatepass")).hexdigest()


def _read(file: Path) -> _Consents:
    """Broken content is as good as none: the user is asked again."""
    content = read_kept(file)
    if not isinstance(content, dict):
        return {}
    return {name: agreed for name, agreed in content.items() if isinstance(agreed, dict)}
