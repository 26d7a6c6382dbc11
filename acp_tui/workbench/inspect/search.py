"""Finds the frames that a filter shows: by words in their text, and by their state."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from acp_tui.client.transcript.frame_log import LoggedLine
from acp_tui.workbench.conformance.rule import read_json
from acp_tui.workbench.inspect.index import ERROR, FLAGS, FOUND, OPEN

STATES: Final = {"is:error": ERROR, "is:lint": FOUND, "is:open": OPEN}
_TERM: Final = re.compile(r'(-?)("[^"]*"?|\S+)')


class Term(NamedTuple):
    """One condition that a frame must meet, or must not."""

    text: str
    """In lowercase; one of STATES, or a part of the frame's text."""
    is_negated: bool = False

    def __str__(self) -> str:
        text = f'"{self.text}"' if re.search(r"\s|^-", self.text) else self.text
        return f"{'-' if self.is_negated else ''}{text}"


Query: TypeAlias = tuple[Term, ...]
"""All of them must match."""


def read_query(text: str) -> Query:
    """Parse `session/prompt -chunk is:error "some text"`."""
    terms = ((minus, written.strip('"').lower()) for minus, written in _TERM.findall(text))
    return tuple(Term(text, bool(minus)) for minus, text in terms if text not in ("", "-"))


def toggled(query: Query, term: Term) -> Query:
    return tuple(each for each in query if each != term) if term in query else (*query, term)


_PLAIN: Final = re.compile(r"[ !#-.0-\[\]-~]*")
"""Characters that JSON never escapes. For other text, a line must be parsed as JSON."""


class Search:
    """One pass over an index. Results so far are available during the search."""

    def __init__(self, query: Query, first: int = 0) -> None:
        self.query = query
        self.examined = first
        """The position after the last line searched."""
        self.matches = array("I")
        self.words = tuple(term for term in query if term.text not in STATES)
        self._states = [(STATES[term.text], term.is_negated) for term in query if term.text in STATES]
        self.needs_findings = any(bit == FOUND for bit, _ in self._states)
        """Whether it must not get ahead of the rules."""
        self._is_plain = all(_PLAIN.fullmatch(term.text) for term in self.words)
        self._wanted: list[tuple[Any, bool]] = [
            (term.text.encode() if self._is_plain else term.text, term.is_negated) for term in self.words
        ]

    def candidates(self, start: int, flags: Sequence[int]) -> Sequence[int]:
        """The lines from `start`, with these flags, that the index doesn't rule out."""
        if not self._states:
            return range(start, start + len(flags))
        fits = [all(bool(value & bit) != is_not for bit, is_not in self._states) for value in range(FLAGS)]
        return [at for at, value in enumerate(flags, start) if fits[value]]

    def take(self, found: Iterable[int], examined: int) -> None:
        """Add matches. Everything before `examined` was searched."""
        self.matches.extend(found)
        self.examined = examined

    def settle(self, answered: Iterable[int]) -> None:
        """Update requests that were open and are now answered."""
        is_negated = {is_not for bit, is_not in self._states if bit == OPEN}
        for position in answered if is_negated else ():
            at = bisect_left(self.matches, position)
            if at < len(self.matches) and self.matches[at] == position:
                del self.matches[at]
            if True in is_negated:  # it may match now
                self.examined = min(self.examined, position)
                del self.matches[at:]

    def drop_before(self, position: int) -> None:
        self.examined = max(self.examined, position)
        del self.matches[: bisect_left(self.matches, position)]

    def says(self, line: LoggedLine) -> bool:
        small = line.data.lower() if self._is_plain else _searchable(line.data)
        return all((word in small) != is_negated for word, is_negated in self._wanted)


def _searchable(data: bytes) -> str:
    """The text in lowercase, including the decoded form of escapes."""
    text = data.decode("utf-8", "replace")
    if "\\" in text:
        text = f"{text}\n{_unescaped(data)}"
    return text.lower()


def _unescaped(data: bytes) -> str:
    try:
        return "\n".join(_texts(read_json(data)))
    except ValueError:
        return ""


def _texts(value: object) -> Iterable[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, item in value.items():
                yield str(key)
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)
