"""The agents that can run here, from every source, and why each other one can't.

The user's own agents take precedence over installed ones, those on PATH over those that acp-tui has installed, and all
of them over the registry's (R-REG-7). This module fetches, installs, and starts nothing.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Final, Literal

from acp_tui.client.agents import configured_agents
from acp_tui.client.agents.address import read_address
from acp_tui.client.agents.command import DEMO, AgentCommand, Package
from acp_tui.client.agents.demo_agent import demo_command, with_project
from acp_tui.client.agents.installed import Installable, Installed, all_installed, read_installed
from acp_tui.client.agents.registry import (
    Archive,
    CachedRegistry,
    PackageRun,
    RegistryEntry,
    cached_registry,
    registry_file,
)
from acp_tui.client.agents.remembered import recent_agents, recent_file
from acp_tui.client.errors import AgentNotFound
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class KnownAgent:
    name: str
    title: str
    description: str
    argv: tuple[str, ...]
    package: str
    registry_id: str
    size_mb: int
    """About how many its package takes with all that it needs, in November 2026."""
    tool: Literal["npm", "uv"] = "npm"
    runs_scripts: bool = False
    """Whether it doesn't work without the scripts that its package brings for its installation."""

    @property
    def install_hint(self) -> str:
        return f"{'npm install -g' if self.tool == 'npm' else 'uv tool install'} {self.package}"

    @property
    def offer(self) -> Installable:
        program, *args = self.argv
        size = self.size_mb * 1_000_000
        return Installable(
            self.name, self.tool, self.package, program, tuple(args), size_bytes=size, runs_scripts=self.runs_scripts
        )


# fmt: off
KNOWN_AGENTS: Final[Mapping[str, KnownAgent]] = {agent.name: agent for agent in (
    KnownAgent("claude", "Claude Agent", "Anthropic's coding agent",
               ("claude-agent-acp",), "@agentclientprotocol/claude-agent-acp", "claude-acp", 400),
    KnownAgent("codex", "Codex", "OpenAI's coding agent",
               ("codex-acp",), "@agentclientprotocol/codex-acp", "codex-acp", 460),
    KnownAgent("fast-agent", "fast-agent", "Agents and workflows in Python, for many models",
               ("fast-agent-acp",), "fast-agent-mcp", "fast-agent", 210, "uv"),
    KnownAgent("gemini", "Gemini CLI", "Google's coding agent",
               ("gemini", "--acp"), "@google/gemini-cli", "gemini", 100),
    KnownAgent("opencode", "opencode", "An open coding agent for many models",
               ("opencode", "acp"), "opencode-ai", "opencode", 350, runs_scripts=True),
    KnownAgent("qwen", "Qwen Code", "Alibaba's coding agent",
               ("qwen", "--acp"), "@qwen-code/qwen-code", "qwen-code", 150),
)}
# fmt: on

_RUNNERS: Final = {
    "npx": ("Node.js", "brew install node", "https://nodejs.org/en/download"),
    "uvx": ("uv", "brew install uv", "curl -LsSf https://astral.sh/uv/install.sh | sh"),
}
"""The program each runner comes with, and how to install it with and without Homebrew."""
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
"""Machine names that the registry spells differently from some systems."""
_NEAREST: Final = 3
_ABOUT_DEMO: Final = "A scripted agent to try acp-tui with: no model, no network, and your files stay untouched"


