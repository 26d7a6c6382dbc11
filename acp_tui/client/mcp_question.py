"""What a project's MCP servers would get of the user's environment, in words for the question whether to trust them.

It asks nothing and expands nothing: what the variables hold is never shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acp_tui.client.loading_variables import loading_effect
from acp_tui.client.secrets.masking import masked_text
from acp_tui.client.secrets.names import is_secret_name
from acp_tui.client.secrets.questions import asks_for_secret
from acp_tui.client.settings.mcp import Reading, Server, StdioServer, readings

_WORDS: Final = frozenset({"key", "keys", "pat", "auth", "creds", "cred", "pass", "dsn", "session", "jwt"})
"""In the name of a variable; elsewhere these say less."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing to know of a server."""

    text: str
    """Holds words of the file's, not made visible yet."""
    is_warning: bool


def rows_of(server: Server, environ: Mapping[str, str]) -> tuple[Row, ...]:
    """Every variable that is read for the server and where its value goes, secrets first; then what loads code."""
    read = sorted(
        (_row_of(reading, environ) for reading in readings(server)), key=lambda row: not row.is_warning
    )
    env = server.env if isinstance(server, StdioServer) else ()
    loading = [Row(f"{name} {effect}", True) for name, _ in env if (effect := loading_effect(name))]
    return (*read, *loading)


def may_be_secret(name: str, value: str) -> bool:
    """Whether a variable looks like a secret, by its name or by what it holds."""
    words = name.lower().split("_")
    has_word = words[-1].endswith("pass") or not _WORDS.isdisjoint(words)
    return has_word or is_secret_name(name) or asks_for_secret(name) or masked_text(value) != value


def _row_of(reading: Reading, environ: Mapping[str, str]) -> Row:
    name, value = reading.variable, environ.get(reading.variable)
    is_secret = may_be_secret(name, value or "")
    kind = ", which looks like a secret," if is_secret else ""
    unset = "" if value else "; it is empty or not set now"
    return Row(f"reads your variable {name}{kind} into {reading.goes_to}{unset}", is_secret)
