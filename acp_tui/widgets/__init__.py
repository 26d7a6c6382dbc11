"""The widgets of acp-tui for any Textual app: a live agent in your app, in a dozen lines.

`SessionView` shows a session and asks the user for permissions. `ConversationView` shows only the conversation, of a
session or any other `Conversation`. Each entry in view is a widget of its kind: query it, style it, and handle its
messages like any other. Agents belong to a hub outside of the app, `async with open_hub() as hub`, so that none
outlives it.

`docs/authors.md` has an example, and `acp_tui/ui/conversation/entry_views.py` documents what can be styled. Everything
here is typed, and the changelog lists its changes.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key, Paste
from textual.message import Message

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import ClientError
from acp_tui.client.line_comments import Comment
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session, Unsubscribe
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.permission_requests import Rejection
from acp_tui.conversation.wording import comments_prompt
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
from acp_tui.ui.kit.themes import stylesheet
from acp_tui.ui.permission.permission_card import PermissionCard
from acp_tui.ui.session.plan_view import PlanView

__all__ = ["AgentCommand", "Change", "ClientError", "CommandView", "Conversation", "ConversationView", "DiffView"]
__all__ += ["EntryView", "MessageView", "NoteView", "PermissionCard", "PlanView", "QuestionView", "Session"]
__all__ += ["SessionHub", "SessionView", "TerminalView", "Text", "ThoughtView", "ToolCallView", "open_hub"]


FRAME_S: Final = 1 / 30


class SessionView(Vertical):
    """Shows the session that it follows. It sends nothing but the user's answers on the permission card."""

    DEFAULT_CSS = "SessionView { height: 1fr; }" + stylesheet("prompt") + stylesheet("permission")

    class Typed(Message):
        """Posted when the user types text that is meant for your prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class TurnChanged(Message):
        """Posted when the agent starts or stops working."""

        def __init__(self, *, is_working: bool) -> None:
            super().__init__()
            self.is_working = is_working

    def __init__(
        self,
        session: Session | None = None,
        *,
        id: str | None = None,  # noqa: A002 - Textual's own name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.session = session
        """The session that is shown; None if there is none yet."""
        self.conversation_view = ConversationView()
        """The view of the conversation."""
        self._plan = PlanView()
        self._card = PermissionCard(_User(self))
        self._unsubscribe: Unsubscribe = lambda: None
        self._here: contextvars.Context | None = None
        """The app's context; None before all of it is mounted."""
        self._due: asyncio.TimerHandle | None = None
        self._is_working = False

    def compose(self) -> ComposeResult:
        """The widgets, from top to bottom."""
        yield self.conversation_view
        yield self._plan
        yield self._card

    def on_mount(self) -> None:
        """Show the session that was passed to the constructor."""
        self._here = contextvars.copy_context()  # changes come from tasks outside of the app
        if self.session is not None:
            self.follow(self.session)

    def _on_prune(self) -> None:
        """Unsubscribe while everything is still here; the session goes on."""
        self._unsubscribe()
        if self._due is not None:
            self._due.cancel()

    def follow(self, session: Session) -> None:
        """Show this session from now on, with its whole conversation."""
        self._unsubscribe()
        self.session = session
        if self._here is not None:
            self.conversation_view.show(session.conversation, str(session.cwd))
            self._unsubscribe = session.subscribe(self._on_change)
            self._show_facts()

    def _on_change(self, change: Change) -> None:
        """Mark a change, to be drawn later. Called for each chunk, so it must be cheap."""
        self.conversation_view.mark(change)
        is_asked = bool(self.session is not None and self.session.conversation.permissions)
        if self._due is None and (change.facts or is_asked):
            loop = asyncio.get_running_loop()
            self._due = loop.call_later(FRAME_S, self._show_facts, context=self._here)

    def _show_facts(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if self.session is None:
            return
        conversation = self.session.conversation
        is_working = not conversation.is_idle
        self._plan.show_plans(tuple(conversation.plans.values()), is_past=conversation.is_past_plans)
        card = self._card
        card.body.fit(self.size.height)
        was_shown = card.display
        card.body.show(tuple(conversation.permissions.values()), conversation, str(self.session.cwd))
        if card.display and not was_shown and self.screen.focused in (None, self.conversation_view):
            self.screen.set_focus(card)  # never take the focus from where the user writes
        if is_working != self._is_working:
            self._is_working = is_working
            self.post_message(self.TurnChanged(is_working=is_working))

    def on_resize(self) -> None:
        """Fit the card to the new size."""
        self._card.body.fit(self.size.height)


class _User:
    """What the user decides on the card. There is no prompt below it."""

    def __init__(self, view: SessionView) -> None:
        self._view = view
        self.comments: list[Comment] = []

    def answer_request(self, key: RequestKey, option_id: str) -> None:
        """Send the user's decision."""
        self._post_comments()
        if self._view.session is not None:
            self._view.session.answer_permission(key, option_id)

    def ask_why(self, rejection: Rejection, typed: str, keys: Sequence[Key | Paste]) -> None:
        """Reject it: nobody asks for the reason, but that is the user's choice."""
        self.answer_request(rejection.key, rejection.option_id)

    def write(self, text: str, keys: Sequence[Key | Paste], *, is_paste: bool) -> None:
        """Post the text: it may be for the prompt of the app."""
        behind = (key.text if isinstance(key, Paste) else key.character or "" for key in keys)
        self._view.post_message(self._view.Typed("".join((text, *behind))))

    def leave(self, *, to_read: bool = False) -> None:
        """Go back to the conversation. The request stays."""
        self._post_comments()
        self._view.conversation_view.focus()

    def _post_comments(self) -> None:
        """Post the comments on lines: they may be for the prompt of the app, too."""
        if self.comments:
            self.write(comments_prompt([comment.prompt() for comment in self.comments]), (), is_paste=False)
            self.comments.clear()
