"""The command that starts an agent."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, Literal

from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.agents.address import Address  # most agents are commands


@dataclass(frozen=True, slots=True)
class Quirks:
    """Deviations from the standard answers, all off for an agent that is not listed."""

    missing_file_reads_empty: bool = False
    """Answer fs/read_text_file of a missing file with "" instead of an error."""


def quirks_of(agent_name: str) -> Quirks:
    """The quirks for an agent's own name, as its initialize response gives it."""
    # gemini-cli 0.61.0: it reads a file before it writes it, and gives up writing a *new* file on any error. Editors
    # answer "" by accident, since they open an empty buffer.
    if agent_name == "gemini-cli":
        return Quirks(missing_file_reads_empty=True)
    return Quirks()


class Phase(Enum):
    """The value is what a status line says."""

    STARTING = "starting"
    INITIALIZING = "initializing"
    AUTHENTICATING = "logging in"
    OPENING = "opening a session"
    READY = "ready"
    GONE = "gone"


SHELL_LINE_WRAPPERS: Final = frozenset({"ssh", "autossh"})
"""They hand their arguments to a shell on the other side, joined by spaces; `-t` gives it a terminal."""


def leads_to_shell(argv: Sequence[str]) -> bool:
    """Whether what is run reads its arguments as a line for a shell."""
    return PurePath(argv[0]).name in SHELL_LINE_WRAPPERS


def behind(wrapper: tuple[str, ...], argv: Sequence[str]) -> tuple[str, ...]:
    """The wrapper with what is to be run behind it, so that each word arrives as it is."""
    return (*wrapper, shlex.join(argv)) if leads_to_shell(wrapper) else (*wrapper, *argv)


@dataclass(frozen=True, slots=True)
class Package:
    """What the agent registry says is to be run: code of others, fetched by a runner or installed by the user."""

    runner: str
    """`npx` or `uvx`, which download it; "" for a program that is on PATH."""
    spec: str
    """As the runner takes it, or the program's name."""
    version: str


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """What to run or where to connect, and under which name to speak of it."""

    name: str
    argv: tuple[str, ...]
    """For an agent that runs already, its address alone."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the user's own environment, and over it."""
    install_hint: str = ""
    """What to do where the command is not found."""
    package: Package | None = None
    """What the user has to agree to before it runs; None: nothing, or that is done."""
    runner: str = ""
    """`npx` or `uvx` where the agent registry says that one of them fetches and runs it."""
    is_listed: bool = False
    """True where `name` is one that the user can type."""
    is_elsewhere: bool = False
    """It runs in a container or on another machine: this one's files are not those that it sees."""
    shares_files: bool = False
    """This machine's files and terminals are offered to it although it runs elsewhere."""
    mcp_servers: tuple[str, ...] | None = None
    """The names of the MCP servers that it gets; None: all of them."""
    cwd: Path | None = None
    """Where its sessions work; None: where the user is."""
    wrapper: tuple[str, ...] = ()
    """What leads to where it runs; stands in `argv` too."""
    wrapped: tuple[str, ...] = ()
    """What is run there; () without a wrapper."""
    protocol: Literal[1, 2] | None = None
    """The version of ACP to speak with it; None: the newest that it speaks."""
    address: Address | None = None
    """Where it runs already; None: it is started."""
    is_host: bool = False
    """What runs there is a host of acp-tui: its sessions outlive this terminal."""
    greeting: str = ""
    """What a session says as long as it is empty."""

    @property
    def way(self) -> str:
        """How it is reached, as the end of a sentence: a process is run, an address is connected to."""
        return f"runs: {self.line}" if self.address is None else f"is at {self.line}"

    @property
    def line(self) -> str:
        """The command as one would type it."""
        return shlex.join(self.argv)

    def for_terminal(self, args: Sequence[str], env: Mapping[str, str]) -> AgentCommand:
        """The same with more arguments and variables, in a terminal of the user's.

        The agent has chosen both, so no shell on the way may read anything into them; and where the agent runs
        elsewhere, what leads there from here must not get its variables.
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
    def is_offered_this_machine(self) -> bool:
        """Whether it may be offered to read, write and run commands here."""
        return self.shares_files or not self.is_elsewhere

    @property
    def place_note(self) -> str:
        """What follows from where it runs; "" for an agent that runs here."""
        if not self.is_elsewhere:
            return ""
        if self.shares_files:
            return "runs elsewhere, but reads files and runs commands on this machine"
        return "runs elsewhere, so it can't use this machine's files and terminals"
