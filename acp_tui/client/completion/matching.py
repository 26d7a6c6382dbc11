"""How well typed letters fit a name, and how a path is written behind `@`, as `attachments` reads it.

A match says which letters were typed; the last part of a path counts most. Does not look at the disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from acp_tui.conversation.visible import make_visible_line
from acp_tui.values import dataclass

Places: TypeAlias = tuple[int, ...]
"""Indexes of letters in a text, ascending."""

_BETWEEN_WORDS: Final = "/_-. "
_MOST_RUNS: Final = 8
"""A text that has the letters in one run more often than this is not looked at to its end."""

_IN_A_ROW: Final = 10
_WORD_START: Final = 10
_NAME_START: Final = 14
_IN_NAME: Final = 3
_GAP: Final = 5
"""Taken away for letters between two that were typed."""
_WHOLE_NAME: Final = 30
_CELLS_A_POINT: Final = 4
"""So much longer, one point less."""


@dataclass(frozen=True, slots=True)
class Match:
    """A text that fits what was typed."""

    text: str
    score: int = 0
    """The more the better."""
    places: Places = ()
    """Which of its letters were typed."""


def is_exact_case(query: str) -> bool:
    """Whether capitals count: they do as soon as one is typed."""
    return query != query.lower()


def fit(query: str, text: str) -> Match | None:
    """How `query` fits: in one run, or at least in this order; None where it does not."""
    haystack = text if is_exact_case(query) else _lowered(text)
    stop = len(text) - text.endswith("/")
    name_at = text.rfind("/", 0, stop) + 1
    shape = _Shape(text, name_at, stop)
    fits = [Match(text, _score(places, shape), places) for places in _alignments(query, haystack, name_at)]
    return max(fits, key=lambda match: match.score, default=None)


def _lowered(text: str) -> str:
    """In small letters, each where it was: some capitals have two small letters for one."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(letter.lower()[0] for letter in text)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A text, and where in it the name stands."""

    text: str
    name_at: int
    stop: int

    def starts_word(self, at: int) -> bool:
        """Whether a word of the text begins there."""
        if at == 0:
            return True
        before = self.text[at - 1]
        return before in _BETWEEN_WORDS or (before.islower() and self.text[at].isupper())


def _alignments(query: str, haystack: str, name_at: int) -> Iterator[Places]:
    """Where the letters may be: in runs where there are any, else scattered over the name, else over all of it."""
    runs = list(_runs(query, haystack))
    if runs:
        yield from runs
        return
    for begin in (name_at, 0):
        places = _from_left(query, haystack, begin)
        if places is not None:
            yield places
            yield _from_right(query, haystack, places[-1] + 1)
            return


def _runs(query: str, haystack: str) -> Iterator[Places]:
    """The last ones of a path first, since its name stands at the end."""
    stop = len(haystack)
    for _ in range(_MOST_RUNS):
        at = haystack.rfind(query, 0, stop)
        if at < 0:
            return
        yield tuple(range(at, at + len(query)))
        stop = at + len(query) - 1


def _from_left(query: str, haystack: str, begin: int) -> Places | None:
    """Each letter as early as can be, but at the beginning of a word where one such is left."""
    places = []
    at = begin
    for letter in query:
        at = haystack.find(letter, at)
        if at < 0:
            return None
        places.append(at)
        at += 1
    return _at_word_starts(query, haystack, begin) or tuple(places)


def _at_word_starts(query: str, haystack: str, begin: int) -> Places | None:
    """Each letter right behind the one before, else at the beginning of the next word that has it there."""
    places = []
    at = begin
    for letter in query:
        if not haystack.startswith(letter, at):
            starts = (haystack.find(between + letter, at) for between in _BETWEEN_WORDS)
            at = min((start + 1 for start in starts if start >= 0), default=-1)
            if at < 0:
                return None
        places.append(at)
        at += 1
    return tuple(places)


def _from_right(query: str, haystack: str, stop: int) -> Places:
    """Each letter as late as can be before `stop`: closer together than from the left."""
    places = []
    for letter in reversed(query):
        stop = haystack.rfind(letter, 0, stop)
        places.append(stop)
    return tuple(reversed(places))


def _score(places: Places, shape: _Shape) -> int:
    score = -len(shape.text) // _CELLS_A_POINT
    before = places[0]
    for at in places:
        score += _points(at, before, shape)
        before = at
    return score + _WHOLE_NAME * _are_whole_name(places, shape)


def _points(at: int, before: int, shape: _Shape) -> int:
    """For one letter, by where it is and where the one before it was."""
    points = _IN_NAME if at >= shape.name_at else 0
    if at == shape.name_at:
        points += _NAME_START
    elif shape.starts_word(at):
        points += _WORD_START
    elif at == before + 1:
        points += _IN_A_ROW
    return points if at <= before + 1 else points - _GAP


def _are_whole_name(places: Places, shape: _Shape) -> bool:
    """Whether they are all of the name, or all before its suffix."""
    first, last = places[0], places[-1]
    ends = (shape.stop, shape.text.find(".", shape.name_at + 1))
    return first == shape.name_at and last - first + 1 == len(places) and last + 1 in ends


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
