"""Short names for the updates that tests fold into conversations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.entries import Entry, Message, ToolCallEntry
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import (
    MessageChunk,
    PermissionAsked,
    PromptSent,
    Role,
    SessionUpdate,
    ToolCallReported,
)


def fold(*updates: SessionUpdate) -> Conversation:
    """A new conversation made of these updates."""
    conversation = Conversation()
    for update in updates:
        apply(conversation, update)
    return conversation


def last_change(*updates: SessionUpdate) -> Change:
    """What the last of these updates changed."""
    return apply(fold(*updates[:-1]), updates[-1])


def chunk(role: Role, text: str, message_id: str | None = None) -> MessageChunk:
    """A piece of text from a role."""
    return MessageChunk(role, Text(text), message_id)


def agent(text: str, message_id: str | None = None) -> MessageChunk:
    """A chunk of the agent's message."""
    return chunk("agent", text, message_id)


def user(text: str, message_id: str | None = None) -> MessageChunk:
    """A chunk of the user's message, as the agent reports it."""
    return chunk("user", text, message_id)


def thought(text: str, message_id: str | None = None) -> MessageChunk:
    """A chunk of the agent's thoughts."""
    return chunk("thought", text, message_id)


def prompt(text: str) -> PromptSent:
    """The user sends text."""
    return PromptSent((Text(text),))


def call(call_id: str, **reported: Any) -> ToolCallReported:
    """A report on a tool call."""
    return ToolCallReported(ToolCallPatch(ToolCallId(call_id), **reported))


def begun(call_id: str, **reported: Any) -> ToolCallReported:
    """The agent announces a tool call."""
    return replace(call(call_id, **reported), begins=True)


ALLOW = PermissionOption("opt-1", "Allow once", "allow_once")
REJECT = PermissionOption("opt-2", "No", "reject_once")


def question_about(patch: ToolCallPatch, options: tuple[PermissionOption, ...] = (ALLOW, REJECT)) -> PermissionAsked:
    """What the agent asks about a tool call, before it waits for the user."""
    return PermissionAsked(PermissionRequest(RequestKey(0), patch.tool_call_id, options), patch)


def ask(key: int, call_id: str, **reported: Any) -> PermissionAsked:
    """The agent asks for permission for a tool call, with the options to allow or reject it."""
    request = PermissionRequest(RequestKey(key), ToolCallId(call_id), (ALLOW, REJECT))
    return PermissionAsked(request, ToolCallPatch(ToolCallId(call_id), **reported))


def texts(conversation: Conversation) -> list[tuple[str, str]]:
    """The entries from top to bottom: a message's role and text; for others, the class and its identifying value."""
    return [_outline(entry) for entry in conversation.entries]


def _outline(entry: Entry) -> tuple[str, str]:
    if isinstance(entry, Message):
        return entry.role, entry.text
    if isinstance(entry, ToolCallEntry):
        return "call", entry.call.tool_call_id
    return type(entry).__name__, ""
