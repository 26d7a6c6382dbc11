"""The screen of a tab: its layout, its status line, and what becomes of keys and messages.

The first frame shows only the prompt and the status line. Everything about conversations is loaded later.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import Key, Paste
from textual.widgets import TextArea

from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.keymap import BY_ID, VIM_PROMPT
from acp_tui.ui.commands.keys import follow_keys, is_unbound_text, keys_in_force
from acp_tui.ui.commands.table import bindings, bindings_of
from acp_tui.ui.kit.notice_lines import AskingChanged, is_asked_on
from acp_tui.ui.prompt.input import PromptFrame, PromptInput
from acp_tui.ui.session.status_line import StartingLine, Status, StatusLine, TabState, boxed
from acp_tui.ui.tab.loading import BEFORE_A_COMMAND, preload_in_thread
from acp_tui.ui.tab.queue_lines import QueueLines
from acp_tui.ui.tab.stage import Failed, Live, Recorded, Starting
from acp_tui.ui.tab.tabs import TabLine
from acp_tui.ui.textual_gaps.internals import HomeScreen

if TYPE_CHECKING:
    from acp_tui.ui.conversation.view import ConversationView
    from acp_tui.ui.session.panel import SessionPanel
    from acp_tui.ui.session.sidebar import Sidebar
    from acp_tui.ui.session.welcome import Welcome
    from acp_tui.ui.tab.tab import Tab


UNFOLDS: Final = "{toggle_entry} unfold"
CONVERSATION_KEYS: Final = ("{move_up} {move_down} move", UNFOLDS, "{focus_prompt} back")
"""Shown in place of the facts while the conversation has the keyboard."""
ASKED_BELOW: Final = "The agent needs your decision"
ASKED_FOR_S: Final = 86_400.0
"""How long to say so, unless the user goes there or it's over before."""


