"""Turns tool calls, with their diffs, terminals, and decisions, into sections of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import assert_never

from acp_tui.client.export.contained import fence, literal
from acp_tui.client.export.parts import block_parts, described_part, json_code, problem, prose, section, titled
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

    def show(self, terminal_id: tool_calls.TerminalId, line: str | None = None) -> Iterator[str]:
        """A terminal's command, or the `line` the user typed for it; its output; and how it ended."""
        state = self._states.get(terminal_id)
        command = line if state is None or line is not None else state.command
        prompt = [] if command is None else [f"$ {command}"]
        if state is None or terminal_id in self._shown:
            where = "in a terminal that the agent hasn't opened" if state is None else "in a terminal shown above"
            yield from (fence(text, "console") for text in prompt)
            yield where
            return
        self._shown.add(terminal_id)
        output = plain_text(state.output.read(), is_complete=state.has_exited).rstrip("\n")
        if state.output.dropped:
            yield literal(f"the first {state.output.dropped:,} bytes of its output weren't kept")
        if lines := prompt + ([output] if output else []):
            yield fence("\n".join(lines), "console")
        yield (problem if state.has_failed else literal)(command_end(state))


def tool_call_section(entry: ToolCallEntry, terminals: ShownTerminals) -> Iterator[str]:
    """What the call is, what it shows, and what was decided about it."""
    call = entry.call
    state = (problem if entry.shown_status == tool_calls.FAILED else literal)(_state(entry, terminals))
    content = [part for item in call.shown_content for part in _content(item, terminals)]
    shown = content if call.content else _raw(call)
    return section(call.shown_title, state, *shown, *map(_decision, entry.decisions))


def _state(entry: ToolCallEntry, terminals: ShownTerminals) -> str:
    call = entry.call
    status = "needs your decision" if entry.waiting else entry.status_words
    subject = terminals.subject_of(call)
    about = [] if subject is None else [subject.words]
    return " · ".join([call.kind, *filter(None, [call.untold_name]), status, *about, *map(_place, call.locations)])


def _place(location: tool_calls.Location) -> str:
    return location.path if location.line is None else f"{location.path}:{location.line}"


def _content(item: tool_calls.ToolCallContent, terminals: ShownTerminals) -> Iterator[str]:
    match item:
        case tool_calls.BlockContent(Text(text) as block) if is_for_user(block):
            for part in parts_of(text):
                yield prose(part.text) if isinstance(part, Markdown) else fence(part.text.strip("\n"))
        case tool_calls.BlockContent(block):
            yield from block_parts(block)
        case tool_calls.TextDiff(path, new_text, old_text):
            yield fence(unified_diff(path, old_text, new_text, item.parts), "diff")
        case tool_calls.TerminalContent(terminal_id):
            yield from terminals.show(terminal_id)
        case tool_calls.FileChange() | tool_calls.UnknownContent():
            yield described_part(item)
        case _:
            assert_never(item)


def _raw(call: tool_calls.ToolCall) -> list[str]:
    """The input and output of a call that shows nothing else."""
    values = (("Raw input", call.raw_input), ("Raw output", call.raw_output))
    return [titled(title, json_code(value)) for title, value in values if value is not UNSET]


def _decision(decision: Decision) -> str:
    return (literal if decision.rule is None else problem)(decision_words(decision) + time_of(decision.at))


def time_of(at: float | None) -> str:
    """When something was decided, as a suffix."""
    return "" if at is None else f" · {datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
