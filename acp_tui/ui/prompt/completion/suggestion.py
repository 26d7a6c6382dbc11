"""One thing that may be meant by what is being written. It says what stands in the list, and what in the draft."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A row of the list; its texts may be an agent's, or names from the disk."""

    label: str
    written: str
    """What takes the place of what is being written."""
    further: str = ""
    """What Tab writes instead, to go on from there: a folder that is open."""
    is_run: bool = False
    """It is not written but done at once."""
    places: tuple[int, ...] = ()
    """Which letters of the label were typed."""
    name_at: int = 0
    """Where in the label the name begins; before it stands the way there."""
    description: str = ""
    group: str = ""
    """The heading it stands under."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A row that says something and cannot be chosen."""

    text: str
    aside: str = ""
    """Stands at the end of the row."""
