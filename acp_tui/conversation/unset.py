"""The value of a patch's field that was not sent: `None` is a value of its own and means "clear"."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar


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
