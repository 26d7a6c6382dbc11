"""What an exported page is made of, whatever its format: sections, and the parts that they hold.

All text is as it was said. It is the writer of a format who makes it visible and escapes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

SectionKind: TypeAlias = Literal["user", "agent", "thought", "tool", "event", "failure"]


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Typed:
    """What the user typed: lines that stay lines."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Text in which every character counts."""

    text: str
    language: str = ""
    """A word of ours, never of the agent's."""


@dataclass(frozen=True, slots=True)
class Note:
    """A line about something."""

    text: str
    is_problem: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """An image; `data` is base64 as received, so it may be anything."""

    data: str
    mime_type: str
    label: str
    """What stands for it where it cannot be shown."""


@dataclass(frozen=True, slots=True)
class Link:
    """A name for something elsewhere."""

    label: str
    uri: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts that few readers want."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """What is to be done, each step with whether it is."""

    steps: tuple[tuple[bool, str], ...]


Part: TypeAlias = Prose | Typed | Code | Note | Picture | Link | Folded | Steps


@dataclass(frozen=True, slots=True)
class Section:
    """An entry of the conversation, or what is told at its end."""

    kind: SectionKind
    title: str
    parts: tuple[Part, ...] = ()
    is_folded: bool = False
