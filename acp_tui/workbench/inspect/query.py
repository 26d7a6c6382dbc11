"""What a user writes to see fewer frames, as a value; which frames it means is `search`'s matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

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
