"""`session/update`: all kinds of updates an agent sends, as ACP v1 writes them."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from acp_tui.conversation import UNSET
from acp_tui.protocol.schemas import Tag, field
from acp_tui.protocol.v1.content import ContentBlock, ToolCallFields, ToolCallUpdate
from acp_tui.protocol.v1.session import SessionConfigOption
from acp_tui.protocol.wire import (
    UNKNOWN,
    Items,
    Lenient,
    Tristate,
    TristateItems,
    UInt64,
    Variant,
    WireModel,
    open_union,
)


class Update(Variant):
    """What all kinds share."""

    discriminator: ClassVar[str] = "session_update"


# Messages


class ContentChunk(WireModel):
    """A piece of a message."""

    content: ContentBlock
    message_id: Lenient[str] = None


class UserMessageChunk(Update, ContentChunk):
    """A piece of the user's message: history or an echo."""

    session_update: Literal["user_message_chunk"] = "user_message_chunk"


class AgentMessageChunk(Update, ContentChunk):
    """A piece of the agent's message."""

    session_update: Literal["agent_message_chunk"] = "agent_message_chunk"


class AgentThoughtChunk(Update, ContentChunk):
    """A piece of the agent's reasoning."""

    session_update: Literal["agent_thought_chunk"] = "agent_thought_chunk"


# Tool calls


class ToolCall(Update, ToolCallFields):
    """A tool call begins, or is reported again in full."""

    session_update: Literal["tool_call"] = "tool_call"
    title: str


class SessionToolCallUpdate(Update, ToolCallUpdate):
    """`ToolCallUpdate` as a session update. In a permission request, it has no discriminator."""

    session_update: Literal["tool_call_update"] = "tool_call_update"


# The plan


class PlanEntry(WireModel):
    """One step of a plan."""

    content: str
    priority: str
    status: str


class Plan(Update):
    """The whole plan."""

    session_update: Literal["plan"] = "plan"
    entries: Items[PlanEntry]


# Commands, modes, options


class UnstructuredCommandInput(WireModel):
    """Free text after a command's name."""

    hint: str


AvailableCommandInput: TypeAlias = UnstructuredCommandInput


class AvailableCommand(WireModel):
    """A slash command."""

    name: str
    description: str
    input: Lenient[AvailableCommandInput] = None


class AvailableCommandsUpdate(Update):
    """All commands."""

    session_update: Literal["available_commands_update"] = "available_commands_update"
    available_commands: Items[AvailableCommand]


class CurrentModeUpdate(Update):
    """The agent changed its mode."""

    session_update: Literal["current_mode_update"] = "current_mode_update"
    # An example in the documentation uses `modeId` (R-MODE-3).
    current_mode_id: str = field(aliases=("modeId",))


class ConfigOptionUpdate(Update):
    """All options."""

    session_update: Literal["config_option_update"] = "config_option_update"
    config_options: Items[SessionConfigOption]


# The session itself


class SessionInfoUpdate(Update):
    """The session's changed title and time."""

    session_update: Literal["session_info_update"] = "session_info_update"
    title: Tristate[str] = UNSET
    updated_at: Tristate[str] = UNSET


class Cost(WireModel):
    """Money, or the agent's own unit."""

    amount: float
    currency: str


class UsageUpdate(Update):
    """The tokens in the context, its size, and the cost so far."""

    session_update: Literal["usage_update"] = "usage_update"
    used: UInt64
    size: UInt64
    cost: Lenient[Cost] = None


class Notice(Update):
    """A short-lived message."""

    session_update: Literal["notice"] = "notice"
    severity: str
    title: str
    description: Lenient[str] = None


# Compaction


class CompactionUpdate(Update):
    """The agent compacts its context."""

    session_update: Literal["compaction_update"] = "compaction_update"
    compaction_id: str
    status: str
    summary: TristateItems[ContentBlock] = UNSET
    error: Tristate[str] = UNSET


class CompactionSummaryChunk(Update):
    """A piece of a compaction's summary."""

    session_update: Literal["compaction_summary_chunk"] = "compaction_summary_chunk"
    compaction_id: str
    content: ContentBlock


KINDS: Final = frozenset(
    {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
        "notice",
        "compaction_update",
        "compaction_summary_chunk",
    }
)

SessionUpdate: TypeAlias = Annotated[
    Annotated[UserMessageChunk, Tag("user_message_chunk")]
    | Annotated[AgentMessageChunk, Tag("agent_message_chunk")]
    | Annotated[AgentThoughtChunk, Tag("agent_thought_chunk")]
    | Annotated[ToolCall, Tag("tool_call")]
    | Annotated[SessionToolCallUpdate, Tag("tool_call_update")]
    | Annotated[Plan, Tag("plan")]
    | Annotated[AvailableCommandsUpdate, Tag("available_commands_update")]
    | Annotated[CurrentModeUpdate, Tag("current_mode_update")]
    | Annotated[ConfigOptionUpdate, Tag("config_option_update")]
    | Annotated[SessionInfoUpdate, Tag("session_info_update")]
    | Annotated[UsageUpdate, Tag("usage_update")]
    | Annotated[Notice, Tag("notice")]
    | Annotated[CompactionUpdate, Tag("compaction_update")]
    | Annotated[CompactionSummaryChunk, Tag("compaction_summary_chunk")]
    | Annotated[dict[str, Any], Tag(UNKNOWN)],
    open_union(KINDS, "sessionUpdate"),
]


class SessionNotification(WireModel):
    """`session/update`."""

    session_id: str
    update: SessionUpdate
