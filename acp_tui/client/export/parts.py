"""The parts of an exported page. Their text is raw; `markdown` makes it visible and escapes it."""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal, TypeAlias

from acp_tui.conversation.content import ContentBlock, Image, ResourceLink, Text, block_words, is_for_user, label_of
from acp_tui.conversation.tool_calls import BlockContent, FileChange, UnknownContent
from acp_tui.conversation.tool_text import described
from acp_tui.values import dataclass

WEB_OR_MAIL: Final = r"(?i:https?://|mailto:)"
"""A regular expression for the beginning of an address that a page may link to. All others are shown as text."""
_LINKABLE: Final = re.compile(rf"{WEB_OR_MAIL}[^\s<>\\]+", re.ASCII)


def is_linkable(uri: str) -> bool:
    """Whether it leads to a page or a person, and not to the reader's machine or to something that runs."""
    return _LINKABLE.fullmatch(uri) is not None


SectionKind: TypeAlias = Literal["user", "agent", "thought", "event"]


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown."""

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
class NamedLink:
    label: str
    uri: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts that few readers need."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class PlanSteps:
    steps: tuple[tuple[bool, str], ...]


Part: TypeAlias = Prose | Code | Note | NamedLink | Folded | PlanSteps


@dataclass(frozen=True, slots=True)
class Section:
    """An entry of the conversation, or information at its end."""

    kind: SectionKind
    title: str
    parts: tuple[Part, ...] = ()


def block_parts(block: ContentBlock) -> tuple[Part, ...]:
    """The parts that show a block; none if it isn't meant for the user."""
    if not is_for_user(block):
        return ()
    match block:
        case Text(text):
            return (Folded(label, (Code(text),)) if (label := label_of(block)) else Prose(text),)
        case Image():
            return (Note(block_words(block)),)
        case ResourceLink(uri, name, title):
            return (NamedLink(title or name, uri),)
        case _:
            return (described_part(BlockContent(block)),)


def described_part(item: BlockContent | FileChange | UnknownContent) -> Part:
    """Content in words, with its text, or what was reported of a kind acp-tui doesn't know."""
    said = described(item)
    title = said.label.removeprefix("[").removesuffix("]")
    if said.text is not None:
        return Folded(title, (Code(said.text),))
    return Note(said.label) if said.is_known else Folded(title, (json_code(said.facts),))


def json_code(value: Any) -> Code:
    """A JSON value, indented. A string is shown as its text."""
    if isinstance(value, str):
        return Code(value)
    return Code(json.dumps(value, ensure_ascii=False, indent=2, default=str), "json")
