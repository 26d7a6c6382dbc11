"""The ways to read a text in which a secret may stand otherwise than it is: escaped, encoded, or with colours in it.

A view knows where each of its characters came from, so that what is found in it can be replaced in the text itself.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import unquote

MAX_LEVELS: Final = 3
"""So often may a text be a JSON string in a JSON string."""

# A string that runs to its end mark, a sequence with parameters, any other; what is cut off at the end, too.
_ESCAPE: Final = re.compile(
    r"\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b\[[0-?]*[ -/]*(?:[@-~]|$)|\x1b[ -/]*(?:[0-~]|$)"
)
_PERCENT: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_JSON: Final = re.compile(r'\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])')
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

_Char: TypeAlias = tuple[str, int, int]
"""A character, and from where to where it was written."""
_Decode: TypeAlias = Callable[[re.Match[str]], Iterable[_Char]]


@dataclass(frozen=True, slots=True)
class View:
    """A text read in one way; for each character, where it begins and ends in the text itself."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def views(text: str) -> Iterator[View]:
    """Every way to read the text, the plain one first."""
    plain = View(text, range(len(text)), range(1, len(text) + 1))
    yield plain
    if "\x1b" in text:
        yield _read(plain, _ESCAPE, lambda _: ())
    if "%" in text:
        yield _read(plain, _PERCENT, _percent_decoded)
    view = plain
    for _ in range(MAX_LEVELS):
        if "\\" not in view.text:
            return
        view = _read(view, _JSON, _json_decoded)
        yield view


def _read(view: View, pattern: re.Pattern[str], decode: _Decode) -> View:
    """The view, with what the pattern finds decoded."""
    texts: list[str] = []
    starts, ends = array("L"), array("L")
    at = 0
    for found in pattern.finditer(view.text):
        texts.append(view.text[at : found.start()])
        starts.extend(view.starts[at : found.start()])
        ends.extend(view.ends[at : found.start()])
        for char, start, end in decode(found):
            texts.append(char)
            starts.append(view.starts[start])
            ends.append(view.ends[end - 1])
        at = found.end()
    starts.extend(view.starts[at:])
    ends.extend(view.ends[at:])
    return View("".join((*texts, view.text[at:])), starts, ends)


def _percent_decoded(found: re.Match[str]) -> Iterator[_Char]:
    start = found.start()
    for char in unquote(found[0], errors="surrogateescape"):
        end = start + 3 * len(char.encode("utf-8", "surrogateescape"))
        yield char, start, end
        start = end


def _json_decoded(found: re.Match[str]) -> Iterator[_Char]:
    escape = found[0][1:]
    char = chr(int(escape[1:], 16)) if len(escape) == 5 else _SHORT.get(escape, escape)
    yield char, found.start(), found.end()


def spelled_as(char: str, like: str) -> str:
    """`char` in the spelling of a text that stands for one character, and as long."""
    if len(like) == 1:
        return char
    if like.startswith("%"):
        spelled = "".join(f"%{byte:02X}" for byte in char.encode())
        return spelled if len(spelled) == len(like) else "%78" * (len(like) // 3)
    if re.search(r"u[0-9A-Fa-f]{4}$", like):
        return f"{like[:-4]}{ord(char):04x}"
    return char * len(like)
