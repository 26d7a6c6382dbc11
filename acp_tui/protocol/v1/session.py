"""Messages that open, list, and end sessions, with their MCP servers, modes, and options; and those of a turn."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar, Literal, TypeAlias

from acp_tui.protocol import wire
from acp_tui.protocol.v1.content import ContentBlock
from acp_tui.protocol.validators import FIRST_MATCH, Discriminator, OpenUnion


class EnvVariable(wire.WireModel):
    name: wire.Short
    value: wire.Word


class HttpHeader(wire.WireModel):
    name: wire.Short
    value: wire.Word


class McpServerStdio(wire.WireModel):
    """A server the agent starts. It has no type on the wire."""

    name: wire.Short
    command: wire.Word
    args: wire.NullIsEmpty[wire.Word]
    env: wire.NullIsEmpty[EnvVariable]


class RemoteServer(wire.WireModel):
    name: wire.Short
    url: wire.Word
    headers: wire.NullIsEmpty[HttpHeader]


class McpServerHttp(RemoteServer):
    type: Literal["http"] = "http"


class McpServerSse(RemoteServer):
    type: Literal["sse"] = "sse"


McpServer: TypeAlias = Annotated[McpServerHttp | McpServerSse | McpServerStdio, OpenUnion()]


# Modes


class SessionMode(wire.WireModel):
    id: wire.Short
    name: wire.Line
    description: wire.Lenient[wire.Line] = None


class SessionModeState(wire.WireModel):
    current_mode_id: wire.Short
    available_modes: wire.Items[SessionMode]


# Models, from before config options existed (R-OLD-1)


class ModelInfo(wire.WireModel):
    model_id: wire.Short
    name: wire.Line
    description: wire.Lenient[wire.Line] = None


class SessionModelState(wire.WireModel):
    current_model_id: wire.Short
    available_models: wire.Items[ModelInfo]


# Config options


class SessionConfigSelectOption(wire.WireModel):
    value: wire.Short
    name: wire.Line
    description: wire.Lenient[wire.Line] = None


class SessionConfigSelectGroup(wire.WireModel):
    # Called so in v2.
    also_read: ClassVar = {"group": "groupId"}

    group: wire.Short
    name: wire.Line
    options: wire.Items[SessionConfigSelectOption]


SessionConfigSelectOptions: TypeAlias = Annotated[
    list[SessionConfigSelectOption] | list[SessionConfigSelectGroup], FIRST_MATCH
]


class SessionConfigFields(wire.WireModel):
    # Called so in v2.
    also_read: ClassVar = {"id": "configId"}

    id: wire.Short
    name: wire.Line
    description: wire.Lenient[wire.Line] = None
    category: wire.Lenient[wire.Line] = None


class SessionConfigSelect(SessionConfigFields):
    type: Literal["select"] = "select"
    current_value: wire.Short
    options: SessionConfigSelectOptions


class SessionConfigBoolean(SessionConfigFields):
    type: Literal["boolean"] = "boolean"
    current_value: bool


SessionConfigOption: TypeAlias = Annotated[SessionConfigSelect | SessionConfigBoolean, Discriminator("type")]
"""Another type is malformed, so it's dropped from its list (R-CFG-2)."""


class SetSessionConfigOptionRequest(wire.WireModel):
    """`session/set_config_option`. The type is only sent for a boolean."""

    session_id: wire.Short
    config_id: wire.Short
    type: wire.Short | None = None
    value: wire.Short | bool

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) and self.type != "boolean":
            raise ValueError("a boolean value needs the type 'boolean'")


class SetSessionConfigOptionResponse(wire.WireModel):
    """All options after the change."""

    config_options: wire.Items[SessionConfigOption]


# Sessions


class SessionSetup(wire.WireModel):
    modes: wire.Lenient[SessionModeState] = None
    config_options: wire.OptionalItems[SessionConfigOption] = None
    models: wire.Lenient[SessionModelState] = None


class NewSessionRequest(wire.WireModel):
    cwd: wire.Short
    mcp_servers: wire.NullIsEmpty[McpServer]
    additional_directories: wire.NullIsEmpty[wire.Short] = field(default_factory=list)


class NewSessionResponse(SessionSetup):
    session_id: wire.Short


class LoadSessionRequest(NewSessionRequest):
    """`session/load`: the agent replays the history before answering."""

    session_id: wire.Short


class SessionInfo(wire.WireModel):
    session_id: wire.Short
    cwd: wire.Short
    additional_directories: wire.Items[wire.Short] = field(default_factory=list)
    title: wire.Lenient[wire.Line] = None
    updated_at: wire.Lenient[wire.Line] = None


class ListSessionsRequest(wire.WireModel):
    """`session/list`, page by page."""

    cwd: wire.Short | None = None
    cursor: wire.Word | None = None


class ListSessionsResponse(wire.WireModel):
    """One page; the last one has no cursor."""

    sessions: wire.Items[SessionInfo]
    next_cursor: wire.Lenient[wire.Word] = None


class CloseSessionRequest(wire.WireModel):
    session_id: wire.Short


class SetSessionTitleRequest(wire.WireModel):
    """`session/set_title`: a draft in both versions."""

    session_id: wire.Short
    title: wire.Line


class SessionStatusRequest(wire.WireModel):
    """`session/status`: a draft, like the answer, in both versions."""

    session_id: wire.Short


class SessionState(wire.WireModel):
    """What the session does, as far as one line tells it."""

    state: wire.Line


class SessionStatusResponse(wire.WireModel):
    """Whether the agent has the session in memory. Only version 2 has the state."""

    status: wire.Line
    state: wire.Lenient[SessionState] = None


StopReason: TypeAlias = wire.Line
"""end_turn, max_tokens, max_turn_requests, refusal, cancelled, or an unknown one (R-PROMPT-6)."""

RequestId: TypeAlias = wire.Int64 | wire.Short | None


class PromptRequest(wire.WireModel):
    session_id: wire.Short
    prompt: list[ContentBlock]


class TurnUsage(wire.WireModel):
    """The tokens of one turn: a draft in v1 that agents ship, and part of v2."""

    total_tokens: wire.UInt64
    input_tokens: wire.UInt64
    output_tokens: wire.UInt64
    thought_tokens: wire.Lenient[wire.UInt64] = None
    cached_read_tokens: wire.Lenient[wire.UInt64] = None
    cached_write_tokens: wire.Lenient[wire.UInt64] = None


class PromptResponse(wire.WireModel):
    stop_reason: StopReason
    usage: wire.Lenient[TurnUsage] = None


class CancelNotification(wire.WireModel):
    """`session/cancel`: stops the turn."""

    session_id: wire.Short


class CancelRequestNotification(wire.WireModel):
    """`$/cancel_request`: stops the work on one request."""

    request_id: RequestId
