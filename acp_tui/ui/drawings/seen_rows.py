"""Remembers which rows of a request have been in view, and which answer waits to be given once more; draws nothing."""

from __future__ import annotations

from collections.abc import Hashable


class SeenRows:
    """The rows of one request, for each way in which it was drawn: where one was read whole, all of it was seen."""

    def __init__(self) -> None:
        self._asked: tuple[object, ...] = ()
        self._rows: dict[Hashable, set[int]] = {}
        self.is_all_seen = False
        self.wanted = ""
        """The option that the user chose before all was seen; the same again counts."""
        self.again = ""
        """How the user gives it again, such as "press 1 again"."""

    def begin(self, asked: tuple[object, ...]) -> None:
        """It is this that is asked: where it was something else before, nothing of it has been seen."""
        if asked != self._asked:
            self._asked, self._rows, self.is_all_seen, self.wanted = asked, {}, False, ""

    def note(self, way: Hashable, rows: range, count: int) -> None:
        """These of `count` rows are in view, drawn in this way."""
        seen = self._rows.setdefault(way, set())
        seen.update(rows)
        self.is_all_seen = self.is_all_seen or len(seen) >= count

    def first_unseen(self, way: Hashable) -> int:
        """The first row that was not in view, drawn in this way."""
        seen, row = self._rows.get(way, set()), 0
        while row in seen:
            row += 1
        return row
