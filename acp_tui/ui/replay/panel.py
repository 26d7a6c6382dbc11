"""A recorded session on the screen. It's drawn like any other, but can't be acted on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from acp_tui.client.settings.settings import ConversationSettings
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.facts import PermissionOption, RequestKey
from acp_tui.conversation.permission_requests import chosen_words
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.conversation.drawing import DEFAULT_FOLDS
from acp_tui.ui.conversation.images import Wanted
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.kit.answer_guard import AnswerGuard
from acp_tui.ui.permission.permission_card import Docked
from acp_tui.ui.permission.request_body import RequestBody
from acp_tui.ui.replay.recorded_reply import RecordedReply, recorded_form
from acp_tui.ui.replay.timeline import RecordedAnswer
from acp_tui.ui.session.panel import SessionPanel


class RecordedPanel(SessionPanel):
    """Draws a conversation that others change: call `note` for each change."""

    def __init__(
        self,
        conversation: Conversation,
        cwd: str,
        *,
        folds: ConversationSettings = DEFAULT_FOLDS,
        images: Wanted = "auto",
    ) -> None:
        super().__init__(conversation, folds=folds, images=images)
        self._cwd = cwd
        self._shown_notices = conversation.notice_count

    def note(self, change: Change) -> None:
        self._on_change(change)

    def show(self, conversation: Conversation) -> None:
        """Show another conversation. Its earlier notices aren't shown."""
        self.leave_subagents()
        self.conversation = conversation
        self._shown_notices = conversation.notice_count
        self._main.show(conversation, self._cwd)
        self.show_facts()


class RecordedView(ConversationView):
    """A read-only conversation. All other keys belong to the replay."""

    PLACE = "replay"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("replay_toggle_entry"),
        Binding("space", "screen.toggle_playing", "Play or pause", show=False, id="replay_play"),
        Binding("home", "screen.to_start", "To the beginning", show=False, id="replay_start"),
        Binding("end", "screen.to_end", "To the end", show=False, id="replay_end"),
        Binding("escape", "leave_subagent", "Back from a subagent", show=False, id="replay_leave"),
    ]


class ReplayPanel(RecordedPanel):
    """A session being replayed. The card shows how its request was answered."""

    VIEW = RecordedView

    def __init__(
        self,
        conversation: Conversation,
        cwd: str,
        *,
        answer_to: Callable[[RequestKey], RecordedAnswer | None],
        reply_to: Callable[[RequestKey], RecordedReply | None],
        folds: ConversationSettings,
        images: Wanted,
    ) -> None:
        """`answer_to` and `reply_to` return the recorded answers to requests, and to forms and pages."""
        self._answer_to = answer_to
        self._reply_to = reply_to
        super().__init__(conversation, cwd, folds=folds, images=images)
        self.plan.can_focus = False  # its keys belong to the replay
        self._elicitations = Static(id="elicitation", markup=False)

    def compose(self) -> ComposeResult:
        yield self._main
        yield self.plan
        yield self.card
        yield self._elicitations

    def _new_body(self) -> RequestBody:
        return RecordedCard(self._answer_to).body

    def show_facts(self) -> None:
        super().show_facts()
        cards = [
            recorded_form(elicitation, self._reply_to(elicitation.key))
            for elicitation in self.conversation.elicitations.values()
        ]
        self._elicitations.update(Content("\n\n").join(cards))
        self._elicitations.display = bool(cards)


class RecordedCard(Vertical):
    """The card as it looked, with the outcome of the request in place of the keys. It can't be answered."""

    DEFAULT_CLASSES = Docked.CLASSES

    def __init__(self, answer_to: Callable[[RequestKey], RecordedAnswer | None]) -> None:
        super().__init__()
        self.guard = AnswerGuard(time.monotonic, self)
        self.chosen: int | None = None
        self.warning = ""
        self.body = RequestBody(self, Docked(self))
        self._answer_to = answer_to
        self._became: RecordedAnswer | None = None

    def compose(self) -> ComposeResult:
        yield self.body

    def note_request(self, asked: ShownRequest | None, *, is_other: bool) -> None:
        self._became = self._answer_to(asked.request.key) if asked is not None else None
        self.chosen = _chosen_index(asked.request.answers, self._became) if asked is not None else None

    def keys(self, *, is_cut: bool) -> Sequence[str]:
        return [_outcome(self._became)]


def _chosen_index(options: Sequence[PermissionOption], answer: RecordedAnswer | None) -> int | None:
    decision = answer.decision if answer is not None else None
    chosen = (decision.option_name, decision.option_kind) if decision is not None else None
    return next((index for index, each in enumerate(options) if (each.name, each.kind) == chosen), None)


def _outcome(answer: RecordedAnswer | None) -> str:
    if answer is None:
        return "unanswered in this recording"
    if answer.decision is None:
        return "the agent exited before the answer"
    if answer.decision.option_name is None:
        return f"withdrawn after {answer.after_s:.1f} s"
    by = "a rule chose" if answer.decision.rule is not None else "chosen"
    return f"{by} after {answer.after_s:.1f} s: {chosen_words(answer.decision)}"
