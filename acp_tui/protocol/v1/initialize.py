"""The handshake, with identity and capabilities of both sides, logging in and out, and providers of models."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal, TypeAlias

from acp_tui.protocol import wire
from acp_tui.protocol.validators import OpenUnion


class Implementation(wire.WireModel):
    name: wire.Line
    version: wire.Line
    title: wire.Lenient[wire.Line] = None


class Marker(wire.WireModel):
    """A capability that is present or not: `{}` means yes, absent and null mean no (R-INIT-5)."""


# The client's


class FileSystemCapabilities(wire.WireModel):
    """The `fs/*` requests the client answers."""

    read_text_file: wire.LenientFlag = False
    write_text_file: wire.LenientFlag = False


class SessionConfigOptionsCapabilities(wire.WireModel):
    """The kinds of options the client can show besides select."""

    boolean: wire.Lenient[Marker] = None


class ClientSessionCapabilities(wire.WireModel):
    compaction: wire.Lenient[Marker] = None
    config_options: wire.Lenient[SessionConfigOptionsCapabilities] = None
    notices: wire.Lenient[Marker] = None


class AuthCapabilities(wire.WireModel):
    """The ways to log in that the client offers besides the agent's own."""

    terminal: wire.LenientFlag = False


class ElicitationCapabilities(wire.WireModel):
    """The questions the client can ask the user."""

    form: wire.Lenient[Marker] = None
    url: wire.Lenient[Marker] = None


class ClientCapabilities(wire.WireModel):
    fs: wire.OrEmpty[FileSystemCapabilities]
    terminal: wire.LenientFlag = False
    session: wire.Lenient[ClientSessionCapabilities] = None
    auth: wire.OrEmpty[AuthCapabilities]
    elicitation: wire.Lenient[ElicitationCapabilities] = None
    subagents: wire.Lenient[Marker] = None
    plan: wire.Lenient[Marker] = None


class InitializeRequest(wire.WireModel):
    """`initialize`: the first message of a connection."""

    protocol_version: wire.UInt16
    client_capabilities: wire.OrEmpty[ClientCapabilities]
    client_info: wire.Lenient[Implementation] = None


# The agent's


class PromptCapabilities(wire.WireModel):
    """The content blocks a prompt may have besides text and links."""

    image: wire.LenientFlag = False
    audio: wire.LenientFlag = False
    embedded_context: wire.LenientFlag = False


class McpCapabilities(wire.WireModel):
    """The MCP servers the agent can reach besides those it starts."""

    http: wire.LenientFlag = False
    sse: wire.LenientFlag = False
    acp: wire.LenientFlag = False


class SessionSystemPromptModeCapabilities(wire.WireModel):
    """The ways to use a client's system prompt besides appending it."""

    override: wire.Lenient[Marker] = None


class SessionSystemPromptCapabilities(wire.WireModel):
    """The agent takes a system prompt of the client's and appends it, at least."""

    mode: wire.Lenient[SessionSystemPromptModeCapabilities] = None


class SessionCapabilities(wire.WireModel):
    """The session methods the agent answers besides new and prompt."""

    list: wire.Lenient[Marker] = None
    delete: wire.Lenient[Marker] = None
    additional_directories: wire.Lenient[Marker] = None
    resume: wire.Lenient[Marker] = None
    close: wire.Lenient[Marker] = None
    fork: wire.Lenient[Marker] = None
    title: wire.Lenient[Marker] = None
    archive: wire.Lenient[Marker] = None
    status: wire.Lenient[Marker] = None
    system_prompt: wire.Lenient[SessionSystemPromptCapabilities] = None


class AgentAuthCapabilities(wire.WireModel):
    """What the agent offers besides logging in. The same in v2, where it can always log out."""

    logout: wire.Lenient[Marker] = None
    status: wire.Lenient[Marker] = None


class AgentCapabilities(wire.WireModel):
    load_session: wire.LenientFlag = False
    prompt_capabilities: wire.OrEmpty[PromptCapabilities]
    mcp_capabilities: wire.OrEmpty[McpCapabilities]
    session_capabilities: wire.OrEmpty[SessionCapabilities]
    auth: wire.OrEmpty[AgentAuthCapabilities]
    providers: wire.Lenient[Marker] = None


class AuthMethodAgent(wire.WireModel):
    """The agent logs in itself when asked."""

    id: wire.Short
    name: wire.Line
    description: wire.Lenient[wire.Line] = None


class AuthMethodTerminal(wire.WireModel):
    """The user logs in with the agent's program in a terminal."""

    type: Literal["terminal"] = "terminal"
    id: wire.Short
    name: wire.Line
    description: wire.Lenient[wire.Line] = None
    args: wire.NullIsEmpty[wire.Word] = field(default_factory=list)
    env: wire.NullIsEmptyObject[wire.Word] = field(default_factory=dict)


AuthMethod: TypeAlias = Annotated[AuthMethodTerminal | AuthMethodAgent, OpenUnion()]
"""Any other type, including the removed `env_var`, counts as an agent's (R-AUTH-1)."""


class InitializeResponse(wire.WireModel):
    """The version to speak, and the agent's identity and capabilities."""

    protocol_version: wire.UInt16
    agent_capabilities: wire.OrEmpty[AgentCapabilities]
    auth_methods: wire.Items[AuthMethod] = field(default_factory=list)
    agent_info: wire.Lenient[Implementation] = None


class AuthenticateRequest(wire.WireModel):
    method_id: wire.Short


class AuthAccount(wire.WireModel):
    """An account, for display only. A label is enough."""

    label: wire.Line
    active: wire.Lenient[bool] = None
    name: wire.Lenient[wire.Line] = None
    email: wire.Lenient[wire.Line] = None
    organization: wire.Lenient[wire.Line] = None


class AuthStatusResponse(wire.WireModel):
    """Who is logged in, asked for by `auth/status` or told by `auth/status_update`. A draft in both versions."""

    state: wire.Line
    accounts: Annotated[wire.Items[AuthAccount], wire.cut_items()] = field(default_factory=list)


class InterimAccount(wire.WireModel):
    email: wire.Lenient[wire.Line] = None
    organization: wire.Lenient[wire.Line] = None


class InterimAuthStatus(wire.WireModel):
    """What agents told before that draft."""

    kind: wire.Line
    label: wire.Line
    detail: wire.Lenient[wire.Line] = None
    account: wire.OrEmpty[InterimAccount]


class InterimAuthStatusUpdate(wire.WireModel):
    """`_auth/status_update`."""

    auth_status: InterimAuthStatus


# Who serves the agent's models; the same in both versions


class ProviderCurrentConfig(wire.WireModel):
    api_type: wire.Short
    base_url: wire.Word


class ProviderInfo(wire.WireModel):
    """A provider that the client can configure. Without `current`, it's disabled."""

    provider_id: wire.Short
    supported: Annotated[wire.Items[wire.Short], wire.cut_items()]
    required: bool
    current: ProviderCurrentConfig | None = None


class ListProvidersResponse(wire.WireModel):
    providers: Annotated[list[ProviderInfo], wire.cut_items()]


class DisableProviderRequest(wire.WireModel):
    provider_id: wire.Short


class SetProviderRequest(DisableProviderRequest, ProviderCurrentConfig):
    headers: wire.NullIsEmptyObject[wire.Word] = field(default_factory=dict)
