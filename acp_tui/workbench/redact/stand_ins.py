"""What stands where a secret stood: as long, as wide, always the same; which text is one, is not its matter.

Letters and digits are replaced one by one and all else stays, so a path stays a path, an address an address, and what
is split over several pieces of text can be replaced piece by piece.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

NARROW: Final = "x"
NUMBER: Final = "1"
WIDE: Final = "ｘ"
"""As wide as a character that takes two cells."""

KINDS: Final = {
    "key": "key",
    "token": "token",
    "password": "pass",
    "private key": "pem",
    "user": "user",
    "host": "host",
    "full name": "name",
    "e-mail": "mail",
    "IP address": "ip",
    "MAC address": "mac",
    "folder": "dir",
    "variable": "env",
    "given": "own",
}
"""The kinds of what is replaced, with the word that their stand-ins bear where there is room for it."""

NAMES: Final = ("user", "full name", "host", "folder")
"""They are replaced where they are words of their own."""

_STAND_IN: Final = re.compile(rf"x+(?:(?:{'|'.join(KINDS.values())})?\d+)?x*")


@dataclass(slots=True, eq=False)
class Secret:
    """One text that is replaced wherever it stands."""

    kind: str
    """Of `KINDS`."""
    text: str
    stand_in: str
    count: int = 0
    """How often it was replaced."""


def is_stand_in(text: str) -> bool:
    """Whether a text is one of ours, so that nothing is redacted twice."""
    bare = "".join(char for char in text if char.isalnum()).replace(WIDE, NARROW)
    return not bare or _STAND_IN.fullmatch(bare.lower()) is not None


def make_stand_in(text: str, kind: str, number: int) -> str:
    """The stand-in for the secret of that number: `number` tells it from others as long as."""
    filled = "".join(map(blank, text))
    for label in (f"{NARROW}{KINDS[kind]}{number}", f"{NARROW}{number}"):
        at = filled.find(NARROW * len(label))
        if at >= 0:
            return filled[:at] + label + filled[at + len(label) :]
    return filled


def number_stand_in(text: str) -> str:
    """What stands for a number, and is one."""
    return re.sub(r"\d", NUMBER, text)


def blank(char: str) -> str:
    """A character that says nothing and takes the same room."""
    if not char.isalnum():
        return char
    return WIDE if unicodedata.east_asian_width(char) in "WF" else NARROW
