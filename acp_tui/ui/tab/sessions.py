"""What you do with sessions, in tabs, hosts, and agents, or recorded: find, open, read, delete.

Also what an empty session shows about earlier ones and its folder.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from weakref import WeakKeyDictionary

from anyio import to_thread

from acp_tui.client.agents.catalogue import KNOWN_AGENTS, recorded_agent
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import ClientError
from acp_tui.client.hosting.finding import HostedSession, hosted_sessions
from acp_tui.client.prompts.memory import DraftKey
from acp_tui.client.safe_git import branch_of
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.marks import SessionMarks, sessions_of
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import (
    HistoryUnreadable,
    PastSession,
    Places,
    SessionFromRecording,
    left_sessions,
    line_with,
    open_elsewhere,
    open_session,
    place_in,
    sandbox_of,
    warning_if_open,
)
from acp_tui.client.transcript.index import RecordedSession, SessionIndex
from acp_tui.client.transcript.recording_plan import recording_store
from acp_tui.client.worktrees import known_worktree, origin_of
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, Failure, Message
from acp_tui.conversation.facts import SessionId, SessionPage, SessionStatus, SessionSummary
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.conversation.updates import Reconnected
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import from_home
from acp_tui.ui.conversation.subagents import last_line_of
from acp_tui.ui.dialogs.session_rows import HOSTED, NEEDS_YOU, OPEN, WORKING, OpenMode, SessionRow, row_of, session_rows
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.rendering.palette import PLAIN
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.session.status import doing
from acp_tui.ui.session.status_line import HOSTED as HOSTED_SIGN
from acp_tui.ui.session.status_line import MARKS, TabState
from acp_tui.ui.session.welcome import Welcome
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.ui.tab.reopening import Reopening, is_of, is_shown
from acp_tui.ui.tab.stage import NO_AGENT_HERE, Starting
from acp_tui.ui.tab.taking_out import prompts_in

if TYPE_CHECKING:
    from acp_tui.ui.tab.tab import Tab

T = TypeVar("T")

MAX_LINE: Final = 400
"""Cells of an agent's last line."""
MAX_LOOKED_AT: Final = 50
"""Entries in which it's searched."""
MAX_ASKED: Final = 50
"""Of how many sessions an agent is asked what they do."""
GROUPS: Final = {TabState.NEEDS_YOU: NEEDS_YOU, TabState.WORKING: WORKING}
TOLD: Final = (TabState.STARTING, TabState.READ_ONLY, TabState.DONE, TabState.FAILED)
"""The states that a row names, because its group doesn't."""


