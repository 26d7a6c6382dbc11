"""What a permission request looks like as lines of text; where it is asked, and by whom answered, it does not know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from acp_tui.conversation.answering import kind_word, letters_of, quoted_name
from acp_tui.conversation.content import Text, UnknownBlock
from acp_tui.conversation.facts import PermissionRequest
from acp_tui.conversation.places import is_outside
from acp_tui.conversation.reported_fields import MAX_FIELDS, reported_fields
from acp_tui.conversation.tool_calls import (
    BlockContent,
    TerminalContent,
    TextDiff,
    ToolCall,
    ToolCallContent,
    UnknownContent,
)
from acp_tui.conversation.unset import UNSET
from acp_tui.conversation.visible import (
    collapse_blanks,
    collapse_blanks_in_line,
    make_visible_command,
    make_visible_line,
    make_visible_path,
)

MAX_CHARACTERS: Final = 20_000
"""Of a call's raw input: more would push all else out of the terminal's memory."""
_NOT_TOLD: Final = frozenset({"data", "blob", "annotations", "meta"})
"""Of a block: bytes, and what is said of it to programs."""


def question_text(call: ToolCall, request: PermissionRequest, cwd: str = "") -> str:
    """The question whole, visible, with the numbers of its options. A large diff takes about a second.

    `cwd` is the session's directory: what lies outside of it is said to.
    """
    return "\n".join([*_lines(call, request.note, cwd), "", *_options(request)])


def _lines(call: ToolCall, note: str | None, cwd: str) -> Iterator[str]:
    if note is not None:
        yield from map(make_visible_line, note.split("\n"))
    # In the words of other titles look-alike letters may well be meant.
    title = make_visible_command(call.shown_title) if call.kind == "execute" else call.shown_title
    yield f"The agent asks for permission: {collapse_blanks_in_line(make_visible_line(title))}"
    for location in call.locations:
        yield f"  at {make_visible_path(location.path)}"
    for path in _paths(call):
        if is_outside(path, cwd):
            yield f"  outside of the session's folder: {make_visible_path(path)}"
    for item in call.content:
        yield from _content_lines(item)
    yield from _field_lines("input", call.raw_input)
    if call.raw_output is not UNSET:
        yield from _field_lines("output", call.raw_output)


def _content_lines(item: ToolCallContent) -> Iterator[str]:
    match item:
        case TextDiff():
            yield from _diff_lines(item)
        case BlockContent(Text(text)):
            yield from _text_lines(text)
        case BlockContent(UnknownBlock(kind, raw)) | UnknownContent(kind, raw):
            yield f"  {make_visible_line(kind)}: a kind of content that acp-tui does not know"
            yield from _field_lines("content", raw)
        case BlockContent(block):
            told = {
                each.name: getattr(block, each.name) for each in fields(block) if each.name not in _NOT_TOLD
            }
            yield from _field_lines(
                "content", {name: value for name, value in told.items() if value is not None}
            )
        case TerminalContent(terminal_id):
            yield f"  in the terminal {make_visible_line(terminal_id)}"


def _paths(call: ToolCall) -> Iterator[str]:
    """Every path that is reported, once."""
    diffs = [item.path for item in call.content if isinstance(item, TextDiff)]
    given = call.raw_input.get("cwd") if isinstance(call.raw_input, dict) else None
    where = [given] if isinstance(given, str) else []
    yield from dict.fromkeys([*diffs, *(location.path for location in call.locations), *where])


def _options(request: PermissionRequest) -> Iterator[str]:
    """Our words and keys first: what the agent calls an answer need not be what it does."""
    answers = request.answers
    width = max((len(kind_word(option)) for option in answers), default=0)
    for number, (option, letter) in enumerate(zip(answers, letters_of(answers), strict=True), 1):
        yield f"  {number} {letter or ' '}  {kind_word(option):<{width}}  {quoted_name(option)}"


def _diff_lines(diff: TextDiff) -> Iterator[str]:
    from acp_tui.client.export.tool_calls import told_diff  # only for questions about edits

    for line in told_diff(diff.path, diff.old_text, diff.new_text).split("\n"):
        yield f"  {line}"


def _field_lines(name: str, value: Any) -> Iterator[str]:
    """Every field of a tool's input or output, each in a line of its own, long texts below their names."""
    if value is UNSET:
        yield f"  {name}: not reported"
        return
    left = MAX_CHARACTERS
    for number, (path, text) in enumerate(reported_fields(value, name)):
        if left <= 0 or number == MAX_FIELDS:
            yield "  … more is reported than can be shown"
            return
        shown, cut = text[:left], len(text) - left
        left -= len(text)
        label = collapse_blanks_in_line(make_visible_line(path))
        if "\n" in shown:
            yield f"  {label}:"
            yield from (f"  │ {line}" for line in _visible(shown).split("\n"))
        else:
            yield f"  {label}: {_visible(shown)}"
        if cut > 0:
            yield f"  … and {cut:,} more characters that are not shown"


def _text_lines(text: str) -> Iterator[str]:
    yield from (f"  {line}" for line in _visible(text).split("\n"))


def _visible(text: str) -> str:
    return collapse_blanks(make_visible_command(text))
