"""Owns the lines of one drawn text, some of them drawn only when they are first looked at; lays nothing out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from textual.strip import Strip

from acp_tui.ui.rendering.lines import Lines

Row: TypeAlias = Strip | Callable[[], Strip]
"""A line that is drawn, or the way to draw it."""

BLANK: Final = Strip((), 0)


class Rows(Lines):
    """Strips of natural length, never wider than asked for; a lazy one is drawn once and then stays the same object."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows: list[Row] = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def extend(self, rows: Iterable[Row]) -> None:
        """Put lines behind those that are there."""
        self._rows.extend(rows)

    def truncate(self, length: int) -> None:
        """Keep the first `length` lines."""
        del self._rows[length:]

    def _line(self, at: int) -> Strip:
        row = self._rows[at]
        if not isinstance(row, Strip):
            row = self._rows[at] = row()
        return row
