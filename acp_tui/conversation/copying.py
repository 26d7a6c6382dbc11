"""An equal conversation of its own: for an export that takes its time, and for a session that is forked."""

from __future__ import annotations

from copy import copy
from dataclasses import fields, replace
from typing import Any

from acp_tui.conversation.buffers import ByteRing, TextBuffer
from acp_tui.conversation.conversation import Conversation, SubagentState
from acp_tui.conversation.entries import Compaction, Entry, Message, TerminalState, ToolCallEntry


def snapshot(conversation: Conversation) -> Conversation:
    """An equal conversation that no update changes.

    To be called where the updates are applied. What never changes (texts, diffs, raw values) is shared: the cost is
    that of the entries, and of what the terminals have printed, which is copied.
    """
    values: dict[str, Any] = {
        field.name: copy(getattr(conversation, field.name)) for field in fields(Conversation)
    }
    values["entries"] = conversation.entries.copied(_entry)
    values["terminals"] = {key: _terminal(state) for key, state in conversation.terminals.items()}
    copied = Conversation(**values)
    copied.subagents = {key: _subagent(state, copied) for key, state in conversation.subagents.items()}
    return copied


def _subagent(state: SubagentState, parent: Conversation) -> SubagentState:
    conversation = replace(snapshot(state.conversation), terminals=parent.terminals)
    return replace(state, conversation=conversation)


def _entry(entry: Entry) -> Entry:
    match entry:
        case Message(parts=parts):
            copies = [TextBuffer(part.text) if isinstance(part, TextBuffer) else part for part in parts]
            return replace(entry, parts=copies)
        case ToolCallEntry(call):
            return replace(entry, call=replace(call, meta=dict(call.meta)))
        case Compaction(summary=summary):
            return replace(entry, summary=list(summary))
        case _:
            return entry


def _terminal(state: TerminalState) -> TerminalState:
    return replace(state, output=_KeptRing(state.output))


class _KeptRing(ByteRing):
    """What a ring held at a time, at the offset where it stood."""

    __slots__ = ()

    def __init__(self, ring: ByteRing) -> None:
        super().__init__(ring.limit_bytes)
        self.append(ring.read_from(0)[1])
        self._end = ring.end
