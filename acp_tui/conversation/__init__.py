"""What a session says, as plain values and one reducer; no I/O, no wire types, no screen.

Begin with `updates` (all that can happen), then `conversation` and `entries` (the state it makes), then `reducer`. Here
stands what else is loaded with any of them: before the first frame the settings need the kinds of tool calls, and no
more.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar

# An open enum: an agent may send others, which are kept as they came.
KINDS: Final = (
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
)
QUIET_KINDS: Final = ("read", "search", "fetch", "think")
"""Their content is for the agent: it is folded away where nothing else is wished for."""


class Unset(Enum):
    """A type with one value, so that `value is UNSET` narrows for a type checker."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
UnsetType: TypeAlias = Literal[Unset.UNSET]

T = TypeVar("T")


def or_else(value: T | UnsetType, kept: T) -> T:
    """`value`, or `kept` where nothing was sent."""
    return kept if value is UNSET else value
