"""The handshake, with identity and capabilities of both sides, logging in and out, and providers of models."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal, TypeAlias

from acp_tui.protocol.schemas import OpenUnion
from acp_tui.protocol.wire import (
    Items,
    Lenient,
    LenientFlag,
    Line,
    NullIsEmpty,
    NullIsEmptyObject,
    OrEmpty,
    Short,
    UInt16,
    WireModel,
    Word,
    cut_items,
)


class Implementation(WireModel):
    name: Line
    version: Line
    title: Lenient[Line] = None


class Marker(WireModel):
    """A capability that is present or not: `{}` means yes, absent and null mean no (R-INIT-5)."""


# The client's


class FileSystemCapabilities(WireModel):
    """The `fs/*` requests the client answers."""

    read_text_file: LenientFlag = False
    write_text_file: LenientFlag = False


class SessionConfigOptionsCapabilities(WireModel):
    """The kinds of options the client can show besides select."""

    boolean: Lenient[Marker] = None


class ClientSessionCapabilities(WireModel):
    compaction: Lenient[Marker] = None
    config_options: Lenient[SessionConfigOptionsCapabilities] = None
    notices: Lenient[Marker] = None


class AuthCapabilities(WireModel):
    """The ways to log in that the client offers besides the agent's own."""

    terminal: LenientFlag = False


class ElicitationCapabilities(WireModel):
    """The questions the client can ask the user."""

    form: Lenient[Marker] = None
    url: Lenient[Marker] = None


class ClientCapabilities(WireModel):
    fs: OrEmpty[FileSystemCapabilities]
    terminal: LenientFlag = False
    session: Lenient[ClientSessionCapabilities] = None
    auth: OrEmpty[AuthCapabilities]
    elicitation: Lenient[ElicitationCapabilities] = None
    subagents: Lenient[Marker] = None
    plan: Lenient[Marker] = None


class InitializeRequest(WireModel):
    """`initialize`: the first message of a connection."""

    protocol_version: UInt16
    client_capabilities: OrEmpty[ClientCapabilities]
    client_info: Lenient[Implementation] = None


# The agent's


class PromptCapabilities(WireModel):
    """The content blocks a prompt may have besides text and links."""

    image: LenientFlag = False
    audio: LenientFlag = False
    embedded_context: LenientFlag = False


class McpCapabilities(WireModel):
    """The MCP servers the agent can reach besides those it starts."""

    http: LenientFlag = False
    sse: LenientFlag = False
    acp: LenientFlag = False


class SessionSystemPromptModeCapabilities(WireModel):
    """The ways to use a client's system prompt besides appending it."""

    override: Lenient[Marker] = None


class SessionSystemPromptCapabilities(WireModel):
    """The agent takes a system prompt of the client's and appends it, at least."""

    mode: Lenient[SessionSystemPromptModeCapabilities] = None


class SessionCapabilities(WireModel):
    """The session methods the agent answers besides new and prompt."""

    list: Lenient[Marker] = None
    delete: Lenient[Marker] = None
    additional_directories: Lenient[Marker] = None
    resume: Lenient[Marker] = None
    close: Lenient[Marker] = None
    fork: Lenient[Marker] = None
    title: Lenient[Marker] = None
    archive: Lenient[Marker] = None
    status: Lenient[Marker] = None
    system_prompt: Lenient[SessionSystemPromptCapabilities] = None


class AgentAuthCapabilities(WireModel):
    """What the agent offers besides logging in. The same in v2, where it can always log out."""

    logout: Lenient[Marker] = None
    status: Lenient[Marker] = None


class AgentCapabilities(WireModel):
    load_session: LenientFlag = False
    prompt_capabilities: OrEmpty[PromptCapabilities]
    mcp_capabilities: OrEmpty[McpCapabilities]
    session_capabilities: OrEmpty[SessionCapabilities]
    auth: OrEmpty[AgentAuthCapabilities]
    providers: Lenient[Marker] = None


class AuthMethodAgent(WireModel):
    """The agent logs in itself when asked."""

    id: Short
    name: Line
    description: Lenient[Line] = None


class AuthMethodTerminal(WireModel):
    """The user logs in with the agent's program in a terminal."""

    type: Literal["terminal"] = "terminal"
    id: Short
    name: Line
    description: Lenient[Line] = None
    args: NullIsEmpty[Word] = field(default_factory=list)
    env: NullIsEmptyObject[Word] = field(default_factory=dict)


AuthMethod: TypeAlias = Annotated[AuthMethodTerminal | AuthMethodAgent, OpenUnion()]
"""Any other type, including the removed `env_var`, counts as an agent's (R-AUTH-1)."""


class InitializeResponse(WireModel):
    """The version to speak, and the agent's identity and capabilities."""

    protocol_version: UInt16
    agent_capabilities: OrEmpty[AgentCapabilities]
    auth_methods: Items[AuthMethod] = field(default_factory=list)
    agent_info: Lenient[Implementation] = None


class AuthenticateRequest(WireModel):
    method_id: Short


class AuthAccount(WireModel):
    """An account, for display only. A label is enough."""

    label: Line
    active: Lenient[bool] = None
    name: Lenient[Line] = None
    email: Lenient[Line] = None
    organization: Lenient[Line] = None


class AuthStatusResponse(WireModel):
    """Who is logged in, asked for by `auth/status` or told by `auth/status_update`. A draft in both versions."""

    state: Line
    accounts: Annotated[Items[AuthAccount], cut_items()] = field(default_factory=list)


class InterimAccount(WireModel):
    email: Lenient[Line] = None
    organization: Lenient[Line] = None


class InterimAuthStatus(WireModel):
    """What agents told before that draft."""

    kind: Line
    label: Line
    detail: Lenient[Line] = None
    account: OrEmpty[InterimAccount]


class InterimAuthStatusUpdate(WireModel):
    """`_auth/status_update`."""

    auth_status: InterimAuthStatus


# Who serves the agent's models; the same in both versions


class ProviderCurrentConfig(WireModel):
    api_type: Short
    base_url: Word


class ProviderInfo(WireModel):
    """A provider that the client can configure. Without `current`, it's disabled."""

    provider_id: Short
    supported: Annotated[Items[Short], cut_items()]
    required: bool
    current: ProviderCurrentConfig | None = None


class ListProvidersResponse(WireModel):
    providers: Annotated[list[ProviderInfo], cut_items()]


class DisableProviderRequest(WireModel):
    provider_id: Short


class SetProviderRequest(DisableProviderRequest, ProviderCurrentConfig):
    headers: NullIsEmptyObject[Word] = field(default_factory=dict)
