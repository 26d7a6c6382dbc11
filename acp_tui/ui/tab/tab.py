"""A tab: an agent, a session of it, and what the user does with both. Controllers act on it, and a screen shows it.

Nothing here needs the screen before it is shown. What conversations need is loaded after the first frame.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from rich.cells import cell_len

from acp_tui.client.errors import AgentRefused, ClientError, Unsupported
from acp_tui.client.settings.settings import Settings
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.rendering.wrapping import cut
from acp_tui.ui.session.status_line import FORKED, HOSTED, TabState, boxed, state_of_tab
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.ui.tab.loading import BEFORE_A_COMMAND, preload_in_thread
from acp_tui.ui.tab.opening import SessionStarter
from acp_tui.ui.tab.prompt_routing import PromptController
from acp_tui.ui.tab.questions import QuestionsController
from acp_tui.ui.tab.screen import SessionScreen
from acp_tui.ui.tab.stage import Failed, Live, Recorded, Stage, Starting
from acp_tui.ui.tab.tabs import FIRST_MODE
from acp_tui.ui.textual_gaps.internals import stays

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.sessions.session import Session
    from acp_tui.conversation.conversation import Conversation
    from acp_tui.ui.app.app import AcpTuiApp
    from acp_tui.ui.changes.follower import FolderChanges, TurnMoments
    from acp_tui.ui.prompt.input import PromptInput
    from acp_tui.ui.session.panel import SessionPanel
    from acp_tui.ui.tab.actions import Actions
    from acp_tui.ui.tab.agent import AgentController, SessionsController
    from acp_tui.ui.tab.panels import Panels
    from acp_tui.ui.tab.sidebar import SidebarController

T = TypeVar("T")

Opening: TypeAlias = Callable[["SessionsController"], Awaitable["Session"]]
"""How a tab gets its session. Raises ClientError."""

SHORT_PHASE_S: Final = 0.1
"""A phase of the start that is over by then isn't worth a frame."""
MIN_TITLE: Final = 8
"""With fewer cells, a session's title isn't begun behind the agent's name."""


