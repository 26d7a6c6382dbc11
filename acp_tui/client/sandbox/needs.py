"""What each agent needs besides the session's folders: its login, its sessions, its caches, its variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Needs:
    """Paths may start with ~ and ${NAME:-default}."""

    state: tuple[str, ...] = ()
    """Folders and files it writes. Folders are made."""
    readable: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    """Variables it gets from the user's environment; `*` stands for any characters."""
    sets: Mapping[str, str] = field(default_factory=dict)
    """Variables that it gets in a sandbox."""
    note: str = ""
    """What is different for it in a sandbox."""


NEEDS: Final[Mapping[str, Needs]] = {}


def needs_of(name: str, registry_id: str = "") -> Needs:
    """The needs of an agent. One that isn't known gets the folders that programs of its name usually have."""
    return NEEDS.get(name) or NEEDS.get(registry_id) or _by_name(name)


def _by_name(name: str) -> Needs:
    if "/" in name or name in ("", ".", ".."):
        return Needs()
    folders = (
        f"~/.{name}",
        f"${{XDG_CONFIG_HOME:-~/.config}}/{name}",
        f"${{XDG_DATA_HOME:-~/.local/share}}/{name}",
        f"${{XDG_STATE_HOME:-~/.local/state}}/{name}",
        f"${{XDG_CACHE_HOME:-~/.cache}}/{name}",
    )
    return Needs(folders)
