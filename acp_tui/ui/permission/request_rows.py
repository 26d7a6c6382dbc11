"""Shares out the rows that there are among the parts of a permission request; it draws none of them."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

Part: TypeAlias = Literal["title", "subject", "keys", "options", "gap"]

ALL: Final = 1 << 30
ENOUGH_TITLE_ROWS: Final = 2
ENOUGH_OPTION_ROWS: Final = 6
"""Beyond as many the options may scroll."""
ENOUGH_SUBJECT_ROWS: Final = 8
"""With as many there is room for other things."""

_ORDER: Final[tuple[tuple[Part, int], ...]] = (
    # Nobody may answer what is not to be seen: first comes something of everything.
    ("subject", 2),
    ("options", 1),
    ("keys", 1),
    ("title", ENOUGH_TITLE_ROWS),
    ("options", ENOUGH_OPTION_ROWS),
    ("title", 4),
    ("subject", 4),
    ("keys", ALL),
    ("subject", ENOUGH_SUBJECT_ROWS),
    ("options", ALL),
    ("subject", ENOUGH_SUBJECT_ROWS + 4),
    ("gap", 1),
    ("subject", ALL),
    ("title", ALL),
)
"""Which part gets rows up to how many, one after the other."""


class RowCounts(NamedTuple):
    """How high each part of a request is, from top to bottom."""

    title: int = 0
    subject: int = 0
    gap: int = 0
    """Rows left free above the keys."""
    keys: int = 0
    options: int = 0


def share_out(wanted: RowCounts, room: int) -> RowCounts:
    """At most `wanted`, and `room` in all."""
    rows = RowCounts()
    for part, most in _ORDER:
        missing = min(most, getattr(wanted, part)) - getattr(rows, part)
        more = max(0, min(missing, room - sum(rows)))
        rows = rows._replace(**{part: getattr(rows, part) + more})
    return rows


def is_enough(rows: RowCounts, wanted: RowCounts) -> bool:
    """Whether one sees what one would answer: the title, the first of the subject, and the options."""
    return (
        rows.title >= min(wanted.title, ENOUGH_TITLE_ROWS)
        and rows.keys > 0
        and rows.subject >= min(wanted.subject, 2)
        and rows.options >= min(wanted.options, ENOUGH_OPTION_ROWS)
    )


def start_row(change: int, rows: int, height: int) -> int:
    """Where to begin in `rows` lines, so that the first changed one is in view with one above it if that has room."""
    if change + 2 <= height:
        return 0
    return max(0, min(change - (1 if height > 2 else 0), rows - height))
