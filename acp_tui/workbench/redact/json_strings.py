"""The strings and numbers in a line of JSON, and where each stands; all else in it stays as it is, to the character."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices, from the top."""

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]|[-\d][-+.\deE]*', re.DOTALL)
_DECODER: Final = json.JSONDecoder(strict=False)
_LITERAL: Final = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class JsonString:
    """One string of a line, or one number."""

    start: int
    end: int
    """Its quotes included."""
    text: str
    path: Path
    """Of a key, that of its object and the key itself."""
    is_key: bool
    is_number: bool = False
    """It is as it was written, and has no quotes."""


def literals(line: str) -> list[str]:
    """All strings of a line as they are written, without their quotes; quick."""
    return _LITERAL.findall(line)


def strings(line: str) -> Iterator[JsonString]:
    """The strings and the numbers of a line that is JSON, in their order."""
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
            case literal if literal[0] == '"':
                text = decoded(literal)
                if is_key:
                    path[-1] = text
                yield JsonString(*token.span(), text, tuple(path), is_key)
                is_key = False
            case number:
                yield JsonString(*token.span(), number, tuple(path), is_key=False, is_number=True)


def rewritten(line: str, its: Iterable[JsonString], change: Callable[[JsonString], str]) -> str:
    """The line with each of its strings that `change` gives another text for."""
    parts: list[str] = []
    at = 0
    for each in its:
        text = change(each)
        if text != each.text:
            like = line[each.start : each.end]
            parts += [line[at : each.start], text if each.is_number else encoded(text, like)]
            at = each.end
    return "".join((*parts, line[at:])) if parts else line


def decoded(literal: str) -> str:
    """What a string says, of which the quotes are given too."""
    if "\\" not in literal:
        return literal[1:-1]
    text = _DECODER.decode(literal)
    assert isinstance(text, str)
    return text


def encoded(text: str, like: str) -> str:
    """The text in quotes, with letters escaped where `like` has such."""
    # Half of a surrogate pair can only be written as an escape, and came as one.
    return json.dumps(text, ensure_ascii=like.isascii() or "\\u" in like)
