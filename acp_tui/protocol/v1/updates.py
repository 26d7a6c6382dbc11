"""`session/update`: all kinds of updates an agent sends, as ACP v1 writes them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from acp_tui.conversation import UNSET
from acp_tui.protocol import wire
from acp_tui.protocol.v1.content import ContentBlock, ToolCallFields, ToolCallUpdate, marked_block
from acp_tui.protocol.v1.session import SessionConfigOption
from acp_tui.protocol.validators import OpenUnion

# Messages


class ContentChunk(wire.WireModel):
    content: ContentBlock
    message_id: wire.Lenient[wire.Short] = None


class UserMessageChunk(ContentChunk):
    """A piece of the user's message: history or an echo."""

    session_update: Literal["user_message_chunk"] = "user_message_chunk"


class AgentMessageChunk(ContentChunk):
    session_update: Literal["agent_message_chunk"] = "agent_message_chunk"


class AgentThoughtChunk(ContentChunk):
    session_update: Literal["agent_thought_chunk"] = "agent_thought_chunk"


# Tool calls


class ToolCall(ToolCallFields):
    """A tool call begins, or is reported again in full."""

    session_update: Literal["tool_call"] = "tool_call"
    title: wire.Line


class SessionToolCallUpdate(ToolCallUpdate):
    """`ToolCallUpdate` as a session update. In a permission request, it has no discriminator."""

    session_update: Literal["tool_call_update"] = "tool_call_update"


# The plan


class PlanEntry(wire.WireModel):
    content: wire.Line
    priority: wire.Line
    status: wire.Line


PlanEntries: TypeAlias = Annotated[
    wire.Items[PlanEntry], wire.cut_items(lambda mark: {"content": mark, "priority": "", "status": ""})
]


class Plan(wire.WireModel):
    session_update: Literal["plan"] = "plan"
    entries: PlanEntries


class PlanItems(wire.WireModel):
    type: Literal["items"] = "items"
    plan_id: wire.Short
    entries: PlanEntries


class PlanMarkdown(wire.WireModel):
    type: Literal["markdown"] = "markdown"
    plan_id: wire.Short
    content: wire.Text


class PlanFile(wire.WireModel):
    type: Literal["file"] = "file"
    plan_id: wire.Short
    uri: wire.Line


class PlanUpdate(wire.WireModel):
    """One of several plans; a draft in version 1."""

    session_update: Literal["plan_update"] = "plan_update"
    plan: Annotated[PlanItems | PlanMarkdown | PlanFile | wire.RawObject, OpenUnion()]


class PlanRemoved(wire.WireModel):
    session_update: Literal["plan_removed"] = "plan_removed"
    plan_id: wire.Short


# Commands, modes, options


class UnstructuredCommandInput(wire.WireModel):
    """Free text after a command's name."""

    hint: wire.Line


AvailableCommandInput: TypeAlias = UnstructuredCommandInput


class AvailableCommand(wire.WireModel):
    name: wire.Short
    description: wire.Line
    input: wire.Lenient[AvailableCommandInput] = None


AvailableCommands: TypeAlias = Annotated[wire.Items[AvailableCommand], wire.cut_items()]


class AvailableCommandsUpdate(wire.WireModel):
    session_update: Literal["available_commands_update"] = "available_commands_update"
    available_commands: AvailableCommands


class CurrentModeUpdate(wire.WireModel):
    session_update: Literal["current_mode_update"] = "current_mode_update"
    # An example in the documentation uses `modeId` (R-MODE-3).
    also_read: ClassVar = {"current_mode_id": "modeId"}

    current_mode_id: wire.Short


class ConfigOptionUpdate(wire.WireModel):
    session_update: Literal["config_option_update"] = "config_option_update"
    config_options: wire.Items[SessionConfigOption]


# The session itself


class SessionInfoUpdate(wire.WireModel):
    session_update: Literal["session_info_update"] = "session_info_update"
    title: wire.Tristate[wire.Line] = UNSET
    updated_at: wire.Tristate[wire.Line] = UNSET


class Cost(wire.WireModel):
    """Money, or the agent's own unit."""

    amount: float
    currency: wire.Line


class UsageUpdate(wire.WireModel):
    """The tokens in the context, its size, and the cost so far."""

    session_update: Literal["usage_update"] = "usage_update"
    used: wire.UInt64
    size: wire.UInt64
    cost: wire.Lenient[Cost] = None


class Notice(wire.WireModel):
    """A short-lived message."""

    session_update: Literal["notice"] = "notice"
    severity: wire.Line
    title: wire.Line
    description: wire.Lenient[wire.Passage] = None


# Compaction


class CompactionUpdate(wire.WireModel):
    session_update: Literal["compaction_update"] = "compaction_update"
    compaction_id: wire.Short
    status: wire.Line
    summary: Annotated[wire.TristateItems[ContentBlock], wire.cut_items(marked_block)] = UNSET
    error: wire.Tristate[wire.Passage] = UNSET


class CompactionSummaryChunk(wire.WireModel):
    session_update: Literal["compaction_summary_chunk"] = "compaction_summary_chunk"
    compaction_id: wire.Short
    content: ContentBlock


SessionUpdate: TypeAlias = Annotated[
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCall
    | SessionToolCallUpdate
    | Plan
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | wire.RawObject,
    OpenUnion("sessionUpdate"),
]


class SessionNotification(wire.WireModel):
    session_id: wire.Short
    update: SessionUpdate
