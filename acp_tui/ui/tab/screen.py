"""The screen of a tab: layout, status line, and routing of messages to controllers, which know it as a `TabHost`.

The first frame shows only the prompt and the status line. Everything about conversations is loaded later.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.notifications import SeverityLevel
from textual.screen import Screen

from acp_tui.client.errors import AgentRefused, ClientError
from acp_tui.client.settings.tree import Settings
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import follow_keys, keys_in_force
from acp_tui.ui.commands.table import bindings
from acp_tui.ui.prompt import PromptFrame, PromptInput
from acp_tui.ui.prompt.queue_lines import QueueLines
from acp_tui.ui.session.status_line import HOSTED, StartingLine, Status, StatusLine, TabState, state_of_tab
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.ui.tab.host import Failed, Live, Opening, Reread, Shell, Stage, Starting
from acp_tui.ui.tab.loading import BEFORE_A_COMMAND, preload_in_thread
from acp_tui.ui.tab.opening import Opener
from acp_tui.ui.tab.questions import QuestionsController
from acp_tui.ui.tab.tabs import FIRST_MODE, TabLine
from acp_tui.ui.tab.writing import PromptController

if TYPE_CHECKING:
    from textual.widget import Widget

    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.sessions.session import Session
    from acp_tui.conversation.conversation import Conversation
    from acp_tui.ui.changes.follower import ChangesDesk, TurnMoments
    from acp_tui.ui.conversation.view import ConversationView
    from acp_tui.ui.prompt.recall import HistorySearch
    from acp_tui.ui.session.panel import SessionPanel
    from acp_tui.ui.session.sidebar import Sidebar
    from acp_tui.ui.session.welcome import Welcome
    from acp_tui.ui.tab.actions import Actions
    from acp_tui.ui.tab.agent import AgentController, SessionsController
    from acp_tui.ui.tab.history import Welcoming
    from acp_tui.ui.tab.sidebar import SidebarController
    from acp_tui.ui.tab.stages import Stages

T = TypeVar("T")

SHORT_PHASE_S: Final = 0.1
"""A phase of the start that is over by then isn't worth a frame."""
MIN_AGENT: Final = 4
"""The least cells of an agent's name in its tab."""


