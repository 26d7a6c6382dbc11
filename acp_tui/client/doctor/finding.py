"""What a check found, as a value. Its texts may hold what an agent said: who shows them makes them visible."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """The value is what a report says, and the JSON form."""

    OK = "ok"
    NOTE = "note"
    """Something will be missing, or odd; one can work all the same."""
    WRONG = "wrong"
    """This has to be mended first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    topic: str
    """One or two words."""
    verdict: Verdict
    text: str
    """What is so."""
    hint: str = ""
    """What to do about it."""
    lines: tuple[str, ...] = ()
    """What was said there, line by line, as it was."""


def ok(topic: str, text: str) -> Finding:
    """It is as it should be."""
    return Finding(topic, Verdict.OK, text)


def note(topic: str, text: str, hint: str = "", lines: tuple[str, ...] = ()) -> Finding:
    """It is good to know."""
    return Finding(topic, Verdict.NOTE, text, hint, lines)


def wrong(topic: str, text: str, hint: str = "", lines: tuple[str, ...] = ()) -> Finding:
    """It is in the way."""
    return Finding(topic, Verdict.WRONG, text, hint, lines)
