"""Turns a conversation and the facts about it into the sections of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final, Self, assert_never

from acp_tui.client.export.parts import (
    Code,
    NamedLink,
    Note,
    Part,
    PlanSteps,
    Prose,
    Section,
    SectionKind,
    block_parts,
    json_code,
)
from acp_tui.client.export.tool_calls import ShownTerminals, time_of, tool_call_section
from acp_tui.conversation import entries, wording
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import ContentBlock
from acp_tui.conversation.conversation import Conversation, SubagentState
from acp_tui.conversation.facts import Plan, PlanStep, SessionId
from acp_tui.conversation.updates import ClientRemark, Reconnected, Role, UnknownUpdate
from acp_tui.conversation.visible import hidden_characters
from acp_tui.values import dataclass

MAX_NAME_CHARACTERS: Final = 48
"""Limit for a title in a file name. File names may have 255 bytes, and a character up to four."""
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class ExportFacts:
    """Where a conversation took place, with which agent, and when it was exported."""

    agent_title: str
    cwd: str
    session_id: str
    agent_version: str | None = None
    exported_at: str | None = None
    """ISO 8601; None to omit it, so that two exports are equal."""
    title: str | None = None
    """None for the conversation's own title."""
    sandbox: str = ""
    """The name of the sandbox that the agent ran in; "" for none."""

    @classmethod
    def now(
        cls,
        agent_title: str,
        cwd: Path,
        session_id: str,
        title: str | None,
        *,
        agent_version: str | None = None,
        sandbox: str = "",
    ) -> Self:
        exported_at = datetime.now().astimezone().isoformat(timespec="seconds")
        return cls(agent_title, str(cwd), session_id, agent_version, exported_at, title, sandbox)

    @property
    def agent(self) -> str:
        return f"{self.agent_title} {self.agent_version}" if self.agent_version else self.agent_title


def default_name(facts: ExportFacts, suffix: str) -> str:
    """A file name such as "2026-11-21-fix-the-parser.md". No title can make it lead to another folder."""
    date = _DATE.match(facts.exported_at or "")
    title = _words(facts.title or "") or _words(facts.agent_title) or "conversation"
    return "-".join(([date[0]] if date else []) + [title]) + suffix


def _words(text: str) -> str:
    """Its letters and digits, with dashes for everything in between."""
    hidden = hidden_characters()
    shown = "".join(char if char.isalnum() and char not in hidden else " " for char in text.lower())
    return "-".join(shown.split())[:MAX_NAME_CHARACTERS].rstrip("-")


_KINDS: Final[dict[Role, SectionKind]] = {"user": "user", "agent": "agent", "thought": "thought"}


def heading(conversation: Conversation, facts: ExportFacts) -> str:
    return facts.title or conversation.title or "Conversation"


def header_rows(facts: ExportFacts) -> list[tuple[str, str]]:
    """The information above the conversation: names and values."""
    rows = [("Agent", facts.agent), ("Folder", facts.cwd), ("Session", facts.session_id)]
    rows += [("Sandbox", facts.sandbox)] if facts.sandbox else []
    return rows + ([] if facts.exported_at is None else [("Exported", facts.exported_at)])


def sections(conversation: Conversation, facts: ExportFacts) -> Iterator[Section]:
    """The entries from top to bottom, with what each turn used at its end, then the final plans and usage."""
    terminals = ShownTerminals(conversation.terminals)
    ends = {turn.end: words for turn in conversation.turns if (words := wording.turn_spent_words(turn))}
    for count, entry in enumerate(conversation.entries):
        if count in ends:
            yield _turn(ends[count])
        if isinstance(entry, entries.Subagent):
            yield from _subagent(conversation.subagents[SessionId(entry.session_id)], facts, terminals)
        else:
            yield _section(entry, facts, terminals)
    if len(conversation.entries) in ends:
        yield _turn(ends[len(conversation.entries)])
    for plan in conversation.plans.values():
        yield _plan(plan)
    if conversation.usage is not None:
        yield Section("event", "Usage", (Note(wording.usage_words(conversation.usage)),))
    if conversation.spent is not None:
        yield Section("event", "Tokens of all turns", (Note(wording.tokens_words(conversation.spent)),))


def _turn(words: str) -> Section:
    return Section("event", "The turn used", (Note(words),))


