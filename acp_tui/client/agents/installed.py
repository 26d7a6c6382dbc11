"""What acp-tui can install, and what it has installed: each agent in a folder of its own. Installs nothing.

Below `installed_folder`, `NAME/VERSION` holds an agent, and `NAME.json` says which version is in use and what to run.
That record is written last, so whatever no record names is left over from an installation that was interrupted.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Final, Literal

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.private_files import read_json_state
from acp_tui.client.settings.location import installed_folder
from acp_tui.values import dataclass

PYTHON: Final = "3.13"
"""For what comes from Python's packages. uv fetches it if it isn't there."""


@dataclass(frozen=True, slots=True)
class Installable:
    """An agent that can be installed. Of a package, the version isn't known before it is looked up."""

    name: str
    tool: Literal["npm", "uv", ""]
    """The program that installs it; "" for an archive, which acp-tui unpacks."""
    source: str
    """The package's name, or the archive's address."""
    program: str
    """The program's name, or its path in the archive."""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    size_bytes: int = 0
    """About how many: on disk, or of an archive to download; 0 if unknown."""
    sha256: str = ""
    runs_scripts: bool = False
    """Whether it needs the scripts that its package brings for its installation."""
    note: str = ""
    """Why it isn't the newest version; "" if it is. The text is untrusted."""

    @property
    def folder(self) -> Path:
        """Where it will be; of a package, once its version is known."""
        return installed_folder() / self.name / self.version

    @property
    def path(self) -> Path:
        below = {"npm": "node_modules/.bin", "uv": "bin", "": ""}[self.tool]
        return self.folder / below / self.program

    @property
    def words(self) -> tuple[str, ...]:
        """The command line that installs it; () for an archive."""
        match self.tool:
            case "npm":
                scripts = () if self.runs_scripts else ("--ignore-scripts",)
                return ("npm", "install", "--prefix", str(self.folder), *scripts, f"{self.source}@{self.version}")
            case "uv":
                return ("uv", "tool", "install", "--no-build", "--python", PYTHON, f"{self.source}=={self.version}")
            case _:
                return ()

    @property
    def env_of_tool(self) -> dict[str, str]:
        """The variables that tell uv where to install it."""
        if self.tool != "uv":
            return {}
        return {"UV_TOOL_DIR": str(self.folder / "tool"), "UV_TOOL_BIN_DIR": str(self.folder / "bin")}


def terms_of(offer: Installable) -> tuple[str, ...]:
    """All that the user agrees to, one line each; the second is what is downloaded. The text is untrusted."""
    size = f"{offer.size_bytes / 1e6:.0f} MB" if offer.size_bytes else ""
    runs = shlex.join((str(offer.path.relative_to(offer.folder)), *offer.args))  # short, so that it isn't broken
    if offer.tool:
        about = f"{offer.tool} downloads {offer.source} {offer.version}, about {size} with all that it needs:"
        line = " ".join((*(f"{name}={value}" for name, value in offer.env_of_tool.items()), shlex.join(offer.words)))
        before = "Its package's own install script runs." if offer.runs_scripts else "No install scripts run."
    else:
        about = f"acp-tui downloads {offer.name} {offer.version}" + (f", an archive of {size}:" if size else ":")
        line = offer.source
        before = (
            f"It must have the SHA-256 {offer.sha256}."
            if offer.sha256
            else "⚠ The agent registry has no checksum of it, so nothing tells whether it's the file that was listed."
        )
    return (
        about,
        line,
        before,
        *([offer.note] if offer.note else ()),
        f"Nothing else uses its folder, {offer.folder}. From there, it runs as you, with all your permissions:",
        runs,
        *(f"with {name}={value}" for name, value in offer.env.items()),
    )


@dataclass(frozen=True, slots=True)
class Installed:
    name: str
    version: str
    source: str
    """What it came from: the package, or the archive's address."""
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""
    """Of the archive."""

    @property
    def command(self) -> AgentCommand:
        return AgentCommand(self.name, self.argv, self.env, is_listed=True)


def record_of(name: str) -> Path:
    return installed_folder() / f"{name}.json"


def read_installed(name: str) -> Installed | None:
    """The agent of that name; None if it isn't installed, or its program is gone. Blocks."""
    match read_json_state(record_of(name)):
        case {
            "version": str(version),
            "source": str(source),
            "argv": [str(program), *args],
            "env": dict(env),
            "sha256": str(digest),
        } if os.access(program, os.X_OK):
            return Installed(name, version, source, (program, *map(str, args)), env, digest)
    return None


def all_installed() -> tuple[Installed, ...]:
    """Every agent that is installed, by name. Blocks."""
    records = sorted(installed_folder().glob("*.json"))
    return tuple(found for file in records if (found := read_installed(file.stem)) is not None)