class SessionScreen(HomeScreen):
    """Shows the session of a tab; without one, how far the agent's start is, or why it failed."""

    PLACE: Final = "session"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(),
        # Use bindings, not key methods: after a key method, the key would still move the focus away from the prompt.
        *bindings_of("focus_prompt", "focus_next", at="session"),
    ]

    def __init__(self, tab: Tab) -> None:
        super().__init__()
        self.tab = tab
        self._tab_line = TabLine(id="tabs")
        self.place = Vertical(id="session")
        """Holds the panel, the questions, and the sidebar."""
        self.panel: SessionPanel | None = None
        """What shows the tab's stage; None while that is Starting."""
        self._starting = StartingLine(tab.agent_name, tab.clock, lambda: tab.link.start_log)
        self.queue_lines = QueueLines(tab)
        self._prompt_frame = PromptFrame(id="prompt-frame")
        self.prompt: PromptInput = self._prompt_frame.prompt
        self._status_line = StatusLine(id="status")
        self._ahead: str | None = None
        """What was typed after Tab, before the welcome had the session that it opens; None without that Tab."""
        self._is_whole = asyncio.Event()
        """Set when all of it is mounted, so that a panel can be, too."""

    def compose(self) -> ComposeResult:
        yield self._tab_line
        with Vertical(id="above-prompt"):  # if there are few rows, this is cut, not the draft
            with self.place:
                if self.tab.link.can_start:
                    yield self._starting
            yield self.queue_lines
        yield self._prompt_frame
        yield self._status_line

    def on_mount(self) -> None:
        """Start the agent after the first frame."""
        tab = self.tab
        self._is_whole.set()
        self.set_focus(self.prompt)
        self.show_status()
        if VIM_PROMPT in keys_in_force(self).presets:
            tab.writing.use_vim()  # what is typed first is meant so, too
        tab.app.tabs.add(tab)
        follow_keys(self, self.show_status)
        self.call_after_refresh(tab.begin)

    async def on_unmount(self) -> None:
        await self.tab.writing.end()

    @property
    def is_current(self) -> bool:
        """Whether the tab is in front. Under a dialog it isn't: it's visible, but draws nothing and costs nothing."""
        # When the app ends, a timer may ask after the last screen is gone.
        return bool(self.app.screen_stack) and self.app.screen is self

    @property
    def _is_on_screen(self) -> bool:
        """Whether the tab can be seen, in front or under a dialog. `refresh_held_back` shows the rest later."""
        return self in self.app.screen_stack

    def notify(self, message: str, **options: Any) -> None:
        """Tell it; in the background what is good to know, such as that a draft is back, only in this tab."""
        if self._is_on_screen or "severity" in options:
            super().notify(message, **options)
        else:
            self.prompt.say(message)

    # The session

    @property
    def offers_to_stop(self) -> bool:
        """Whether it says how to stop an agent that doesn't start."""
        return self._starting.is_attached and self._starting.offers_to_stop

    async def show_stage(self, stage: Live | Recorded | Failed) -> None:
        """Replace the current panel with the stage's, once that is whole. Then the tab has come to the stage."""
        tab = self.tab
        await self._is_whole.wait()
        panel = tab.panels.panel_of(stage)
        panel.display = False
        await self.place.mount(panel, before=0)
        left, self.panel, tab.stage = self.panel or self._starting, panel, stage
        if left.has_focus_within:
            self.set_focus(self.prompt)
        self.prompt.note_requests(())  # a reason would go to another session
        left.display, panel.display = False, True
        panel.view.frames.schedule()  # it was told of that when it wasn't the tab's panel yet
        await self.query("FindBar").remove()
        await left.remove()
        self._look_at_changes()
        if tab.session is not None and tab.session.conversation.is_blank:
            self.refresh_welcome()
        else:
            self._type_ahead(None)
        self.show_status()

    def refresh_welcome(self) -> None:
        """Show in an empty session what is there now: earlier sessions may have been renamed or deleted."""
        if self.panel is not None and self.panel.welcome.display:
            self.run_worker(self._say_welcome(self.panel), exclusive=True, group="welcome")

    async def _say_welcome(self, panel: SessionPanel) -> None:
        """Show facts about the folder and its earlier sessions."""
        await self.tab.starter.painted()
        await preload_in_thread(BEFORE_A_COMMAND)
        await self.tab.actions.welcoming.tell(panel.welcome)
        self._type_ahead(panel.welcome if panel is self.panel else None)

    def _type_ahead(self, welcome: Welcome | None) -> None:
        """Have what was typed ahead open a session of the welcome; without one, put it into the draft."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and welcome is not None and welcome.can_focus and self.focused is self.prompt:
            self.set_focus(welcome)
            for number in ahead[:1]:
                welcome.action_number(int(number))
        elif ahead:
            self.prompt.take_text(ahead)

    def _look_at_changes(self) -> None:
        if self.tab.session is not None:
            self.tab.sidebar.update_changes()

    def show_sidebar(self) -> None:
        """Update the sidebar, or hide it, according to the settings and the user's choice."""
        if self.panel is not None and self._is_on_screen:
            self.tab.sidebar.update()

    # The lines at the top and at the bottom

    def show_tabs(self) -> None:
        """Show the tabs, and whether one of them waits for the user."""
        self._tab_line.show(self.tab.app.tabs)
        self.show_status()

    def show_status(self) -> None:
        """Show what the tab is doing."""
        self.prompt.note_way(can_send=not self.tab.writing.why_not)
        self.tab.app.notices.drop_outdated()
        if not self._is_on_screen:
            return
        self._status_line.show(self._status()._replace(elsewhere=self._elsewhere))
        self._starting.show_phase(self.tab.phase)

    def _status(self) -> Status:
        match self.tab.stage:
            case Starting(is_open=True):
                return Status(agent=self.tab.agent_title)
            case Starting(phase=phase) | Failed(phase=phase):
                return Status(phase=phase)
            case Recorded():
                return Status(phase=self.tab.writing.why_not)
            case Live():
                assert self.panel is not None
                return self._status_of(self.panel)

    def _status_of(self, panel: SessionPanel) -> Status:
        tab = self.tab
        is_listed = tab.sidebar.sidebar is not None
        changes = tab.changes.summary() if tab.changes is not None and not is_listed else ""
        worktree = f"worktree {make_visible_line(tab.worktree)}" if tab.worktree else ""
        told, is_reading = (*panel.facts(tab.settings.appearance, changes), worktree), panel.view.has_focus_within
        if is_reading:
            does = panel.view.fold_at_cursor
            keys = (each.replace("unfold", does) for each in CONVERSATION_KEYS if does or each != UNFOLDS)
            told = tuple(map(tab.hint, keys))
        facts = tuple(filter(None, told))
        state, form = panel.state, tab.questions.card
        if state == "lost":
            state = tab.loss
        elif state == "working" and panel.session is not None and panel.session.waits_elsewhere:
            state = "elsewhere"
        elif state in ("working", "waiting") and is_reading:
            state += "_unfocused"
        elif state == "waiting" and ((form or panel.card).has_focus_within or self.prompt.asks_why):
            is_filled_in = form is not None and self.focused is not form  # Shift+Tab goes to the field before
            has_draft = self.prompt.text and form is None
            state = "answering_with_draft" if has_draft else "answering"
            state = "explaining" if self.prompt.asks_why or is_filled_in else state
        elif state == "ready" and panel.conversation.own_command is not None:
            state = "commanding"
        agent = boxed(tab.agent_title, is_boxed=bool(tab.link.sandbox))
        return Status(agent=agent, state=state, below=panel.below, facts=facts, work=panel.work)

    @property
    def _elsewhere(self) -> str:
        """Which other tabs wait for the user, with the key that leads there; "" if none do."""
        tabs = enumerate(self.tab.app.tabs, 1)
        waiting = [number for number, tab in tabs if tab is not self.tab and tab.state is TabState.NEEDS_YOU]
        if not waiting:
            return ""
        which = f"tab {waiting[0]} needs" if len(waiting) == 1 else f"{len(waiting)} tabs need"
        return f"{which} you{self.tab.hint(' · {next_needing}')}"

    # Keys and the focus

    def action_help(self) -> None:
        self.tab.run(self.tab.actions.help())

    async def action_do(self, id_: str, words: str = "") -> None:
        await self.tab.actions.do(BY_ID[id_], words)

    def action_focus_prompt(self) -> None:
        self.set_focus(self.prompt)

    def action_focus_next(self) -> None:
        """Focus the card that waits; without one, the prompt."""
        if not self.focus_card():
            self.action_focus_prompt()

    def focus_previous(self, selector: object = "*") -> None:
        """Do nothing: outside of the prompt, Shift+Tab means only what the place says. Textual would move the focus."""

    def focus_card(self) -> bool:
        """Focus the form or the permission card that waits. Returns False if there is none."""
        if (card := self.tab.questions.card) is not None:
            card.enter()
            return True
        return self.panel is not None and self.panel.take_up_request()

    def action_leave_prompt(self) -> None:
        """Focus the card that waits, or the welcome's sessions, as soon as they are there, or the conversation."""
        if self.focus_card():
            return
        if self.panel is None or (self.panel.welcome.display and not self.panel.welcome.is_told):
            self._ahead = "" if self.prompt.is_blank else None
        elif self.panel.welcome.display and self.panel.welcome.can_focus:
            self.set_focus(self.panel.welcome)
        else:
            self.panel.view.focus()

    def action_page(self, direction: int) -> None:
        """Scroll the conversation by a page without leaving the prompt."""
        if self.panel is not None:
            self.panel.view.action_page(direction)

    def action_pull_back(self) -> None:
        self.tab.writing.pull_back()

    def action_paste(self) -> None:
        self.tab.run(self.tab.actions.paste())

    def before_key(self, event: Key) -> bool:
        """Send typed text to the draft if it means nothing where the focus is. A number may wait for its session."""
        if self._ahead == "" and event.key in "123456789":
            self._ahead = event.key
            return True
        self._type_ahead(None)
        if is_unbound_text(self.focused, event):
            self.set_focus(self.prompt)
        return False

    def on_paste(self, event: Paste) -> None:
        """Put into the draft what is pasted where no text can be written."""
        self.prompt.take_text(event.text, is_paste=True)

    def on_descendant_focus(self) -> None:
        """Say how to get to a question, or no longer. Whoever goes to the card leaves the reason for rejecting it."""
        if self.panel is not None and self.panel.card.has_focus:
            self.prompt.leave_reason()
        self.show_status()

    def on_screen_resume(self) -> None:
        """The tab comes to the front, or a dialog above it has closed."""
        self.tab.refresh_held_back()
        if self.panel is not None and self.panel.welcome.is_told:
            self.refresh_welcome()  # what was chosen there may turn out to be gone

    def on_resize(self) -> None:
        """Show or hide the sidebar according to the new width."""
        self.prompt.fit()
        self.show_sidebar()

    # From the session. Handlers have names that Textual finds where `on` would load the sender's class too early.

    def on_session_panel_facts_changed(self) -> None:
        """Update the status line and the sidebar, and show the agent's questions."""
        self.show_status()
        self.show_sidebar()
        self.tab.note_facts()

    def on_folder_changes_changed(self) -> None:
        """Show how much has changed, and what."""
        self.show_status()
        self._look_at_changes()

    @on(AskingChanged)
    def _make_way_for_question(self) -> None:
        """Hide the list of suggestions: it reappears elsewhere with the next key. Under a dialog, say who asks."""
        self.query("SuggestionList").set(display=False)
        is_below = self._is_on_screen and not self.is_current and self.app.screen.is_modal
        if is_below and is_asked_on(self) and not is_asked_on(self.app.screen):
            self.tab.app.notices.is_over[ASKED_BELOW] = lambda: self.is_current or not is_asked_on(self)
            self.notify(ASKED_BELOW, severity="warning", timeout=ASKED_FOR_S)

    def on_conversation_view_link_chosen(self, message: ConversationView.LinkChosen) -> None:
        self.tab.run(self.tab.actions.entries.open_link(message.target))

    def on_conversation_view_searched(self, message: ConversationView.Searched) -> None:
        self.tab.actions.show_state(message.state)

    def on_sidebar_file_chosen(self, message: Sidebar.FileChosen) -> None:
        if self.tab.changes is not None:
            self.tab.actions.review(self.tab.changes, message.path)

    def on_sidebar_subagent_chosen(self, message: Sidebar.SubagentChosen) -> None:
        if self.panel is not None:
            self.panel.leave_subagents()
            self.panel.open_subagent(message.session_id)
            self.panel.view.focus()

    def on_welcome_chosen(self, message: Welcome.Chosen) -> None:
        self.tab.run(self.tab.actions.welcoming.open(message.key))

    # From the prompt

    @on(TextArea.Changed)
    def _note_text(self) -> None:
        """Prepare for a prompt: the user has started writing. What asks something hears of it, too."""
        self.tab.writing.begin()
        self.tab.app.notices.drop_outdated()
        if self.panel is not None:
            self.panel.note_draft()
        if (card := self.tab.questions.card) is not None:
            card.guard.note_draft(self.prompt.text)

    @on(PromptInput.Submitted)
    def _submit(self, message: PromptInput.Submitted) -> None:
        if self.panel is not None:
            self.panel.leave_subagents()  # the prompt is for the agent itself
        self.tab.writing.submit(message)

    @on(PromptInput.Rejected)
    def _reject(self, message: PromptInput.Rejected) -> None:
        if self.tab.session is not None:
            self.tab.session.answer_permission(message.rejection.key, message.rejection.option_id)
        if self.panel is not None:
            self.panel.offer_keyboard()  # to the next request, if there is one

    @on(PromptInput.DropRequested)
    def _drop_attached(self) -> None:
        self.tab.writing.drop_attached()

    @on(PromptInput.EscapeRequested)
    def _escape(self, message: PromptInput.EscapeRequested) -> None:
        """Go back from a subagent, or cancel the turn, or go back to an earlier prompt."""
        has_left = self.panel is not None and self.panel.leave_subagent()
        if not has_left and self.tab.writing.escape(may_be_for_reason=message.may_be_for_reason):
            self.tab.run(self.tab.actions.go_back())
