"""Which agents were used last, so that they stand first; a convenience, so it never fails."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_tui.client.agents.kept_file import read_kept, write_kept
from acp_tui.client.settings.location import state_folder

MOST_KEPT: Final = 50


def recent_file() -> Path:
    """Where the names are kept."""
    return state_folder() / "recent-agents.json"


def recent_agents(file: Path) -> tuple[str, ...]:
    """The names, the last used first."""
    content = read_kept(file)
    names = content if isinstance(content, list) else []
    return tuple(name for name in names if isinstance(name, str))[:MOST_KEPT]


def note_used(name: str, file: Path) -> None:
    """Put this name first."""
    names = [name, *(other for other in recent_agents(file) if other != name)]
    with suppress(OSError):
        write_kept(file, names[:MOST_KEPT])