class HistoryController:
    """Where the sessions of the dialog come from, and what can be done with them, for one tab. Use it in a worker.

    Coroutines raise ClientError.
    """

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._marks = SessionMarks()
        self._branches: dict[Path, str] = {}
        self._recorded: WeakKeyDictionary[Session, RecordedSession | None] = WeakKeyDictionary()
        self._hosted: dict[str, HostedSession] = {}
        """By the keys of their rows."""
        self._elsewhere: Places = {}
        self._drafts: Container[DraftKey] = ()

    @property
    def _index(self) -> SessionIndex:
        return SessionIndex(recording_store(self._tab.app.settings.recordings))

    async def begin(self) -> None:
        if self._tab.link.can_start:
            await self._tab.app.open_tab(self._tab.link, self._tab.cwd)
        else:
            self._tab.say(NO_AGENT_HERE, severity="warning")

    # Sessions in tabs and in hosts

    @property
    def clock(self) -> Callable[[], float]:
        return self._tab.app.clock

    @property
    def listeners(self) -> list[Callable[[], None]]:
        """Called when something about the tabs changes."""
        return self._tab.app.tabs.listeners

    def in_tabs(self) -> Sequence[SessionRow]:
        """The sessions in tabs, from left to right."""
        tabs = list(self._tab.app.tabs)
        known = {one.key: one for one in self.marked(filter(None, map(self._past_in, tabs)))}
        return [self._row_of(number, tab, known) for number, tab in enumerate(tabs, 1)]

    def _row_of(self, number: int, tab: Tab, known: Mapping[str, PastSession]) -> SessionRow:
        one = self._past_in(tab)
        past = known[one.key] if one is not None else None
        sign, _ = MARKS[tab.state]
        panel, said, session = tab.panel, tab.conversation, tab.session
        is_alone = not any(other.changes is tab.changes for other in self._tab.app.tabs if other is not tab)
        summary = tab.changes.summary() if tab.changes is not None and is_alone else ""  # whose it is, isn't known
        state = tab.state.value if tab.state in TOLD else ""
        if session is not None and session.queue.is_held:
            state = ", ".join(filter(None, ["on hold", session.queue.why_held]))
        return SessionRow(
            tab.mode,
            tab.session_title,
            GROUPS.get(tab.state, OPEN),
            past,
            tab.marked_agent,
            tab.cwd,
            time.time() - panel.work.silent_s if panel is not None else None,
            self._branches.get(tab.cwd, ""),
            " ".join(word for word in summary.split() if word[0] in "+-"),
            f"{number:>2} {sign}",
            state,
            last_line(said, panel.body.asked if panel is not None else None) if said is not None else tab.phase,
            session.why_read_only if session is not None else "",
            prompts=len(prompts_in(said)) if said is not None else 0,
            is_tab=True,
            is_current=tab is self._tab,
        )

    def _past_in(self, tab: Tab) -> PastSession | None:
        """The tab's session apart from the tab; None if it has none."""
        session, agent = tab.session, tab.link.agent
        if isinstance(session, SessionFromRecording):
            recorded = session.recorded
            return PastSession(recorded.agent, session.session_id, session.cwd, tab.title, recorded=recorded)
        if session is None or agent is None:
            return None
        return PastSession(
            agent.command.name,
            session.session_id,
            session.cwd,
            tab.title,
            recorded=self._recorded.get(session),
            agent_title=tab.agent_title,
        )

    def key_in_tabs(self, session: PastSession) -> str:
        """The key of the tab that shows a session; "" if none does."""
        tab = self.tab_of(session)
        return tab.mode if tab is not None else ""

    def _tab_at(self, key: str) -> Tab | None:
        return next((tab for tab in self._tab.app.tabs if tab.mode == key), None)

    def panel_asking(self, key: str) -> SessionPanel | None:
        """The panel of a tab whose agent waits for the user."""
        tab = self._tab_at(key)
        return tab.panel if tab is not None and tab.state is TabState.NEEDS_YOU else None

    async def look_at_tabs(self) -> None:
        """Find out, for `in_tabs`, the branches of folders, and what is recorded of sessions."""
        for tab in tuple(self._tab.app.tabs):
            self._branches[tab.cwd] = await to_thread.run_sync(branch_of, tab.cwd, abandon_on_cancel=True)
            past, session, agent = self._past_in(tab), tab.session, tab.link.agent
            if past is not None and past.recorded is None and session is not None and agent is not None:
                kept = await self._in_thread(partial(open_session, session, agent.command))
                self._recorded[session] = kept.recorded  # the tab may show another by now

    async def in_hosts(self) -> Sequence[SessionRow]:
        """The sessions that hosts keep and no tab shows. `judge` then knows which are open elsewhere, too."""
        shown = [(tab.link.agent, tab.session) for tab in self._tab.app.tabs]
        hosted = [one for one in await hosted_sessions() if not any(one.is_shown_by(*each) for each in shown)]
        await self.look_elsewhere()
        self._hosted = {f"{one.host}/{one.session_id}": one for one in hosted}
        return [_hosted_row(key, one) for key, one in self._hosted.items()]

    async def look_elsewhere(self) -> None:
        """Find out, for `judge` and `marked`, which sessions are open in other processes, and which have drafts."""
        self._elsewhere = await to_thread.run_sync(open_elsewhere, abandon_on_cancel=True)
        self._drafts = await to_thread.run_sync(self._tab.app.prompt_memory.places, abandon_on_cancel=True)

    async def close(self, key: str) -> None:
        """Close this tab, after confirmation, and stay at the list: if it's above this tab, at that above the next."""
        tab, app = self._tab_at(key), self._tab.app
        if tab is not None and await tab.may_close():
            if tab is self._tab and (beside := app.tabs.beside(tab)) is not None:
                await beside.actions.choose_session()
            await app.close_now(tab)
        if self._tab in app.tabs and self._tab is not app.tabs.front:
            await app.tabs.go_to(self._tab)

    def move(self, key: str, direction: int) -> None:
        if (tab := self._tab_at(key)) is not None:
            self._tab.app.tabs.move(tab, direction)

    # Sources of sessions

    @property
    def _agent(self) -> Agent | None:
        agent = self._tab.link.agent
        return agent if agent is not None and agent.lost is None else None

    @property
    def command(self) -> AgentCommand | None:
        """That of this tab's agent; None if none is running."""
        return self._agent.command if self._agent is not None else None

    @property
    def agent_title(self) -> str:
        """What that agent says it is, if the user has no name for it."""
        agent = self._agent
        return "" if agent is None or agent.command.is_listed or agent.title in KNOWN_AGENTS else agent.title

    async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
        """A page of the sessions that the agent lists, at a cursor or the first; empty if it lists none."""
        await self._tab.starter.is_under_way.wait()
        async with self._tab.link.starting_again:  # it may be about to start
            agent = self._agent
        if agent is None or not agent.capabilities.list_sessions:
            return SessionPage(())
        # When asked for all sessions, fast-agent 0.10.46 and Qwen Code 0.24.4 list only those of their own process's
        # folder.
        return await agent.list_sessions(cwd=None if is_everywhere else self._tab.cwd, cursor=cursor)

    async def status(self, session_id: SessionId) -> SessionStatus | None:
        """What the agent says of a session it lists; None if it doesn't say."""
        return await self._agent.session_status(session_id) if self._agent is not None else None

    async def in_agents(self) -> Sequence[tuple[AgentCommand, Sequence[SessionSummary]]]:
        """What the agents of other tabs have in memory, of the first sessions that they list."""
        agents = {tab.link.agent for tab in self._tab.app.tabs} - {self._tab.link.agent, None}
        return [(agent.command, await _in_memory(agent)) for agent in agents if agent is not None]

    async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        """The recorded sessions; with `words`, only those that contain them."""
        here = None if is_everywhere else self._tab.cwd
        if here is not None and self._tab.worktree:  # else it would be another one's branch that a row tells
            here = await to_thread.run_sync(origin_of, here)
        return await self._in_thread(partial(sessions_of, self._index, here, words))

    async def left(self, cwd: Path) -> Sequence[PastSession]:
        """Recorded sessions that were left in tabs of this folder, are open nowhere, and the user isn't done with.

        `judge` and `marked` then know the rest, as after `look_elsewhere`.
        """
        found = await self._in_thread(partial(left_sessions, self._index, cwd))
        await self.look_elsewhere()
        marked = self._marks.marked(one for one in found if one.session_id not in self._tab.app.done)
        return [one for one in marked if self.judge(one)[0] is not OpenMode.ELSEWHERE]

    async def line_with(self, session: PastSession, words: str) -> str:
        """A line of the session's conversation that contains these words."""
        assert session.recorded is not None
        return await self._in_thread(partial(line_with, self._index, session.recorded, words))

    async def _in_thread(self, read: Callable[[], T]) -> T:
        try:
            # A thread can't be canceled, but closing the dialog shouldn't wait for it.
            return await to_thread.run_sync(read, abandon_on_cancel=True)
        except OSError as error:
            raise HistoryUnreadable(f"the recordings can't be used: {error}") from error

    # What can be done with a session

    def judge(self, session: PastSession) -> tuple[OpenMode, str]:
        """How a session without a tab can be opened, and why its agent can't open it."""
        why = self._why_not(session)
        if not why:
            where = place_in(self._elsewhere, session.session_id, session.command, *session.agents)
            return (OpenMode.ELSEWHERE if where else OpenMode.AGENT), where
        return (OpenMode.RECORDING if session.recorded is not None else OpenMode.NONE), why

    def tab_of(self, session: PastSession) -> Tab | None:
        """The tab that shows the session, or opens it."""
        for tab in self._tab.app.tabs:
            past = tab.starter.past if isinstance(tab.stage, Starting) else None
            if is_shown(session, tab.session, tab.link) if past is None else past.key == session.key:
                return tab
        return None

    def _why_not(self, session: PastSession) -> str:
        """Why no agent can open the session; "" if one can."""
        # An agent can open what it lists, wherever the folder is: the agent may run elsewhere.
        if not session.is_listed:
            goes = any(session.cwd.is_relative_to(folder) for folder in self._tab.app.leaving_folders)
            if why := replace(session, has_folder=session.has_folder and not goes).why_not_again:
                return why
        link = self._running_link(session)
        agent = link.agent if link is not None else None
        if agent is not None and not (agent.capabilities.load_session or agent.capabilities.resume_session):
            return f"{agent.title} can't load or resume sessions"
        return ""

    def _running_link(self, session: PastSession) -> AgentLink | None:
        """The running agent that the session was recorded with, preferably in this tab.

        Another name may mean other settings, such as proxies, even if the same command starts it.
        """
        links = (self._tab.link, *(tab.link for tab in self._tab.app.tabs))
        return next((link for link in links if is_of(session, link, is_same_name=True)), None)

    def _agent_of(self, session: PastSession) -> Agent | None:
        """The agent that keeps the session, if it runs: in this tab, if it lists the session, or in any."""
        if session.is_listed and self._agent is not None and session.is_of(self._agent.command):
            return self._agent
        link = self._running_link(session)
        return link.agent if link is not None and link.agent is not None and link.agent.lost is None else None

    async def fate(self, session: PastSession) -> Sequence[str]:
        """What deleting the session would do; nothing if neither its agent nor acp-tui can delete anything of it."""
        agent, name, can_forget = self._agent_of(session), session.shown_agent, await self._can_forget(session)
        deletes = agent is not None and agent.capabilities.delete_session
        fate = []
        if session.recorded is not None:
            fate.append(f"{'deletes' if can_forget else 'archives'} its recording")
        if deletes:
            fate.append(f"{name} deletes it")
        elif self._may_stay(session):
            why = "isn't running" if agent is None else "can't delete sessions"
            fate.append(f"{name} {'keeps' if session.is_listed else 'may keep'} it, as it {why}")
        known = await to_thread.run_sync(known_worktree, session.cwd)
        if known is not None and session.has_folder:
            fate.append(f"its worktree and branch stay: git worktree remove {shlex.quote(known.root)}")
        return fate if deletes or can_forget else ()

    def _may_stay(self, session: PastSession) -> bool:
        """Whether an agent that doesn't delete the session may list it again."""
        return session.is_listed or self.judge(session)[0] is not OpenMode.RECORDING

    async def _can_forget(self, session: PastSession) -> bool:
        """Whether acp-tui can delete the session's recording: not while it's being written."""
        recorded = session.recorded
        return recorded is not None and not await self._in_thread(partial(self._index.is_being_recorded, recorded))

    # What is done with a session

    async def delete(self, session: PastSession) -> None:
        """Delete it in the agent, its recording, and its marks, as far as that can be. What stays is archived."""
        agent = self._agent_of(session)
        deletes = agent is not None and agent.capabilities.delete_session
        stays = not deletes and self._may_stay(session)
        if agent is not None and deletes:
            await agent.delete_session(session.session_id)
        left = session
        if session.recorded is not None and await self._can_forget(session):
            await self._in_thread(partial(self._index.forget, session.recorded))
            left = replace(session, recorded=None)
        self._marks.change(session, name="", is_pinned=False, is_archived=False)
        if stays or left.recorded is not None:
            self._marks.change(left, is_archived=True)

    # The user's marks on sessions

    def marked(self, past: Iterable[PastSession]) -> list[PastSession]:
        """The sessions with the user's marks: pinned ones first, archived ones last. Also tells which have drafts."""
        marked = self._marks.marked(past)
        return [replace(one, has_draft=DraftKey(str(one.cwd), one.session_id) in self._drafts) for one in marked]

    async def rename(self, session: PastSession, name: str) -> None:
        """Rename the session. If it is open, its agent is told."""
        tab = self.tab_of(session)
        if tab is not None and tab.session is not None:
            name = await tab.session.rename(name)
        self._marks.change(session, name=name)

    async def pin(self, session: PastSession) -> None:
        """Pin the session above the others, or unpin it."""
        self._marks.change(session, is_pinned=not session.is_pinned)

    async def archive(self, session: PastSession) -> None:
        """Archive the session, which hides it from the list, or restore it; also in the agent, if it supports that."""
        is_archived = not session.is_archived
        if session.is_listed and self._agent is not None and session.is_of(self._agent.command):
            await self._agent.archive_session(session.session_id, is_archived)
        self._marks.change(session, is_archived=is_archived)
        self._tab.app.tabs.tell()

    async def bring_back(self, session: Session) -> None:
        """Restore this tab's session if it's archived, because the user goes on with it."""
        agent = self._agent
        if agent is None or not any(mark.is_archived for mark in self._marks.all().values()):
            return
        past = await self._in_thread(partial(open_session, session, agent.command))
        if self._marks.of(past).is_archived:
            await self.archive(replace(past, is_archived=True, is_listed=True))

    # Opening

    async def open(self, row: SessionRow) -> None:
        """Open the session in its tab, or in a new one: in place of this one if nothing was said here."""
        tab, hosted, app = self._tab_at(row.key), self._hosted.get(row.key), self._tab.app
        if tab is not None:
            await app.tabs.go_to(tab)
        elif hosted is not None:
            link = app.link_to(hosted.command, hosted.cwd)
            await app.open_tab(link, hosted.cwd, hosted.open_in, chosen_in=self._tab)
        elif row.past is not None:
            await self.reopen(row.past)

    async def reopen(self, session: PastSession) -> None:
        """The same for an earlier session."""
        tab = self.tab_of(session)
        if tab is not None:  # since it was listed
            await self._tab.app.tabs.go_to(tab)
            return
        has_folder = await to_thread.run_sync(os.path.isdir, session.cwd)  # since it was listed
        why = self._why_not(replace(session, has_folder=has_folder))
        try:
            link = None if why else await self._link_for(session)
        except ClientError as error:
            self._tab.say_error(error)
            link = None
        if link is None and session.recorded is None:
            return
        wanted = None
        if link is not None and link.command is not None and not link.command.is_host:
            started = (link.command.argv, session.command, *session.agents)
            if told := await to_thread.run_sync(warning_if_open, session.session_id, *started):
                ways = [PickerRow(True, "Open it here, too", needs_care=True)]
                if session.recorded is not None:
                    ways.insert(0, PickerRow(False, "Read its recording"))
                wanted = await self._tab.ask(Picker(told, ways, search=False))
                if wanted is None:
                    return
        opening = Reopening(session, self._index, why_not=why, is_wanted=wanted)
        await self._tab.app.open_tab(link or AgentLink(None), session.cwd, opening, chosen_in=self._tab)

    async def _link_for(self, session: PastSession) -> AgentLink:
        """A link to the session's agent. Raises ClientError.

        A running agent isn't the one if its sandbox isn't the session's, or hasn't the session's folder.
        """
        link, sandbox = self._running_link(session), await self._in_thread(partial(sandbox_of, session))
        if link is not None and sandbox in ("", link.sandbox) and link.can_work_in(session.cwd):
            return link
        command = link.command if link is not None else None
        if command is None:
            command = await to_thread.run_sync(recorded_agent, session.agent, session.command, session.cwd)
        elif not command.is_listed:  # what runs in that folder has to be agreed to
            command = replace(command, recorded_in=session.cwd)
        sandboxed = replace(command, sandbox=sandbox or command.sandbox)
        return self._tab.app.link_to(sandboxed, session.cwd, session.shown_agent)


