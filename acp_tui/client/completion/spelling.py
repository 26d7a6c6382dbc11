"""How a path is written behind `@`, as `attachments` reads it. Does not look at the disk."""

from __future__ import annotations

import re
from typing import Final

from acp_tui.conversation.visible import make_visible_line
from acp_tui.values import dataclass

MOST_LETTERS: Final = 1000
"""A mention that is longer is not completed: it is no path that anyone writes."""

_CLOSING: Final = ".,;:!?)]}>'\"”’»」』）】》…。，、；：！？"
_NEEDS_QUOTES: Final = re.compile(rf"[\s`]|[{re.escape(_CLOSING)}]\Z")
_LINES: Final = r":(?P<lines>[0-9]{0,9}(?:-[0-9]{0,9})?)"
_BEING_WRITTEN: Final = re.compile(
    r"(?:\A|(?<=[\s(\[{<\"'“‘„«「『（【《]))@"
    rf"(?: \"(?P<quoted>[^\"\n]*)(?P<closed>\"(?:{_LINES})?)? | (?P<word>[^\s`\"]*) ) \Z",
    re.VERBOSE,
)
_WORD_WITH_LINES: Final = re.compile(rf"(?P<path>.+){_LINES}")
# What of a mention stands behind the cursor; a quotation that is not closed does not reach over all the rest.
_REST_OF_WORD: Final = re.compile(r"[\w./~-]*")
_REST_OF_QUOTED: Final = re.compile(r"(?:[^\"\n]*\")?")


@dataclass(frozen=True, slots=True)
class Writing:
    """A mention in which the cursor stands."""

    start: int
    """Where its `@` is in the line."""
    stop: int
    """Where it ends; it may go on behind the cursor."""
    path: str
    """As far as the cursor."""
    lines: str | None = None
    """What is written of a range, such as `10-`; None where none is begun."""


def being_written(line: str, column: int) -> Writing | None:
    """The mention that ends at the cursor, or goes on there."""
    begin = max(column - MOST_LETTERS, 0)
    found = _BEING_WRITTEN.search(line[begin:column])
    if found is None or (begin and found.start() == 0):
        return None
    start = begin + found.start()
    if found["closed"] is not None:
        return Writing(start, column, found["quoted"], found["lines"]) if found["lines"] is not None else None
    if found["quoted"] is not None:
        return Writing(start, _end_of(_REST_OF_QUOTED, line, column), found["quoted"])
    ranged = _WORD_WITH_LINES.fullmatch(found["word"])
    if ranged is not None:
        return Writing(start, column, ranged["path"], ranged["lines"])
    return Writing(start, _end_of(_REST_OF_WORD, line, column), found["word"])


def _end_of(rest: re.Pattern[str], line: str, column: int) -> int:
    found = rest.match(line, column)
    return found.end() if found is not None else column


def mention_of(path: str, *, is_open: bool = False) -> str | None:
    """How to write it; None where there is no way, or none that the draft could show as it is.

    `is_open`: more of the path is to follow, so quotes are not closed.
    """
    if '"' in path or "\t" in path or make_visible_line(path) != path:
        return None
    if not _NEEDS_QUOTES.search(path):
        return f"@{path}"
    return f'@"{path}' if is_open else f'@"{path}"'
