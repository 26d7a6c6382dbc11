"""What a permission request looks like as lines of text; where it is asked, and by whom answered, it does not know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from acp_tui.conversation.answering import kind_word, letters_of, quoted_name
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import PermissionRequest
from acp_tui.conversation.places import is_outside
from acp_tui.conversation.tool_calls import BlockContent, TextDiff, ToolCall
from acp_tui.conversation.unset import UNSET
from acp_tui.conversation.visible import (
    make_visible,
    make_visible_command,
    make_visible_line,
    make_visible_path,
)

MAX_INPUT_CHARACTERS: Final = 20_000
"""Of a call's raw input: more would push all else out of the terminal's memory."""


def question_text(call: ToolCall, request: PermissionRequest, cwd: str = "") -> str:
    """The question whole, visible, with the numbers of its options. A large diff takes about a second.

    `cwd` is the session's directory: what lies outside of it is said to.
    """
    return "\n".join([*_lines(call, request.note, cwd), "", *_options(request)])


def _lines(call: ToolCall, note: str | None, cwd: str) -> Iterator[str]:
    if note is not None:
        yield make_visible_line(note)
    # In the words of other titles look-alike letters may well be meant.
    title = make_visible_command(call.shown_title) if call.kind == "execute" else call.shown_title
    yield f"The agent asks for permission: {make_visible_line(title)}"
    for location in call.locations:
        yield f"  at {make_visible_path(location.path)}"
    for path in _paths(call):
        if is_outside(path, cwd):
            yield f"  outside of the session's folder: {make_visible_path(path)}"
    for item in call.content:
        if isinstance(item, TextDiff):
            yield from _diff_lines(item)
        elif isinstance(item, BlockContent) and isinstance(item.block, Text):
            yield from (f"  {line}" for line in make_visible(item.block.text).split("\n"))
    yield from f"  input: {_input(call.raw_input)}".split("\n")


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
    from acp_tui.client.export.unified import told_diff  # only for questions about edits

    for line in told_diff(diff.path, diff.old_text, diff.new_text).split("\n"):
        yield f"  {line}"


def _input(raw_input: Any) -> str:
    if raw_input is UNSET:
        return "not reported"
    try:
        text = json.dumps(raw_input, ensure_ascii=False, indent=2)
    except RecursionError:
        return "too deeply nested to show"
    left_out = len(text) - MAX_INPUT_CHARACTERS
    shown = make_visible(text[:MAX_INPUT_CHARACTERS])
    return shown if left_out <= 0 else f"{shown}\n  … and {left_out:,} more characters that are not shown"
