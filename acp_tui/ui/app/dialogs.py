"""The dialogs over the tabs.

Loaded after the start, or with the first command.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from acp_tui.client.agents.catalogue import EntrySource, ListedAgent, recorded_agent
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.remembered import in_its_sandbox
from acp_tui.client.errors import SessionNotOpened
from acp_tui.client.hosting.finding import hosted_again
from acp_tui.client.prompts.memory import DraftKey
from acp_tui.client.sessions import session_history
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.project_settings import ProjectSettings
from acp_tui.client.settings.reader import SettingsRead
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.client.transcript.recording_plan import recording_store
from acp_tui.client.worktrees import WorktreeFailed, add_worktree
from acp_tui.conversation.visible import make_visible
from acp_tui.ui.app.agent_start import ready_to_start
from acp_tui.ui.app.settings.follower import LiveSettings
from acp_tui.ui.app.settings.screen import ChooseTheme, SettingsScreen
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.commands.command import Command, Place
from acp_tui.ui.commands.table import COMMANDS
from acp_tui.ui.dialogs.agents import AgentChoice, choose_agent
from acp_tui.ui.dialogs.trust import TrustSettingsDialog
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.tab.loading import preload_in_thread
from acp_tui.ui.tab.tab import Tab


class Dialogs:
    """Opens dialogs over the tab in front. Await its methods in a worker."""

    remember_left = staticmethod(session_history.remember_left)

    def __init__(self, app: BaseApp) -> None:
        self._app = app

    async def at_quit(self, count: int, waiting: str, *, are_hosted: bool = True) -> str | None:
        """Ask what to do with hosted or working sessions: "leave" them running, "end" them; None to stay in the app.

        `waiting` says which prompts wait for their time: they come back as a draft in either case.
        """
        what = "session" if count == 1 else f"{count} sessions"
        rows = [
            PickerRow("leave", f"Leave the {what} running", "acp-tui attach reopens it"),
            PickerRow(
                "end", f"Close the {what}", "for every terminal" if are_hosted else "and end what the agent does"
            ),
        ]
        return await self._app.push_screen_wait(Picker(f"Quit? {waiting}" if waiting else "Quit", rows, search=False))

    async def choose_agent(self, tabs: Iterable[Tab]) -> AgentChoice | None:
        """Let the user choose an agent to start, here or in a new worktree; None if they cancel.

        Those that the tabs run by a command line are in no catalogue, and in this list.
        """
        here = {
            command.argv: ListedAgent(command, EntrySource.USER, tab.agent_name, is_recent=True)
            for tab in tabs
            if (command := tab.link.command) is not None and not (command.is_listed or command.is_host)
        }
        return await choose_agent(self._app, here=[*here.values()], is_first=not tuple(tabs))

    async def add_worktree(self, cwd: Path) -> Path | None:
        """Add a git worktree for the first tab; None if that fails, which the user is told."""
        try:
            return Path((await add_worktree(cwd, "")).folder)
        except WorktreeFailed as error:
            told = ". ".join(filter(None, (str(error), error.hint)))
            self._app.notify(make_visible(told), severity="error", markup=False)
            return None

    async def hosted_again(self, session: Session, recordings: RecordingSettings) -> AgentCommand:
        """Start a host that continues a recorded session, and return it as an agent.

        Raises ClientError, also if the user doesn't agree to what it runs.
        """
        recorded = await to_thread.run_sync(SessionIndex(recording_store(recordings)).find, session.session_id)
        if recorded is None:
            raise SessionNotOpened("No recording has a prompt of this session, so no other host can continue it")
        past = session_history.past_session(recorded)
        if past.why_not_again:
            raise SessionNotOpened(f"The session can't be continued: {past.why_not_again}")
        command = await to_thread.run_sync(recorded_agent, past.agent, past.command, past.cwd)
        sandboxed = await to_thread.run_sync(session_history.sandboxed_as_before, command, past)
        agreed = await ready_to_start(self._app, in_its_sandbox(sandboxed, self._app.settings))
        return (await hosted_again(past, agreed)).command

    async def inspect(self, tab: Tab) -> None:
        """Show the frames between acp-tui and the tab's agent, or those of its recording."""
        await preload_in_thread(["acp_tui.workbench.inspector.screen"])
        from acp_tui.workbench.inspector.screen import open_inspector  # loading point: on first use

        agent = tab.link.agent or tab.link.starting
        if agent is not None and agent.frames is not None:
            frames, title = agent.frames, agent.title
            if agent.hop_frames:
                rows = [PickerRow(agent.frames, "acp-tui and the chain")]
                rows += [PickerRow(hop, hop.agent, shlex.join(hop.argv)) for hop in agent.hop_frames]
                chosen = await self._app.push_screen_wait(Picker("Whose frames?", rows, search=False))
                if chosen is None:
                    return
                frames, title = chosen, chosen.agent
            await open_inspector(tab.screen, frames, title)
        elif isinstance(tab.session, session_history.SessionFromRecording):
            file = tab.session.recorded.recordings[-1]
            await open_inspector(tab.screen, file, file.name)
        else:
            tab.say("There is no agent to inspect yet.")

    async def show_settings(self, live: LiveSettings, choose_theme: ChooseTheme) -> None:
        await self._app.push_screen_wait(SettingsScreen(live, choose_theme))

    async def trusts(self, project: ProjectSettings, user: SettingsRead) -> bool:
        return await self._app.push_screen_wait(TrustSettingsDialog(project, user))

    def possible(self, tab: Tab, places: Collection[Place]) -> Iterator[Command]:
        """The commands of these places that can do something in the tab now."""
        for command in COMMANDS:
            is_offered = command.action and command.where in places
            if is_offered and command.when(tab.actions):
                yield command

    def left_sessions(self, tabs: Iterable[Tab], drafts: Container[DraftKey]) -> Sequence[session_history.LeftSession]:
        """The sessions left in the tabs, from left to right, without those read from recordings.

        Those with no more than a draft come last, without a title.
        """
        left, blank = [], []
        for tab in tabs:
            session, link, recall = tab.session, tab.link, tab.writing.recall
            if session is not None:
                place, is_blank = DraftKey(str(session.cwd), session.session_id), not session.conversation.is_begun
                lost = link.has_lost_host
                told = session_history.left_session(session, link.agent, link.command, has_lost_host=lost)
            else:
                assert recall is not None  # the others have nothing to leave
                place, is_blank, told = recall.place, tab.starter.past is None, None
            if told is not None:
                left.append(replace(told, has_draft=place in drafts))
            elif is_blank and place in drafts:
                blank.append(session_history.LeftSession(place.session, "", tab.agent_name, False, has_draft=True))
        return [*left, *blank]