class EntrySource(Enum):
    """Where an agent's entry comes from. The value is what `acp-tui agents --format json` prints."""

    USER = "user"
    KNOWN = "known"
    REGISTRY = "registry"
    DEMO = "demo"

    @property
    def shown(self) -> str:
        return {
            "user": "your agents.toml",
            "known": "known to acp-tui",
            "registry": "the agent registry",
            "demo": "comes with acp-tui",
        }[self.value]


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """An agent, and whether it can run. Text from the registry is untrusted."""

    command: AgentCommand
    """Has no words if there's nothing to run."""
    source: EntrySource
    title: str
    description: str = ""
    version: str = ""
    """"" if unknown until it runs."""
    obstacle: str = ""
    """Why it can't run here; "" if it can."""
    remedy: str = ""
    """The command that installs what is missing, or where to get it."""
    archive: Archive | None = None
    """What there is to download, if the agent comes that way."""
    offer: Installable | None = None
    """What acp-tui can install, now or as an update."""
    installed: Installed | None = None
    """What acp-tui has installed, which then runs."""
    registry_id: str = ""
    is_recent: bool = False

    @property
    def name(self) -> str:
        return self.command.name

    @property
    def shown_title(self) -> str:
        """Its title; "" if that is what it's called anyway: by the user, or as a bare command."""
        return self.title if self.command.is_listed and self.source is not EntrySource.USER else ""

    @property
    def advice(self) -> str:
        """How to make it run, if it can't: with acp-tui where that can install it, otherwise the remedy."""
        return self.remedy if self.offer is None else _how_to_install(self.name)

    def ready(self) -> AgentCommand:
        """The command to start. The demo agent's gets a project of its own. Blocks. Raises AgentNotFound."""
        if self.obstacle:
            what = "can't run here" if self.offer is None else "isn't installed"
            hint = f"to install it: {self.advice}" if self.advice else ""
            raise AgentNotFound(f"{self.name} {what}: {self.obstacle}", hint=hint)
        return with_project(self.command) if self.source is EntrySource.DEMO else self.command


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All agents: the recently used ones first, then those that can run."""

    agents: tuple[ListedAgent, ...] = ()
    notes: tuple[str, ...] = ()
    """Problems in the user's file, one sentence each."""
    registry_notes: tuple[str, ...] = ()
    """Problems in the registry, one sentence each."""
    fetched_at: float | None = None
    """When the registry was fetched, in seconds since the epoch; None if never."""


def this_platform() -> str:
    """The platform as the registry spells it, such as `linux-x86_64`."""
    machine = platform.machine().lower()
    return f"{sys.platform}-{_MACHINES.get(machine, machine)}"


@dataclass(frozen=True, slots=True)
class CatalogueSources:
    """What a catalogue is made from: this user's files and this machine."""

    agents_file: Path = field(default_factory=configured_agents.config_file)
    registry_file: Path = field(default_factory=registry_file)
    recent_file: Path = field(default_factory=recent_file)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    platform: str = field(default_factory=this_platform)

    def has(self, program: str, env: Mapping[str, str] | None = None) -> bool:
        """Whether the program exists for an agent that starts with `env` added to the user's environment."""
        return shutil.which(program, path={**self.environ, **(env or {})}.get("PATH", "")) is not None


def read_catalogue(place: CatalogueSources | None = None) -> Catalogue:
    """All agents. Blocks while it looks up dozens of programs on PATH."""
    place = place or CatalogueSources()
    user = configured_agents.read_configured_agents(place.agents_file, place.environ)
    cached = cached_registry(place.registry_file)
    listed = _all(user, cached, place)
    recent = recent_agents(place.recent_file)
    return Catalogue(
        _in_order(listed, recent),
        user.notes,
        cached.registry.problems if cached is not None else (),
        cached.fetched_at if cached is not None else None,
    )


def find_agent(name: str, place: CatalogueSources | None = None) -> ListedAgent:
    """The agent with that name, registry ID, or address. It may be one that can't run.

    Raises AgentNotFound, and SettingsError for a mistake in the user's file that affects it. Blocks, and looks no
    further than necessary.
    """
    if "://" in name and len(name.split()) == 1:  # a prompt may have an address in it
        return ListedAgent(command_at(name), EntrySource.USER, name)
    place = place or CatalogueSources()
    user = configured_agents.read_configured_agents(place.agents_file, place.environ)
    for concerned in ("", name):
        if concerned in user.problems:
            raise user.problems[concerned]
    if name in user.agents:
        return _of_user(user.agents[name], place)
    known = KNOWN_AGENTS.get(name)
    if known is not None and place.has(known.argv[0]):
        return _on_path(known)
    listed = _all(user, cached_registry(place.registry_file), place)
    found = next((agent for agent in listed if agent.name == name), None) or next(
        (agent for agent in listed if name and agent.registry_id == name), None
    )
    if found is None:
        raise _unknown(name, listed, place.agents_file)
    return found


