"""Reads the user's own agents, `agents.toml`: a mistake in one entry is said, and costs no other.

Whether what they name is there to be run is `catalogue`'s matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeGuard

from acp_tui.client.agents.command import AgentCommand, behind
from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.expansion import expand, expand_path
from acp_tui.client.settings.location import read_toml
from acp_tui.client.settings.wording import near, shown_name

EXAMPLE: Final = """\
[agents.mine]
command = ["my-agent", "--acp"]
env = { MY_AGENT_MODEL = "large" }
"""
_AS_IN: Final = f"it looks like:\n{EXAMPLE}"
_KEYS: Final = ("command", "env", "wrapper", "runs", "files", "mcp", "description")


@dataclass(frozen=True, slots=True)
class UserAgent:
    """An entry that can be used."""

    command: AgentCommand
    description: str = ""


@dataclass(frozen=True, slots=True)
class UserAgents:
    """What the file holds."""

    agents: Mapping[str, UserAgent] = field(default_factory=dict)
    problems: Mapping[str, SettingsError] = field(default_factory=dict)
    """By the name of the entry: why it cannot be used. "" stands for the file as a whole."""
    warnings: tuple[str, ...] = ()
    """Keys that mean nothing."""

    @property
    def notes(self) -> tuple[str, ...]:
        """All that the user should know, a sentence each."""
        problems = (str(error) if name else f"{error}\n{error.hint}" for name, error in self.problems.items())
        return (*problems, *self.warnings)


def config_file() -> Path:
    """Where the user's own agents stand."""
    import platformdirs  # not needed for a command given whole

    return platformdirs.user_config_path("acp-tui") / "agents.toml"


def read_user_agents(file: Path, environ: Mapping[str, str]) -> UserAgents:
    """The agents of the file, none where there is no file."""
    try:
        table = read_toml(file, EXAMPLE).get("agents", {})
    except SettingsError as error:
        return UserAgents(problems={"": error})
    if not isinstance(table, dict):
        return UserAgents(problems={"": _wrong(f"{file}: agents", "a table")})
    agents: dict[str, UserAgent] = {}
    problems: dict[str, SettingsError] = {}
    warnings: list[str] = []
    for name, entry in table.items():
        key = f"{file}: agents.{shown_name(name)}"
        unknown = _unknown_keys(entry, key)
        try:
            agents[name] = _read_agent(name, _table(entry, key), key, environ)
            warnings += unknown
        except SettingsError as error:
            problems[name] = SettingsError("; ".join((str(error), *unknown)), hint=error.hint)
    return UserAgents(agents, problems, tuple(warnings))


def _read_agent(name: str, entry: Mapping[str, object], key: str, environ: Mapping[str, str]) -> UserAgent:
    """Raises SettingsError."""
    if not name or name.startswith("-") or not name.isprintable():
        raise SettingsError(f"{key}: this name cannot be typed as an argument", hint=_AS_IN)
    wrapper = _expanded(entry, "wrapper", key, environ) if "wrapper" in entry else ()
    runs = _one_of(entry, "runs", ("here", "elsewhere"), key) or ("elsewhere" if wrapper else "here")
    # Behind a wrapper ~ would be the home of another machine.
    argv = _expanded(entry, "command", key, environ, has_home=not wrapper or runs == "here")
    command = AgentCommand(
        name,
        behind(wrapper, argv) if wrapper else argv,
        _env(entry, key, environ),
        is_listed=True,
        is_elsewhere=runs == "elsewhere",
        shares_files=_one_of(entry, "files", ("shared",), key) == "shared",
        mcp_servers=_strings(entry["mcp"], f"{key}.mcp") if "mcp" in entry else None,
        wrapper=wrapper,
        wrapped=argv if wrapper else (),
    )
    return UserAgent(command, _text(entry, "description", key))


def _table(entry: object, key: str) -> Mapping[str, object]:
    if not isinstance(entry, dict):
        raise _wrong(key, "a table")
    return entry


def _expanded(
    entry: Mapping[str, object], name: str, key: str, environ: Mapping[str, str], *, has_home: bool = True
) -> tuple[str, ...]:
    """A command line with its variables filled in, and with `has_home` ~ in front of its program's path."""
    words = entry.get(name)
    if not (_is_strings(words) and words and words[0]):
        raise _wrong(f"{key}.{name}", "a list of strings, the program first")
    program, *args = words
    expand_program = expand_path if has_home else expand
    try:
        return (expand_program(program, environ), *(expand(word, environ) for word in args))
    except SettingsError as error:
        raise SettingsError(f"{key}.{name}: {error}") from error


def _env(entry: Mapping[str, object], key: str, environ: Mapping[str, str]) -> dict[str, str]:
    table = entry.get("env", {})
    if not (isinstance(table, dict) and _is_strings([*table.values()])):
        raise _wrong(f"{key}.env", "a table of strings")
    env: dict[str, str] = {}
    for name, value in table.items():
        try:
            env[name] = expand(value, environ)
        except SettingsError as error:
            raise SettingsError(f"{key}.env.{shown_name(name)}: {error}") from error
    return env


def _one_of(entry: Mapping[str, object], name: str, allowed: Sequence[str], key: str) -> str:
    """ "" where it is not set."""
    value = entry.get(name, "")
    if value != "" and value not in allowed:
        raise _wrong(f"{key}.{name}", " or ".join(f'"{one}"' for one in allowed))
    return str(value)


def _text(entry: Mapping[str, object], name: str, key: str) -> str:
    value = entry.get(name, "")
    if not isinstance(value, str):
        raise _wrong(f"{key}.{name}", "a string")
    return value


def _strings(value: object, key: str) -> tuple[str, ...]:
    if not _is_strings(value):
        raise _wrong(key, "a list of strings")
    return tuple(value)


def _is_strings(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _unknown_keys(entry: object, key: str) -> list[str]:
    if not isinstance(entry, dict):
        return []
    return [
        f"{key}.{shown_name(name)} means nothing and is ignored; {_advice(name)}"
        for name in entry
        if name not in _KEYS
    ]


def _advice(name: str) -> str:
    meant = near(name, _KEYS)
    return f"did you mean {meant}?" if meant else f"known: {', '.join(_KEYS)}"


def _wrong(key: str, expected: str) -> SettingsError:
    return SettingsError(f"{key} is not {expected}", hint=_AS_IN)
