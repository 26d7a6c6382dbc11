"""What a look at a text gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Find:
    """A piece of a text that looks like a secret."""

    start: int
    end: int
    kind: str
    """Of `stand_ins.KINDS`."""
    is_known_elsewhere: bool = True
    """What it is may stand anywhere else too, and is a secret there as well."""
