"""JSON as indented lines, exactly as written: duplicate keys, key order, and number formats stay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

MAX_LINES: Final = 3_000
MAX_TEXT: Final = 2_000
"""Of a line of text, such as an image's data, no more characters are shown."""
MAX_DEPTH: Final = 100


class Role(Enum):
    KEY = "key"
    TEXT = "text"
    NUMBER = "number"
    WORD = "word"
    """true, false, or null."""
    SIGN = "sign"
    """Brackets and commas."""
    ASIDE = "aside"
    """Not in the JSON: what isn't shown."""


Piece: TypeAlias = tuple[str, Role]


class OutlineLine(NamedTuple):
    """A line to draw. Its texts are as the agent wrote them."""

    depth: int
    pieces: tuple[Piece, ...]


class _Literal(str):
    __slots__ = ()


class _Object(list[tuple[str, Any]]):
    """The key-value pairs of an object."""


def outline(text: str) -> list[OutlineLine]:
    """Raises ValueError if the text isn't JSON."""
    lines = list(islice(_lines(_parsed(text), (), "", 0), MAX_LINES + 1))
    if len(lines) > MAX_LINES:
        lines[-1] = OutlineLine(0, ((f"more than {MAX_LINES:,} lines", Role.ASIDE),))
    return lines


def _parsed(text: str) -> Any:
    try:
        return json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_Object,
            parse_int=_Literal,
            parse_float=_Literal,
            parse_constant=_Literal,
        )
    except RecursionError:
        raise ValueError("nested too deep") from None


def _lines(value: Any, before: tuple[Piece, ...], after: str, depth: int) -> Iterator[OutlineLine]:
    """The lines of a value: `before` is its key, and `after` the comma behind it."""
    end = (after, Role.SIGN)
    match value:
        case list() if depth >= MAX_DEPTH:
            yield OutlineLine(depth, (*before, ("…", Role.ASIDE), end))
        case list():
            opening, closing = "{}" if isinstance(value, _Object) else "[]"
            if not value:
                yield OutlineLine(depth, (*before, (f"{opening}{closing}{after}", Role.SIGN)))
                return
            yield OutlineLine(depth, (*before, (opening, Role.SIGN)))
            for at, item in enumerate(value):
                name, inner = item if isinstance(value, _Object) else (None, item)
                key = () if name is None else ((_quoted(name), Role.KEY), (": ", Role.SIGN))
                yield from _lines(inner, key, "," if at < len(value) - 1 else "", depth + 1)
            yield OutlineLine(depth, ((closing + after, Role.SIGN),))
        case _Literal():
            yield OutlineLine(depth, (*before, (value, Role.NUMBER), end))
        case str() if "\n" in value.rstrip("\n"):
            lines = value.split("\n")
            yield OutlineLine(depth, (*before, (f"text of {len(lines):,} lines", Role.ASIDE)))
            yield from (OutlineLine(depth + 1, _shortened(line)) for line in lines)
        case str():
            yield OutlineLine(depth, (*before, *_shortened(_quoted(value)), end))
        case _:
            yield OutlineLine(depth, (*before, (json.dumps(value), Role.WORD), end))


def _shortened(text: str) -> tuple[Piece, ...]:
    hidden = len(text) - MAX_TEXT
    if hidden <= 0:
        return ((text, Role.TEXT),)
    return (text[:MAX_TEXT], Role.TEXT), (f" … {hidden:,} more characters", Role.ASIDE)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
