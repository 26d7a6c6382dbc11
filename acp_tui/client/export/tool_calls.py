"""Turns tool calls, with their diffs, terminals, and decisions, into parts of a page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, assert_never

from acp_tui.client.export.parts import Code, Folded, Note, Part, Prose, Section, block_parts, described_part, json_code
from acp_tui.client.line_comparison import unified_diff
from acp_tui.conversation import UNSET, tool_calls
from acp_tui.conversation.content import Text, is_for_user
from acp_tui.conversation.entries import Decision, TerminalState, ToolCallEntry
from acp_tui.conversation.permission_requests import decision_words
from acp_tui.conversation.plain_text import plain_text
from acp_tui.conversation.tool_text import Markdown, ToolSubject, parts_of, subject_of
from acp_tui.conversation.wording import command_end


class ShownTerminals:
    """Shows each terminal of a conversation once, even if several tool calls refer to it."""

    def __init__(self, states: Mapping[tool_calls.TerminalId, TerminalState]) -> None:
        self._states = states
        self._shown: set[tool_calls.TerminalId] = set()

    def subject_of(self, call: tool_calls.ToolCall) -> ToolSubject | None:
        """What the call's title leaves out."""
        return subject_of(call, self._states)

    def show(self, terminal_id: tool_calls.TerminalId, line: str | None = None) -> tuple[Part, ...]:
        """A terminal's command, or the `line` the user typed for it; its output; and how it ended."""
        state = self._states.get(terminal_id)
        command = line if state is None or line is not None else state.command
        prompt = [] if command is None else [f"$ {command}"]
        if state is None or terminal_id in self._shown:
            where = "in a terminal acp-tui doesn't know" if state is None else "in a terminal shown above"
            return (*(Code(text, "console") for text in prompt), Note(where))
        self._shown.add(terminal_id)
        output = plain_text(state.output.read(), is_complete=state.has_exited).rstrip("\n")
        lines = prompt + ([output] if output else [])
        lost = [Note(f"the first {state.output.dropped:,} bytes of its output weren't kept")]
        return (
            *(lost if state.output.dropped else []),
            *([Code("\n".join(lines), "console")] if lines else []),
            Note(command_end(state), is_problem=state.has_failed),
        )


def tool_call_section(entry: ToolCallEntry, terminals: ShownTerminals) -> Section:
    """What the call is, what it shows, and what was decided about it."""
    call = entry.call
    content = [part for item in call.shown_content for part in _content(item, terminals)]
    parts = (
        Note(_state(entry, terminals), is_problem=call.status == tool_calls.FAILED),
        *(content if call.content else _raw(call)),
        *(_decision(decision) for decision in entry.decisions),
    )
    return Section("event", call.shown_title, parts)


def _state(entry: ToolCallEntry, terminals: ShownTerminals) -> str:
    call = entry.call
    status = "needs your decision" if entry.waiting else entry.status_words
    subject = terminals.subject_of(call)
    about = [] if subject is None else [subject.words]
    return " · ".join([call.kind, *filter(None, [call.untold_name]), status, *about, *map(_place, call.locations)])


def _place(location: tool_calls.Location) -> str:
    return location.path if location.line is None else f"{location.path}:{location.line}"


def _content(item: tool_calls.ToolCallContent, terminals: ShownTerminals) -> tuple[Part, ...]:
    match item:
        case tool_calls.BlockContent(Text(text) as block) if is_for_user(block):
            return tuple(
                Prose(part.text) if isinstance(part, Markdown) else Code(part.text.strip("\n"))
                for part in parts_of(text)
            )
        case tool_calls.BlockContent(block):
            return block_parts(block)
        case tool_calls.TextDiff(path, new_text, old_text):
            return (Code(unified_diff(path, old_text, new_text, item.parts), "diff"),)
        case tool_calls.TerminalContent(terminal_id):
            return terminals.show(terminal_id)
        case tool_calls.FileChange() | tool_calls.UnknownContent():
            return (described_part(item),)
        case _:
            assert_never(item)


def _raw(call: tool_calls.ToolCall) -> list[Part]:
    """The input and output of a call that shows nothing else."""
    values: list[tuple[str, Any]] = [("Raw input", call.raw_input), ("Raw output", call.raw_output)]
    return [Folded(title, (json_code(value),)) for title, value in values if value is not UNSET]


def _decision(decision: Decision) -> Note:
    return Note(decision_words(decision) + time_of(decision.at), is_problem=decision.rule is not None)


def time_of(at: float | None) -> str:
    """When something was decided, as a suffix."""
    return "" if at is None else f" · {datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
