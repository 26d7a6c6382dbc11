"""`session/update`: all kinds of updates an agent sends, as ACP v1 writes them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from acp_tui.conversation import UNSET
from acp_tui.protocol.schemas import OpenUnion
from acp_tui.protocol.v1.content import ContentBlock, ToolCallFields, ToolCallUpdate, marked_block
from acp_tui.protocol.v1.session import SessionConfigOption
from acp_tui.protocol.wire import (
    Items,
    Lenient,
    Line,
    Passage,
    RawObject,
    Short,
    Text,
    Tristate,
    TristateItems,
    UInt64,
    WireModel,
    cut_items,
)

# Messages


class ContentChunk(WireModel):
    content: ContentBlock
    message_id: Lenient[Short] = None


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
    title: Line


class SessionToolCallUpdate(ToolCallUpdate):
    """`ToolCallUpdate` as a session update. In a permission request, it has no discriminator."""

    session_update: Literal["tool_call_update"] = "tool_call_update"


# The plan


class PlanEntry(WireModel):
    content: Line
    priority: Line
    status: Line


PlanEntries: TypeAlias = Annotated[
    Items[PlanEntry], cut_items(lambda mark: {"content": mark, "priority": "", "status": ""})
]


class Plan(WireModel):
    session_update: Literal["plan"] = "plan"
    entries: PlanEntries


class PlanItems(WireModel):
    type: Literal["items"] = "items"
    plan_id: Short
    entries: PlanEntries


class PlanMarkdown(WireModel):
    type: Literal["markdown"] = "markdown"
    plan_id: Short
    content: Text


class PlanFile(WireModel):
    type: Literal["file"] = "file"
    plan_id: Short
    uri: Line


class PlanUpdate(WireModel):
    """One of several plans; a draft in version 1."""

    session_update: Literal["plan_update"] = "plan_update"
    plan: Annotated[PlanItems | PlanMarkdown | PlanFile | RawObject, OpenUnion()]


class PlanRemoved(WireModel):
    session_update: Literal["plan_removed"] = "plan_removed"
    plan_id: Short


# Commands, modes, options


class UnstructuredCommandInput(WireModel):
    """Free text after a command's name."""

    hint: Line


AvailableCommandInput: TypeAlias = UnstructuredCommandInput


class AvailableCommand(WireModel):
    name: Short
    description: Line
    input: Lenient[AvailableCommandInput] = None


AvailableCommands: TypeAlias = Annotated[Items[AvailableCommand], cut_items()]


class AvailableCommandsUpdate(WireModel):
    session_update: Literal["available_commands_update"] = "available_commands_update"
    available_commands: AvailableCommands


class CurrentModeUpdate(WireModel):
    session_update: Literal["current_mode_update"] = "current_mode_update"
    # An example in the documentation uses `modeId` (R-MODE-3).
    also_read: ClassVar = {"current_mode_id": "modeId"}

    current_mode_id: Short


class ConfigOptionUpdate(WireModel):
    session_update: Literal["config_option_update"] = "config_option_update"
    config_options: Items[SessionConfigOption]


# The session itself


class SessionInfoUpdate(WireModel):
    session_update: Literal["session_info_update"] = "session_info_update"
    title: Tristate[Line] = UNSET
    updated_at: Tristate[Line] = UNSET


class Cost(WireModel):
    """Money, or the agent's own unit."""

    amount: float
    currency: Line


class UsageUpdate(WireModel):
    """The tokens in the context, its size, and the cost so far."""

    session_update: Literal["usage_update"] = "usage_update"
    used: UInt64
    size: UInt64
    cost: Lenient[Cost] = None


class Notice(WireModel):
    """A short-lived message."""

    session_update: Literal["notice"] = "notice"
    severity: Line
    title: Line
    description: Lenient[Passage] = None


# Compaction


class CompactionUpdate(WireModel):
    session_update: Literal["compaction_update"] = "compaction_update"
    compaction_id: Short
    status: Line
    summary: Annotated[TristateItems[ContentBlock], cut_items(marked_block)] = UNSET
    error: Tristate[Passage] = UNSET


class CompactionSummaryChunk(WireModel):
    session_update: Literal["compaction_summary_chunk"] = "compaction_summary_chunk"
    compaction_id: Short
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
    | RawObject,
    OpenUnion("sessionUpdate"),
]


class SessionNotification(WireModel):
    session_id: Short
    update: SessionUpdate
