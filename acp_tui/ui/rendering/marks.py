"""Segments that say what they are beside how they look, so that text can be read back out of drawn lines."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment


class Gutter(Segment):
    """Stands beside the text and is not part of it: an indentation, the bar of a quote, a line number."""

    __slots__ = ()


class Joint(Segment):
    """Begins a line that goes on with the text of the line above, which was broken at a space; of no width."""

    __slots__ = ()


class Cut(Joint):
    """The same, where a word was cut."""

    __slots__ = ()


JOINT: Final = Joint("")
CUT: Final = Cut("")
