"""Writes a conversation as a Markdown page (CommonMark).

The agent's text stays Markdown but can't affect what surrounds it. Everything else is either in a fence longer than any
run of backticks inside it, or escaped, so that it reads as it was said. What isn't the agent's answer is quoted. The
page contains no raw HTML.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from acp_tui.client.export.contained import fence, literal
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.parts import block_parts, json_code, named_link, problem, prose, quoted, section
from acp_tui.client.export.tool_calls import ShownTerminals, time_of, tool_call_section
from acp_tui.conversation import entries, wording
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import ContentBlock
from acp_tui.conversation.conversation import Conversation, SubagentState
from acp_tui.conversation.facts import Plan, PlanStep, SessionId
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
    values = [literal(f"{each.name}: {each.value}") for each in question.values]
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
