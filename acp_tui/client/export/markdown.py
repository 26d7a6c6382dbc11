"""Writes a conversation as a Markdown page (CommonMark); what stands on it is decided in `outline`.

What an agent wrote stays Markdown, contained in its place. Everything else of it is a fence longer than any run of
backticks inside, or escaped, so that it reads as it was said. There is no raw HTML on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, assert_never

from acp_tui.client.export.contained import contained, fence
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.links import is_linkable
from acp_tui.client.export.outline import header_rows, heading, sections
from acp_tui.client.export.parts import (
    Code,
    Folded,
    Link,
    Note,
    Part,
    Picture,
    Prose,
    Section,
    Steps,
    Typed,
)
from acp_tui.client.export.tool_calls import PlainText
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.visible import make_visible_line

HEADING_SHIFT: Final = 3
"""A prompt has a heading of level 2, what follows from it of level 3, what stands in a message lower ones."""
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>&~|$#]")
_BLOCK_MARKUP: Final = re.compile(r"^(?:\d+(?=[.)])|(?=[-+=]))")
"""What would begin a list or an underline, up to where a backslash keeps it from that."""


def to_markdown(conversation: Conversation, facts: ExportFacts, plain_text: PlainText) -> str:
    """The page, whole."""
    blocks = [
        f"# {literal(heading(conversation, facts))}",
        "\n".join(f"- {name}: {literal(value)}" for name, value in header_rows(facts)),
    ]
    for section in sections(conversation, facts, plain_text):
        blocks += _section(section)
    return "\n\n".join(blocks) + "\n"


def literal(text: str) -> str:
    """`text` as a line that reads the same when it is rendered."""
    line = make_visible_line(text).strip()
    return _BLOCK_MARKUP.sub(r"\g<0>\\", _MARKUP.sub(r"\\\g<0>", line))


def _section(section: Section) -> Iterator[str]:
    if section.kind == "thought":
        said = (_part(part, is_quoted=False) for part in section.parts)
        yield _quoted("\n\n".join([f"**{literal(section.title)}**", *said]))
        return
    yield f"{'##' if section.kind == 'user' else '###'} {literal(section.title)}"
    for part in section.parts:
        yield _part(part, is_quoted=section.kind != "agent")


def _part(part: Part, *, is_quoted: bool) -> str:
    """A part; what was said is quoted where it is not the agent's answer."""
    match part:
        case Prose(text) | Typed(text):
            said = contained(text, HEADING_SHIFT)
            return _quoted(said) if is_quoted else said
        case Code(text, language):
            return fence(text, language)
        case Note(text, is_problem):
            line = literal(text)
            return f"**{line}**" if is_problem and line else line
        case Picture(_, _, label):
            return literal(label)
        case Link(label, uri):
            return f"{literal(label)}: {_address(uri)}"
        case Folded(title, parts):
            return "\n\n".join(
                [f"{literal(title)}:", *(_part(inner, is_quoted=is_quoted) for inner in parts)]
            )
        case Steps(steps):
            return "\n".join(f"- [{'x' if is_done else ' '}] {literal(text)}" for is_done, text in steps)
        case _:
            assert_never(part)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _address(uri: str) -> str:
    """A link that shows where it leads, or the text where that is nothing to click on."""
    shown = make_visible_line(uri)
    return f"<{shown}>" if shown == uri and is_linkable(uri) else literal(uri)
