"""Reads the user's own agents from `agents.toml`. A mistake in one entry is reported and doesn't affect the others.

`catalogue` checks whether their programs exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final, Literal

import platformdirs

from acp_tui.client.agents.address import read_address
from acp_tui.client.agents.command import AgentCommand, behind
from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.location import expand, expand_path, is_strings, read_toml
from acp_tui.client.settings.wording import shown_name, unknown_keys
from acp_tui.conversation.wording import from_home
from acp_tui.values import dataclass

EXAMPLE: Final = """\
[agents.mine]
command = ["my-agent", "--acp"]
env = { MY_AGENT_MODEL = "large" }
"""
_EXAMPLE_HINT: Final = f"it should look like:\n{EXAMPLE}"
_PROMPT: Final = ("system_prompt", "system_prompt_file", "system_prompt_mode")
_SHARED: Final = ("files", "mcp", "protocol", "proxies", *_PROMPT, "description")
_KEYS: Final = ("command", "env", "wrapper", "runs", "sandbox", *_SHARED)
_URL_KEYS: Final = ("url", "headers", "token_command", "insecure", "cwd", *_SHARED)
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


@dataclass(frozen=True, slots=True)
class ConfiguredAgent:
    command: AgentCommand
    description: str = ""


@dataclass(frozen=True, slots=True)
class ConfiguredAgents:
    agents: Mapping[str, ConfiguredAgent] = field(default_factory=dict)
    problems: Mapping[str, SettingsError] = field(default_factory=dict)
    """Why an entry can't be used, by its name. "" stands for the whole file."""
    warnings: tuple[str, ...] = ()
    """Keys that have no meaning."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Everything the user should know, one sentence each."""
        problems = (str(error) if name else f"{error}\n{error.hint}" for name, error in self.problems.items())
        return (*problems, *self.warnings)


def config_file() -> Path:
    return platformdirs.user_config_path("acp-tui") / "agents.toml"


def read_configured_agents(file: Path, environ: Mapping[str, str]) -> ConfiguredAgents:
    """The agents of the file; none if there is no file."""
    try:
        document = read_toml(file, EXAMPLE)
    except SettingsError as error:
        return ConfiguredAgents(problems={"": error})
    table = document.pop("agents", {})
    if not isinstance(table, dict):
        return ConfiguredAgents(problems={"": _wrong(f"{from_home(file)}: agents", "a table")})
    agents: dict[str, ConfiguredAgent] = {}
    problems: dict[str, SettingsError] = {}
    warnings: list[str] = []
    for name, entry in table.items():
        key = f"{from_home(file)}: agents.{shown_name(name)}"
        is_table = isinstance(entry, dict)
        unknown = [*unknown_keys(entry, _URL_KEYS if "url" in entry else _KEYS, f"{key}.")] if is_table else []
        try:
            if not is_table:
                raise _wrong(key, "a table")
            agents[name] = _read_agent(name, entry, key, environ)
            warnings += unknown
        except SettingsError as error:
            problems[name] = SettingsError("; ".join((str(error), *unknown)), hint=error.hint)
    for name, entry in document.items():
        if name not in agents and isinstance(entry, dict) and not {"command", "url"}.isdisjoint(entry):
            own = shown_name(name)
            said = f"{from_home(file)}: {own} is unknown and ignored; did you mean agents.{own}?"
            problems.setdefault(name, SettingsError(said, hint=_EXAMPLE_HINT))
        else:
            warnings += unknown_keys((name,), ("agents",), f"{from_home(file)}: ")
    return ConfiguredAgents(agents, problems, tuple(warnings))


def _read_agent(name: str, entry: Mapping[str, object], key: str, environ: Mapping[str, str]) -> ConfiguredAgent:
    """An agent of the file. Raises SettingsError."""
    if not name or name.startswith("-") or not name.isprintable():
        raise SettingsError(f"{key}: this name can't be typed as an argument", hint=_EXAMPLE_HINT)
    shared = AgentCommand(
        name,
        (),
        is_listed=True,
        shares_files=_one_of(entry, "files", ("shared",), key) == "shared",
        mcp_servers=_server_names(entry, key),
        protocol=_protocol(entry, key),
        proxies=_proxies(entry, key, environ),
        system_prompt=_system_prompt(entry, key, environ),
        overrides_prompt=_one_of(entry, "system_prompt_mode", ("append", "override"), key) == "override",
    )
    read = _at_address if "url" in entry else _as_command
    return ConfiguredAgent(read(shared, entry, key, environ), _text(entry, "description", key))


def _as_command(
    shared: AgentCommand, entry: Mapping[str, object], key: str, environ: Mapping[str, str]
) -> AgentCommand:
    wrapper = _command_line(entry["wrapper"], f"{key}.wrapper", environ) if "wrapper" in entry else ()
    runs = _one_of(entry, "runs", ("here", "elsewhere"), key) or ("elsewhere" if wrapper else "here")
    # Behind a wrapper, ~ would mean the home of another machine.
    argv = _command_line(entry.get("command"), f"{key}.command", environ, has_home=not wrapper or runs == "here")
    return replace(
        shared,
        argv=behind(wrapper, argv) if wrapper else argv,
        env=_env(entry, key, environ),
        is_elsewhere=runs == "elsewhere",
        wrapper=wrapper,
        wrapped=argv if wrapper else (),
        sandbox=_text(entry, "sandbox", key),
    )


