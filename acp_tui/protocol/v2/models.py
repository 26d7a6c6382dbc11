"""The ACP v2 messages that differ from v1, as models. Content blocks are those of v1."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import field
from typing import Annotated, Final, Literal, TypeAlias

from acp_tui.conversation import UNSET
from acp_tui.conversation.content import OWN_META, Meta
from acp_tui.protocol import wire
from acp_tui.protocol.v1 import initialize
from acp_tui.protocol.v1.agent_requests import PermissionOption
from acp_tui.protocol.v1.content import Content, Terminal, ToolCallLocation, marked_content, marked_location
from acp_tui.protocol.v1.session import EnvVariable, SessionConfigOption
from acp_tui.protocol.v1.subagents import CancelCapabilities
from acp_tui.protocol.v1.updates import AvailableCommands
from acp_tui.protocol.validators import OpenUnion, before

BEGINS: Final[Meta] = {OWN_META: {"begins": True}}
"""Added by a host to a tool call that its agent announces, because version 2 has no `tool_call`."""

# The handshake


class PromptCapabilities(wire.WireModel):
    """The content blocks a prompt may have besides text and links."""

    image: wire.Lenient[initialize.Marker] = None
    audio: wire.Lenient[initialize.Marker] = None
    embedded_context: wire.Lenient[initialize.Marker] = None


class McpCapabilities(wire.WireModel):
    stdio: wire.Lenient[initialize.Marker] = None
    http: wire.Lenient[initialize.Marker] = None
    acp: wire.Lenient[initialize.Marker] = None


class SessionCapabilities(wire.WireModel):
    """What the agent can do with sessions besides new, list, resume, close, and prompt."""

    prompt: wire.OrEmpty[PromptCapabilities]
    mcp: wire.OrEmpty[McpCapabilities]
    delete: wire.Lenient[initialize.Marker] = None
    fork: wire.Lenient[initialize.Marker] = None
    title: wire.Lenient[initialize.Marker] = None
    archive: wire.Lenient[initialize.Marker] = None
    status: wire.Lenient[initialize.Marker] = None
    system_prompt: wire.Lenient[initialize.SessionSystemPromptCapabilities] = None
    additional_directories: wire.Lenient[initialize.Marker] = None


class AgentCapabilities(wire.WireModel):
    session: wire.OrEmpty[SessionCapabilities]
    auth: wire.OrEmpty[initialize.AgentAuthCapabilities]
    providers: wire.Lenient[initialize.Marker] = None


class AuthMethodAgent(wire.WireModel):
    """The agent logs in itself when asked."""

    type: Literal["agent"] = "agent"
    method_id: wire.Short
    name: wire.Line
    description: wire.Lenient[wire.Line] = None


class AuthMethodTerminal(wire.WireModel):
    """The user logs in with the agent's program in a terminal."""

    type: Literal["terminal"] = "terminal"
    method_id: wire.Short
    name: wire.Line
    description: wire.Lenient[wire.Line] = None
    args: wire.NullIsEmpty[wire.Word] = field(default_factory=list)
    env: wire.NullIsEmpty[EnvVariable] = field(default_factory=list)


AuthMethod: TypeAlias = Annotated[AuthMethodAgent | AuthMethodTerminal | wire.RawObject, OpenUnion()]


class InitializeResponse(wire.WireModel):
    """The agent's identity and capabilities. At this point it's known to speak version 2."""

    protocol_version: wire.UInt16
    info: initialize.Implementation
    capabilities: wire.OrEmpty[AgentCapabilities]
    auth_methods: wire.Items[AuthMethod] = field(default_factory=list)


# Sessions


class SessionSetup(wire.WireModel):
    config_options: wire.Items[SessionConfigOption] = field(default_factory=list)
    available_commands: AvailableCommands = field(default_factory=list)


class NewSessionResponse(SessionSetup):
    session_id: wire.Short


class PromptResponse(wire.WireModel):
    message_id: wire.Lenient[wire.Short] = None


# Updates


class PathChange(wire.WireModel):
    operation: wire.Line
    path: wire.Line
    old_path: wire.Lenient[wire.Line] = None
    file_type: wire.Lenient[wire.Line] = None


class DiffPatch(wire.WireModel):
    format: wire.Line
    text: wire.Text


class Diff(wire.WireModel):
    """File changes, with a patch if the agent has one."""

    type: Literal["diff"] = "diff"
    changes: Annotated[wire.Items[PathChange], wire.cut_items(lambda mark: {"operation": "modify", "path": mark})]
    patch: wire.Lenient[DiffPatch] = None


ToolCallContent: TypeAlias = Annotated[Content | Diff | Terminal | wire.RawObject, OpenUnion()]


class ToolCallUpdate(wire.WireModel):
    """A report about a tool call: absent keeps, null clears."""

    tool_call_id: wire.Short
    name: wire.Tristate[wire.Line] = UNSET
    title: wire.Tristate[wire.Line] = UNSET
    kind: wire.Tristate[wire.Line] = UNSET
    status: wire.Tristate[wire.Line] = UNSET
    content: Annotated[wire.TristateItems[ToolCallContent], wire.cut_items(marked_content)] = UNSET
    locations: Annotated[wire.TristateItems[ToolCallLocation], wire.cut_items(marked_location)] = UNSET
    raw_input: wire.Raw = UNSET
    raw_output: wire.Raw = UNSET
    capabilities: wire.Tristate[CancelCapabilities] = UNSET


class ToolCallContentChunk(wire.WireModel):
    tool_call_id: wire.Short
    content: ToolCallContent


def _decoded(value: object) -> bytes:
    if not isinstance(value, str):
        raise ValueError("base64 is wanted")
    return b64decode(value)


class TerminalOutput(wire.WireModel):
    data: Annotated[bytes, before(_decoded)]


class TerminalExitStatus(wire.WireModel):
    exit_code: wire.Lenient[wire.Int64] = None
    signal: wire.Lenient[wire.Line] = None


class TerminalSize(wire.WireModel):
    cols: wire.UInt16
    rows: wire.UInt16


class TerminalUpdate(wire.WireModel):
    """The state of a terminal: absent keeps, null clears."""

    terminal_id: wire.Short
    command: wire.Tristate[wire.Passage] = UNSET
    cwd: wire.Tristate[wire.Line] = UNSET
    output: wire.Tristate[TerminalOutput] = UNSET
    exit_status: wire.Tristate[TerminalExitStatus] = UNSET
    size: wire.Tristate[TerminalSize] = UNSET
    capabilities: wire.Tristate[CancelCapabilities] = UNSET


class TerminalOutputChunk(TerminalOutput):
    terminal_id: wire.Short


# Permissions


class CommandSubject(wire.WireModel):
    command: wire.Passage
    cwd: wire.Line
    tool_call_id: wire.Lenient[wire.Short] = None
    terminal_id: wire.Lenient[wire.Short] = None


class ToolCallSubject(wire.WireModel):
    tool_call: ToolCallUpdate


class RequestPermissionRequest(wire.WireModel):
    """`session/request_permission`. The subject is read according to its type."""

    session_id: wire.Short
    title: wire.Line
    description: wire.Lenient[wire.Passage] = None
    subject: wire.Whole | None = None
    options: list[PermissionOption]
