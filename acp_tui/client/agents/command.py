"""The command that starts an agent."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, Literal

from acp_tui.client.errors import AgentNotRunnable
from acp_tui.client.settings.settings import NO_SANDBOX, READ_ONLY, WORKSPACE, RefusalRule, SandboxProfile, Settings
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.agents.address import Address  # most agents are commands

DEMO: Final = "demo"
"""The name of the agent that is part of acp-tui."""


class Phase(Enum):
    """The value is what the status line shows."""

    STARTING = "starting"
    INITIALIZING = "initializing"
    AUTHENTICATING = "logging in"
    OPENING = "opening a session"
    READY = "ready"
    GONE = "gone"


SHELL_LINE_WRAPPERS: Final = frozenset({"ssh", "autossh"})
"""They pass their arguments, joined by spaces, to a shell on the other machine. `-t` gives it a terminal."""


def leads_to_shell(argv: Sequence[str]) -> bool:
    """Whether the command passes its arguments to a shell as a command line."""
    return PurePath(argv[0]).name in SHELL_LINE_WRAPPERS


def behind(wrapper: tuple[str, ...], argv: Sequence[str]) -> tuple[str, ...]:
    """The wrapper followed by the command, quoted if necessary so that each word arrives unchanged."""
    return (*wrapper, shlex.join(argv)) if leads_to_shell(wrapper) else (*wrapper, *argv)


@dataclass(frozen=True, slots=True)
class Package:
    """A package that the agent registry names: third-party code, fetched by a runner or installed by the user."""

    runner: str
    """`npx` or `uvx`, which download it; "" for a program on PATH."""
    spec: str
    """The package as the runner takes it, or the program's name."""
    version: str