def _subagent(state: SubagentState, facts: ExportFacts, terminals: ShownTerminals) -> Iterator[Section]:
    """What a subagent said, between notes on where it begins and ends."""
    said = state.conversation
    title = said.title or state.description or "without a name"
    told = filter(None, (state.description, wording.subagent_state(state), wording.spent_words(said)))
    yield Section("event", f"Subagent: {title}", (Note(" · ".join(told)),))
    for entry in said.entries:
        if isinstance(entry, entries.Subagent):
            yield from _subagent(said.subagents[SessionId(entry.session_id)], facts, terminals)
        else:
            yield _section(entry, facts, terminals)
    yield Section("event", f"End of the subagent: {title}", ())


def _section(entry: entries.Entry, facts: ExportFacts, terminals: ShownTerminals) -> Section:
    match entry:
        case entries.Message():
            return _message(entry, facts)
        case entries.ToolCallEntry():
            return tool_call_section(entry, terminals)
        case entries.OwnCommand(line, terminal_id):
            return Section("event", "Your command", terminals.show(terminal_id, line))
        case entries.Question():
            return _question(entry)
        case entries.Compaction():
            return _compaction(entry)
        case entries.TurnEnd(stop_reason):
            return Section("event", "Turn ended", (Note(wording.stop_words(stop_reason)),))
        case entries.Failure():
            return _failure(entry)
        case Reconnected():
            return _restart(entry)
        case entries.Subagent(session_id):
            return Section("event", f"Subagent {session_id}", ())
        case ClientRemark(text):
            return Section("event", "Note", (Note(text),))
        case UnknownUpdate(kind, raw):
            title = f"{kind}: an update acp-tui doesn't know"
            return Section("event", title, (json_code(raw),))
        case _:
            assert_never(entry)


def _message(message: entries.Message, facts: ExportFacts) -> Section:
    kind = _KINDS[message.role]
    titles = {"user": "You", "thought": "Thought"}
    parts = [part for said in message.parts for part in _said(said)]
    notes = [Note(note, is_problem=True) for note in message.notes]
    return Section(kind, titles.get(kind, facts.agent_title or "Agent"), (*parts, *notes))


def _said(part: TextBuffer | ContentBlock) -> tuple[Part, ...]:
    return (Prose(part.text),) if isinstance(part, TextBuffer) else block_parts(part)


def _question(question: entries.Question) -> Section:
    page = [] if question.url is None else [NamedLink("Page", question.url)]
    values = [Note(f"{each.name}: {each.value}") for each in question.values]
    outcome = Note(wording.answer_words(question) + time_of(question.at))
    return Section("event", "Question", (Prose(question.message), *page, *values, outcome))


def _restart(restart: Reconnected) -> Section:
    words = "It continues this session." if restart.remembers else "It has no memory of the conversation above."
    if restart.forked_from:
        return Section("event", "Forked", (Note(wording.forked(restart.forked_from)),))
    if restart.is_loaded:
        words = "The conversation is shown as the agent kept it."
    why = [Note(restart.why, is_problem=True)] if restart.why else []
    head = "Connected again" if restart.is_same else "The agent was restarted"
    return Section("event", head, (Note(words), *why))


def _compaction(compaction: entries.Compaction) -> Section:
    status = [Note(compaction.status.replace("_", " "))]
    error = [Note(compaction.error, is_problem=True)] if compaction.error else []
    summary = [part for block in compaction.summary for part in block_parts(block)]
    return Section("event", "Context compaction", (*status, *error, *summary))


def _failure(failure: entries.Failure) -> Section:
    parts: list[Part] = [Note(failure.message, is_problem=True)]
    if failure.detail:
        parts.append(Code(failure.detail))
    parts += [Note(line) for line in wording.error_words(failure.said)]
    if failure.stderr_tail.strip():
        parts += [Note("its last lines:"), Code(failure.stderr_tail.strip("\n"))]
    return Section("event", "Failure", tuple(parts))


def _plan(plan: Plan) -> Section:
    steps = tuple((step.status == "completed", _step(step)) for step in plan.steps)
    return Section("event", f"Plan: {plan.completed} of {len(steps)} done", (PlanSteps(steps),))


def _step(step: PlanStep) -> str:
    marks = [] if step.status in ("pending", "completed") else [step.status.replace("_", " ")]
    marks += [] if step.priority == "medium" else [f"{step.priority} priority"]
    return f"{step.content} ({', '.join(marks)})" if marks else step.content
