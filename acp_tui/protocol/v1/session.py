"""Messages that open, list, and end sessions, with their MCP servers, modes, and options; and those of a turn."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar, Literal, TypeAlias

from acp_tui.protocol.schemas import Discriminator, FirstMatch, OpenUnion
from acp_tui.protocol.v1.content import ContentBlock
from acp_tui.protocol.wire import (
    Int64,
    Items,
    Lenient,
    Line,
    NullIsEmpty,
    OptionalItems,
    Short,
    UInt64,
    WireModel,
    Word,
)


class EnvVariable(WireModel):
    name: Short
    value: Word


class HttpHeader(WireModel):
    name: Short
    value: Word


class McpServerStdio(WireModel):
    """A server the agent starts. It has no type on the wire."""

    name: Short
    command: Word
    args: NullIsEmpty[Word]
    env: NullIsEmpty[EnvVariable]


class RemoteServer(WireModel):
    name: Short
    url: Word
    headers: NullIsEmpty[HttpHeader]


class McpServerHttp(RemoteServer):
    type: Literal["http"] = "http"


class McpServerSse(RemoteServer):
    type: Literal["sse"] = "sse"


McpServer: TypeAlias = Annotated[McpServerHttp | McpServerSse | McpServerStdio, OpenUnion()]


# Modes


class SessionMode(WireModel):
    id: Short
    name: Line
    description: Lenient[Line] = None


class SessionModeState(WireModel):
    current_mode_id: Short
    available_modes: Items[SessionMode]


# Models, from before config options existed (R-OLD-1)


class ModelInfo(WireModel):
    model_id: Short
    name: Line
    description: Lenient[Line] = None


class SessionModelState(WireModel):
    current_model_id: Short
    available_models: Items[ModelInfo]


# Config options


class SessionConfigSelectOption(WireModel):
    value: Short
    name: Line
    description: Lenient[Line] = None


class SessionConfigSelectGroup(WireModel):
    # Called so in v2.
    also_read: ClassVar = {"group": "groupId"}

    group: Short
    name: Line
    options: Items[SessionConfigSelectOption]


SessionConfigSelectOptions: TypeAlias = Annotated[
    list[SessionConfigSelectOption] | list[SessionConfigSelectGroup], FirstMatch()
]


class SessionConfigFields(WireModel):
    # Called so in v2.
    also_read: ClassVar = {"id": "configId"}

    id: Short
    name: Line
    description: Lenient[Line] = None
    category: Lenient[Line] = None


class SessionConfigSelect(SessionConfigFields):
    type: Literal["select"] = "select"
    current_value: Short
    options: SessionConfigSelectOptions


class SessionConfigBoolean(SessionConfigFields):
    type: Literal["boolean"] = "boolean"
    current_value: bool


SessionConfigOption: TypeAlias = Annotated[SessionConfigSelect | SessionConfigBoolean, Discriminator("type")]
"""Another type is malformed, so it's dropped from its list (R-CFG-2)."""


class SetSessionConfigOptionRequest(WireModel):
    """`session/set_config_option`. The type is only sent for a boolean."""

    session_id: Short
    config_id: Short
    type: Short | None = None
    value: Short | bool

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) and self.type != "boolean":
            raise ValueError("a boolean value needs the type 'boolean'")


class SetSessionConfigOptionResponse(WireModel):
    """All options after the change."""

    config_options: Items[SessionConfigOption]


# Sessions


class SessionSetup(WireModel):
    modes: Lenient[SessionModeState] = None
    config_options: OptionalItems[SessionConfigOption] = None
    models: Lenient[SessionModelState] = None


class NewSessionRequest(WireModel):
    cwd: Short
    mcp_servers: NullIsEmpty[McpServer]
    additional_directories: NullIsEmpty[Short] = field(default_factory=list)


class NewSessionResponse(SessionSetup):
    session_id: Short


class LoadSessionRequest(NewSessionRequest):
    """`session/load`: the agent replays the history before answering."""

    session_id: Short


class SessionInfo(WireModel):
    session_id: Short
    cwd: Short
    additional_directories: Items[Short] = field(default_factory=list)
    title: Lenient[Line] = None
    updated_at: Lenient[Line] = None


class ListSessionsRequest(WireModel):
    """`session/list`, page by page."""

    cwd: Short | None = None
    cursor: Word | None = None


class ListSessionsResponse(WireModel):
    """One page; the last one has no cursor."""

    sessions: Items[SessionInfo]
    next_cursor: Lenient[Word] = None


class CloseSessionRequest(WireModel):
    session_id: Short


class SetSessionTitleRequest(WireModel):
    """`session/set_title`: a draft in both versions."""

    session_id: Short
    title: Line


class SessionStatusRequest(WireModel):
    """`session/status`: a draft, like the answer, in both versions."""

    session_id: Short


class SessionState(WireModel):
    """What the session does, as far as one line tells it."""

    state: Line


class SessionStatusResponse(WireModel):
    """Whether the agent has the session in memory. Only version 2 has the state."""

    status: Line
    state: Lenient[SessionState] = None


StopReason: TypeAlias = Line
"""end_turn, max_tokens, max_turn_requests, refusal, cancelled, or an unknown one (R-PROMPT-6)."""

RequestId: TypeAlias = Int64 | Short | None


class PromptRequest(WireModel):
    session_id: Short
    prompt: list[ContentBlock]


class TurnUsage(WireModel):
    """The tokens of one turn: a draft in v1 that agents ship, and part of v2."""

    total_tokens: UInt64
    input_tokens: UInt64
    output_tokens: UInt64
    thought_tokens: Lenient[UInt64] = None
    cached_read_tokens: Lenient[UInt64] = None
    cached_write_tokens: Lenient[UInt64] = None


class PromptResponse(WireModel):
    stop_reason: StopReason
    usage: Lenient[TurnUsage] = None


class CancelNotification(WireModel):
    """`session/cancel`: stops the turn."""

    session_id: Short


class CancelRequestNotification(WireModel):
    """`$/cancel_request`: stops the work on one request."""

    request_id: RequestId
