"""What a user writes to see fewer frames, and the frames that it means: by the index, else by their text."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast, get_args

from acp_tui.client.transcript.frame_log import Kind, Line
from acp_tui.protocol.conformance.rule import read_json
from acp_tui.values import dataclass
from acp_tui.workbench.inspect.index import ERROR, FLAGS, FORMS, FOUND, KINDS, OPEN, Columns, Form, Label

Field: TypeAlias = Literal["method", "kind", "session", "dir", "is", "text"]
FIELDS: Final = get_args(Field)
DIRECTIONS: Final = ("in", "out", "stderr", "note")
STATES: Final = ("request", "response", "notification", "junk", "open", "error", "lint")
_CHOICES: Final = {"dir": DIRECTIONS, "is": STATES}
_UNFINISHED: Final = ("-", *(f"{minus}{field}:" for field in FIELDS for minus in ("", "-")))
"""While it is being written."""
_TERM: Final = re.compile(r'(-?)(?:(\w+):)?("[^"]*"?|\S+)')


class QueryError(ValueError):
    """It cannot be understood; the message says why."""


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that a frame has to be, or not to be."""

    field: Field
    value: str
    """In small letters."""
    is_negated: bool = False

    def __str__(self) -> str:
        name = "" if self.field == "text" else f"{self.field}:"
        value = f'"{self.value}"' if re.search(r"[\s:]|^-", self.value) and not name else self.value
        return f"{'-' if self.is_negated else ''}{name}{value}"


Query: TypeAlias = tuple[Term, ...]
"""Of several values of a field any will do, but for `is` and text, where each has to fit; fields all have to."""


def read_query(text: str) -> Query:
    """`method:prompt -kind:chunk is:error "some text"`. Raises QueryError."""
    return tuple(_term(*match.groups()) for match in _TERM.finditer(text) if match[0] not in _UNFINISHED)


def _term(minus: str, name: str | None, written: str) -> Term:
    value = written.strip('"').lower()
    if name is None or name not in FIELDS or name == "text":  # an address, say, or a time
        return Term("text", f"{name}:{value}" if name else value, bool(minus))
    choices = _CHOICES.get(name)
    if choices and value not in choices:
        raise QueryError(f"{name}: is one of {', '.join(choices)}")
    return Term(cast(Field, name), value, bool(minus))


def toggled(query: Query, term: Term) -> Query:
    """With the term, or without it where it is there."""
    return tuple(each for each in query if each != term) if term in query else (*query, term)


BITS: Final = {"error": ERROR, "lint": FOUND, "open": OPEN}

T = TypeVar("T")
_PLAIN: Final = re.compile(r"[ !#-.0-\[\]-~]*")
"""What JSON never writes as an escape: for other texts a line has to be read as JSON."""


class Search:
    """One pass over an index; what it has found so far is there while it goes on."""

    def __init__(self, query: Query, first: int = 0) -> None:
        self.query = query
        self.examined = first
        """Behind the last line that was looked at."""
        self.matches = array("I")
        self.words = tuple(term for term in query if term.field == "text")
        self.needs_findings = any(term.field == "is" and term.value == "lint" for term in query)
        """It cannot be ahead of the rules."""
        self._is_plain = all(_PLAIN.fullmatch(term.value) for term in self.words)
        self._wanted: list[tuple[Any, bool]] = [
            (term.value.encode() if self._is_plain else term.value, term.is_negated) for term in self.words
        ]
        self._fits: dict[str, list[bool]] = {"label": [], "session": []}

    def candidates(self, columns: Columns, labels: Sequence[Label], sessions: Sequence[str]) -> Sequence[int]:
        """The lines among these of which the index says nothing against."""
        if len(self.words) == len(self.query):
            return range(columns.start, columns.start + len(columns.kinds))
        kinds = [self._kind_fits(kind) for kind in KINDS]
        forms = [self._form_fits(form) for form in FORMS]
        known_labels = self._known("label", labels, self._label_fits)
        known_sessions = self._known("session", sessions, self._session_fits)
        flags = [self._flags_fit(value) for value in range(FLAGS)]
        fits = (
            kinds[kind] and forms[form] and known_labels[label] and known_sessions[session] and flags[flag]
            for kind, form, label, session, flag in zip(*columns[1:], strict=True)
        )
        return list(compress(range(columns.start, columns.start + len(columns.kinds)), fits))

    def take(self, found: Iterable[int], examined: int) -> None:
        """These match; everything before `examined` was looked at."""
        self.matches.extend(found)
        self.examined = examined

    def settle(self, answered: Iterable[int]) -> None:
        """These requests, which were open before, are answered."""
        is_negated = {term.is_negated for term in self.query if (term.field, term.value) == ("is", "open")}
        for position in answered if is_negated else ():
            at = bisect_left(self.matches, position)
            if at < len(self.matches) and self.matches[at] == position:
                del self.matches[at]
            if True in is_negated:  # it may fit now
                self.examined = min(self.examined, position)
                del self.matches[at:]

    def drop_before(self, position: int) -> None:
        """Forget what is gone."""
        self.examined = max(self.examined, position)
        del self.matches[: bisect_left(self.matches, position)]

    def says(self, line: Line) -> bool:
        """Whether the texts that are looked for stand in this line."""
        small = line.data.lower() if self._is_plain else _searchable(line.data)
        return all((word in small) != is_negated for word, is_negated in self._wanted)

    # Single terms

    def _known(self, name: str, values: Sequence[T], fits: Callable[[T], bool]) -> list[bool]:
        """Of each value whether it fits; there are more of them each time."""
        known = self._fits[name]
        known.extend(fits(value) for value in values[len(known) :])
        return known

    def _of(self, field: str) -> tuple[list[Term], list[Term]]:
        """The terms of a field: those that are wanted and those that are not."""
        terms = [term for term in self.query if term.field == field]
        return [each for each in terms if not each.is_negated], [each for each in terms if each.is_negated]

    def _any(self, field: str, fits: Callable[[str], bool]) -> bool:
        wanted, unwanted = self._of(field)
        return (not wanted or any(fits(term.value) for term in wanted)) and not any(
            fits(term.value) for term in unwanted
        )

    def _kind_fits(self, kind: Kind) -> bool:
        return self._any("dir", lambda value: value == kind.value)

    def _label_fits(self, label: Label) -> bool:
        method, update = label.method.lower(), label.update.lower()
        return self._any("method", lambda value: value in method) and self._any(
            "kind", lambda value: value in update
        )

    def _session_fits(self, session: str) -> bool:
        return self._any("session", lambda value: value in session.lower())

    def _form_fits(self, form: Form) -> bool:
        wanted, unwanted = self._of("is")
        forms = {each.value for each in FORMS}
        return all(term.value == form.value for term in wanted if term.value in forms) and not any(
            term.value == form.value for term in unwanted
        )

    def _flags_fit(self, flags: int) -> bool:
        for term in self.query:
            bit = BITS.get(term.value) if term.field == "is" else None
            if bit is not None and bool(flags & bit) == term.is_negated:
                return False
        return True


def _searchable(data: bytes) -> str:
    """Its text in small letters; what is written as an escape is found by its letter too."""
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
