"""The command that starts an agent."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """What to run, and under which name to speak of it."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the user's own environment, and over it."""
    install_hint: str = ""
    """What to do where the command is not found."""

    @property
    def line(self) -> str:
        """The command as one would type it."""
        return shlex.join(self.argv)
