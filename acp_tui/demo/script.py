"""The content of a scenario as values: its turns, their steps, and what the agent declares about itself.

Neither reads files (`reading`) nor plays anything (`playing`). Values for the wire (tool calls, content blocks, config
options) have their wire format; `turn` fills in placeholders and absolute paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, TypeAlias

from acp_tui.values import dataclass

STORED_SESSION_METHODS: Final = ("list", "load", "resume", "delete")
"""The methods that may be offered for stored sessions."""

Wire: TypeAlias = Mapping[str, Any]
"""An object in the protocol's own format."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its table in the file, as `reading` made it. `playing` has the defaults of missing keys."""

    kind: str
    """The key that names it, such as "say"."""
    table: Mapping[str, Any]
    """Its keys, with that one. Steps within it are tuples, such as the branch "allowed"."""

    @property
    def value(self) -> Any:
        return self.table[self.kind]

    def get(self, key: str, default: Any = None) -> Any:
        return self.table.get(key, default)

    def branch(self, name: str) -> tuple[Step, ...]:
        """The steps to continue with; none if the scenario has none."""
        steps: tuple[Step, ...] = self.table.get(name, ())
        return steps


def with_inner(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps, each followed by those within it."""
    for step in steps:
        yield step
        for value in step.table.values():
            if isinstance(value, tuple):
                yield from with_inner(each for each in value if isinstance(each, Step))


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    match: re.Pattern[str] | None
    """Which prompts it answers; None: the next one that no pattern matches."""
    steps: tuple[Step, ...]
    play: str | None = None
    """The name of another scenario that answers instead."""


@dataclass(frozen=True, slots=True)
class Initialize:
    hang: bool = False
    wait_s: float = 0
    protocol_version: int | None = None
    """Always answer with this version, in the format of version 1; None: negotiate."""


@dataclass(frozen=True, slots=True)
class Auth:
    """The login. `required` refuses sessions until the user has logged in."""

    required: bool = False
    methods: tuple[Wire, ...] = ()
    logout: bool = False


@dataclass(frozen=True, slots=True)
class SessionTerms:
    commands: tuple[Wire, ...] = ()
    modes: Wire | None = None
    config: tuple[Wire, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptSession:
    session_id: str
    title: str | None = None
    updated_at: str | None = None
    cwd: str = "."
    """Relative to the folder of the most recently opened session."""
    history: tuple[Step, ...] = ()
    """Its history: steps that ask nothing of the client."""


@dataclass(frozen=True, slots=True)
class StoredSessions:
    """What the agent offers for stored sessions; nothing if it stores none."""

    offers: frozenset[str] = frozenset()
    """A subset of STORED_SESSION_METHODS."""
    page_size: int = 10
    sessions: tuple[KeptSession, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    description: str
    turns: tuple[ScriptedTurn, ...]
    initialize: Initialize = field(default_factory=Initialize)
    auth: Auth = field(default_factory=Auth)
    session: SessionTerms = field(default_factory=SessionTerms)
    keeping: StoredSessions = field(default_factory=StoredSessions)
    texts: Mapping[str, str] = field(default_factory=dict)
    """Long texts by name, for `{name}` in any step."""

    @property
    def unmatched(self) -> Sequence[ScriptedTurn]:
        return [turn for turn in self.turns if turn.match is None]

    def matching(self, text: str) -> ScriptedTurn | None:
        return next((turn for turn in self.turns if turn.match and turn.match.search(text)), None)
