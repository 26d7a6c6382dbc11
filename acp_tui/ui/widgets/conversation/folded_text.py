"""What an entry may say that a fold hides, as plain text: to rule out quickly what need not be drawn to be searched.

It lays nothing out, and takes a little more for hidden than is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from acp_tui.client.terminals import plain_text
from acp_tui.conversation import UNSET
from acp_tui.conversation.content import ContentBlock, Text
from acp_tui.conversation.entries import (
    Compaction,
    Entry,
    Failure,
    Message,
    OwnCommand,
    Question,
    TerminalState,
    ToolCallEntry,
    Unknown,
)
from acp_tui.conversation.tool_calls import BlockContent, TerminalContent, TerminalId, TextDiff

_WORD: Final = re.compile(r"[^\W_]+")
_MARKS: Final = ("*", "`", "\\")
"""May stand within a word of Markdown, where they are not seen."""

Terminals: TypeAlias = Mapping[TerminalId, TerminalState]


def may_hide(entry: Entry, query: str, terminals: Terminals) -> bool:
    """Whether all words of the query occur somewhere in what the entry may hide; False is certain."""
    texts = list(_texts(entry, terminals))
    if not texts:
        return False
    text = "\n".join(texts).lower()
    for mark in _MARKS:
        text = text.replace(mark, "")
    return all(word in text for word in _WORD.findall(query.lower()))


def _texts(entry: Entry, terminals: Terminals) -> Iterator[str]:
    match entry:
        case Message(role="thought" | "user"):
            yield entry.text
        case ToolCallEntry():
            yield from _texts_of_call(entry, terminals)
        case Question():
            yield from (f"{each.name}: {each.value}" for each in entry.values)
        case OwnCommand():
            yield from _printed(terminals.get(entry.terminal_id))
        case Compaction():
            yield from _words_of(entry.summary or ())
        case Failure():
            yield entry.stderr_tail
        case Unknown():
            yield _as_json(entry.raw)


def _texts_of_call(entry: ToolCallEntry, terminals: Terminals) -> Iterator[str]:
    call = entry.call
    yield call.shown_title
    for item in call.content:
        match item:
            case BlockContent(block):
                yield from _words_of((block,))
            case TextDiff(_, new_text, old_text):
                yield new_text
                yield old_text or ""
            case TerminalContent(terminal_id):
                yield from _printed(terminals.get(terminal_id))
    # What is said of them may be looked for too.
    yield "raw input, raw output"
    yield from (_as_json(value) for value in (call.raw_input, call.raw_output) if value is not UNSET)


def _words_of(blocks: Iterable[ContentBlock]) -> Iterator[str]:
    return (block.text for block in blocks if isinstance(block, Text))


def _printed(state: TerminalState | None) -> Iterator[str]:
    if state is not None:
        yield plain_text(state.output.read(), is_complete=False)


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
