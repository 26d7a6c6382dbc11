"""What an agent says about its subagents, in drafts that agents ship. v2 uses the same messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, TypeAlias

from acp_tui.conversation import UNSET, UnsetType, updates
from acp_tui.conversation.facts import BackgroundWork, SessionId
from acp_tui.conversation.visible.cutting import MAX_PASSAGE, cut_text
from acp_tui.protocol import wire
from acp_tui.protocol.failures import read_error_facts
from acp_tui.protocol.v1.content import ContentBlock, marked_block
from acp_tui.protocol.v1.inbound_content import read_block, read_turn_usage
from acp_tui.protocol.v1.initialize import Marker
from acp_tui.protocol.v1.session import TurnUsage

Updates: TypeAlias = tuple[updates.SessionUpdate, ...]

BACKGROUND_IDS: Final = {"terminal": "terminalId", "tool_call": "toolCallId", "subagent": "sessionId"}
"""The key of background work's ID, by its type."""


class CancelCapabilities(wire.WireModel):
    """Whether a tool call, terminal, or subagent can be canceled."""

    cancel: wire.Lenient[Marker] = None


class ErrorObject(wire.WireModel):
    code: int
    message: wire.Passage
    data: wire.Raw = None


class StateUpdate(wire.WireModel):
    """What the session is doing. For an unknown state, only the state and the background work are read."""

    state: wire.Line
    stop_reason: wire.Lenient[wire.Line] = None
    error: wire.Lenient[ErrorObject] = None
    usage: wire.Lenient[TurnUsage] = None
    background: wire.Lenient[list[wire.RawObject]] = None


class SubagentUpdate(wire.WireModel):
    """A report about a subagent: absent keeps, null clears."""

    session_id: wire.Short
    title: wire.Tristate[wire.Line] = UNSET
    description: wire.Tristate[wire.Line] = UNSET
    capabilities: wire.Tristate[CancelCapabilities] = UNSET
    state: wire.Tristate[StateUpdate] = UNSET


class SessionMessage(wire.WireModel):
    """A whole message: in v2 of one side, or from one session to another. Null or an empty list clears it."""

    message_id: wire.Short
    content: Annotated[wire.TristateItems[ContentBlock], wire.cut_items(marked_block)] = UNSET


class SessionMessageChunk(wire.WireModel):
    """A piece of a message between sessions."""

    message_id: wire.Short
    content: ContentBlock


def read_state(update: Any) -> updates.StateReported:
    """Return what a session is doing. Raises MalformedMessage."""
    return _state_reported(wire.decode(StateUpdate, update))


def _state_reported(report: StateUpdate) -> updates.StateReported:
    background = _background(report.background)
    if report.state != "idle":
        return updates.StateReported(report.state, background=background, meta=report.meta)
    failure = None
    if report.stop_reason == "error":
        error = report.error
        failure = updates.TurnFailed("the agent ended the turn with an error and doesn't say which")
        if error is not None:
            failure = updates.TurnFailed(error.message, _detail(error.data), error.code, read_error_facts(error.data))
    usage = read_turn_usage(report.usage)
    return updates.StateReported("idle", report.stop_reason, failure, background, usage, report.meta)


def _detail(data: Any) -> str | None:
    """Return an error's cause in the agent's words, if it has one."""
    said = data.get("details", data.get("message")) if isinstance(data, dict) else data
    return cut_text(said, MAX_PASSAGE) if isinstance(said, str) else None


def _background(listed: list[dict[str, Any]] | None) -> tuple[BackgroundWork, ...] | UnsetType:
    """Convert a list of background work. A malformed item makes the list count as not sent."""
    if listed is None or not all(isinstance(item.get("type"), str) for item in listed):
        return UNSET
    return tuple(
        BackgroundWork(cut_text(item["type"]), cut_text(str(item.get(BACKGROUND_IDS.get(item["type"], ""), ""))))
        for item in listed
    )


def read_cancellable(capabilities: CancelCapabilities | None | UnsetType) -> bool | UnsetType:
    """Whether it can be stopped on its own."""
    if capabilities is UNSET:
        return UNSET
    return capabilities is not None and capabilities.cancel is not None


def read_subagent(update: Any) -> Updates:
    """Convert a report about a subagent. Raises MalformedMessage."""
    report = wire.decode(SubagentUpdate, update)
    state = report.state
    return (
        updates.SubagentReported(
            SessionId(report.session_id),
            report.title,
            report.description,
            _state_reported(state) if isinstance(state, StateUpdate) else state,
            read_cancellable(report.capabilities),
            report.meta,
        ),
    )


def read_message(update: Any, role: updates.Role = "thought") -> Updates:
    """Convert a whole message. One between sessions is a thought: the agents' own work. Raises MalformedMessage."""
    message = wire.decode(SessionMessage, update)
    if message.content is UNSET:
        return ()
    blocks = tuple(map(read_block, message.content or ()))
    return (updates.MessageReplaced(role, message.message_id, blocks, message.meta),)


def read_message_chunk(update: Any) -> Updates:
    """Convert a piece of a message between sessions. Raises MalformedMessage."""
    chunk = wire.decode(SessionMessageChunk, update)
    return (updates.MessageChunk("thought", read_block(chunk.content), chunk.message_id, chunk.meta),)


def of_call(update: dict[str, Any], said: Updates) -> Iterator[updates.SessionUpdate]:
    """Yield the updates. If `_meta` names a parent tool call, they become those of its subagent.

    claude-agent-acp 0.23 reports its subagents' work this way, in the parent's session.
    """
    meta = update.get("_meta")
    own = meta.get("claudeCode") if isinstance(meta, dict) else None
    call_id = own.get("parentToolUseId") if isinstance(own, dict) else None
    for each in said:
        if wire.is_id(call_id) and call_id:
            yield updates.SubagentSaid(SessionId(call_id), each, is_of_call=True)
        else:
            yield each
