"""The ACP v2 messages that differ from v1, as models. Content blocks are those of v1."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import field
from typing import Annotated, Literal, TypeAlias

from acp_tui.conversation import UNSET
from acp_tui.protocol.schemas import OpenUnion, before
from acp_tui.protocol.v1.agent_requests import PermissionOption
from acp_tui.protocol.v1.content import Content, Terminal, ToolCallLocation, marked_content, marked_location
from acp_tui.protocol.v1.initialize import (
    AgentAuthCapabilities,
    Implementation,
    Marker,
    SessionSystemPromptCapabilities,
)
from acp_tui.protocol.v1.session import EnvVariable, SessionConfigOption
from acp_tui.protocol.v1.subagents import CancelCapabilities
from acp_tui.protocol.v1.updates import AvailableCommands
from acp_tui.protocol.wire import (
    Int64,
    Items,
    Lenient,
    Line,
    NullIsEmpty,
    OrEmpty,
    Passage,
    Raw,
    RawObject,
    Short,
    Text,
    Tristate,
    TristateItems,
    UInt16,
    Whole,
    WireModel,
    Word,
    cut_items,
)

# The handshake


class PromptCapabilities(WireModel):
    """The content blocks a prompt may have besides text and links."""

    image: Lenient[Marker] = None
    audio: Lenient[Marker] = None
    embedded_context: Lenient[Marker] = None


class McpCapabilities(WireModel):
    stdio: Lenient[Marker] = None
    http: Lenient[Marker] = None
    acp: Lenient[Marker] = None


class SessionCapabilities(WireModel):
    """What the agent can do with sessions besides new, list, resume, close, and prompt."""

    prompt: OrEmpty[PromptCapabilities]
    mcp: OrEmpty[McpCapabilities]
    delete: Lenient[Marker] = None
    fork: Lenient[Marker] = None
    title: Lenient[Marker] = None
    archive: Lenient[Marker] = None
    status: Lenient[Marker] = None
    system_prompt: Lenient[SessionSystemPromptCapabilities] = None
    additional_directories: Lenient[Marker] = None


class AgentCapabilities(WireModel):
    session: OrEmpty[SessionCapabilities]
    auth: OrEmpty[AgentAuthCapabilities]
    providers: Lenient[Marker] = None


class AuthMethodAgent(WireModel):
    """The agent logs in itself when asked."""

    type: Literal["agent"] = "agent"
    method_id: Short
    name: Line
    description: Lenient[Line] = None


class AuthMethodTerminal(WireModel):
    """The user logs in with the agent's program in a terminal."""

    type: Literal["terminal"] = "terminal"
    method_id: Short
    name: Line
    description: Lenient[Line] = None
    args: NullIsEmpty[Word] = field(default_factory=list)
    env: NullIsEmpty[EnvVariable] = field(default_factory=list)


AuthMethod: TypeAlias = Annotated[AuthMethodAgent | AuthMethodTerminal | RawObject, OpenUnion()]


class InitializeResponse(WireModel):
    """The agent's identity and capabilities. At this point it's known to speak version 2."""

    protocol_version: UInt16
    info: Implementation
    capabilities: OrEmpty[AgentCapabilities]
    auth_methods: Items[AuthMethod] = field(default_factory=list)


# Sessions


class SessionSetup(WireModel):
    config_options: Items[SessionConfigOption] = field(default_factory=list)
    available_commands: AvailableCommands = field(default_factory=list)


class NewSessionResponse(SessionSetup):
    session_id: Short


class PromptResponse(WireModel):
    message_id: Lenient[Short] = None


# Updates


class PathChange(WireModel):
    operation: Line
    path: Line
    old_path: Lenient[Line] = None
    file_type: Lenient[Line] = None


class DiffPatch(WireModel):
    format: Line
    text: Text


class Diff(WireModel):
    """File changes, with a patch if the agent has one."""

    type: Literal["diff"] = "diff"
    changes: Annotated[Items[PathChange], cut_items(lambda mark: {"operation": "modify", "path": mark})]
    patch: Lenient[DiffPatch] = None


ToolCallContent: TypeAlias = Annotated[Content | Diff | Terminal | RawObject, OpenUnion()]


class ToolCallUpdate(WireModel):
    """A report about a tool call: absent keeps, null clears."""

    tool_call_id: Short
    name: Tristate[Line] = UNSET
    title: Tristate[Line] = UNSET
    kind: Tristate[Line] = UNSET
    status: Tristate[Line] = UNSET
    content: Annotated[TristateItems[ToolCallContent], cut_items(marked_content)] = UNSET
    locations: Annotated[TristateItems[ToolCallLocation], cut_items(marked_location)] = UNSET
    raw_input: Raw = UNSET
    raw_output: Raw = UNSET
    capabilities: Tristate[CancelCapabilities] = UNSET


class ToolCallContentChunk(WireModel):
    tool_call_id: Short
    content: ToolCallContent


def _decoded(value: object) -> bytes:
    if not isinstance(value, str):
        raise ValueError("base64 is wanted")
    return b64decode(value)


class TerminalOutput(WireModel):
    data: Annotated[bytes, before(_decoded)]


class TerminalExitStatus(WireModel):
    exit_code: Lenient[Int64] = None
    signal: Lenient[Line] = None


class TerminalSize(WireModel):
    cols: UInt16
    rows: UInt16


class TerminalUpdate(WireModel):
    """The state of a terminal: absent keeps, null clears."""

    terminal_id: Short
    command: Tristate[Passage] = UNSET
    cwd: Tristate[Line] = UNSET
    output: Tristate[TerminalOutput] = UNSET
    exit_status: Tristate[TerminalExitStatus] = UNSET
    size: Tristate[TerminalSize] = UNSET
    capabilities: Tristate[CancelCapabilities] = UNSET


class TerminalOutputChunk(TerminalOutput):
    terminal_id: Short


# Permissions


class CommandSubject(WireModel):
    command: Passage
    cwd: Line
    tool_call_id: Lenient[Short] = None
    terminal_id: Lenient[Short] = None


class ToolCallSubject(WireModel):
    tool_call: ToolCallUpdate


class RequestPermissionRequest(WireModel):
    """`session/request_permission`. The subject is read according to its type."""

    session_id: Short
    title: Line
    description: Lenient[Passage] = None
    subject: Whole | None = None
    options: list[PermissionOption]
