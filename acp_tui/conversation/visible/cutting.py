"""Cuts what an agent sends for a line or a short text, so that nothing measures or searches millions of characters.

`protocol` cuts each value as it reads it, and everything above gets only bounded ones. A mark says how much is missing,
so that a question can count it. Texts that are drawn in parts, such as messages and diffs, aren't cut here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

MAX_LINE: Final = 4_096
"""Characters of a text that the screen shows in one line, or in a few: a title, a name, a path, a description."""
MAX_PASSAGE: Final = 100_000
"""Characters of a text that may be longer and is shown as a whole: a command, a question, an error."""
MAX_RAW: Final = 1_000_000
"""Characters of all texts and keys together in a value beyond the protocol, such as a tool's raw input."""

MAX_ITEMS: Final = 1_000
"""Items of a list that is read and drawn as a whole: what a tool call contains, a plan's steps, commands."""

MAX_DRAWN: Final = 500_000
"""The cost of a text that takes less than a tenth of a second to draw. No key is handled meanwhile."""
LINE_COST: Final = 64
OTHER_COST: Final = 16
"""The cost of a line, and of a character that may be wide, join others, or get a stand-in. Letters of ASCII cost 1."""
_DEAR: Final = re.compile("[^\n -~]")
_STEP: Final = 1_024
_MARK_BEGINS: Final = "… ("
_MARK: Final = re.compile(r"… \((\d{1,3}(?:,\d{3}){0,4}) more characters\)\Z")
_MARK_LENGTH: Final = 40


def cut_text(text: str, most: int = MAX_LINE) -> str:
    """Return the first `most` characters and a mark for the rest, with what an earlier cut took."""
    if len(text) <= most:
        return text
    lost = cut_characters(text)
    length = len(text) if not lost else text.rindex(_MARK_BEGINS) + lost
    if lost and length - lost <= most:
        return text
    return f"{text[:most]}{mark_of(length - most)}"


def mark_of(lost: int) -> str:
    return f"{_MARK_BEGINS}{lost:,} more characters)"


@lru_cache(maxsize=4)  # a text is drawn a few times in a row
def cut_shown(text: str, most: int = MAX_DRAWN) -> str:
    """Cut a text so that drawing it costs about `most`. Of two equally long ones, one can cost 64 times the other."""
    if len(text) * LINE_COST <= most:
        return text
    room = most
    for at in range(0, len(text), _STEP):
        room -= drawing_cost(text[at : at + _STEP])
        if room <= 0:
            return cut_text(text, at + _STEP)
    return text


def drawing_cost(text: str) -> int:
    """Return what it takes to make a text visible and draw it, in letters of ASCII."""
    lines = text.count("\n")
    others = len(_DEAR.findall(text))
    return len(text) - lines - others + lines * LINE_COST + others * OTHER_COST


def cut_characters(text: str) -> int:
    """Return how many characters a text has lost, by its mark. A mark that an agent writes itself hides nothing."""
    found = _MARK.search(text[-_MARK_LENGTH:])
    return 0 if found is None else int(found[1].replace(",", ""))


def cut_value(value: Any) -> Any:
    """Return a decoded JSON value with about `MAX_RAW` characters in its texts and keys together."""
    return _Cutting().value(value)


class _Cutting:
    def __init__(self) -> None:
        self._room = MAX_RAW

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self._text(cut_text(key)): self.value(item) for key, item in value.items()}
        return list(map(self.value, value)) if isinstance(value, list) else value

    def _text(self, text: str) -> str:
        room = self._room
        self._room = max(room - len(text), 0)
        return cut_text(text, max(room, MAX_LINE)) if len(text) > MAX_LINE else text