def _hosted_row(key: str, hosted: HostedSession) -> SessionRow:
    title = hosted.title or f"untitled {hosted.session_id}"
    return SessionRow(
        key,
        title,
        NEEDS_YOU if hosted.waiting else HOSTED,
        PastSession(hosted.agent, hosted.session_id, hosted.cwd, title),
        hosted.host,
        hosted.cwd,
        hosted.opened_at or None,
        mark=f"   {HOSTED_SIGN}",
        state="" if hosted.waiting else hosted.state,
        last=next(iter(hosted.waiting), ""),
    )


async def _in_memory(agent: Agent) -> Sequence[SessionSummary]:
    """What the agent has in memory; nothing if it doesn't say."""
    offers = agent.capabilities
    with suppress(ClientError):
        if agent.lost is None and offers.list_sessions and offers.session_status:
            listed = (await agent.list_sessions()).sessions[:MAX_ASKED]
            told = [replace(one, status=await agent.session_status(one.session_id)) for one in listed]
            return [one for one in told if one.status is not None and one.status.is_open]
    return ()


MAX_KEPT: Final = 9
REMINDED_S: Final = 60.0
LEFT: Final = "left"
"""The key of the row for all sessions that were left."""
TIPS: Final = (
    "{command_palette} finds any command by name",
    "{search_history} searches your earlier prompts",
    "Enter queues a prompt while the agent works; {edit_queue} edits what is queued",
    "{show_changes} reviews and reverts changes in the folder",
    "Esc Esc goes back to one of your prompts, with the files as they were if you like",
    "{next_mode} switches to the agent's next mode",
    "{edit_draft} opens the draft in your editor",
    "{begin_session} starts another session in a new tab",
    "@file:10-20 attaches those lines only",
    "{find} finds text in the conversation",
    "{toggle_all} unfolds every diff and output",
    "/export writes the conversation to a file",
    "{inspect} shows every message between acp-tui and the agent",
)


