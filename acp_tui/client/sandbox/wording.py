"""Says in words what an agent's sandbox holds: for the details of an agent, its first question, and reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from acp_tui.client.sandbox.access import Access
from acp_tui.client.sandbox.box import Box
from acp_tui.client.sandbox.engines import Engine
from acp_tui.conversation.wording import from_home

MAX_LISTED: Final = 2
"""Of the agent's own places on a card, which has little room."""
PRIVATE: Final = "a private folder for temporary files, and empty caches, which go with it"


def facts_of(box: Box, engine: Engine) -> Iterator[tuple[str, str]]:
    """All about it, as labels of at most ten characters and values."""
    yield "Sandbox", f"{box.profile.name}, enforced by {engine.name}"
    yield "Writes", "; ".join(filter(None, (_listed(_tops(box, Access.WRITABLE)), PRIVATE)))
    is_by_rules = engine.name == "landlock"  # for files alone, and whole folders: its gaps say what is missing
    if not is_by_rules and (
        fixed := [path for path in box.listed(Access.READABLE) if _within(box, path, Access.WRITABLE)]
    ):
        yield "Only reads", f"{_listed(fixed)}: they can run something later"
    home = [path for path in box.listed(Access.READABLE) if _within(box, path, Access.HIDDEN, Access.SCRATCH)]
    yield "Reads", "; ".join(filter(None, ("programs and what else isn't hidden", _listed(home))))
    beyond = "" if is_by_rules else "other processes, and the sockets of services"
    yield "Hidden", "; ".join(filter(None, (_listed(box.listed(Access.HIDDEN)), beyond)))
    yield "Network", network_of(box)
    yield "Variables", ", ".join(sorted(box.environment)) or "none"
    yield from (("Gap", gap) for gap in engine.gaps)
    if box.note:
        yield "Note", box.note


def network_of(box: Box) -> str:
    if not box.profile.network:
        return "off"
    if box.profile.hosts and box.profile.engine == "srt":
        return f"only {', '.join(box.profile.hosts)}"
    return "on: what you can reach, it can reach"


def unasked_words(box: Box, engine: Engine) -> str:
    """What its agent can do without asking, for the first question of a session."""
    tops = _tops(box, Access.WRITABLE)
    others = [path for path in tops if path not in box.folders]
    listed = [path for path in tops if path in box.folders or len(others) <= MAX_LISTED]
    more = f"{len(others)} places of its own (F4)" if len(others) > MAX_LISTED else ""
    places = " and ".join(filter(None, (_listed(listed), more)))
    can = [f"change {places or 'no file of yours'}", "read what isn't hidden"]
    can += ["use the network"] if box.profile.network else []
    gaps = " F4 lists what the sandbox can't prevent here." if engine.gaps else ""
    return (
        f"This agent runs in the sandbox {box.profile.name}. Without asking, it can {', '.join(can[:-1])}, and"
        f" {can[-1]}. The rest of your home folder is hidden.{gaps}"
    )


def _tops(box: Box, access: Access) -> list[Path]:
    """The places with this access that aren't in another such place."""
    return [path for path in box.listed(access) if path.parent == path or box.access(path.parent) is not access]


def _within(box: Box, path: Path, *around: Access) -> bool:
    return path.parent != path and box.access(path.parent) in around


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(from_home(path) for path in paths)