def recorded_agent(name: str, argv: tuple[str, ...], cwd: Path) -> AgentCommand:
    """The agent of that name; if there is none, what a recording says of it. Blocks. Raises ClientError."""
    try:
        listed = find_agent(name)
    except AgentNotFound:
        if not argv:
            raise
        return AgentCommand(name, argv, recorded_in=cwd)
    return listed.ready()


def command_at(url: str) -> AgentCommand:
    """The agent at an address. Raises SettingsError."""
    return AgentCommand(url, (url,), is_elsewhere=True, address=read_address(url))


def _unknown(name: str, listed: Iterable[ListedAgent], agents_file: Path) -> AgentNotFound:
    names = sorted(agent.name for agent in listed)
    near = get_close_matches(name.lower(), names, n=_NEAREST)
    if near:
        advice = f"did you mean {' or '.join(near)}?"
    elif os.path.isdir(name):  # noqa: PTH112 - a Path raises for a name that is too long
        advice = f"it's a folder; to work in it: acp-tui AGENT --cwd {name}"
    elif len(name.split()) > 1:
        advice = f"a prompt follows its agent: acp-tui AGENT {shlex.quote(name)}"
    else:
        advice = f"known: {', '.join(names)}"
    return AgentNotFound(
        f"no agent is named {name!r}",
        hint=f"{advice}\n  to list all: acp-tui agents; any command that speaks ACP: acp-tui --"
        f" COMMAND; to name your own: {agents_file}",
    )


def _all(
    user: configured_agents.ConfiguredAgents, cached: CachedRegistry | None, place: CatalogueSources
) -> tuple[ListedAgent, ...]:
    """One agent per name. A name in the user's file hides all others, even if its entry is invalid."""
    entries = {entry.agent_id: entry for entry in cached.registry.entries} if cached is not None else {}
    of_user = [_of_user(agent, place) for agent in user.agents.values()]
    others = [ListedAgent(demo_command(), EntrySource.DEMO, "Demo", _ABOUT_DEMO)]
    others += (_of_known(known, entries.get(known.registry_id), place) for known in KNOWN_AGENTS.values())
    taken = {*KNOWN_AGENTS, DEMO, *(known.registry_id for known in KNOWN_AGENTS.values())}
    others += (_of_registry(entry, place) for entry in entries.values() if entry.agent_id not in taken)
    taken.update(entries)
    others += (_ours(kept) for kept in all_installed() if kept.name not in taken)
    theirs = {*user.agents, *user.problems}
    return (*of_user, *(agent for agent in others if agent.name not in theirs))


def _in_order(listed: Iterable[ListedAgent], recent: tuple[str, ...]) -> tuple[ListedAgent, ...]:
    def rank(agent: ListedAgent) -> tuple[int, int, str]:
        if agent.is_recent:
            return 0, recent.index(agent.name), ""
        state = (4 if agent.offer is None else 3) if agent.obstacle else 2 if agent.command.package else 1
        return state, 0, agent.name

    marked = (replace(agent, is_recent=agent.name in recent) for agent in listed)
    return tuple(sorted(marked, key=rank))


# Each kind of agent


def _of_user(agent: configured_agents.ConfiguredAgent, place: CatalogueSources) -> ListedAgent:
    command = agent.command
    programs = [words[0] for words in (*command.proxies, *(() if command.address is not None else (command.argv,)))]
    missing = next((program for program in programs if not place.has(program, command.env)), None)
    obstacle = "" if missing is None else _missing(missing)
    return ListedAgent(command, EntrySource.USER, command.name, agent.description, obstacle=obstacle)


