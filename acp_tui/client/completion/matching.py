"""How well the typed letters match a name, and how to write a path after `@` so that `attachments` can read it.

A match contains the positions of the typed letters. The last part of a path counts most. Doesn't access the disk.
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
_MAX_RUNS: Final = 8
"""Limit for occurrences of the letters as one run. The rest of the text is ignored."""

_IN_A_ROW: Final = 10
_WORD_START: Final = 10
_NAME_START: Final = 14
_IN_NAME: Final = 3
_GAP: Final = 5
"""Deducted if letters lie between two typed ones."""
_WHOLE_NAME: Final = 30
_CELLS_A_POINT: Final = 4
"""This many more letters deduct one point."""


@dataclass(frozen=True, slots=True)
class Match:
    text: str
    score: int = 0
    """Higher is better."""
    places: Places = ()
    """The positions of the typed letters."""


def is_exact_case(query: str) -> bool:
    """Whether case matters, which it does as soon as the query contains a capital."""
    return query != query.lower()


def fit(query: str, text: str) -> Match | None:
    """How `query` matches: as one run, or at least in this order; None if it doesn't."""
    haystack = text if is_exact_case(query) else _lowered(text)
    stop = len(text) - text.endswith("/")
    name_at = text.rfind("/", 0, stop) + 1
    shape = _Shape(text, name_at, stop)
    fits = [Match(text, _score(places, shape), places) for places in _alignments(query, haystack, name_at)]
    return max(fits, key=lambda match: match.score, default=None)


def _lowered(text: str) -> str:
    """In lowercase, with each letter at its original index: some capitals become two lowercase letters."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(letter.lower()[0] for letter in text)


@dataclass(frozen=True, slots=True)
class _Shape:
    text: str
    name_at: int
    stop: int

    def starts_word(self, at: int) -> bool:
        if at == 0:
            return True
        before = self.text[at - 1]
        return before in _BETWEEN_WORDS or (before.islower() and self.text[at].isupper())


def _alignments(query: str, haystack: str, name_at: int) -> Iterator[Places]:
    """Possible positions of the letters: runs if there are any, otherwise scattered in the name or the whole text."""
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
    """The last ones of a path first, because its name is at the end."""
    stop = len(haystack)
    for _ in range(_MAX_RUNS):
        at = haystack.rfind(query, 0, stop)
        if at < 0:
            return
        yield tuple(range(at, at + len(query)))
        stop = at + len(query) - 1


def _from_left(query: str, haystack: str, begin: int) -> Places | None:
    """Each letter as early as possible, preferring the beginnings of words."""
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
    """Each letter directly after the one before, otherwise at the beginning of the next word that starts with it."""
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
    """Each letter as late as possible before `stop`, which is closer together than from the left."""
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
    """The score of one letter, from its position and the previous letter's."""
    points = _IN_NAME if at >= shape.name_at else 0
    if at == shape.name_at:
        points += _NAME_START
    elif shape.starts_word(at):
        points += _WORD_START
    elif at == before + 1:
        points += _IN_A_ROW
    return points if at <= before + 1 else points - _GAP


def _are_whole_name(places: Places, shape: _Shape) -> bool:
    """Whether they cover the whole name, or all of it before the suffix."""
    first, last = places[0], places[-1]
    ends = (shape.stop, shape.text.find(".", shape.name_at + 1))
    return first == shape.name_at and last - first + 1 == len(places) and last + 1 in ends


MAX_LETTERS: Final = 1000
"""A longer mention isn't completed, because no one writes such a path."""

_CLOSING: Final = ".,;:!?)]}>'\"”’»」』）】》…。，、；：！？"
_NEEDS_QUOTES: Final = re.compile(rf"[\s`]|[{re.escape(_CLOSING)}]\Z")
_LINES: Final = r":(?P<lines>[0-9]{0,9}(?:-[0-9]{0,9})?)"
_BEING_WRITTEN: Final = re.compile(
    r"(?:\A|(?<=[\s(\[{<\"'“‘„«「『（【《]))@"
    rf"(?: \"(?P<quoted>[^\"\n]*)(?P<closed>\"(?:{_LINES})?)? | (?P<word>[^\s`\"]*) ) \Z",
    re.VERBOSE,
)
_WITH_LINES: Final = re.compile(rf"(?P<path>.+){_LINES}")
# The part of a mention after the cursor. An unclosed quotation doesn't extend over the rest of the text.
_REST_OF_WORD: Final = re.compile(r"[\w./~-]*")
_REST_OF_QUOTED: Final = re.compile(r"(?:[^\"\n]*\")?")


@dataclass(frozen=True, slots=True)
class PartialMention:
    start: int
    """The index of its `@` in the line."""
    stop: int
    """Its end, which may be after the cursor."""
    path: str
    """The path up to the cursor."""
    lines: str | None = None
    """The part of a line range written so far, such as `10-`; None if there isn't one."""


def being_written(line: str, column: int) -> PartialMention | None:
    """The mention that ends at the cursor or extends past it."""
    begin = max(column - MAX_LETTERS, 0)
    found = _BEING_WRITTEN.search(line[begin:column])
    if found is None or (begin and found.start() == 0):
        return None
    start = begin + found.start()
    if found["closed"] is not None:
        return PartialMention(start, column, found["quoted"], found["lines"]) if found["lines"] is not None else None
    word, rest = (found["word"], _REST_OF_WORD) if found["quoted"] is None else (found["quoted"], _REST_OF_QUOTED)
    if (ranged := _WITH_LINES.fullmatch(word)) is not None:
        return PartialMention(start, column, ranged["path"], ranged["lines"])
    after = rest.match(line, column)
    return PartialMention(start, after.end() if after is not None else column, word)


def mention_of(path: str, *, is_open: bool = False) -> str | None:
    """How to write it; None if there is no way, or none that the draft could show unchanged.

    With `is_open`, more of the path follows, so quotes aren't closed.
    """
    if '"' in path or "\t" in path or make_visible_line(path) != path:
        return None
    if not _NEEDS_QUOTES.search(path):
        return f"@{path}"
    return f'@"{path}' if is_open else f'@"{path}"'
