"""The parts of a Markdown page: what was said stays Markdown, everything else is in a fence or escaped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from acp_tui.client.export.contained import address, contained, fence, literal
from acp_tui.conversation.content import ContentBlock, Image, ResourceLink, Text, block_words, is_for_user, label_of
from acp_tui.conversation.tool_calls import BlockContent, FileChange, UnknownContent
from acp_tui.conversation.tool_text import described

HEADING_SHIFT: Final = 3
"""A prompt has a heading of level 2, what follows from it level 3, and headings inside messages lower levels."""


def section(title: str, *parts: str) -> Iterator[str]:
    """An entry of the conversation other than a message, or information at its end."""
    yield f"### {literal(title)}"
    yield from parts


def prose(text: str, *, is_quoted: bool = True) -> str:
    """Markdown that somebody said."""
    said = contained(text, HEADING_SHIFT)
    return quoted(said) if is_quoted else said


def quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def problem(text: str) -> str:
    """A remark on one line."""
    line = literal(text)
    return f"**{line}**" if line else line


def named_link(label: str, uri: str) -> str:
    return f"{literal(label)}: {address(uri)}"


def titled(title: str, part: str) -> str:
    """A part that few readers need."""
    return f"{literal(title)}:\n\n{part}"


def block_parts(block: ContentBlock, *, is_quoted: bool = True) -> Iterator[str]:
    """What shows a block; nothing if it isn't meant for the user."""
    if not is_for_user(block):
        return
    match block:
        case Text(text):
            yield titled(label, fence(text)) if (label := label_of(block)) else prose(text, is_quoted=is_quoted)
        case Image():
            yield literal(block_words(block))
        case ResourceLink(uri, name, title):
            yield named_link(title or name, uri)
        case _:
            yield described_part(BlockContent(block))


def described_part(item: BlockContent | FileChange | UnknownContent) -> str:
    """Content in words, with its text, or what was reported of a kind acp-tui doesn't know."""
    said = described(item)
    title = said.label.removeprefix("[").removesuffix("]")
    if said.text is not None:
        return titled(title, fence(said.text))
    return literal(said.label) if said.is_known else titled(title, json_code(said.facts))


def json_code(value: Any) -> str:
    """A JSON value, indented. A string is shown as its text."""
    if isinstance(value, str):
        return fence(value)
    return fence(json.dumps(value, ensure_ascii=False, indent=2, default=str), "json")
