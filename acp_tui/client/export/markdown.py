"""Writes a conversation as a Markdown page (CommonMark).

The agent's text stays Markdown but can't affect what surrounds it. Everything else is either in a fence longer than any
run of backticks inside it, or escaped, so that it reads as it was said. What isn't the agent's answer is quoted. The
page contains no raw HTML.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, assert_never

from acp_tui.client.export.contained import address, contained, fence, literal
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.line_comparison import unified_diff
from acp_tui.conversation import UNSET, entries, tool_calls, wording
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import ContentBlock, Image, ResourceLink, Text, block_words, is_for_user, label_of
from acp_tui.conversation.conversation import Conversation, SubagentState
from acp_tui.conversation.facts import Plan, PlanStep, SessionId
from acp_tui.conversation.permission_requests import decision_words
from acp_tui.conversation.plain_text import plain_text
from acp_tui.conversation.tool_text import Markdown, described, parts_of, subject_of
from acp_tui.conversation.updates import ClientRemark, Reconnected, UnknownUpdate


def to_markdown(conversation: Conversation, facts: ExportFacts) -> str:
    title = facts.title or conversation.title or "Conversation"
    rows = [("Agent", facts.agent), ("Folder", facts.cwd), ("Session", facts.session_id)]
    rows += [("Sandbox", facts.sandbox)] if facts.sandbox else []
    rows += [] if facts.exported_at is None else [("Exported", facts.exported_at)]
    head = "\n".join(f"- {name}: {literal(value)}" for name, value in rows)
    return "\n\n".join([f"# {literal(title)}", head, *sections(conversation, facts)]) + "\n"


def sections(conversation: Conversation, facts: ExportFacts) -> Iterator[str]:
    """The entries from top to bottom, with what each turn used at its end, then the final plans and usage."""
    terminals = ShownTerminals(conversation.terminals)
    ends = {turn.end: words for turn in conversation.turns if (words := wording.turn_spent_words(turn))}
    for count, entry in enumerate(conversation.entries):
        if count in ends:
            yield from section("The turn used", literal(ends[count]))
        yield from _section(entry, conversation, facts, terminals)
    if len(conversation.entries) in ends:
        yield from section("The turn used", literal(ends[len(conversation.entries)]))
    for plan in conversation.plans.values():
        yield from _plan(plan)
    if conversation.usage is not None:
        yield from section("Usage", literal(wording.usage_words(conversation.usage)))
    if conversation.spent is not None:
        yield from section("Tokens of all turns", literal(wording.tokens_words(conversation.spent)))


def _section(
    entry: entries.Entry, conversation: Conversation, facts: ExportFacts, terminals: ShownTerminals
) -> Iterator[str]:
    match entry:
        case entries.Message():
            return _message(entry, facts)
        case entries.ToolCallEntry():
            return tool_call_section(entry, terminals)
        case entries.OwnCommand(line, terminal_id):
            return section("Your command", *terminals.show(terminal_id, line))
        case entries.Question():
            return _question(entry)
        case entries.Compaction():
            return _compaction(entry)
        case entries.TurnEnd(stop_reason):
            return section("Turn ended", literal(wording.stop_words(stop_reason)))
        case entries.Failure():
            return _failure(entry)
        case Reconnected():
            return _restart(entry)
        case entries.Subagent(session_id):
            return _subagent(conversation.subagents[SessionId(session_id)], facts, terminals)
        case ClientRemark(text):
            return section("Note", literal(text))
        case UnknownUpdate(kind, raw):
            return section(f"{kind}: an update acp-tui doesn't know", json_code(raw))
        case _:
            assert_never(entry)


def _subagent(state: SubagentState, facts: ExportFacts, terminals: ShownTerminals) -> Iterator[str]:
    """What a subagent said, between notes on where it begins and ends."""
    said = state.conversation
    title = said.title or state.description or "without a name"
    told = filter(None, (state.description, wording.subagent_state(state), wording.spent_words(said)))
    yield from section(f"Subagent: {title}", literal(" · ".join(told)))
    for entry in said.entries:
        yield from _section(entry, said, facts, terminals)
    yield from section(f"End of the subagent: {title}")


def _message(message: entries.Message, facts: ExportFacts) -> Iterator[str]:
    is_quoted = message.role == "user"
    parts = [part for said in message.parts for part in _said(said, is_quoted=is_quoted)]
    parts += map(problem, message.notes)
    match message.role:
        case "user":
            yield "## You"
            yield from parts
        case "agent":
            yield from section(facts.agent_title or "Agent", *parts)
        case "thought":
            yield quoted("\n\n".join(["**Thought**", *parts]))


def _said(part: TextBuffer | ContentBlock, *, is_quoted: bool) -> Iterator[str]:
    if isinstance(part, TextBuffer):
        yield prose(part.text, is_quoted=is_quoted)
    else:
        yield from block_parts(part, is_quoted=is_quoted)


def _question(question: entries.Question) -> Iterator[str]:
    page = [] if question.url is None else [named_link("Page", question.url)]
    values = [literal(f"{each.label} {each.value}") for each in question.values]
    outcome = literal(wording.answer_words(question) + time_of(question.at))
    return section("Question", prose(question.message), *page, *values, outcome)


def _restart(restart: Reconnected) -> Iterator[str]:
    words = "It continues this session." if restart.remembers else "It has no memory of the conversation above."
    if restart.forked_from:
        return section("Forked", literal(wording.forked(restart.forked_from)))
    if restart.is_loaded:
        words = "The conversation is shown as the agent kept it."
    why = [problem(restart.why)] if restart.why else []
    return section("Connected again" if restart.is_same else "The agent was restarted", words, *why)


def _compaction(compaction: entries.Compaction) -> Iterator[str]:
    error = [problem(compaction.error)] if compaction.error else []
    summary = [part for block in compaction.summary for part in block_parts(block)]
    return section("Context compaction", literal(compaction.status.replace("_", " ")), *error, *summary)


def _failure(failure: entries.Failure) -> Iterator[str]:
    detail = [fence(failure.detail)] if failure.detail else []
    tail = failure.stderr_tail.strip("\n")
    last = ["its last lines:", fence(tail)] if tail.strip() else []
    said = map(literal, wording.error_words(failure.said))
    return section("Failure", problem(failure.message), *detail, *said, *last)


def _plan(plan: Plan) -> Iterator[str]:
    steps = (f"- [{'x' if step.status == 'completed' else ' '}] {literal(_step(step))}" for step in plan.steps)
    return section(f"Plan: {plan.completed} of {len(plan.steps)} done", "\n".join(steps))


def _step(step: PlanStep) -> str:
    marks = [] if step.status in ("pending", "completed") else [step.status.replace("_", " ")]
    marks += [] if step.priority == "medium" else [f"{step.priority} priority"]
    return f"{step.content} ({', '.join(marks)})" if marks else step.content


class ShownTerminals:
    """Shows each terminal of a conversation once, even if several tool calls refer to it."""

    def __init__(self, states: Mapping[tool_calls.TerminalId, entries.TerminalState]) -> None:
        self.states = states
        self._shown: set[tool_calls.TerminalId] = set()

    def show(self, terminal_id: tool_calls.TerminalId, line: str | None = None) -> Iterator[str]:
        """A terminal's command, or the `line` the user typed for it; its output; and how it ended."""
        state = self.states.get(terminal_id)
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
        yield (problem if state.has_failed else literal)(wording.command_end(state))


def tool_call_section(entry: entries.ToolCallEntry, terminals: ShownTerminals) -> Iterator[str]:
    """What the call is, what it shows, and what was decided about it."""
    call = entry.call
    state = (problem if entry.shown_status == tool_calls.FAILED else literal)(_state(entry, terminals))
    content = [part for item in entry.shown_content for part in _content(item, terminals)]
    shown = content if entry.shown_content else _raw(call)
    return section(call.shown_title, state, *shown, *map(_decision, entry.decisions))


def _state(entry: entries.ToolCallEntry, terminals: ShownTerminals) -> str:
    call = entry.call
    status = "needs your decision" if entry.waiting else entry.status_words
    subject = subject_of(call, terminals.states)
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


def _decision(decision: entries.Decision) -> str:
    return (literal if decision.rule is None else problem)(decision_words(decision) + time_of(decision.at))


def time_of(at: float | None) -> str:
    """When something was decided, as a suffix."""
    return "" if at is None else f" · {datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"


# Parts of a section: what was said stays Markdown, everything else is in a fence or escaped

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
            yield described_part(tool_calls.BlockContent(block))


def described_part(item: tool_calls.BlockContent | tool_calls.FileChange | tool_calls.UnknownContent) -> str:
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