def _of_known(known: KnownAgent, entry: RegistryEntry | None, place: CatalogueSources) -> ListedAgent:
    """Prefers the installed program, then the registry's way to run it, then the way to install it."""
    on_path = _on_path(known)
    if place.has(known.argv[0]):
        return on_path
    offer = known.offer if place.has(known.tool) else None
    if (kept := read_installed(known.name)) is not None:
        return _ours(kept, replace(on_path, offer=offer))
    if entry is not None:
        listed = _of_registry(entry, place)
        if not listed.obstacle:
            command = replace(listed.command, name=known.name)
            return replace(listed, command=command, title=known.title, description=known.description, offer=offer)
    obstacle = _missing(known.argv[0]) + (f", nor is {known.tool}" if offer is None else "")
    return replace(on_path, obstacle=obstacle, remedy=known.install_hint, offer=offer)


def _ours(kept: Installed, listed: ListedAgent | None = None) -> ListedAgent:
    """What acp-tui has installed. The agent may be in no list any more."""
    listed = listed or ListedAgent(kept.command, EntrySource.REGISTRY, kept.name)
    return replace(listed, command=kept.command, version=kept.version, installed=kept)


def _on_path(known: KnownAgent) -> ListedAgent:
    command = AgentCommand(known.name, known.argv, install_hint=_how_to_install(known.name), is_listed=True)
    return ListedAgent(command, EntrySource.KNOWN, known.title, known.description, registry_id=known.registry_id)


def _of_registry(entry: RegistryEntry, place: CatalogueSources) -> ListedAgent:
    """The first of the entry's ways that works here, or that acp-tui can make work, otherwise why one doesn't."""
    ways = [*_ways(entry, place)]
    way = next((way for way in ways if not way.obstacle), None) or next((way for way in ways if way.offer), ways[-1])
    return replace(way, title=entry.name, description=entry.description, registry_id=entry.agent_id)


def _ways(entry: RegistryEntry, place: CatalogueSources) -> Iterator[ListedAgent]:
    archive = entry.archives.get(place.platform)
    if archive is not None:
        yield _as_program(entry, archive, place)
    for run in entry.packages:
        yield _as_package(entry, run, place)
    if not entry.packages and archive is None:
        offered = ", ".join(sorted(entry.archives))
        yield ListedAgent(
            AgentCommand(entry.agent_id, (), is_listed=True),
            EntrySource.REGISTRY,
            entry.name,
            version=entry.version,
            obstacle=f"it has no build for {place.platform}, only for {offered}",
        )


def _as_program(entry: RegistryEntry, archive: Archive, place: CatalogueSources) -> ListedAgent:
    """The program if it's installed, in any version, otherwise what to download."""
    package = Package("", archive.program, "")
    argv = (archive.program, *archive.args)
    listed = ListedAgent(
        AgentCommand(entry.agent_id, argv, archive.env, package=package, is_listed=True),
        EntrySource.REGISTRY,
        entry.name,
        archive=archive,
    )
    if place.has(archive.program):
        return listed
    offer = Installable(
        entry.agent_id, "", archive.url, archive.path, archive.args, archive.env, entry.version, sha256=archive.sha256
    )
    if (kept := read_installed(entry.agent_id)) is not None:
        return _ours(kept, replace(listed, offer=offer))
    checksum = f"SHA-256 {archive.sha256}" if archive.sha256 else "the registry gives no checksum"
    return replace(
        listed,
        version=entry.version,
        obstacle=_missing(archive.program),
        remedy=f"put {archive.program} on PATH from {archive.url} ({checksum})",
        offer=offer,
    )


def _as_package(entry: RegistryEntry, run: PackageRun, place: CatalogueSources) -> ListedAgent:
    package = Package(run.runner, run.package, run.version)
    listed = ListedAgent(
        AgentCommand(entry.agent_id, run.argv, run.env, package=package, runner=run.runner, is_listed=True),
        EntrySource.REGISTRY,
        entry.name,
        version=entry.version,
    )
    if place.has(run.runner):
        return listed
    comes_with, with_brew, without = _RUNNERS[run.runner]
    return replace(
        listed,
        obstacle=f"{run.runner} isn't on PATH; it comes with {comes_with}",
        remedy=with_brew if place.has("brew") else without,
    )


def _how_to_install(name: str) -> str:
    """The command that asks and then installs the agent as the screen does."""
    return f"acp-tui agents --update {name}"


def _missing(program: str) -> str:
    return f"no such program: {program}" if "/" in program else f"{program} isn't on PATH"