class SessionScreen(Screen[None]):
    """Shows one session; without one, how far the agent's start is, or why it failed."""

    PLACE: ClassVar[Place] = "session"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(),
        # Use bindings, not key methods: after a key method, the key would still move the focus away from the prompt.
        Binding("escape", "focus_prompt", "Back to the prompt", show=False),
        Binding("tab", "focus_next", "To what waits for the user, or back to the prompt", show=False),
    ]

    mode = FIRST_MODE

    def __init__(
        self,
        link: AgentLink | None,
        cwd: Path | None = None,
        *,
        opening: Opening | None = None,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`cwd` is the folder of its sessions. Without `link`, the caller has a session and calls `show_session`.

        Without `opening`, it starts a new session.
        """
        super().__init__()
        self.link = link or AgentLink(None)
        self.cwd = cwd or Path.cwd()
        self.settings = settings or Settings()
        self.clock = clock
        self.agent_title = ""
        self.changes: ChangesDesk | None = None
        self.moments: TurnMoments | None = None
        self.stage: Stage = Starting()
        self.opener = Opener(self, opening)
        self._tab_line = TabLine(id="tabs")
        self.place = Vertical(id="session")
        self._starting = StartingLine(self.link.name, clock)
        self.queue_lines = QueueLines(id="queue")
        self._prompt_frame = PromptFrame(id="prompt-frame")
        self.prompt = self._prompt_frame.prompt
        self._status_line = StatusLine(id="status")
        self._is_whole = asyncio.Event()
        """Set when all of it is mounted, so that a panel can be, too."""
        self._showing = asyncio.Lock()
        """Held while a panel replaces another."""
        self.writing = PromptController(self)
        self.questions = QuestionsController(self)
        self._has_news = False
        """Whether a turn has ended while another tab was in front."""
        self._told_state = TabState.STARTING
        """The state that the tabs were last told."""
        self._welcoming: Welcoming | None = None
        self.link.join(self)
        self.link.listeners.append(self.questions.note_agents_questions)

    def compose(self) -> ComposeResult:
        """The widgets, from top to bottom."""
        yield self._tab_line
        with self.place:
            if self.link.can_start:
                yield self._starting
        yield self.queue_lines
        yield self._prompt_frame
        yield self._status_line

    def on_mount(self) -> None:
        """Start the agent after the first frame."""
        self._is_whole.set()
        self.set_focus(self.prompt)
        self._show_status()
        self.shell.tabs.add(self)
        follow_keys(self, self._show_status)
        if self.opener.wants_session:
            self.call_after_refresh(lambda: self.run(self.opener.connect()))
        else:
            self.opener.is_under_way.set()
            self.call_after_refresh(lambda: self.run(self.writing.help()))

    async def on_unmount(self) -> None:
        """Save what is written."""
        await self.writing.end()

    # Controllers that are loaded after the first frame

    @cached_property
    def agent(self) -> AgentController:
        """The agent's controller."""
        from acp_tui.ui.tab.agent import AgentController  # loading point: BEFORE_AN_AGENT

        return AgentController(self, self.questions, self.opener.note_phase)

    @property
    def sessions(self) -> SessionsController:
        """The controller of the agent's sessions."""
        return self.agent.sessions

    @property
    def sidebar(self) -> SidebarController:
        """The controller of the sidebar."""
        return self._stages.sidebar

    @cached_property
    def actions(self) -> Actions:
        """The commands."""
        from acp_tui.ui.tab.actions import Actions  # loading point: BEFORE_A_COMMAND

        return Actions(self)

    @cached_property
    def _stages(self) -> Stages:
        """Creates the stages that have panels."""
        from acp_tui.ui.tab.stages import Stages  # loading point: BEFORE_A_SESSION

        return Stages(self)

    # State

    @property
    def shell(self) -> Shell:
        """The app."""
        return cast(Shell, self.app)

    @property
    def panel(self) -> SessionPanel | None:
        """The panel that shows the session, or why there is none."""
        return None if isinstance(self.stage, Starting) else self.stage.panel

    @property
    def session(self) -> Session | None:
        """The session that the tab shows."""
        return self.stage.session if isinstance(self.stage, Live | Reread) else None

    @property
    def conversation(self) -> Conversation | None:
        """The session's conversation, or the one that shows why there is none."""
        return self.panel.conversation if self.panel is not None else None

    @property
    def failure(self) -> ClientError | None:
        """Why there is no session; None if there is one, or it's still starting."""
        return self.stage.error if isinstance(self.stage, Failed) else None

    @property
    def _phase(self) -> str:
        """How far the agent's start is, or what the user can do; "" with a session."""
        return self.stage.phase if isinstance(self.stage, Starting | Failed) else ""

    @property
    def state(self) -> TabState:
        """The state to show for this tab."""
        match self.stage:
            case Starting():
                return TabState.STARTING
            case Reread():
                return TabState.IDLE
            case Live(panel=panel) | Failed(panel=panel):
                return state_of_tab(panel.conversation, has_news=self._has_news)

    @property
    def is_current(self) -> bool:
        """Whether the tab is in front. Under a dialog it isn't: it's visible, but draws nothing and costs nothing."""
        # When the app ends, a timer may ask after the last screen is gone.
        return bool(self.app.screen_stack) and self.app.screen is self

    @property
    def _is_on_screen(self) -> bool:
        """Whether the tab can be seen, in front or under a dialog. If not, `look_again` shows what has changed."""
        return self in self.app.screen_stack

    # Talking to the user

    def say(self, text: str, *, severity: SeverityLevel = "information", title: str = "") -> None:
        """Tell the user."""
        self.notify(make_visible(text), severity=severity, title=make_visible_line(title), markup=False)

    def say_error(self, error: ClientError) -> None:
        """Tell the user what failed, and what to do about it."""
        detail = error.detail if isinstance(error, AgentRefused) else ""
        self.say("\n".join(filter(None, (str(error), detail, error.hint))), severity="error")

    async def ask(self, dialog: Screen[T]) -> T:
        """Open a dialog over this tab, whichever tab is in front, and return its result."""
        return await self.app.push_screen_wait(dialog, mode=self.mode)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run this while the tab exists. What was due after a frame may come when it's gone."""
        if self._pruning or not self.is_attached:
            work.close()
        else:
            self.run_worker(work)

    def hint(self, text: str) -> str:
        """The text with the current keys filled in (keymap.Keymap.hint)."""
        return keys_in_force(self).hint(text)

    # Showing a session

    async def show(self, session: Session, agent_title: str = "") -> None:
        """Show this session from now on. An empty `agent_title` stands for the name in the agent or the recording."""
        async with self._showing:
            if session is self.session:
                return  # it was shown early, because it asks something while it's being opened
            stage = self._stages.of(session, agent_title)
            if stage is None:
                return
            self.prompt.cwd = session.cwd
            await self.show_stage(stage)
            if isinstance(stage, Live):
                self._remember_turns(session)

    def follow_changes(self) -> None:
        """Scan the files, and follow changes from then on."""
        self.changes = self.shell.changes_in(self.cwd)
        if isinstance(self.stage, Live):
            self._remember_turns(self.stage.session)

    async def stock_taken(self) -> None:
        """Return once a prompt may let the agent change files."""
        await self.opener.stock_taken()

    def _remember_turns(self, session: Session) -> None:
        """Keep a copy of the files at each of the session's prompts from now on."""
        if self.changes is None or (self.moments is not None and self.moments.is_of(session)):
            return  # not yet, or the agent was restarted
        if self.moments is not None:
            self.moments.end()
        self.moments = self.changes.at_prompts_of(session, self.run)

    async def show_failure(self, error: ClientError) -> None:
        """Show the error in place of the conversation."""
        what_now = self.hint("no session; {restart} tries again; {quit} quits")
        async with self._showing:
            await self.show_stage(self._stages.failed(error, what_now))

    async def show_stage(self, stage: Live | Reread | Failed) -> None:
        """Replace the current panel with the stage's panel, once that is whole."""
        await self._is_whole.wait()
        stage.panel.display = False
        await self.place.mount(stage.panel, before=0)
        left, self.stage = self.panel or self._starting, stage
        if left.has_focus_within:
            self.set_focus(self.prompt)
        self.prompt.reject_not_yet()  # it would go to another session
        left.display, stage.panel.display = False, True
        stage.panel.view.come_to_front()  # it was told of that when it wasn't the tab's panel yet
        await self.query("FindBar").remove()
        await left.remove()
        self._look_at_changes()
        if self.session is not None and self.session.conversation.is_blank:
            self.run_worker(self._say_welcome(stage.panel), exclusive=True, group="welcome")
        self.writing.show_session(self.session)
        self._show_status()
        self.prompt.send_what_waits()

    async def _say_welcome(self, panel: SessionPanel) -> None:
        """Show facts about the folder and its earlier sessions."""
        await self.opener.painted()
        await preload_in_thread(BEFORE_A_COMMAND)
        self._welcoming = self.actions.welcoming()
        await self._welcoming.tell(panel.welcome)

    def show_phase(self, phase: str) -> None:
        """Show how far the agent's start is."""
        is_shown_soon = isinstance(self.stage, Starting)
        if isinstance(self.stage, Starting | Failed):
            self.stage = replace(self.stage, phase=phase)
        if is_shown_soon and self.is_attached:
            self.set_timer(SHORT_PHASE_S, self._show_status)
        elif self.is_attached:
            self._show_status()

    def show_open(self, agent_title: str) -> None:
        """Show that the agent has opened the first session, before its panel is loaded."""
        if isinstance(self.stage, Starting):
            self.agent_title = agent_title
            self.stage = replace(self.stage, is_open=True)
            self._show_status()

    async def give_up(self, error: ClientError) -> None:
        """Close the tab and go back to the others: the agent runs, but this session can't be opened."""
        await self.detach()
        self.say_error(error)
        self.shell.take_away_later(self)

    def use_settings(self, settings: Settings) -> None:
        """Apply these settings, except for those that the agent was started with."""
        self.settings = settings
        self._show_sidebar()
        self._show_status()
        if self.panel is not None:
            self.panel.use_settings(settings)

    # As one of the tabs

    @property
    def tab_title(self) -> str:
        """The tab's title: the session's title, or the start of its first prompt, or the agent's name."""
        return self._title or self.agent_title or self._phase

    @property
    def _title(self) -> str:
        return self.panel.title if self.panel is not None else ""

    def tab_name(self, cells: int = 200) -> str:
        """The agent's name and the tab's title, in so many cells. If they are few, the title gets most of them."""
        agent, title = self.link.name, self._title
        if not self.link.is_listed:  # its command's name, such as python3, says little
            agent = self.agent_title or agent
        if self.link.is_hosted:
            agent = f"{HOSTED} {agent}"
        if not title:
            return _cut(agent or self._phase, cells)
        return _cut(f"{_cut(agent, max(cells // 3, MIN_AGENT))}: {title}" if agent else title, cells)

    @property
    def doing(self) -> str:
        """The agent, its folder, and what it is doing."""
        now = self.panel.doing if self.panel is not None else self._phase
        return " · ".join(filter(None, (self.agent_title, self.cwd.name, now)))

    def show_tabs(self) -> None:
        """Show the tabs, and whether one of them waits for the user."""
        self._tab_line.show(self.shell.tabs)
        self._show_status()

    def look_again(self) -> None:
        """Handle that the user sees the tab again: mark its news as seen, and show what was held back."""
        self._has_news = False
        self.show_tabs()
        self._show_sidebar()
        if self.panel is not None:
            self.panel.view.come_to_front()
        self.questions.look_for_questions()

    def _note_state(self) -> None:
        """Update the tab's state. The end of a turn is news if the user didn't see it."""
        state, self._told_state = self._told_state, self.state
        if state is TabState.WORKING and self._told_state is not state and self.shell.tabs.front is not self:
            self._has_news = True
        if self._told_state is not state:
            self.shell.tabs.tell()

    async def begin_in_worktree(self, command: AgentCommand) -> None:
        """Start this agent in a new git worktree of the folder, in a new tab."""
        await preload_in_thread(BEFORE_A_COMMAND)
        await self.actions.worktrees.begin(command=command)

    async def begin_anew(self) -> None:
        """Start a session in place of the current one; if the worktree is being removed, in the folder it came from."""
        origin = self.actions.worktrees.left_for if self._is_in_worktree else None
        agent = self.link.agent
        if origin is None or agent is None:
            await self.opener.begin_anew()
            return
        await self.shell.open_tab(self.shell.link_to(agent.command, origin), origin)
        self.shell.take_away_later(self)
        await self.leave()

    async def may_close(self) -> bool:
        """Ask whether to close the tab if the agent is working, and what to do with its worktree."""
        if self.link.is_hosted and self.session is not None and self.session.is_read_only:
            return True
        if self.link.is_hosted:
            return await self.agent.confirm(
                self.hint("Close the session in its host, for every terminal? {detach} leaves it running.")
            )
        is_idle = self.session is None or self.session.conversation.is_idle
        if not is_idle and not await self.agent.confirm("The agent is working. Close the tab anyway?"):
            return False
        # Return at once if there is nothing to ask: the next keys are for another tab.
        return not self._is_in_worktree or await self.actions.worktrees.may_leave()

    async def leave(self) -> None:
        """Close the session, and the agent if no other tab uses it."""
        if self.session is not None:
            await self.sessions.close(self.session)
        await self.detach()
        if self._is_in_worktree:
            await self.actions.worktrees.remove()

    @property
    def _is_in_worktree(self) -> bool:
        """Whether the folder may be in a worktree of ours, judging by the name of its parent folders."""
        return any(part.endswith(".worktrees") for part in self.cwd.parts)

    async def detach(self) -> None:
        """Leave the session as it is, and end the agent if no other tab uses it."""
        self.link.listeners.remove(self.questions.note_agents_questions)
        await self.link.leave(self)

    # Sidebar and status line

    def _look_at_changes(self) -> None:
        if self.session is not None:
            self.sidebar.look_at_changes()

    def _show_sidebar(self) -> None:
        """Update the sidebar, or hide it, according to the settings and the user's choice."""
        if self.panel is not None and self._is_on_screen:
            self.sidebar.look()

    def _show_status(self) -> None:
        self.prompt.note_agent(is_gone=self.conversation is not None and not self.conversation.is_connected)
        if not self._is_on_screen:
            return
        status = self._status()._replace(elsewhere=self._elsewhere)
        self._status_line.show(status)
        self._starting.show_phase(self._phase)

    def _status(self) -> Status:
        match self.stage:
            case Starting(is_open=True):
                return Status(agent=self.agent_title)
            case Starting(phase=phase) | Failed(phase=phase):
                return Status(phase=phase)
            case Reread():
                return Status(phase=self.writing.rereading)
            case Live(panel=panel):
                return self._status_of(panel)

    def _status_of(self, panel: SessionPanel) -> Status:
        changes = self.changes.summary() if self.changes is not None else ""
        facts = tuple(filter(None, (panel.below, *panel.facts(self.settings.appearance, changes))))
        state = panel.state
        if state == "lost" and self.opener.is_reconnecting:
            state = "reconnecting"
        elif state == "lost" and self.link.has_lost_host:
            state = "unhosted"
        elif state == "working" and panel.session is not None and panel.session.waits_elsewhere:
            state = "elsewhere"
        elif state == "waiting" and self._is_answering:
            state = "answering"
        return Status(agent=self.agent_title, state=state, facts=facts, work=panel.work)

    @property
    def _is_answering(self) -> bool:
        """Whether a card has the keyboard already."""
        card = self.questions.card or (self.panel and self.panel.card)
        return card is not None and card.has_focus_within

    def on_descendant_focus(self) -> None:
        """Say how to get to a question, or no longer."""
        self._show_status()

    @property
    def _elsewhere(self) -> str:
        """Which other tabs wait for the user, with the key that leads there; "" if none do."""
        tabs = enumerate(self.shell.tabs, 1)
        waiting = [number for number, tab in tabs if tab is not self and tab.state is TabState.NEEDS_YOU]
        if not waiting:
            return ""
        which = f"tab {waiting[0]} needs" if len(waiting) == 1 else f"{len(waiting)} tabs need"
        return f"{which} you{self.hint(' · {next_needing}')}"

    # Actions

    async def action_do(self, id_: str, words: str = "") -> None:
        """Run a command of the command table."""
        await self.actions.do(id_, words)

    def action_focus_prompt(self) -> None:
        """Focus the prompt, from anywhere else."""
        self.set_focus(self.prompt)

    def action_focus_next(self) -> None:
        """Focus the card that waits; without one, the prompt."""
        if not self._focus_card():
            self.action_focus_prompt()

    def _reset_focus(self, widget: Widget, avoiding: list[Widget] | None = None) -> None:
        # When a widget is removed, hidden, or disabled, Textual focuses another one nearby. A search that ended with
        # its session gave the keyboard to the next session's welcome.
        if self.focused is widget:
            self.set_focus(None if self.prompt in (avoiding or ()) else self.prompt)

    # Events

    def on_screen_resume(self) -> None:
        """The tab comes to the front, or a dialog above it has closed."""
        self.look_again()

    def on_resize(self) -> None:
        """Show or hide the sidebar according to the new width."""
        self._show_sidebar()

    def on_changes_desk_changed(self) -> None:
        """Show how much has changed, and what."""
        if self.panel is not None and self.panel.status_command is not None:
            self.panel.status_command.note_files()
        self._show_status()
        self._look_at_changes()

    def on_session_panel_facts_changed(self) -> None:
        """Update the status line and the sidebar, and show the agent's questions."""
        self._show_status()
        self._show_sidebar()
        self._note_state()
        self.opener.note_connection()
        self.prompt.note_requests(self.conversation.permissions if self.conversation is not None else ())
        self.writing.show_waiting(self.session)
        if self.panel is not None:
            self.questions.look_for_questions(self.session)

    def on_asking_changed(self) -> None:
        """Hide the list of suggestions: it reappears elsewhere with the next key."""
        self.query("SuggestionList").set(display=False)

    def on_conversation_view_link_chosen(self, message: ConversationView.LinkChosen) -> None:
        """Open the link."""
        self.run(self.actions.entries.open_link(message.target))

    def on_sidebar_file_chosen(self, message: Sidebar.FileChosen) -> None:
        """Show how the file has changed."""
        if self.changes is not None:
            self.actions.review(self.changes, message.path)

    def on_sidebar_subagent_chosen(self, message: Sidebar.SubagentChosen) -> None:
        """Show the subagent's conversation."""
        if self.panel is not None:
            self.panel.leave_subagents()
            self.panel.open_subagent(message.session_id)
            self.panel.view.focus()

    async def on_welcome_chosen(self, message: Welcome.Chosen) -> None:
        """Open that session."""
        if self._welcoming is not None:
            self.run(self._welcoming.open(message.key))

    def on_conversation_view_searched(self, message: ConversationView.Searched) -> None:
        """Show the state of the search in the search bar."""
        self.actions.show_standing(message.standing)

    def before_key(self, event: Key) -> None:
        """Send typed text, and the keys after it, to the draft if the focus can't take text."""
        places = self.focused.ancestors_with_self if self.focused is not None else ()
        is_text = next((place.is_text for place in places if hasattr(place, "is_text")), None)
        if is_text is not None and is_text(event):
            self.set_focus(self.prompt)

    def on_history_search_chosen(self, message: HistorySearch.Chosen) -> None:
        """Put the chosen prompt into the draft."""
        if self.writing.recall is not None:
            self.writing.recall.choose(message.text)

    # From the prompt

    def on_text_area_changed(self) -> None:
        """Prepare for a prompt: the user has started writing."""
        self.writing.begin()

    def on_prompt_input_submitted(self, message: PromptInput.Submitted) -> None:
        """Submit what is written."""
        if self.panel is not None:
            self.panel.leave_subagents()  # the prompt is for the agent itself
        self.writing.submit(message, self.stage)

    def on_prompt_input_rejected(self, message: PromptInput.Rejected) -> None:
        """Send the rejection to the agent."""
        if self.session is not None:
            self.session.answer_permission(message.rejection.key, message.rejection.option_id)

    def on_prompt_input_pull_back_requested(self) -> None:
        """Turn the last queued prompt into the draft again."""
        self.writing.pull_back()

    def on_prompt_input_paste_requested(self) -> None:
        """Paste the desktop's clipboard into the prompt."""
        self.run(self.actions.paste())

    def on_prompt_input_drop_requested(self) -> None:
        """Don't send the last output along with the next prompt."""
        self.writing.drop_output()

    def on_prompt_input_escape_requested(self) -> None:
        """Go back from a subagent, or cancel the turn, or go back to an earlier prompt."""
        has_left = self.panel is not None and self.panel.leave_subagent()
        if not has_left and self.writing.escape():
            self.run(self.actions.edit_earlier_prompt())

    def take_up_request(self) -> None:
        """Focus the permission card or the form that waits: the user came to this tab for it."""
        self._focus_card()

    def on_prompt_input_leave_requested(self) -> None:
        """Focus the card that waits, or the welcome's sessions, or the conversation."""
        if self._focus_card() or self.panel is None:
            return
        welcome = self.panel.welcome
        if welcome.display and welcome.can_focus:
            self.set_focus(welcome)
        else:
            self.panel.view.focus()

    def _focus_card(self) -> bool:
        """Focus the form or the permission card that waits. Returns False if there is none."""
        if self.questions.card is not None:
            self.questions.card.enter()
            return True
        return self.panel is not None and self.panel.take_up_request()

    def on_prompt_input_page_requested(self, message: PromptInput.PageRequested) -> None:
        """Scroll by a page without leaving the prompt."""
        if self.panel is not None:
            self.panel.view.action_page(message.direction)

    # From the queue

    def on_queue_lines_edit_requested(self, message: QueueLines.EditRequested) -> None:
        """Turn the queued prompt into the draft again."""
        self.writing.take(message.key, is_edited=True)

    def on_queue_lines_remove_requested(self, message: QueueLines.RemoveRequested) -> None:
        """Remove the queued prompt."""
        self.writing.take(message.key, is_edited=False)

    def on_queue_lines_move_requested(self, message: QueueLines.MoveRequested) -> None:
        """Move the queued prompt up or down."""
        self.writing.move(message.key, message.step)

    def on_queue_lines_send_requested(self, message: QueueLines.SendRequested) -> None:
        """Send the queued prompt now."""
        self.writing.send_now(message.key)

    def on_queue_lines_left(self) -> None:
        """Focus the prompt."""
        self.set_focus(self.prompt)


def _cut(text: str, cells: int) -> str:
    """Cut a text to a width. Long texts are shortened first, since measuring takes time."""
    return Content(text[: cells * 8]).truncate(cells, ellipsis=True).plain
