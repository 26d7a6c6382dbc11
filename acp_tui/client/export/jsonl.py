"""Writes a conversation as JSON Lines, for programs; each line is an object, in UTF-8.

The first line is the header:

    {"format": "acp-tui-conversation", "version": 1, "title": ..., "agent": {"title": ..., "version": ...},
     "cwd": ..., "session_id": ..., "sandbox": ..., "exported_at": ...}

Each further line has a "type". The entries of the conversation come first, from top to bottom:

    message      role ("user", "agent", "thought"), message_id, parts: content blocks, notes: texts
    tool_call    call: {tool_call_id, title, kind, status, content, locations, raw_input, raw_output, name, meta},
                 decisions: [{option_name, option_kind, at (seconds since the epoch), rule}], waiting: a count
    question     message, action ("accept", "decline", "cancel"), url (of a page), values: [{name, value}] (of a form,
                 in words; secrets as "***"), at
    own_command  line, terminal_id
    compaction   compaction_id, status, summary: content blocks, error
    turn_end     stop_reason
    failure      message, detail, stderr_tail, said: {reason, scope, correlation_id, retry_after_s, retry_at (seconds
                 since the epoch), auth_methods}
    unknown      kind, raw

Then come the things they refer to, and the final state of what isn't an entry:

    terminal     terminal_id, command, cwd, is_ours, columns, rows, output (with its escape sequences; bytes that are
                 not UTF-8 are U+FFFD), output_dropped (how many bytes before it were not kept), has_exited,
                 exit_code, signal, seconds
    plan         plan_id, steps: [{content, priority, status}]
    turn         end: how many of the entries above were there when the turn ended, usage: its tokens, as below,
                 cost, currency, start: the entry that began it, stop_reason
    usage        used, size, cost_amount, cost_currency
    tokens       of all turns: total, input, output, thought, cached_read, cached_write

A content block has a "type", too: "text", "image", "audio", "resource_link", "text_resource", "blob_resource", or
"unknown_block". So does an item of a tool call's content: "block", "diff" (path, old_text, new_text), "terminal_ref"
(terminal_id), or "unknown_content". Data is base64 as received. Unset and null fields are omitted, except for null in
the agent's raw data ("raw", "raw_input", "raw_output", "meta").

Texts are complete and unchanged, except that lone surrogates become U+FFFD. Characters that hide or reorder text are
written as escapes (\\u202e), so that a line is safe to look at; decoding restores them. NaN and infinite numbers, which
JSON doesn't have, are texts. Version 1 may get new fields, but no field changes its meaning.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from acp_tui.client.export.outline import ExportFacts
from acp_tui.conversation import UNSET, content, entries, tool_calls
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.conversation import Conversation, SubagentState
from acp_tui.conversation.facts import Plan, TurnSpent, TurnUsage, Usage
from acp_tui.conversation.updates import ClientRemark, Reconnected, UnknownUpdate
from acp_tui.conversation.visible import hidden_characters
from acp_tui.conversation.wording import subagent_state

FORMAT: Final = "acp-tui-conversation"
VERSION: Final = 1
_TYPES: Final[Mapping[type, str]] = {
    entries.Message: "message",
    entries.ToolCallEntry: "tool_call",
    entries.Question: "question",
    entries.OwnCommand: "own_command",
    entries.Subagent: "subagent",
    entries.Compaction: "compaction",
    entries.TurnEnd: "turn_end",
    entries.Failure: "failure",
    Reconnected: "restart",
    ClientRemark: "remark",
    UnknownUpdate: "unknown",
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

_TERMINAL_FIELDS: Final = (
    *("terminal_id", "command", "cwd", "is_ours", "columns", "rows"),
    *("has_exited", "exit_code", "signal", "seconds"),
)


def to_jsonl(conversation: Conversation, facts: ExportFacts) -> Iterator[str]:
    """The lines, without newlines."""
    yield _line({"format": FORMAT, "version": VERSION, **_header(conversation, facts)})
    for entry in conversation.entries:
        yield _line(_plain(entry))
    for state in conversation.terminals.values():
        yield _line(_terminal(state))
    for subagent in conversation.subagents.values():
        yield _line(_subagent(subagent))
    for plan_id, plan in conversation.plans.items():
        yield _line({"type": "plan", "plan_id": plan_id, **_plain(plan)})
    for turn in conversation.turns:
        if turn.usage is not None or turn.cost is not None:
            yield _line(_plain(turn))
    if conversation.usage is not None:
        yield _line(_plain(conversation.usage))
    if conversation.spent is not None:
        yield _line(_plain(conversation.spent))


def _header(conversation: Conversation, facts: ExportFacts) -> dict[str, Any]:
    header = {
        "title": conversation.title if facts.title is None else facts.title,
        "agent": _without_nulls({"title": facts.agent_title, "version": facts.agent_version}),
        "cwd": facts.cwd,
        "session_id": facts.session_id,
        "sandbox": facts.sandbox or None,
        "exported_at": facts.exported_at,
    }
    return _without_nulls(header)


def _subagent(subagent: SubagentState) -> dict[str, Any]:
    """What a subagent said. The entry with its session ID shows where it began."""
    said = subagent.conversation
    values = {
        "session_id": subagent.session_id,
        "title": said.title,
        "description": subagent.description,
        "state": subagent_state(subagent),
        "usage": None if said.usage is None else _plain(said.usage),
        "tokens": None if said.spent is None else _plain(said.spent),
    }
    told = {"entries": [_plain(entry) for entry in said.entries]}
    below = [_subagent(each) for each in said.subagents.values()]
    return {"type": "subagent_conversation", **_without_nulls(values), **told, "subagents": below}


def _terminal(state: entries.TerminalState) -> dict[str, Any]:
    values = {name: getattr(state, name) for name in _TERMINAL_FIELDS}
    output = {"output": state.output.tail_text(), "output_dropped": state.output.dropped}
    return {"type": "terminal", **_without_nulls(values), **output}


def _plain(value: Any) -> Any:
    """`value` as JSON. What is already JSON stays as it is."""
    match value:
        case TextBuffer():
            return {"type": "text", "text": value.text}
        case list() | tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case float() if not math.isfinite(value):
            return str(value)
        case _ if is_dataclass(value):
            return _object(value)
        case _:
            return value


def _object(value: Any) -> dict[str, Any]:
    name = _TYPES.get(type(value))
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, tool_calls.ToolCall):  # the diffs say their places
        values["content"] = value.shown_content
        del values["places"]
    plain = {key: _plain(item) for key, item in _without_nulls(values).items()}
    return plain if name is None else {"type": name, **plain}


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value is not UNSET}


def _line(value: Any) -> str:
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    if line.isascii() and "\x7f" not in line:
        return line
    whole = line.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _hidden().sub(lambda found: json.dumps(found[0])[1:-1], whole)


@cache
def _hidden() -> re.Pattern[str]:
    return re.compile(f"[{''.join(map(re.escape, sorted(hidden_characters())))}]")
