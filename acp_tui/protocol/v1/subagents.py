"""What an agent says of those that it begins for a part of its work, in drafts that agents ship; v2 says it alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from acp_tui.conversation import UNSET, UnsetType
from acp_tui.conversation.facts import BackgroundWork, SessionId
from acp_tui.conversation.updates import (
    MessageChunk,
    MessageReplaced,
    SessionUpdate,
    StateReported,
    SubagentReported,
    SubagentSaid,
    TurnFailed,
)
from acp_tui.protocol.v1.content import ContentBlock
from acp_tui.protocol.v1.inbound_content import read_block, read_turn_usage
from acp_tui.protocol.v1.initialize import Marker
from acp_tui.protocol.v1.session import TurnUsage
from acp_tui.protocol.wire import Lenient, Tristate, TristateItems, WireModel, decode

Updates: TypeAlias = tuple[SessionUpdate, ...]

BACKGROUND_IDS: Final = {"terminal": "terminalId", "tool_call": "toolCallId", "subagent": "sessionId"}
"""Where a piece of background work has its id, by its type."""


class CancelCapabilities(WireModel):
    """What can be asked of a tool call, a terminal, or a subagent."""

    cancel: Lenient[Marker] = None


class ErrorObject(WireModel):
    """An error as in a response."""

    code: int
    message: str
    data: Any = None


class StateUpdate(WireModel):
    """What the session is doing; of one that we do not know only the state and the background are read."""

    state: str
    stop_reason: Lenient[str] = None
    error: Lenient[ErrorObject] = None
    usage: Lenient[TurnUsage] = None
    background: Lenient[list[dict[str, Any]]] = None


class SubagentUpdate(WireModel):
    """An agent of the session's agent: absent keeps, null clears."""

    session_id: str
    title: Tristate[str] = UNSET
    description: Tristate[str] = UNSET
    capabilities: Tristate[CancelCapabilities] = UNSET
    state: Tristate[StateUpdate] = UNSET


class SessionMessage(WireModel):
    """What one session has said to another, whole; null or an empty list clears it."""

    message_id: str
    content: TristateItems[ContentBlock] = UNSET


class SessionMessageChunk(WireModel):
    """A piece of it."""

    message_id: str
    content: ContentBlock


def read_state(update: Any) -> StateReported:
    """What a session is doing. Raises MalformedMessage."""
    return _state_reported(decode(StateUpdate, update))


def _state_reported(report: StateUpdate) -> StateReported:
    background = _background(report.background)
    if report.state != "idle":
        return StateReported(report.state, background=background, meta=report.meta)
    failure = None
    if report.stop_reason == "error":
        error = report.error
        failure = TurnFailed("the agent ended the turn with an error and doesn't say which")
        if error is not None:
            failure = TurnFailed(error.message, _detail(error.data), error.code)
    usage = read_turn_usage(report.usage)
    return StateReported("idle", report.stop_reason, failure, background, usage, report.meta)


def _detail(data: Any) -> str | None:
    """The cause in the agent's words, where an error has one."""
    said = data.get("details", data.get("message")) if isinstance(data, dict) else data
    return said if isinstance(said, str) else None


def _background(listed: list[dict[str, Any]] | None) -> tuple[BackgroundWork, ...] | UnsetType:
    """A list with a malformed item counts as not sent."""
    if listed is None or not all(isinstance(item.get("type"), str) for item in listed):
        return UNSET
    return tuple(
        BackgroundWork(item["type"], str(item.get(BACKGROUND_IDS.get(item["type"], ""), "")))
        for item in listed
    )


def read_cancellable(capabilities: CancelCapabilities | None | UnsetType) -> bool | UnsetType:
    """Whether it can be stopped alone."""
    if capabilities is UNSET:
        return UNSET
    return capabilities is not None and capabilities.cancel is not None


def read_subagent(update: Any) -> Updates:
    """A report on a subagent. Raises MalformedMessage."""
    report = decode(SubagentUpdate, update)
    state = report.state
    return (
        SubagentReported(
            SessionId(report.session_id),
            report.title,
            report.description,
            _state_reported(state) if isinstance(state, StateUpdate) else state,
            read_cancellable(report.capabilities),
            report.meta,
        ),
    )


def read_message(update: Any) -> Updates:
    """A message between sessions: work of the agents' own, as thoughts are. Raises MalformedMessage."""
    message = decode(SessionMessage, update)
    if message.content is UNSET:
        return ()
    blocks = tuple(map(read_block, message.content or ()))
    return (MessageReplaced("thought", message.message_id, blocks, message.meta),)


def read_message_chunk(update: Any) -> Updates:
    """A piece of a message between sessions. Raises MalformedMessage."""
    chunk = decode(SessionMessageChunk, update)
    return (MessageChunk("thought", read_block(chunk.content), chunk.message_id, chunk.meta),)


def of_call(update: dict[str, Any], said: Updates) -> Updates:
    """The updates; where `_meta` names a tool call that they belong to, those of the subagent that works for it.

    claude-agent-acp 0.23 tells so what its subagents do, in the session of the agent that began them.
    """
    return tuple(_of_call(update, said))


def _of_call(update: dict[str, Any], said: Updates) -> Iterator[SessionUpdate]:
    meta = update.get("_meta")
    own = meta.get("claudeCode") if isinstance(meta, dict) else None
    call_id = own.get("parentToolUseId") if isinstance(own, dict) else None
    for each in said:
        if isinstance(call_id, str) and call_id:
            yield SubagentSaid(SessionId(call_id), each, is_of_call=True)
        else:
            yield each