class Welcoming:
    """Fills the welcome of one tab, and opens what the user chooses there."""

    def __init__(self, tab: Tab, history: HistoryController) -> None:
        self._tab = tab
        self._history = history
        self._recent: dict[str, SessionRow] = {}
        self._left: Sequence[PastSession] = ()
        """What was left in tabs."""

    async def tell(self, welcome: Welcome) -> None:
        """Read the facts and show them. Await it in a worker."""
        cwd = (self._tab.session or self._tab).cwd
        branch = await to_thread.run_sync(branch_of, cwd, abandon_on_cancel=True)
        try:
            left = await self._history.left(cwd)
            past = self._history.marked(await self._history.recorded("", is_everywhere=False))
        except ClientError:
            past, left = [], ()  # the sessions dialog says what failed
        self._left = [*filter(self._is_useful, left)]
        useful = [one for one in past if self._is_useful(one)]
        self._tab.offered = [one.session_id for one in self._left]
        rows = [replace(row_of(one, *self._history.judge(one)), group="") for one in useful[:MAX_KEPT]]
        self._recent = {row.key: row for row in rows}
        has_others = len(self._tab.app.tabs) > 1
        if len(self._left) > (not has_others):  # a single one is the first of the recent ones
            title = self._left_tabs("other " * has_others)
            rows = [SessionRow(LEFT, title, "", None, "", cwd, None), *rows[: MAX_KEPT - 1]]
        make_rows = partial(session_rows, rows, here=cwd, now=datetime.now().astimezone())
        folder = from_home(cwd) + (f" · git {branch}" if branch else "")
        welcome.tell(folder=folder, make_rows=lambda cells: make_rows(cells=cells), tip=self._tip(past))

    async def remind(self) -> None:
        """Say which tabs were left beside the one that the user goes on with, until they begin something."""
        tab, entered = self._tab, self._tab.writing.entered
        with suppress(ClientError):
            self._left = [*filter(self._is_useful, await self._history.left(tab.cwd))]
        them = "them" if len(self._left) > 1 else "it"
        if self._left and (way := tab.hint(f"{{begin_session}} offers {them}")):
            told = f"{self._left_tabs('other ')}: {way}"
            tab.app.notices.is_over[told] = lambda: tab.writing.entered > entered or len(tab.app.tabs) > 1
            tab.app.notify(told, timeout=REMINDED_S, markup=False)

    def _left_tabs(self, other: str) -> str:
        count = len(self._left)
        return f"The {f'{count} {other}tabs' if count > 1 else f'{other}tab'} that you had open"

    def _is_useful(self, past: PastSession) -> bool:
        """Whether something was said in the session and it can be shown again."""
        said = past.recorded is not None and past.recorded.prompts > 0
        is_elsewhere = self._history.tab_of(past) is None
        return said and is_elsewhere and not past.is_archived and self._history.judge(past)[0] is not OpenMode.NONE

    def _tip(self, past: Sequence[PastSession]) -> str:
        """A tip that changes with each prompt, so that frequent users see all of them."""
        tips = [shown for tip in TIPS if (shown := self._tab.hint(tip))]
        return tips[sum(one.recorded.prompts for one in past if one.recorded is not None) % len(tips)]

    async def open(self, key: str) -> None:
        """Open this recent session, or all that were left, as the sessions dialog does."""
        if key == LEFT:
            self._tab.app.run_worker(self._reopen(self._left))  # the work of this tab ends when it's replaced
        elif key in self._recent:
            await self._history.open(self._recent[key])

    async def _reopen(self, left: Iterable[PastSession]) -> None:
        tab = self._tab
        for past in left:
            await tab.actions.history.reopen(past)
            tab = tab.app.tabs.front or tab


def last_line(conversation: Conversation, shown: ShownRequest | None = None) -> str:
    """What the agent asks, as its card has `shown` it, does, or said last, in one line; "" if there is none."""
    form = next(iter(conversation.elicitations.values()), None)
    if form is None and shown is not None:
        return " · ".join(filter(None, (shown.place, make_visible_line(shown.call.shown_title))))
    now = make_visible_line(form.message) if form is not None else doing(conversation)
    return now or next(filter(None, _last_lines(islice(reversed(conversation.entries), MAX_LOOKED_AT))), "")


def _last_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """What the entries say, without failures from before a restart. They come from the last to the first."""
    is_earlier = False
    for entry in entries:
        is_earlier |= isinstance(entry, Reconnected)
        match entry:
            case Message(role="agent"):
                yield last_line_of(entry, MAX_LINE, PLAIN)
            case Failure(message) if not is_earlier:
                yield make_visible_line("; ".join(message.splitlines()))
