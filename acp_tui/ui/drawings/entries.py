"""Chooses the drawing for an entry."""

from __future__ import annotations

from typing import assert_never

from acp_tui.conversation.entries import (
    Compaction,
    Entry,
    Failure,
    Message,
    OwnCommand,
    Question,
    Remark,
    Restart,
    ToolCallEntry,
    TurnEnd,
    Unknown,
)
from acp_tui.ui.drawings.command_output import OwnCommandDrawing
from acp_tui.ui.drawings.drawing import Drawing
from acp_tui.ui.drawings.messages import AgentMessage, Thought, UserMessage
from acp_tui.ui.drawings.notes import NoteDrawing
from acp_tui.ui.drawings.questions import QuestionDrawing
from acp_tui.ui.drawings.tool_calls import ToolCallDrawing


def drawing_of(entry: Entry) -> Drawing:
    """A new drawing, bound to the entry."""
    match entry:
        case Message(role="user"):
            return UserMessage(entry)
        case Message(role="thought"):
            return Thought(entry)
        case Message():
            return AgentMessage(entry)
        case ToolCallEntry():
            return ToolCallDrawing(entry)
        case Question():
            return QuestionDrawing(entry)
        case OwnCommand():
            return OwnCommandDrawing(entry)
        case Compaction() | Failure() | Remark() | Restart() | TurnEnd() | Unknown():
            return NoteDrawing(entry)
        case _:
            assert_never(entry)