def _at_address(
    shared: AgentCommand, entry: Mapping[str, object], key: str, environ: Mapping[str, str]
) -> AgentCommand:
    if "command" in entry:
        raise SettingsError(f"{key} needs either a command to start or the url of a running one", hint=_EXAMPLE_HINT)
    url, cwd = _text(entry, "url", key), _text(entry, "cwd", key)
    if cwd and not cwd.startswith("/"):
        raise _wrong(f"{key}.cwd", "an absolute path of the other machine")
    headers, is_insecure = _headers(entry, key, environ), entry.get("insecure", False)
    if not isinstance(is_insecure, bool):
        raise _wrong(f"{key}.insecure", "true or false")
    token_command = (
        _command_line(entry["token_command"], f"{key}.token_command", environ) if "token_command" in entry else ()
    )
    try:
        address = read_address(url, headers, token_command, is_insecure=is_insecure)
    except SettingsError as error:
        raise SettingsError(f"{key}.url: {error}", hint=error.hint) from error
    return replace(shared, argv=(url,), is_elsewhere=True, cwd=Path(cwd) if cwd else None, address=address)


def _headers(entry: Mapping[str, object], key: str, environ: Mapping[str, str]) -> dict[str, str]:
    headers = _env(entry, key, environ, "headers")
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise SettingsError(f"{key}.headers.{shown_name(name)}: this isn't the name of a header")
        if not (value.isascii() and value.isprintable()):
            raise SettingsError(f"{key}.headers.{name}: its value isn't only printable ASCII")
    if "token_command" in entry and any(name.lower() == "authorization" for name in headers):
        raise SettingsError(f"{key} sets the token twice: token_command and the header Authorization")
    return headers


def _command_line(words: object, key: str, environ: Mapping[str, str], *, has_home: bool = True) -> tuple[str, ...]:
    """A command line with its variables expanded and, with `has_home`, ~ expanded in its program's path."""
    if not (is_strings(words) and words and words[0]):
        raise _wrong(key, "a list of strings, the program first")
    program, *args = words
    expand_program = expand_path if has_home else expand
    try:
        return (expand_program(program, environ), *(expand(word, environ) for word in args))
    except SettingsError as error:
        raise SettingsError(f"{key}: {error}") from error


def _proxies(entry: Mapping[str, object], key: str, environ: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    proxies = entry.get("proxies", [])
    if not isinstance(proxies, list):
        raise _wrong(f"{key}.proxies", "a list of commands, each a list of strings")
    return tuple(
        _command_line(words, f"{key}.proxies, number {number}", environ) for number, words in enumerate(proxies, 1)
    )


def _system_prompt(entry: Mapping[str, object], key: str, environ: Mapping[str, str]) -> str:
    """The text, from the entry or from the file that it names; "" for none."""
    text, file = _text(entry, "system_prompt", key), _text(entry, "system_prompt_file", key)
    if text and file:
        raise SettingsError(f"{key} sets the system prompt twice: system_prompt and system_prompt_file")
    if not file:
        return text.strip()
    key = f"{key}.system_prompt_file"
    try:
        path = Path(expand_path(file, environ))
    except SettingsError as error:
        raise SettingsError(f"{key}: {error}") from error
    if not path.is_absolute():
        raise _wrong(key, "an absolute path")
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:  # ValueError: it isn't UTF-8, or no path
        raise SettingsError(f"{key} can't be read: {error}") from error


def _env(entry: Mapping[str, object], key: str, environ: Mapping[str, str], of: str = "env") -> dict[str, str]:
    table = entry.get(of, {})
    if not (isinstance(table, dict) and is_strings([*table.values()])):
        raise _wrong(f"{key}.{of}", "a table of strings")
    env: dict[str, str] = {}
    for name, value in table.items():
        try:
            env[name] = expand(value, environ)
        except SettingsError as error:
            raise SettingsError(f"{key}.{of}.{shown_name(name)}: {error}") from error
    return env


def _one_of(entry: Mapping[str, object], name: str, allowed: Sequence[str], key: str) -> str:
    """The value of a setting with fixed choices; "" if it isn't set."""
    value = entry.get(name, "")
    if value != "" and value not in allowed:
        raise _wrong(f"{key}.{name}", " or ".join(f'"{one}"' for one in allowed))
    return str(value)


def _protocol(entry: Mapping[str, object], key: str) -> Literal[1, 2] | None:
    match entry.get("protocol"):
        case None:
            return None
        case (1 | 2) as version if type(version) is int:
            return version
        case _:
            raise _wrong(f"{key}.protocol", "1 or 2")


def _text(entry: Mapping[str, object], name: str, key: str) -> str:
    value = entry.get(name, "")
    if not isinstance(value, str):
        raise _wrong(f"{key}.{name}", "a string")
    return value


def _server_names(entry: Mapping[str, object], key: str) -> tuple[str, ...] | None:
    names = entry.get("mcp", [])
    if not is_strings(names):
        raise _wrong(f"{key}.mcp", "a list of strings")
    return tuple(names) if "mcp" in entry else None


def _wrong(key: str, expected: str) -> SettingsError:
    return SettingsError(f"{key} isn't {expected}", hint=_EXAMPLE_HINT)