@dataclass(frozen=True, slots=True)
class SandboxPlan:
    """What the user wants an agent to run in."""

    profile: SandboxProfile
    directories: tuple[Path, ...] = ()
    """Where its sessions may work, besides the folder it starts in."""
    refuse: tuple[RefusalRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Sandboxes:
    """What the user's settings say about sandboxes, and what holds in each of them."""

    default: str = NO_SANDBOX
    """The name of the one for agents that have none of their own."""
    own: tuple[SandboxProfile, ...] = ()
    directories: tuple[Path, ...] = ()
    refuse: tuple[RefusalRule, ...] = ()

    def plan_for(self, agent: str, wanted: str, *, is_elsewhere: bool) -> SandboxPlan | None:
        """What the agent of that name is to run in; None for no sandbox. Raises AgentNotRunnable.

        `wanted` is the name of its own sandbox, or "".
        """
        name = wanted or self.default
        if name == NO_SANDBOX:
            return None
        if is_elsewhere:
            if not wanted:
                return None
            raise AgentNotRunnable(
                f"{agent} runs elsewhere, where acp-tui can't make a sandbox", hint="start it in one there"
            )
        if any(profile.name == READ_ONLY.name for profile in self.own):
            raise AgentNotRunnable(
                f"[sandbox.{READ_ONLY.name}] isn't yours to set: {READ_ONLY.name} is one of acp-tui's own",
                hint="give it another name",
            )
        known = {profile.name: profile for profile in (READ_ONLY, WORKSPACE, *self.own)}
        if name not in known:
            names = ", ".join((NO_SANDBOX, *known))
            raise AgentNotRunnable(f"there is no sandbox named {name!r}", hint=f"there are {names}")
        return SandboxPlan(known[name], self.directories, self.refuse)


def sandboxes_of(settings: Settings) -> Sandboxes:
    directories = settings.workspace.additional_directories
    return Sandboxes(settings.agent.sandbox, settings.sandbox, directories, settings.refuse)


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """What to run or where to connect, and the agent's name."""

    name: str
    argv: tuple[str, ...]
    """For an agent that already runs, only its address."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the user's environment, overriding it."""
    install_hint: str = ""
    """What to do if the command isn't found."""
    package: Package | None = None
    """What the user has to agree to before it runs; None if nothing, or already agreed."""
    recorded_in: Path | None = None
    """The folder where a recording says that it ran, if the user has yet to agree to that; otherwise None."""
    runner: str = ""
    """`npx` or `uvx` if the agent registry says that it fetches and runs the agent."""
    is_listed: bool = False
    """Whether `name` is one the user can type."""
    is_elsewhere: bool = False
    """It runs in a container or on another machine, so it doesn't see this machine's files."""
    shares_files: bool = False
    """It's offered this machine's files and terminals although it runs elsewhere."""
    mcp_servers: tuple[str, ...] | None = None
    """The names of the MCP servers it gets; None for all of them."""
    cwd: Path | None = None
    """Where its sessions work; None for the user's current directory."""
    wrapper: tuple[str, ...] = ()
    """The command that leads to where it runs, also contained in `argv`."""
    wrapped: tuple[str, ...] = ()
    """The command that runs there; () without a wrapper."""
    protocol: Literal[1, 2] | None = None
    """The version of ACP to use; None for the newest one it supports."""
    address: Address | None = None
    """Where it already runs; None if we start it."""
    proxies: tuple[tuple[str, ...], ...] = ()
    """The commands of the proxies between it and us, the one next to us first. They run here, wherever it runs."""
    sandbox: str = ""
    """The name of the sandbox it runs in; "" for what the settings say."""
    system_prompt: str = ""
    """Instructions for each of its sessions; "" for none."""
    overrides_prompt: bool = False
    """Whether these replace its own instructions instead of following them."""
    options: tuple[tuple[str, str], ...] = ()
    """What to choose in each new session: the category or ID of an option, and its value."""
    is_host: bool = False
    """An acp-tui host runs there, so its sessions outlive this terminal."""
    greeting: str = ""
    """What a session shows while it's empty."""

    def planned_in(self, sandboxes: Sandboxes) -> SandboxPlan | None:
        """What it is to run in; None for no sandbox. Raises AgentNotRunnable."""
        is_elsewhere = self.is_elsewhere or self.address is not None
        return sandboxes.plan_for(self.name, self.sandbox, is_elsewhere=is_elsewhere)

    @property
    def proxy_commands(self) -> tuple[AgentCommand, ...]:
        return tuple(
            AgentCommand(f"proxy {number} ({PurePath(words[0]).name})", words, self.env, sandbox=self.sandbox)
            for number, words in enumerate(self.proxies, 1)
        )

    @property
    def way(self) -> str:
        """How we reach it, as the end of a sentence: a process is run, an address is connected to."""
        way = f"runs: {self.line}" if self.address is None else f"is at {self.line}"
        return ", through ".join((way, *(proxy.line for proxy in self.proxy_commands)))

    @property
    def line(self) -> str:
        return shlex.join(self.argv)

    def for_terminal(self, args: Sequence[str], env: Mapping[str, str]) -> AgentCommand:
        """The same command with more arguments and variables, for a terminal of the user's.

        The agent chose both, so no shell on the way may interpret them. If the agent runs elsewhere, the local wrapper
        must not get its variables.
        """
        is_led_by_ssh = leads_to_shell(self.argv)
        if not (self.is_elsewhere or is_led_by_ssh):
            argv = behind(self.wrapper, (*self.wrapped, *args)) if self.wrapper else (*self.argv, *args)
            return replace(self, argv=argv, env={**self.env, **env})
        if self.wrapper:
            words = ("env", *(f"{name}={value}" for name, value in env.items())) if env else ()
            argv = behind(self.wrapper, (*words, *self.wrapped, *args))
        else:
            argv = (*self.argv, *(map(shlex.quote, args) if is_led_by_ssh else args))
        return replace(self, argv=(argv[0], "-t", *argv[1:]) if is_led_by_ssh else argv)

    @property
    def is_remote(self) -> bool:
        """Whether it runs elsewhere, or where nobody knows: at an address that isn't a host's."""
        return self.is_elsewhere or (self.address is not None and not self.is_host)

    @property
    def is_offered_this_machine(self) -> bool:
        """Whether we may offer it to read, write, and run commands on this machine."""
        return self.shares_files or not self.is_elsewhere

    @property
    def place_note(self) -> str:
        """What its location means for the user; "" for an agent that runs here."""
        if not self.is_elsewhere:
            return ""
        if self.shares_files:
            return "runs elsewhere, but reads files and runs commands on this machine"
        return "runs elsewhere, so it can't use this machine's files and terminals"