class Tab:
    def __init__(
        self,
        link: AgentLink | None,
        cwd: Path | None = None,
        *,
        opening: Opening | None = None,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`cwd` is the folder of its sessions. Without `link`, the caller has a session and calls `show`.

        Without `opening`, it starts a new session. `clock` returns seconds.
        """
        self.link = link or AgentLink(None)
        """The connection to its agent, shared with other tabs."""
        self.cwd = cwd or Path.cwd()
        self.settings = settings or Settings()
        self.clock = clock
        self.mode = FIRST_MODE
        """Its name in Textual."""
        self.agent_title = ""
        """The agent's name, once it is known, safe to show on one line."""
        self.stage: Stage = Starting()
        """Its session, or why there is none."""
        self.changes: FolderChanges | None = None
        """What has changed in its folder; None if nothing follows the changes."""
        self.moments: TurnMoments | None = None
        """The files as they were at each prompt; None if nothing follows them."""
        self.offered: Sequence[str] = ()
        """The IDs of the sessions that its welcome offers to open again. Who says something here is done with them."""
        self._has_news = False
        """Whether a turn has ended while another tab was in front."""
        self._tabs_know: tuple[TabState, str | None, int] = (TabState.STARTING, None, 0)
        """The state and the title that the tabs were last told."""
        self._showing = asyncio.Lock()
        """Held while a panel replaces another."""
        self.starter = SessionStarter(self, opening)
        self.writing = PromptController(self)
        self.questions = QuestionsController(self)
        self.link.join(self)
        self.link.listeners.append(self.questions.note_agents_questions)

    @cached_property
    def screen(self) -> SessionScreen:
        """What shows it. It is created when it is first needed, within the app."""
        return SessionScreen(self)

    @property
    def prompt(self) -> PromptInput:
        """Where the user writes."""
        return self.screen.prompt

    @property
    def app(self) -> AcpTuiApp:
        return cast("AcpTuiApp", self.screen.app)

    # Controllers that are loaded after the first frame

    @cached_property
    def agent(self) -> AgentController:
        """What the user does with the agent, besides prompting."""
        from acp_tui.ui.tab.agent import AgentController  # loading point: BEFORE_AN_AGENT

        return AgentController(self)

    @property
    def sessions(self) -> SessionsController:
        return self.agent.sessions

    @property
    def sidebar(self) -> SidebarController:
        return self.panels.sidebar

    @cached_property
    def actions(self) -> Actions:
        from acp_tui.ui.tab.actions import Actions  # loading point: BEFORE_A_COMMAND

        return Actions(self)

    @cached_property
    def panels(self) -> Panels:
        """Creates its panels, and holds the sidebar next to them."""
        from acp_tui.ui.tab.panels import Panels  # loading point: BEFORE_A_SESSION

        return Panels(self)

    # State

    @property
    def panel(self) -> SessionPanel | None:
        """The panel that shows the session, or why there is none. It is mounted. None without a screen."""
        return self.screen.panel

    @property
    def session(self) -> Session | None:
        return self.stage.session if isinstance(self.stage, Live | Recorded) else None

    @property
    def conversation(self) -> Conversation | None:
        """The session's conversation, or the one that says why there is none."""
        if isinstance(self.stage, Failed):
            return self.stage.conversation
        return self.session.conversation if self.session is not None else None

    @property
    def failure(self) -> ClientError | None:
        """Why there is no session; None if there is one, or it's still starting."""
        return self.stage.error if isinstance(self.stage, Failed) else None

    @property
    def phase(self) -> str:
        """How far the agent's start is, or what the user can do; "" with a session."""
        return self.stage.phase if isinstance(self.stage, Starting | Failed) else ""

    @property
    def state(self) -> TabState:
        if self.conversation is None:
            return TabState.STARTING
        if isinstance(self.stage, Recorded):
            return TabState.READ_ONLY
        return state_of_tab(self.conversation, has_news=self._has_news)

    @property
    def title(self) -> str:
        """The session's title, or the start of its first prompt, or the agent's name."""
        return self.session_title or self.agent_title or self.phase

    @property
    def session_title(self) -> str:
        """The session's own title, also while it's being opened; "" if it has none yet."""
        opened = self.starter.past if self.session is None else None
        told = self.conversation.shown_title if self.conversation is not None else ""
        return told or (make_visible_line(opened.title) if opened is not None else "")

    @property
    def kept_id(self) -> str:
        """The ID of its session if that can be opened again when the app has ended; "" if not, or a host keeps it."""
        if isinstance(self.stage, Starting):
            return self.starter.past.session_id if self.starter.past is not None else ""
        if not isinstance(self.stage, Live) or (self.link.command is not None and self.link.command.is_host):
            return ""
        return self.stage.session.session_id if self.stage.session.conversation.is_begun else ""

    @property
    def marked_agent(self) -> str:
        """The agent's name, with signs for a sandbox, a host, and a fork."""
        return self._marked(self.agent_name)

    @property
    def agent_name(self) -> str:
        """What the agent is called, also before it's there."""
        running = self.link.agent
        return self.agent_title or (make_visible_line(running.title) if running is not None else self.link.name)

    def _marked(self, text: str) -> str:
        text = boxed(text, is_boxed=bool(self.link.sandbox))
        if self.link.is_hosted:
            text = f"{HOSTED} {text}"
        is_fork = self.conversation is not None and self.conversation.is_fork
        return f"{FORKED} {text}" if is_fork else text

    @property
    def lead(self) -> str:
        """The name of its worktree, or of its agent: with a number if it's called so, and others of that are open."""
        agent, name = self.agent_name, make_visible_line(self.worktree)
        called = re.fullmatch(re.escape(agent.replace(" ", "-")) + r"(?:-(\d+))?", name, re.IGNORECASE)
        if called is None:
            return name or agent
        is_alone = sum(tab.agent_name == agent for tab in self.app.tabs) == 1
        return agent if is_alone else f"{agent} {called[1] or 1}"

    def brief(self, *, is_alone: bool) -> str:
        """What tells it from other tabs: its worktree or agent, if it `is_alone` with that, otherwise its title."""
        return self._marked(self.lead if is_alone else self.session_title or self.lead)

    def name(self, cells: int = 200, *, is_alone: bool = True, shared: int = 0) -> str:
        """The agent, the worktree, and the session's title, in so many cells, or `brief` if they are few.

        If that is cut, the beginning of the title or worktree that it shares with another tab's is, of so many
        characters.
        """
        title, agent = self.session_title, self.agent_name
        is_said = self.lead.lower().replace(" ", "-").startswith(agent.lower().replace(" ", "-"))
        names = (self._marked(self.lead),) if is_said else (self.marked_agent, self.lead)
        whole = ": ".join(filter(None, (*names, title))) or self.phase
        if cell_len(whole[: cells + 1]) <= cells:
            return whole
        brief = self.brief(is_alone=is_alone)
        if cells == 1:
            return brief[0]  # a fork's mark
        has_room = is_alone and title and cells - cell_len(brief) >= MIN_TITLE
        if shared and cell_len(brief[: cells + 1]) > cells:
            told = self.lead if is_alone else title
            end = told[shared : shared + cells + 1]
            left = cells - cell_len(self._marked(end))
            return cut(self._marked(f"{cut(told[:shared], left) if left > 1 else '…'}{end}"), cells)
        return cut(f"{brief}: {title}" if has_room else brief, cells)

    @property
    def loss(self) -> str:
        """How a session that isn't connected was lost, as a state of the status line."""
        if self.starter.is_reconnecting:
            return "reconnecting"
        if self.link.has_lost_host:
            return "unhosted"
        return "lost" if self.link.is_lost else "closed"

    # Talking to the user

    def say(
        self,
        text: str,
        *,
        severity: SeverityLevel = "information",
        title: str = "",
        is_over: Callable[[], bool] | None = None,
    ) -> None:
        """Tell the user, but no longer than until `is_over` returns True at a change of the tab's state.

        Without it, until the next prompt or command, which may correct what this is about.
        """
        text, entered = make_visible(text), self.writing.entered
        self.app.notices.is_over[text] = is_over or (lambda: self.writing.entered > entered)
        self.app.notify(text, severity=severity, title=make_visible_line(title), markup=False)

    def say_error(self, error: ClientError) -> None:
        """Tell the user what failed, and what to do about it."""
        detail = error.detail if isinstance(error, AgentRefused) else ""
        self.say("\n".join(filter(None, (str(error), detail, error.hint))), severity="error")

    async def ask(self, dialog: Screen[T], *, in_front: bool = False) -> T:
        """Open a dialog over this tab, whichever tab is in front, or bring it there. Returns the dialog's result."""
        if in_front and self.app.tabs.front is not self:
            await self.app.tabs.go_to(self)
        return await self.app.push_screen_wait(dialog, mode=self.mode)

    def run(self, work: Coroutine[Any, Any, None], *, group: str = "") -> None:
        """Run this while the tab exists, and tell what fails. Of a `group`, only the latest goes on.

        What was due after a frame may come when the tab is gone.
        """
        if stays(self.screen):
            told: Any = partial(self._told, work)  # Textual's types lack what it takes
            self.screen.run_worker(told, exclusive=bool(group), group=group or "default")
        else:
            work.close()

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ClientError as error:
            self.say_error(error)

    def hint(self, text: str) -> str:
        """The text with the current keys filled in (keymap.Keymap.hint)."""
        return self.app.keymap.hint(text)

    # Getting a session

    def begin(self) -> None:
        """Get the first session, if there is any to get. The screen is there to be seen."""
        self.run(self.starter.connect())

    async def show(self, session: Session, agent_title: str = "") -> None:
        """Show this session from now on. An empty `agent_title` stands for the name in the agent or the recording."""
        async with self._showing:
            if session is self.session:
                await self.writing.show_session(session)  # shown early, as it asks something: only now it's open
                return
            stage = self.panels.stage_of(session, agent_title)
            if stage is None:
                return
            self.prompt.cwd = session.cwd
            await self._come_to(stage)
            if isinstance(stage, Live):
                self._remember_turns(session)

    async def show_failure(self, error: ClientError) -> None:
        """Show the error in place of the conversation."""
        what_now = self.hint(f"no session{self.try_again(error)}; {{quit}} quits")
        async with self._showing:
            await self._come_to(self.panels.failed(error, what_now))

    async def _come_to(self, stage: Live | Recorded | Failed) -> None:
        said = stage.conversation if isinstance(stage, Failed) else stage.session.conversation
        self._tabs_know = (*self._tabs_know[:2], len(said.turns))  # turns before that are no news
        await self.screen.show_stage(stage)
        await self.writing.show_session(self.session)

    @staticmethod
    def try_again(error: ClientError) -> str:
        """The key that tries again to get a session, for a hint; "" if that can only fail again."""
        return "" if isinstance(error, Unsupported) else "; {restart} tries again"

    def show_phase(self, phase: str) -> None:
        """Show how far the agent's start is."""
        if isinstance(self.stage, Starting | Failed):
            self.stage = replace(self.stage, phase=phase)
        if self.screen.is_attached and isinstance(self.stage, Starting):
            self.screen.set_timer(SHORT_PHASE_S, self.screen.show_status)
        elif self.screen.is_attached:
            self.screen.show_status()

    def show_open(self, agent_title: str) -> None:
        """Show that the agent has opened the first session, before its panel is loaded."""
        if isinstance(self.stage, Starting):
            self.agent_title = agent_title
            self.stage = replace(self.stage, is_open=True)
            self.screen.show_status()

    async def give_up(self, error: ClientError) -> None:
        """Close the tab and go back to the others: the agent runs, but this session can't be opened."""
        await self.detach()
        self.say_error(error)
        self.app.run_worker(self.app.take_away(self))

    def follow_changes(self) -> None:
        """Scan the files, and follow changes from then on."""
        self.changes = self.app.changes_in(self.cwd)
        if isinstance(self.stage, Live):
            self._remember_turns(self.stage.session)

    def _remember_turns(self, session: Session) -> None:
        """Keep a copy of the files at each of the session's prompts from now on."""
        if self.changes is None or (self.moments is not None and self.moments.is_of(session)):
            return  # not yet, or the agent was restarted
        if self.moments is not None:
            self.moments.end()
        self.moments = self.changes.at_prompts_of(session, self.run)

    async def begin_anew(self) -> None:
        """Start a session in place of the current one; if the worktree is being removed, in the folder it came from."""
        origin = self.actions.worktrees.left_for if self.worktree else None
        agent = self.link.agent
        if origin is None or agent is None:
            await self.starter.begin_anew()
            return
        await self.app.open_tab(self.app.link_to(agent.command, origin, self.agent_name), origin)
        self.app.run_worker(self.app.close_now(self))

    @property
    def is_unused(self) -> bool:
        """Whether nothing was said or written here, so that another session may take its place."""
        if not isinstance(self.stage, Live):
            return False
        session, recall = self.stage.session, self.writing.recall
        is_waiting = session.conversation.is_asking or self.actions.has_queued or session.commands.offered
        is_unwritten = self.prompt.is_blank if recall is None else recall.is_as_brought_back
        is_past = self.starter.past is not None and self.starter.past.session_id == session.session_id
        return session.conversation.is_blank and is_unwritten and not (is_waiting or is_past or self.prompt.comments)

    def makes_room_for(self, tab: Tab) -> bool:
        """Whether it may be replaced by another one: it's unused, and what can be started here can be there, too."""
        is_like = tab.link.can_start and (not self.worktree or tab.cwd == self.cwd)
        return is_like and not self.link.is_hosted and self.is_unused

    # As one of the tabs

    def use_settings(self, settings: Settings) -> None:
        """Apply these settings, except for those that the agent was started with."""
        self.settings = settings
        self.screen.show_sidebar()
        self.screen.show_status()
        if self.panel is not None:
            self.panel.use_settings(settings)

    def refresh_held_back(self) -> None:
        """Handle that the user sees the tab again: mark its news as seen, and show what was held back."""
        self._has_news = False
        self.screen.show_tabs()
        self.screen.show_sidebar()
        self.writing.show_waiting()
        if self.panel is not None:
            self.panel.view.frames.schedule()
        self.questions.look_for_questions()

    def note_facts(self) -> None:
        """Handle that what the session says of itself may have changed."""
        self.note_state()
        self.starter.note_connection()
        self.prompt.note_requests(self.conversation.permissions if self.conversation is not None else ())
        self.writing.send_next()
        if not isinstance(self.stage, Starting):
            self.questions.look_for_questions(self.session)

    def note_state(self) -> None:
        """Tell the tabs if the state or the title has changed. The end of a turn is news if the user didn't see it.

        A whole turn may pass between two looks.
        """
        told, said = self._tabs_know, self.conversation
        turns = len(said.turns) if said is not None else 0
        has_ended = told[0] is TabState.WORKING or turns > told[2]
        if has_ended and self.state is not TabState.WORKING and self.app.tabs.front is not self:
            self._has_news = True
        self._tabs_know = (self.state, said.title if said is not None else None, turns)
        if self._tabs_know != told:
            self.app.tabs.tell()

    async def may_close(self, others: Sequence[Tab] = (), *, is_chosen: bool | None = None) -> bool:
        """Ask whether to close the tab if the agent is working, and what to do with its worktree (`may_leave`)."""
        if self.link.is_hosted and self.session is not None and self.session.is_read_only:
            return True
        if self.link.is_hosted:
            return await self.agent.confirm(
                self.hint("Close the session in its host, for every terminal? {detach} leaves it running.")
            )
        said = self.session.conversation if self.session is not None else None
        does = "waits for your answer" if self.state is TabState.NEEDS_YOU else "is working"
        if said is not None and not said.is_idle:
            question = f"{self.name()} {does}. Close the tab anyway?"
            done = f"{self.name()} is done. Its tab is open."
            if not await self.agent.confirm(question, lambda: done * said.is_idle):
                return False
        # Return at once if there is nothing to ask: the next keys are for another tab.
        return not self.worktree or await self.actions.worktrees.may_leave(others, is_chosen=is_chosen)

    async def leave(self) -> None:
        """Close the session, and the agent if no other tab uses it."""
        if self.session is not None:
            await self.sessions.close(self.session)
        await self.detach()
        if self.worktree:
            await self.actions.worktrees.remove()

    async def detach(self) -> None:
        """Leave the session as it is, and end the agent if no other tab uses it."""
        self.link.listeners.remove(self.questions.note_agents_questions)
        await self.link.leave(self)

    @property
    def worktree(self) -> str:
        """The name of the worktree of ours that the folder may be in, judging by its parents; "" for none."""
        return next((name for above, name in pairwise(self.cwd.parts) if above.endswith(".worktrees")), "")

    async def begin_in_worktree(self, command: AgentCommand) -> Tab | None:
        """Start this agent in a new git worktree of the folder, in a new tab; None if that fails, which is told."""
        await preload_in_thread(BEFORE_A_COMMAND)
        return await self.actions.worktrees.begin(command=command)
