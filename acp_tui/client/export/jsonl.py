"""Writes a conversation as JSON Lines, for programs: all of it for a file, or what changes in it while it goes on.

`acp-tui schema exec` prints the shape of the lines, which `acp_tui.cli.schemas` defines. Texts are complete and
unchanged, except that lone surrogates become U+FFFD. Characters that hide or reorder text are written as escapes
(\\u202e), so that a line is safe to look at; decoding restores them. NaN and infinite numbers, which JSON doesn't have,
are texts. Unset and null fields are omitted, except for null in the agent's raw data.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Final

from acp_tui.client.export.facts import ExportFacts
from acp_tui.conversation import UNSET, buffers, content, entries, tool_calls, updates
from acp_tui.conversation.conversation import Change, Conversation, SubagentState
from acp_tui.conversation.elicitation import FieldAnswer
from acp_tui.conversation.facts import Fact, Plan, SessionId, TurnSpent, TurnUsage, Usage
from acp_tui.conversation.visible import hidden_characters
from acp_tui.conversation.wording import subagent_state

SCHEMA: Final = "acp-tui/conversation/1"
TYPES: Final[Mapping[type, str]] = {
    entries.Message: "message",
    entries.ToolCallEntry: "tool_call",
    entries.Question: "question",
    entries.OwnCommand: "own_command",
    entries.Subagent: "subagent",
    entries.Compaction: "compaction",
    entries.TurnEnd: "turn_end",
    entries.Failure: "failure",
    updates.Reconnected: "restart",
    updates.ClientRemark: "remark",
    updates.UnknownUpdate: "unknown",
    content.Text: "text",
    content.Image: "image",
    content.Audio: "audio",
    content.ResourceLink: "resource_link",
    content.TextResource: "text_resource",
    content.BlobResource: "blob_resource",
    content.UnknownBlock: "unknown_block",
    tool_calls.BlockContent: "block",
    tool_calls.TextDiff: "diff",
    tool_calls.FileChange: "file_change",
    tool_calls.TerminalContent: "terminal_ref",
    tool_calls.UnknownContent: "unknown_content",
    Plan: "plan",
    Usage: "usage",
    TurnUsage: "tokens",
    TurnSpent: "turn",
}
"""Written out, so that renaming a class doesn't require a new version of the format."""
LEFT_OUT: Final[Mapping[type, tuple[str, ...]]] = {
    entries.Message: ("message_id", "is_sent"),  # "entry" identifies it in both versions of the protocol
    entries.ToolCallEntry: ("decided_on",),  # content is as the agent last reported it
    entries.Decision: ("is_ours",),  # the name says what was chosen
    FieldAnswer: ("is_choice",),  # the value is what is kept of it
    tool_calls.ToolCall: ("places",),  # the diffs say their places
}
"""Fields that aren't written."""

_TERMINAL_FIELDS: Final = (
    *("terminal_id", "command", "cwd", "is_ours", "columns", "rows"),
    *("has_exited", "exit_code", "signal", "seconds"),
)


def to_jsonl(conversation: Conversation, facts: ExportFacts) -> Iterator[str]:
    yield _line(header(facts, conversation.title))
    yield from map(_line, _entries(conversation))
    for terminal in conversation.terminals.values():
        yield _line(_terminal(terminal))
    for subagent in conversation.subagents.values():
        yield from map(_line, _subagent(subagent))
    for plan_id, plan in conversation.plans.items():
        yield _line(_plan(plan_id, plan))
    for turn in conversation.turns:
        if turn.usage is not None or turn.cost is not None:
            yield _line(plain(turn))
    if conversation.usage is not None:
        yield _line(plain(conversation.usage))
    if conversation.spent is not None:
        yield _line(plain(conversation.spent))


class ChangedLines:
    """The lines for what changes in a conversation, in ASCII, and without newlines.

    A line replaces an earlier one about the same entry, terminal, plan, or subagent. Only what is added to the end of
    a message, or of a tool call's content, comes as a chunk.
    """

    def __init__(self, conversation: Conversation, subagent: SessionId | None = None) -> None:
        self._conversation = conversation
        self._subagent = subagent
        """Whose conversation it is; None for the agent's own."""
        self._below: dict[SessionId, ChangedLines] = {}
        self._parts: dict[int, tuple[list[Any], int, int]] = {}
        """For each message, its parts, their number, and the length of the last one, as printed."""
        self._calls: dict[int, tuple[int, tuple[Any, ...]]] = {}
        """For each tool call, the hash of all but its content, and the content, as printed."""
        self._printed: dict[object, int] = {}
        """The hash of the last line about each thing that has had no chunk since."""
        self._plans: dict[str, Plan] = {}
        """An empty plan for each that was printed, which replaces it once it's gone."""

    def of(self, change: Change) -> Iterator[str]:
        said = self._conversation
        for at in change.entries:
            entry = said.entries[at]
            chunk = self._chunk(at, entry)
            if chunk is None:
                yield from self._changed(at, _entry(at, entry, self._subagent))
            elif chunk:
                self._printed.pop(at, None)
                yield ascii_line({"type": chunk.pop("type"), **_place(at, self._subagent), **chunk})
        if Fact.PLAN in change.facts:
            for plan_id, plan in {**self._plans, **said.plans}.items():
                self._plans[plan_id] = Plan(())
                yield from self._changed(("plan", plan_id), _plan(plan_id, plan, self._subagent))
        if Fact.USAGE in change.facts and said.usage is not None and self._subagent is None:
            yield from self._changed("usage", plain(said.usage))
        if change.terminal is not None and (terminal := said.terminals[change.terminal]).has_exited:
            yield from self._changed(("terminal", change.terminal), _terminal(terminal))
        if change.subagent is not None:
            session_id, its = change.subagent
            subagent = said.subagents[session_id]
            yield from self._changed(("subagent", session_id), _subagent_state(subagent))
            yield from self._below.setdefault(session_id, ChangedLines(subagent.conversation, session_id)).of(its)

    def _chunk(self, at: int, entry: entries.Entry) -> dict[str, Any] | None:
        """Return what was added to an entry, {} for nothing; None if it is new, or something else changed."""
        match entry:
            case entries.Message(role=role, parts=parts):
                last = parts[-1] if parts else None
                length = last.length if isinstance(last, buffers.TextBuffer) else 0
                old, count, before = self._parts.get(at, ([], 0, 0))
                self._parts[at] = (parts, len(parts), length)
                if old is not parts or count != len(parts) or length < before:
                    return None
                text = last.since(before) if isinstance(last, buffers.TextBuffer) else ""
                return {"type": "message_chunk", "role": role, "text": text} if text else {}
            case entries.ToolCallEntry(call=call):
                content = call.shown_content
                rest = hash(_line(plain(replace(entry, call=replace(call, content=(), places={})))))
                same, shown = self._calls.get(at, (None, ()))
                self._calls[at] = (rest, content)
                if rest != same or content[: len(shown)] != shown:
                    return None
                added = content[len(shown) :]
                return {"type": "tool_call_chunk", "content": plain(added)} if added else {}
            case _:
                return None

    def _changed(self, place: object, value: dict[str, Any]) -> Iterator[str]:
        line = ascii_line(value)
        if self._printed.get(place) != hash(line):
            self._printed[place] = hash(line)
            yield line


