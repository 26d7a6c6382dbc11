"""One session on the screen: conversation, plan, permission card. Mounted after the first frame."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import Static

from acp_tui.client.settings.settings import Appearance, ConversationSettings, Settings
from acp_tui.conversation.conversation import Change, Conversation, SubagentState
from acp_tui.conversation.facts import Fact, PermissionRequest, RequestKey, SessionId
from acp_tui.conversation.permission_requests import Rejection
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.conversation.wording import from_home, spent_words, subagent_state, value_name
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.conversation.drawing import DEFAULT_FOLDS
from acp_tui.ui.conversation.images import Wanted
from acp_tui.ui.conversation.subagents import name_of
from acp_tui.ui.conversation.tool_calls import RAIL
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.kit.frame_loop import FRAME_S
from acp_tui.ui.kit.notice_lines import MAX_NOTICES
from acp_tui.ui.permission.permission_card import Docked, PermissionCard
from acp_tui.ui.permission.request_body import RequestBody
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.session.plan_view import PlanView
from acp_tui.ui.session.status import Work, attendance_words, facts_of, state_of
from acp_tui.ui.session.user_commands import EditorFollower, StatusCommand
from acp_tui.ui.session.welcome import Welcome

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from acp_tui.client.line_comments import Comment
    from acp_tui.client.sessions.session import Session, Unsubscribe
    from acp_tui.conversation.entries import Entry

BESIDE_TERMINALS: Final = len(RAIL) + 3
"""How much narrower than the panel a command's output is, in cells: its rail, a margin, the scroll bar."""
MAX_NOTICE_CHARACTERS: Final = 300
"""Of a notice's title, and of its text."""
NOTICES_EVERY_S: Final = 1.0
"""For as many as are shown: no one reads faster, and each lays out the screen."""
SEVERITIES: Final[dict[str, SeverityLevel]] = {"warning": "warning", "error": "error"}


