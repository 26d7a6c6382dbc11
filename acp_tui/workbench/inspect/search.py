"""Parses filter queries and finds the matching frames, by the index or their text."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast, get_args

from acp_tui.client.transcript.frame_log import LineKind, LoggedLine
from acp_tui.values import dataclass
from acp_tui.workbench.conformance.rule import read_json
from acp_tui.workbench.inspect.index import ERROR, FLAGS, FORMS, FOUND, KINDS, OPEN, IndexSlice, Label, MessageKind

Field: TypeAlias = Literal["method", "kind", "session", "dir", "is", "text"]
FIELDS: Final = get_args(Field)
DIRECTIONS: Final = ("in", "out", "stderr", "note")
STATES: Final = ("request", "response", "notification", "junk", "open", "error", "lint")
_CHOICES: Final = {"dir": DIRECTIONS, "is": STATES}
_UNFINISHED: Final = ("-", *(f"{minus}{field}:" for field in FIELDS for minus in ("", "-")))
"""Terms that are still being typed."""
_TERM: Final = re.compile(r'(-?)(?:(\w+):)?("[^"]*"?|\S+)')


class QueryError(ValueError):
    """The query is invalid. The message says why."""


@dataclass(frozen=True, slots=True)
class Term:
    """One condition that a frame must meet, or must not."""

    field: Field
    value: str
    """In lowercase."""
    is_negated: bool = False

    def __str__(self) -> str:
        name = "" if self.field == "text" else f"{self.field}:"
        value = f'"{self.value}"' if re.search(r"[\s:]|^-", self.value) and not name else self.value
        return f"{'-' if self.is_negated else ''}{name}{value}"


Query: TypeAlias = tuple[Term, ...]
"""Several values of a field are alternatives, except for `is` and text, which must all match; so must all fields."""


def read_query(text: str) -> Query:
    """Parse `method:prompt -kind:chunk is:error "some text"`. Raises QueryError."""
    return tuple(_term(*match.groups()) for match in _TERM.finditer(text) if match[0] not in _UNFINISHED)


def _term(minus: str, name: str | None, written: str) -> Term:
    value = written.strip('"').lower()
    if name is None or name not in FIELDS or name == "text":  # for example, an address or a time
        return Term("text", f"{name}:{value}" if name else value, bool(minus))
    choices = _CHOICES.get(name)
    if choices and value not in choices:
        raise QueryError(f"{name}: is one of {', '.join(choices)}")
    return Term(cast(Field, name), value, bool(minus))


def toggled(query: Query, term: Term) -> Query:
    return tuple(each for each in query if each != term) if term in query else (*query, term)


BITS: Final = {"error": ERROR, "lint": FOUND, "open": OPEN}

T = TypeVar("T")
_PLAIN: Final = re.compile(r"[ !#-.0-\[\]-~]*")
"""Characters that JSON never escapes. For other text, a line must be parsed as JSON."""


class Search:
    """One pass over an index. Results so far are available during the search."""

    def __init__(self, query: Query, first: int = 0) -> None:
        self.query = query
        self.examined = first
        """The position after the last line searched."""
        self.matches = array("I")
        self.words = tuple(term for term in query if term.field == "text")
        self.needs_findings = any(term.field == "is" and term.value == "lint" for term in query)
        """Whether it must not get ahead of the rules."""
        self._is_plain = all(_PLAIN.fullmatch(term.value) for term in self.words)
        self._wanted: list[tuple[Any, bool]] = [
            (term.value.encode() if self._is_plain else term.value, term.is_negated) for term in self.words
        ]
        self._fits: dict[str, list[bool]] = {"label": [], "session": []}

    def candidates(self, columns: IndexSlice, labels: Sequence[Label], sessions: Sequence[str]) -> Sequence[int]:
        """The lines in these columns that the index doesn't rule out."""
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
        """Add matches. Everything before `examined` was searched."""
        self.matches.extend(found)
        self.examined = examined

    def settle(self, answered: Iterable[int]) -> None:
        """Update requests that were open and are now answered."""
        is_negated = {term.is_negated for term in self.query if (term.field, term.value) == ("is", "open")}
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

    # Single terms

    def _known(self, name: str, values: Sequence[T], fits: Callable[[T], bool]) -> list[bool]:
        """Whether each value fits. Extends the cached results for new values."""
        known = self._fits[name]
        known.extend(fits(value) for value in values[len(known) :])
        return known

    def _of(self, field: str) -> tuple[list[Term], list[Term]]:
        terms = [term for term in self.query if term.field == field]
        return [each for each in terms if not each.is_negated], [each for each in terms if each.is_negated]

    def _any(self, field: str, fits: Callable[[str], bool]) -> bool:
        wanted, unwanted = self._of(field)
        return (not wanted or any(fits(term.value) for term in wanted)) and not any(
            fits(term.value) for term in unwanted
        )

    def _kind_fits(self, kind: LineKind) -> bool:
        return self._any("dir", lambda value: value == kind.value)

    def _label_fits(self, label: Label) -> bool:
        method, update = label.method.lower(), label.update.lower()
        return self._any("method", lambda value: value in method) and self._any("kind", lambda value: value in update)

    def _session_fits(self, session: str) -> bool:
        return self._any("session", lambda value: value in session.lower())

    def _form_fits(self, form: MessageKind) -> bool:
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
