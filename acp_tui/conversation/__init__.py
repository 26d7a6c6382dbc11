"""What a session says: plain values and one reducer. No I/O, no wire types, no screen.

Start with `updates` (everything that can happen), then read `conversation` and `entries` (the resulting state), then
`reducer`. This module has what all of them load. It's small because the settings need the kinds of tool calls before
the first frame.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar

# An open enum: an agent may send others, which are kept unchanged.
KINDS: Final = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
QUIET_KINDS: Final = ("read", "search", "fetch", "think")
"""Kinds whose content is meant for the agent. It's folded by default."""

GUARD_S: Final = 0.4
"""How long a question is shown before an answer counts, on the screen and in lines.

Nobody reads a question and answers it faster, and nobody pauses this long between two letters of a word.
"""


class Unset(Enum):
    """An enum with one value, so that `value is UNSET` narrows the type for a type checker."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
UnsetType: TypeAlias = Literal[Unset.UNSET]

T = TypeVar("T")


def or_else(value: T | UnsetType, kept: T) -> T:
    return kept if value is UNSET else value
