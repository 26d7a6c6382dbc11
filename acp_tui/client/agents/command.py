"""The command that starts an agent."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


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
    """What to run, and under which name to speak of it."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the user's own environment, and over it."""
    install_hint: str = ""
    """What to do where the command is not found."""
    package: Package | None = None
    """What the user has to agree to before it runs; None: nothing, or that is done."""
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

    @property
    def line(self) -> str:
        """The command as one would type it."""
        return shlex.join(self.argv)

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
            return "runs elsewhere; the files and terminals it asks acp-tui for are those of this machine"
        return "runs elsewhere; acp-tui offers it no files and no terminals of this machine"
