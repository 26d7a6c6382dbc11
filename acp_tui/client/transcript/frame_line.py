"""One line of a connection as it was, and what it is a line of; what it says is `entry`'s matter."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

ENDED: Final = "the agent's process "
"""How a note begins that says how it ended."""


class Kind(Enum):
    """Where a line stood."""

    IN = "in"
    """On the agent's stdout."""
    OUT = "out"
    """On its stdin: the client's."""
    STDERR = "stderr"
    NOTE = "note"
    """Nowhere: what is to be known at this place, such as the agent's end."""


class Line(NamedTuple):
    """A line without its end. A tuple, since one is made of every frame that passes."""

    at_s: float
    """Seconds since the agent was started."""
    kind: Kind
    data: bytes
