"""The strings in a line of JSON, and where each stands; all else in the line stays as it is, to the character."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices, from the top."""

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class JsonString:
    """One string of a line."""

    start: int
    end: int
    """Its quotes included."""
    text: str
    path: Path
    """Of a key, that of its object and the key itself."""
    is_key: bool


def strings(line: str, known: Container[str] = (), but_at: Container[str | int] = ()) -> Iterator[JsonString]:
    """The strings of a line that is JSON, in their order; without those that are known, but for those at some keys."""
    path: list[str | int] = []
    is_key = False
    for token in _TOKEN.finditer(line):
        match token[0]:
            case "{":
                path.append("")
                is_key = True
            case "[":
                path.append(0)
            case "}" | "]":
                path.pop()
                is_key = False
            case ",":
                last = path[-1] if path else ""
                if isinstance(last, int):
                    path[-1] = last + 1
                else:
                    is_key = True
            case literal:
                text = _decoded(literal)
                if is_key:
                    path[-1] = text
                if text not in known or (not is_key and path and path[-1] in but_at):
                    yield JsonString(token.start(), token.end(), text, tuple(path), is_key)
                is_key = False


def rewritten(line: str, its: Iterable[JsonString], change: Callable[[JsonString], str]) -> str:
    """The line with each of its strings that `change` gives another text for."""
    parts: list[str] = []
    at = 0
    for each in its:
        text = change(each)
        if text != each.text:
            parts += [line[at : each.start], _encoded(text, line[each.start : each.end])]
            at = each.end
    return "".join((*parts, line[at:])) if parts else line


def _decoded(literal: str) -> str:
    if "\\" not in literal:
        return literal[1:-1]
    text = json.loads(literal, strict=False)
    assert isinstance(text, str)
    return text


def _encoded(text: str, like: str) -> str:
    # Half of a surrogate pair can only be written as an escape, and came as one.
    return json.dumps(text, ensure_ascii=like.isascii() or "\\u" in like)
