"""`acp-tui agents`: which agents can run here, what they run, and what the others lack, as text or JSON."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args
from acp_tui.cli.command import UsageError
from acp_tui.cli.installing import install_asking
from acp_tui.cli.output import print_json, say
from acp_tui.cli.prerequisites import ExitOnError
from acp_tui.client.agents.catalogue import Catalogue, ListedAgent, find_agent, read_catalogue
from acp_tui.client.agents.configured_agents import config_file
from acp_tui.client.agents.installing import InstallFailed, remove
from acp_tui.client.agents.registry import RegistryUnavailable, registry_file, update_registry
from acp_tui.client.secrets.masking import mask
from acp_tui.conversation.visible import make_visible_line

MIN_ROOM: Final = 60
"""If fewer columns are left next to the names, the text begins farther left, so commands stay on one line."""
MAX_NAME: Final = 24
"""The most characters to align other names with. A longer name isn't cut, because users type it."""


def run(args: Args) -> int:
    if args.update and args.remove:
        raise UsageError("--update and --remove don't go together")
    with ExitOnError(None):
        if args.remove:
            found = remove(args.remove)
            if found is None:
                raise InstallFailed(
                    f"acp-tui hasn't installed {args.remove}", hint="to list all agents: acp-tui agents"
                )
            say(f"{found.name} {found.version} is removed")
            return ExitCode.DONE
        if args.update:
            return _install(args.update)
    return list_agents(update=args.update is not None, as_json=args.format == "json")


def list_agents(*, update: bool = False, as_json: bool = False) -> int:
    """Print the agents, with `update` after fetching the registry. Returns the exit status."""
    status = _update() if update else ExitCode.DONE
    catalogue = read_catalogue()
    if as_json:
        data = {"agents": list(map(_agent_as_json, catalogue.agents)), "fetched_at": catalogue.fetched_at}
        print_json("agents", data, (*catalogue.notes, *catalogue.registry_notes))
        return status
    for note in catalogue.notes:
        say(note)
    print("\n".join(_lines(catalogue)))
    return status


def _install(name: str) -> ExitCode:
    """Install the newest version of an agent."""
    listed = find_agent(name)
    if listed.archive is not None:
        update_registry(registry_file())
        listed = find_agent(name)
    if listed.offer is None:
        listed.ready()
        raise InstallFailed(f"acp-tui hasn't installed {name}", hint="update it as you installed it")
    if install_asking(listed.offer, listed.installed) is None:
        raise InstallFailed(
            f"{name} can't be installed, because there is no terminal to ask you on", hint=listed.remedy
        )
    return ExitCode.DONE


def _update() -> ExitCode:
    try:
        update_registry(registry_file())
    except RegistryUnavailable as error:
        say(f"{error}; {error.hint}" if error.hint else str(error))
        return ExitCode.ERROR
    return ExitCode.DONE


def _lines(catalogue: Catalogue) -> Iterator[str]:
    width = max(12, *(len(agent.name) for agent in catalogue.agents if len(agent.name) <= MAX_NAME))
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    yield "acp-tui knows these agents:\n"
    for agent in catalogue.agents:
        state, about = _how(agent)
        begin = f"  acp-tui {make_visible_line(agent.name):<{width}}   "
        yield from _fitted(f"{begin}{state:<10}   ", make_visible_line(about), columns, len(begin))
    yield "\nAny command that speaks ACP is an agent: acp-tui -- COMMAND"
    yield "No agent installed? Try acp-tui demo."
    yield f"To add your own: {config_file()}"
    yield from _fitted("", _registry_line(catalogue), columns, 0)


def _fitted(begin: str, about: str, columns: int, indent: int) -> Iterator[str]:
    """The line, or lines, if the text doesn't fit on the terminal next to its beginning. No word is cut."""
    if len(begin) + len(about) < columns:
        yield f"{begin}{about}".rstrip()
        return
    if begin.strip():
        yield begin.rstrip()
    margin = " " * (indent if columns - indent >= MIN_ROOM else 6)
    yield from textwrap.wrap(
        about,
        columns - 1,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _how(agent: ListedAgent) -> tuple[str, str]:
    if agent.obstacle and agent.offer is not None:
        return "asks first", f"to install it: {agent.offer.tool or 'acp-tui'} downloads {agent.offer.source}"
    if agent.obstacle:
        return "can't run", agent.obstacle + (f"; {agent.remedy}" if agent.remedy else "")
    if agent.installed is not None:
        newest = agent.offer.version if agent.offer is not None else ""
        more = f"; the registry has {newest}" if newest not in ("", agent.version) else ""
        return "ready", f"{agent.title} {agent.version}, installed by acp-tui{more}"
    if agent.command.package is None:
        return "ready", agent.shown_title
    env = [f"{name}={value}" for name, value in agent.command.env.items()]
    return "asks first", f"to run: {' '.join([*env, agent.command.line])}"


def _registry_line(catalogue: Catalogue) -> str:
    if catalogue.fetched_at is None:
        return "The agent registry has more. To fetch it: acp-tui agents --update"
    fetched = datetime.fromtimestamp(catalogue.fetched_at).strftime("%Y-%m-%d %H:%M")
    return f"The agent registry is from {fetched}. To update it: acp-tui agents --update"


def _agent_as_json(agent: ListedAgent) -> dict[str, object]:
    command = agent.command
    is_open = command.package is not None  # the registry has no secrets
    return {
        "name": agent.name,
        "title": agent.title,
        "description": agent.description,
        "version": agent.version,
        "source": agent.source,
        "command": command.argv,
        "proxies": command.proxies,
        "env": {name: value if is_open else mask(value) for name, value in command.env.items()},
        "can_run": not agent.obstacle,
        "asks_first": not agent.obstacle and command.package is not None,
        "why_not": agent.obstacle,
        "install": agent.remedy,
        "can_install": agent.offer is not None,
        "installed": agent.installed,
        "archive": agent.archive,
        "is_recent": agent.is_recent,
    }
