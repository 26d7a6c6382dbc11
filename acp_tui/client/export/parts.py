"""The parts of an exported page in any format.

Text is raw; the code for each format makes it visible and escapes it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal, TypeAlias, assert_never

from acp_tui.conversation.content import (
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
    is_for_user,
)
from acp_tui.values import dataclass

WEB_OR_MAIL: Final = r"(?i:https?://|mailto:)"
"""A regular expression for the beginning of an address that a page may link to. All others are shown as text."""
_LINKABLE: Final = re.compile(rf"{WEB_OR_MAIL}[^\s<>\\]+", re.ASCII)


def is_linkable(uri: str) -> bool:
    """Whether it leads to a page or a person, and not to the reader's machine or to something that runs."""
    return _LINKABLE.fullmatch(uri) is not None


SectionKind: TypeAlias = Literal["user", "agent", "thought", "tool", "event", "failure"]


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Typed:
    """What the user typed, with its line breaks."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Text in which every character matters."""

    text: str
    language: str = ""
    """One of our own words, never the agent's."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on one line."""

    text: str
    is_problem: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """An image. `data` is base64 as received, so it may be invalid."""

    data: str
    mime_type: str
    label: str
    """Shown instead if the image can't be."""


@dataclass(frozen=True, slots=True)
class Link:
    """A named link."""

    label: str
    uri: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts that few readers need."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class PlanSteps:
    """Steps of a plan, each with whether it's done."""

    steps: tuple[tuple[bool, str], ...]


Part: TypeAlias = Prose | Typed | Code | Note | Picture | Link | Folded | PlanSteps


@dataclass(frozen=True, slots=True)
class Section:
    """An entry of the conversation, or information at its end."""

    kind: SectionKind
    title: str
    parts: tuple[Part, ...] = ()
    is_folded: bool = False


def block_parts(block: ContentBlock) -> tuple[Part, ...]:
    """The parts that show a block; none if it isn't meant for the user."""
    return (_part(block),) if is_for_user(block) else ()


def _part(block: ContentBlock) -> Part:
    match block:
        case Text(text):
            return Prose(text)
        case Image(data, mime_type, uri):
            label = f"[image {mime_type}, {_size(data)}]"
            return Picture(data, mime_type, label if uri is None else f"{label} {uri}")
        case Audio(data, mime_type):
            return Note(f"[audio {mime_type}, {_size(data)}]")
        case ResourceLink(uri, name, title):
            return Link(title or name, uri)
        case TextResource(uri, text):
            return Folded(uri, (Code(text),))
        case BlobResource(uri, blob, mime_type):
            return Note(f"[{uri}, {mime_type or 'of unknown type'}, {_size(blob)}]")
        case UnknownBlock(kind, raw):
            return Folded(f"{kind}: a kind of content acp-tui doesn't know", (json_code(raw),))
        case _:
            assert_never(block)


def json_code(value: Any) -> Code:
    """A JSON value, indented. A string is shown as its text."""
    if isinstance(value, str):
        return Code(value)
    return Code(json.dumps(value, ensure_ascii=False, indent=2, default=str), "json")


def _size(base64: str) -> str:
    size = len(base64.rstrip("=")) * 3 // 4
    return f"{size} bytes" if size < 1000 else f"{size / 1000:.0f} KB"
