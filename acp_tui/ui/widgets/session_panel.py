"""One session on the screen: its conversation, its plan and the card for its permission requests.

It is mounted when there is something to show, so that the first frame does not wait for what it imports.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import Fact, Turn
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.conversation.wording import value_name
from acp_tui.ui.drawings.folds import AS_BY_DEFAULT, Folds
from acp_tui.ui.drawings.images import Wanted
from acp_tui.ui.drawings.tool_calls import RAIL
from acp_tui.ui.status import Work
from acp_tui.ui.widgets.conversation.view import ConversationView
from acp_tui.ui.widgets.docked_request import DockedRequest
from acp_tui.ui.widgets.permission_card import PermissionCard
from acp_tui.ui.widgets.plan_line import PlanLine
from acp_tui.ui.widgets.prompt import PromptInput
from acp_tui.ui.widgets.welcome import Welcome

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from acp_tui.client.sessions.session import Session

BESIDE_TERMINALS: Final = len(RAIL) + 3
"""Cells that the output of a command is narrower than the panel: its rail, a margin, the scroll bar."""
SEVERITIES: Final[dict[str, SeverityLevel]] = {"warning": "warning", "error": "error"}


class SessionPanel(Vertical):
    """Draws a conversation; with a session, it also passes on the user's decisions."""

    DEFAULT_CSS = "SessionPanel { height: 1fr; }"

    class FactsChanged(Message):
        """What the status line says may have changed."""

    class Left(Message):
        """The user has nothing more to do here and goes back to the prompt."""

    def __init__(
        self,
        conversation: Conversation,
        session: Session | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        folds: Folds = AS_BY_DEFAULT,
        images: Wanted = "auto",
        agent: str = "",
        greeting: str = "",
    ) -> None:
        """An empty session says which `agent` it is of, with its version, and what its command has to say."""
        super().__init__()
        self.conversation = conversation
        self.session = session
        self.new_entries = 0
        """Entries that came below what is in view."""
        self.is_following = True
        self._cwd = str(session.cwd) if session is not None else ""
        self._clock = clock
        self._folds = folds
        self._images = images
        self.welcome = Welcome(agent, greeting)
        self._is_empty = True
        self._shown_notices = 0
        self.work = Work(conversation, clock)
        """How long the turn takes, and at what the agent is."""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield ConversationView(images=self._images, folds=self._folds)
        yield self.welcome
        yield PlanLine()
        yield PermissionCard(clock=self._clock)

    def on_mount(self) -> None:
        """Show what there is, and listen for more."""
        self.view.show(self.conversation, self._cwd)
        if self.session is not None:
            self.session.listener = self._on_change
        self._show_facts()

    def on_unmount(self) -> None:
        """The session goes on without us."""
        if self.session is not None:
            self.session.listener = None

    @property
    def view(self) -> ConversationView:
        """The conversation."""
        return self.query_one(ConversationView)

    @property
    def card(self) -> DockedRequest:
        """The permission card; it is displayed while a request waits."""
        card = self.query_one("DockedRequest")
        assert isinstance(card, DockedRequest)
        return card

    def _on_change(self, change: Change) -> None:
        """Called for every change, in the midst of a flood too: it only marks, and looks at the facts that changed."""
        self.work.note_change()
        self.view.mark(change)
        if self._is_empty and change.entries:
            self._show_welcome()
        if change.facts and change.facts != (Fact.TERMINALS,):
            self._show_facts()
        elif change.entries and self.conversation.permissions:
            self._show_permissions()

    def _show_facts(self) -> None:
        is_settled = self.conversation.turn is Turn.IDLE
        self.query_one(PlanLine).show_plans(tuple(self.conversation.plans.values()), is_settled=is_settled)
        self._show_permissions()
        self._show_notices()
        if self._is_empty:
            self._show_welcome()
        self.post_message(self.FactsChanged())

    def _show_welcome(self) -> None:
        """As long as nothing has been said; it begins below what is said of the session itself."""
        self._is_empty = self.session is not None and self.conversation.is_blank
        model = next((value_name(one) for one in self.conversation.options if one.category == "model"), "")
        self.welcome.look(self.conversation.commands, make_visible_line(model), is_wanted=self._is_empty)
        self.view.show_above(is_alone=not self._is_empty)

    def _show_permissions(self) -> None:
        requests = tuple(self.conversation.permissions.values())
        call = None
        if requests:
            entry_id = self.conversation.tool_call_entries[requests[0].tool_call_id]
            entry = self.conversation.entries[entry_id]
            assert isinstance(entry, ToolCallEntry)
            call = entry.call
        self._fit_card()
        self.card.show(requests, call, self._cwd, self.conversation.terminals)

    def on_resize(self) -> None:
        """The card takes no more room than there is, and commands are told how wide theirs is."""
        self._fit_card()
        self._fit_terminals()

    def _fit_terminals(self) -> None:
        if self.session is None or not self.screen.is_current:
            return  # a terminal that is taken over has the whole screen
        machine = self.session.machine
        columns = max(20, min(self.size.width - BESIDE_TERMINALS, 200))
        machine.terminal_size = (columns, 30)
        for state in self.conversation.terminals.values():
            if state.is_ours and not state.has_exited and state.columns != columns:
                machine.resize_terminal(state.terminal_id, columns, state.rows)

    def _fit_card(self) -> None:
        plan = self.query_one(PlanLine)
        # What the plan wants, hidden or not: its own rows with the margin above it.
        height = plan.styles.height
        plan_rows = (int(height.value) if height is not None else 1) + 1 if plan.display else 0
        self.card.fit(self.size.height, plan_rows)

    def on_docked_request_crowded(self, message: DockedRequest.Crowded) -> None:
        """What is asked goes before the plan."""
        message.stop()
        self.query_one(PlanLine).set_class(message.is_crowded, "-crowded-out")

    def _show_notices(self) -> None:
        # Only the latest are kept, so what is new is counted from the end.
        new = self.conversation.notice_count - self._shown_notices
        for notice in self.conversation.notices[-new:] if new > 0 else ():
            self.notify(
                make_visible(notice.description or ""),
                title=make_visible(notice.title),
                severity=SEVERITIES.get(notice.severity, "information"),
                markup=False,
            )
        self._shown_notices = self.conversation.notice_count

    def toggle_plan(self) -> None:
        """Show all steps of the plan, or one line."""
        self.query_one(PlanLine).action_toggle_plan()
        self.call_after_refresh(self._fit_card)

    def on_permission_card_answered(self, message: PermissionCard.Answered) -> None:
        """Pass on the user's decision."""
        message.stop()
        if self.session is not None:
            self.session.answer_permission(message.key, message.option_id)

    def on_permission_card_rejected_with_reason(self, message: PermissionCard.RejectedWithReason) -> None:
        """Pass on the refusal, and ask the user for the reason; the screen hears of it too."""
        if self.session is not None:
            self.session.answer_permission(message.key, message.option_id)
            self.session.queue.hold_for_reason()
            prompt = self.screen.query_one(PromptInput)
            prompt.ask_why(message.title)
            prompt.focus()

    def on_permission_card_left(self, message: PermissionCard.Left) -> None:
        """Pass it on: what is posted while the panel handles another message bubbles no further than the panel."""
        message.stop()
        self.post_message(self.Left())

    def on_conversation_window_replied(self, message: ConversationView.Replied) -> None:
        """Type the answer into the program."""
        message.stop()
        if self.session is not None:
            self.session.machine.answer(message.terminal_id, message.position, message.replies)

    def on_conversation_window_following_changed(self, message: ConversationView.FollowingChanged) -> None:
        """Say how much is below."""
        message.stop()
        self.is_following, self.new_entries = message.is_following, message.new_entries
        self.post_message(self.FactsChanged())
