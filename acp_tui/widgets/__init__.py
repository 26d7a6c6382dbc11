"""The widgets of acp-tui for any Textual app: a live agent in your app, in a dozen lines.

`SessionView` shows a session and asks the user for permissions. `ConversationView` shows only the conversation, of a
session or any other `Conversation`. Each entry in view is a widget of its kind: query it, style it, and handle its
messages like any other. Agents belong to a hub outside of the app, `async with open_hub() as hub`, so that none
outlives it.

`docs/authors.md` has an example, and `acp_tui/ui/conversation/entry_views.py` documents what can be styled. Everything
here is typed, and the changelog lists its changes.
"""

from __future__ import annotations

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.ui.conversation.entry_views import (
    CommandView,
    DiffView,
    EntryView,
    MessageView,
    NoteView,
    QuestionView,
    TerminalView,
    ThoughtView,
    ToolCallView,
)
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.permission.permission_card import PermissionCard
from acp_tui.ui.session.plan_view import PlanView
from acp_tui.widgets.session_view import SessionView

__all__ = ["AgentCommand", "Change", "ClientError", "CommandView", "Conversation", "ConversationView", "DiffView"]
__all__ += ["EntryView", "MessageView", "NoteView", "PermissionCard", "PlanView", "QuestionView", "Session"]
__all__ += ["SessionHub", "SessionView", "TerminalView", "Text", "ThoughtView", "ToolCallView", "open_hub"]