class SubagentLine(Static):
    """Shows which subagent is shown below, its state, and how to go back."""

    DEFAULT_CSS = """
    SubagentLine {
        height: 1; padding: 0 2; color: $text-muted; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, path: Sequence[SubagentState]) -> None:
        """Show the last of these subagents, each of which was started by the one before."""
        shown = path[-1]
        words = filter(None, (" › ".join(map(name_of, path)), subagent_state(shown), spent_words(shown.conversation)))
        back = keys_in_force(self).hint("{focus_prompt} back")
        self.update(f"↳ {' · '.join(words)} · {back}")


class SessionPanel(Vertical):
    """Draws a conversation. With a session, it also sends the user's decisions."""

    DEFAULT_CSS = "SessionPanel { height: 1fr; }"

    class FactsChanged(Message):
        """Posted when the content of the status line may have changed."""

    VIEW: ClassVar = ConversationView

    def __init__(
        self,
        conversation: Conversation,
        session: Session | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        folds: ConversationSettings = DEFAULT_FOLDS,
        images: Wanted = "auto",
        agent: str = "",
        greeting: str = "",
        prompt: PromptInput | None = None,
        follow: tuple[str, ...] = (),
        can_log_in: bool = False,
    ) -> None:
        """An empty session shows the `agent` with its version, and the `greeting` of its command.

        Text typed on the card goes to `prompt`. `follow` is the command that shows where the agent works.
        """
        super().__init__()
        self.prompt = prompt
        self.conversation = conversation
        self.session = session
        self.new_entries = 0
        """Entries added below the view."""
        self.is_following = True
        self._cwd = str(session.cwd) if session is not None else ""
        self._clock = clock
        self._main = self.VIEW(images=images, folds=folds)
        """The conversation's view. It can be used before it is mounted."""
        self._main.can_send = session is not None
        self._main.can_log_in = can_log_in
        self._opened: list[SubagentState] = []
        """The subagent that is shown instead, after those that led to it."""
        self._subagent_view: ConversationView | None = None
        self._subagent_line = SubagentLine()
        self.welcome = Welcome(agent, greeting, from_home(session.cwd) if session is not None else "")
        self.plan = PlanView()
        self.body = self._new_body()
        self.card = self.body.card
        """The permission card. It is visible while a request waits."""
        self._is_empty = True
        self._is_form_shown = False
        self._at_work: set[TerminalId] = set()
        """The commands that haven't ended, as far as was told."""
        self._shown_notices = 0
        self.work = Work(conversation, clock)
        self.status_command: StatusCommand | None = None
        """The user's own part of the status line; None without a session."""
        if session is not None:
            facts = {"ACP_TUI_AGENT": agent, "ACP_TUI_SESSION": session.session_id}
            self.status_command = StatusCommand(
                self, conversation, session.cwd, facts, self._show_facts_soon, self._warn
            )
        self._follower: EditorFollower | None = None
        self._follow_command = follow
        self._noticed_at = deque([-NOTICES_EVERY_S] * MAX_NOTICES, MAX_NOTICES)
        self._facts_shown_at = -FRAME_S
        self._facts_handle: asyncio.TimerHandle | None = None
        self._notice_handle: asyncio.TimerHandle | None = None
        self._here = contextvars.copy_context()
        self._unsubscribe: Unsubscribe = lambda: None

    def compose(self) -> ComposeResult:
        yield self._main
        yield self.welcome
        yield self.plan
        yield self.card

    def _new_body(self) -> RequestBody:
        return PermissionCard(self, clock=self._clock).body

    @property
    def state(self) -> str:
        return state_of(self.conversation)

    @property
    def below(self) -> str:
        """What is below the rows in view, with the key that leads there; "" at the end."""
        if self.is_following:
            return ""
        what = f"{self.new_entries} new" if self.new_entries else "more"
        # Not the End key: in the prompt, which usually has the focus, it goes to the end of the line.
        return f"{what} below{keys_in_force(self).hint(': {follow}')}"

    def facts(self, appearance: Appearance, changes: str) -> tuple[str, ...]:
        """The parts of the status line; `changes` is what the list of changes says."""
        line = ""
        if self.status_command is not None:
            self.status_command.run_if_due(appearance)
            line = self.status_command.line
        return facts_of(self.conversation, appearance.status, changes=changes, command=line, host=self._of_host)

    @property
    def _of_host(self) -> tuple[str, ...]:
        """What the status line says of the session's host. What goes first is left out first."""
        attendance = self.session.attendance if self.session is not None else None
        if attendance is None or not self.conversation.is_connected:
            return ()
        asks = tuple(f"asks: {asked}" for asked in attendance.waiting[:1])
        return (*asks, keys_in_force(self).hint("{detach} detaches"), attendance_words(attendance))

    def use_settings(self, settings: Settings) -> None:
        self._follow_command = settings.follow.command
        for view in self.views:
            view.show_as(settings.conversation, settings.appearance.images)

    def on_mount(self) -> None:
        self._here = contextvars.copy_context()  # changes come from tasks outside of the app
        self._at_work = {name for name, state in self.conversation.terminals.items() if not state.has_exited}
        self._main.show(self.conversation, self._cwd)
        if self.session is not None:
            self._unsubscribe = self.session.subscribe(self._note_change)
        self.show_facts()

    def _on_prune(self) -> None:
        """Unsubscribe while everything is still here; the session goes on."""
        for handle in filter(None, (self._facts_handle, self._notice_handle)):
            handle.cancel()
        self._unsubscribe()

    # Subagents

    @property
    def view(self) -> ConversationView:
        return self._subagent_view or self._main

    @property
    def views(self) -> tuple[ConversationView, ...]:
        return (self._main,) if self._subagent_view is None else (self._main, self._subagent_view)

    def open_subagent(self, session_id: SessionId) -> None:
        """Show a subagent's conversation instead of the current one, which it belongs to."""
        subagent = self.view.conversation.subagents.get(session_id)
        if subagent is None:
            return
        self._opened.append(subagent)
        had_focus = self._main.has_focus_within
        if self._subagent_view is None:
            self._subagent_view = self.VIEW(images=self._main.images, folds=self._main.folds, is_of_subagent=True)
            self._main.display = False
            self._subagent_line = SubagentLine()
            self.mount(self._subagent_line, self._subagent_view, before=0)
        self._show_subagent()
        if had_focus:
            self.screen.set_focus(None)
            self._subagent_view.call_after_refresh(self._subagent_view.go_to_end)

    def leave_subagent(self) -> bool:
        """Go back to the agent that started the subagent. Returns False if none is shown."""
        if not self._opened or self._subagent_view is None:
            return False
        left = self._opened.pop()
        if self._opened:
            self._show_subagent()
            return True
        if self._subagent_view.has_focus_within:
            self.screen.set_focus(None)  # not the prompt, where pressing Escape twice would cancel the turn
            self._main.call_after_refresh(self._main.go_to, left.entry)
        self._subagent_view.remove()
        self._subagent_line.remove()
        self._subagent_view = None
        self._main.display = True
        self._main.frames.schedule()
        return True

    def leave_subagents(self) -> None:
        while self.leave_subagent():
            pass

    def _show_subagent(self) -> None:
        assert self._subagent_view is not None
        self._subagent_view.show(self._opened[-1].conversation, self._cwd)
        self._tell_subagent()

    def _tell_subagent(self) -> None:
        self._subagent_line.show(self._opened)

    def _mark_subagent(self, change: Change) -> None:
        """Pass on changes of the visible subagent. Its terminals belong to the agent."""
        assert self._subagent_view is not None
        terminal = change.terminal
        inner: Change | None = change
        for subagent in self._opened:
            found = inner.subagent if inner is not None else None
            inner = found[1] if found is not None and found[0] == subagent.session_id else None
        if inner is None and terminal is not None:
            inner = Change(self._opened[-1].conversation.terminal_entries.get(terminal, ()), terminal=terminal)
        if inner is not None:
            self._subagent_view.mark(inner)
        if change.facts:
            self._tell_subagent()

    @on(ConversationView.SubagentChosen)
    def _open_chosen_subagent(self, message: ConversationView.SubagentChosen) -> None:
        message.stop()
        self.open_subagent(message.session_id)

    @on(ConversationView.SubagentLeft)
    def _leave_shown_subagent(self, message: ConversationView.SubagentLeft) -> None:
        message.stop()
        self.leave_subagent()

    def _note_change(self, change: Change) -> None:
        self._here.copy().run(self._on_change, change)  # one change may lead to another

    def _on_change(self, change: Change) -> None:
        """Mark a change. Called for every change, even during a flood, so it shows only what is asked."""
        self.work.note_change()
        self._main.mark(change)
        if self._follow_command and change.entries and self.screen.is_current:
            self._follow([self.conversation.entries[each] for each in change.entries])
        if self._opened:
            self._mark_subagent(change)
        if self._is_empty and change.entries:
            self._show_welcome()
        if self._is_about_shown_request(change):
            self._show_requests()  # at once: the user must answer what the card shows
        if (change.facts and change.facts != (Fact.TERMINALS,)) or self._is_start_or_end(change.terminal):
            self._show_facts_soon()

    def _follow(self, entries: Sequence[Entry]) -> None:
        """Have the user's editor show where the agent works."""
        if self._follower is None:
            self._follower = EditorFollower(self, Path(self._cwd), self._warn)
        self._follower.note(entries, self._follow_command)

    def _is_start_or_end(self, terminal: TerminalId | None) -> bool:
        """Whether a command has started or ended, not just printed something."""
        if terminal is None or self.conversation.terminals[terminal].has_exited != (terminal in self._at_work):
            return False
        self._at_work ^= {terminal}
        return True

    def _is_about_shown_request(self, change: Change) -> bool:
        """Whether the card must show another request, or its call has changed. The number of others can wait."""
        asked, requests = self.body.asked, self._requests_in_turn
        shown = asked.request if asked is not None else None
        if shown is None or not any(each is shown for each in requests):
            return shown is not None or bool(requests)
        return self.conversation.tool_call_entries[shown.tool_call_id] in change.entries

    @property
    def _requests_in_turn(self) -> tuple[PermissionRequest, ...]:
        """The waiting requests, oldest first; none while a form or a page is shown, or an older one waits."""
        requests = tuple(self.conversation.permissions.values())
        if self.session is None or not requests:
            return requests
        oldest = next(iter(self.conversation.elicitations), None)
        is_later = self._is_form_shown or (oldest is not None and oldest < requests[0].key)
        return () if is_later else requests

    def note_form(self, *, is_shown: bool) -> None:
        """Let the requests wait while a form or a page is shown next to the panel."""
        if is_shown is not self._is_form_shown:
            self._is_form_shown = is_shown
            self._show_requests()

    @property
    def is_settled(self) -> bool:
        """Whether everything that has changed is on the screen."""
        return self._facts_handle is None and self.view.is_settled

    def _show_facts_soon(self) -> None:
        """Show the facts: at once, or with the next frame if that was done just now."""
        if self._facts_handle is not None:
            return
        wait_s = self._facts_shown_at + FRAME_S - time.monotonic()
        if wait_s > 0:
            self._facts_handle = self._later(wait_s, self.show_facts)
        else:
            self.show_facts()

    def _later(self, wait_s: float, show: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(wait_s, show, context=self._here)

    def show_facts(self) -> None:
        if self._facts_handle is not None:
            self._facts_handle.cancel()
            self._facts_handle = None
        begin = time.monotonic()
        self.plan.show_plans(tuple(self.conversation.plans.values()), is_past=self.conversation.is_past_plans)
        self._show_requests()
        self._show_notices()
        if self._is_empty:
            self._show_welcome()
        self.post_message(self.FactsChanged())
        # With thousands of steps this takes a while, so leave time for keys.
        now = time.monotonic()
        self._facts_shown_at = now + (now - begin)

    def _show_welcome(self) -> None:
        """Show the welcome while nothing has been said, below what concerns the session itself."""
        self._is_empty = self.session is not None and self.conversation.is_blank
        model = next((value_name(one) for one in self.conversation.options if one.category == "model"), "")
        self.welcome.update_for(self.conversation.commands, make_visible_line(model), is_wanted=self._is_empty)
        self._main.show_above(is_alone=not self._is_empty)

    def _show_requests(self) -> None:
        requests = self._requests_in_turn
        self._fit_card()
        was_shown = self.card.display
        self.body.show(requests, self.conversation, self._cwd)
        # Without a session, as in a picture, the pause before a card is how long drawing takes.
        if self.card.display and not was_shown and self.session is not None:
            self.offer_keyboard()

    def offer_keyboard(self) -> None:
        """Let the card take the keyboard once by itself, as soon as the user isn't writing or pressing keys."""
        if self.prompt is not None and isinstance(self.card, PermissionCard):
            self.card.guard.had_keyboard = False
            self.card.call_after_refresh(self.note_draft)
            self.card.call_later(self.prompt.give_way_to, self.card.guard)

    def on_resize(self) -> None:
        self._fit_card()
        self._fit_terminals()

    def _fit_terminals(self) -> None:
        if self.session is None or not self.screen.is_current:
            return  # a terminal that has the keyboard uses the whole screen
        tools = self.session.client_tools
        width = self.size.width - self.view.styles.margin.width - BESIDE_TERMINALS
        columns = max(20, min(width, 200))
        tools.terminal_size = (columns, 30)
        for state in self.conversation.terminals.values():
            if state.is_ours and not state.has_exited and state.columns != columns:
                tools.resize_terminal(state.terminal_id, columns, state.rows)

    def _fit_card(self) -> None:
        # The rows that the plan needs, visible or not, with the margin above it.
        height = self.plan.styles.height
        plan_rows = (int(height.value) if height is not None else 1) + 1 if self.plan.display else 0
        self.body.fit(self.size.height, plan_rows, self.view.column.heights.total)

    @on(Docked.Crowded)
    def _make_way_for_card(self, message: Docked.Crowded) -> None:
        """Hide the plan if the card needs the room."""
        message.stop()
        self.plan.set_class(message.is_crowded, "-crowded-out")

    def _show_notices(self) -> None:
        """Show the latest notices. If they come faster than anyone can read, show only how many there were."""
        new = self.conversation.notice_count - self._shown_notices
        if new <= 0 or self._notice_handle is not None:
            return
        wait_s = self._noticed_at[0] + NOTICES_EVERY_S - time.monotonic()
        if wait_s > 0:
            self._notice_handle = self._later(wait_s, self._show_waiting_notices)
            return
        self._noticed_at.append(time.monotonic())
        self._shown_notices = self.conversation.notice_count
        shown = new if new <= MAX_NOTICES else 1
        if new > shown:
            self.notify(f"{new - shown:,} more before this one", title="Notices", markup=False)
        for notice in self.conversation.notices[-shown:]:
            severity = SEVERITIES.get(notice.severity, "information")
            title, text = (
                make_visible(each if len(each) <= MAX_NOTICE_CHARACTERS else f"{each[:MAX_NOTICE_CHARACTERS]} …")
                for each in (notice.title, notice.description or "")
            )
            self.notify(text, title=title, severity=severity, markup=False)

    def _warn(self, text: str) -> None:
        self.notify(text, severity="warning", markup=False)

    def _show_waiting_notices(self) -> None:
        self._notice_handle = None
        self._show_notices()

    def toggle_plan(self) -> None:
        self.plan.action_toggle_plan()
        self.call_after_refresh(self._fit_card)

    # What the user decides on the card

    def note_draft(self) -> None:
        """Tell the card what the draft is: a key may have come too soon for it."""
        if self.prompt is not None and isinstance(self.card, PermissionCard) and self.card.display:
            self.card.guard.note_draft(self.prompt.text if not self.prompt.asks_why else "")
            if self.card.is_explained is not self.prompt.asks_why:
                self.card.is_explained = self.prompt.asks_why
                self.body.lay_out()

    def answer_request(self, key: RequestKey, option_id: str) -> None:
        if self.prompt is not None and isinstance(self.card, PermissionCard) and self.card.guard.strayed:
            self.prompt.replace_draft("")
        if self.session is not None:
            self.session.answer_permission(key, option_id)

    @property
    def comments(self) -> list[Comment]:
        return self.prompt.comments if self.prompt is not None else []

    def ask_why(self, rejection: Rejection, typed: str, keys: Sequence[Key | Paste]) -> None:
        if self.prompt is not None and isinstance(self.card, PermissionCard):
            reason = self.card.reason
            if reason or self.card.guard.strayed:
                self.prompt.replace_draft("")
            self.prompt.ask_why(rejection, typed + reason, keys)

    def write(self, text: str, keys: Sequence[Key | Paste], *, is_paste: bool) -> None:
        if self.prompt is not None and isinstance(self.card, PermissionCard):
            self.card.wrote = "" if self.prompt.text or is_paste else text
            self.prompt.take_text(text, keys, is_paste=is_paste)

    def key_in(self, draft: str) -> str:
        """The key that a draft begins with, if it was pressed on the card, and answers there; otherwise ""."""
        return self.card.key_in(draft) if isinstance(self.card, PermissionCard) else ""

    def leave(self, *, to_read: bool = False) -> None:
        if to_read:
            self.view.focus()
        elif self.prompt is not None:
            self.prompt.screen.set_focus(self.prompt)

    def take_up_request(self) -> bool:
        """Focus the permission card because the user wants to answer. Returns False if no request waits."""
        if not isinstance(self.card, PermissionCard) or not self.card.display:
            return False
        self.card.enter()
        return True

    @on(ConversationView.FollowingChanged)
    def _note_following(self, message: ConversationView.FollowingChanged) -> None:
        """Tell the status line how much is below."""
        message.stop()
        self.is_following, self.new_entries = message.is_following, message.new_entries
        self.post_message(self.FactsChanged())