def header(facts: ExportFacts, title: str | None = None) -> dict[str, Any]:
    """The line about the session itself. `title` is the conversation's own."""
    values = {
        "title": title if facts.title is None else facts.title,
        "agent": without_nulls({"title": facts.agent_title, "version": facts.agent_version}),
        "cwd": facts.cwd,
        "session_id": facts.session_id or None,
        "sandbox": facts.sandbox or None,
        "exported_at": facts.exported_at,
    }
    return {"type": "session", "schema": SCHEMA, **without_nulls(values)}


def _place(at: int, subagent: SessionId | None) -> dict[str, Any]:
    return {"entry": at} if subagent is None else {"subagent": subagent, "entry": at}


def _entries(conversation: Conversation, subagent: SessionId | None = None) -> Iterator[dict[str, Any]]:
    return (_entry(at, entry, subagent) for at, entry in enumerate(conversation.entries))


def _entry(at: int, entry: entries.Entry, subagent: SessionId | None) -> dict[str, Any]:
    values = plain(entry)
    return {"type": values.pop("type"), **_place(at, subagent), **values}


def _plan(plan_id: str, plan: Plan, subagent: SessionId | None = None) -> dict[str, Any]:
    whose = {} if subagent is None else {"subagent": subagent}
    return {"type": "plan", **whose, "plan_id": plan_id, **plain(plan)}


def _subagent(subagent: SubagentState) -> Iterator[dict[str, Any]]:
    """What a subagent said. The entry with its session ID shows where it began."""
    yield _subagent_state(subagent)
    yield from _entries(subagent.conversation, subagent.session_id)
    for below in subagent.conversation.subagents.values():
        yield from _subagent(below)


def _subagent_state(subagent: SubagentState) -> dict[str, Any]:
    said = subagent.conversation
    values = {
        "session_id": subagent.session_id,
        "title": said.title,
        "description": subagent.description,
        "state": subagent_state(subagent),
        "usage": None if said.usage is None else plain(said.usage),
        "tokens": None if said.spent is None else plain(said.spent),
    }
    return {"type": "subagent_state", **without_nulls(values)}


def _terminal(state: entries.TerminalState) -> dict[str, Any]:
    values = {name: getattr(state, name) for name in _TERMINAL_FIELDS}
    output = {"output": state.output.tail_text(), "output_dropped": state.output.dropped}
    return {"type": "terminal", **without_nulls(values), **output}


def plain(value: Any) -> Any:
    """`value` as JSON. What is already JSON stays as it is."""
    match value:
        case buffers.TextBuffer():
            return {"type": "text", "text": value.text}
        case list() | tuple():
            return [plain(item) for item in value]
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case float() if not math.isfinite(value):
            return str(value)
        case _ if is_dataclass(value):
            return _object(value)
        case _:
            return value


def _object(value: Any) -> dict[str, Any]:
    name = TYPES.get(type(value))
    left_out = LEFT_OUT.get(type(value), ())
    values = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in left_out}
    if isinstance(value, tool_calls.ToolCall):
        values["content"] = value.shown_content
    shown = {key: plain(item) for key, item in without_nulls(values).items()}
    return shown if name is None else {"type": name, **shown}


def without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value is not UNSET}


def _line(value: Any) -> str:
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    if line.isascii() and "\x7f" not in line:
        return line
    whole = line.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _hidden().sub(lambda found: json.dumps(found[0])[1:-1], whole)


def ascii_line(value: Any) -> str:
    """The line with all else as escapes, for any terminal and locale."""
    return re.sub(r"[^\x00-\x7e]", lambda found: json.dumps(found[0])[1:-1], _line(value))


@cache
def _hidden() -> re.Pattern[str]:
    return re.compile(f"[{''.join(map(re.escape, sorted(hidden_characters())))}]")
