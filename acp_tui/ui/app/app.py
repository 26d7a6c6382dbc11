"""The app: its tabs, the start of agents, and the settings as they change while it runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from anyio import to_thread
from platformdirs import user_pictures_path
from textual import events, work
from textual.screen import Screen

from acp_tui.client.errors import ClientError, SettingsError
from acp_tui.client.private_files import replace_file
from acp_tui.client.settings.location import project_settings_file, settings_file, state_folder
from acp_tui.client.settings.settings import Settings
from acp_tui.conversation import GUARD_S
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import clock_time, from_home
from acp_tui.ui.base.app import BaseApp, picture_of
from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.keymap import keymap_of, places_of
from acp_tui.ui.commands.keys import ask_again
from acp_tui.ui.commands.table import FIRST, LATER
from acp_tui.ui.kit.themes import split_stylesheets, theme_notes
from acp_tui.ui.prompt.input import EARLY, PromptInput
from acp_tui.ui.session.status_line import TabState
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.ui.tab.loading import BEFORE_A_COMMAND, BEFORE_AN_AGENT, preload_in_thread
from acp_tui.ui.tab.screen import SessionScreen
from acp_tui.ui.tab.stage import NO_SESSION, NOT_CONNECTED
from acp_tui.ui.tab.tab import Opening, Tab
from acp_tui.ui.tab.tabs import FIRST_MODE, Tabs
from acp_tui.ui.textual_gaps.internals import press_in, write_to_terminal
from acp_tui.ui.textual_gaps.terminal_input import LINE_END

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.types import CSSPathType

    # Loaded after the first frame, because it imports the wire types.
    from acp_tui.client.agents.command import AgentCommand, Phase
    from acp_tui.client.prompts.memory import PromptMemory
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.hub import SessionHub
    from acp_tui.client.sessions.session_history import LeftSession
    from acp_tui.client.settings.project_settings import ProjectSettings
    from acp_tui.client.settings.reader import SettingsRead
    from acp_tui.client.transcript import RecordTo
    from acp_tui.ui.app.dialogs import Dialogs
    from acp_tui.ui.app.notifier import Notifier
    from acp_tui.ui.app.settings.follower import LiveSettings
    from acp_tui.ui.changes.follower import FolderChanges
    from acp_tui.ui.dialogs.agents import AgentsScreen


FIRST_STYLESHEETS, OTHER_STYLESHEETS = split_stylesheets()
NO_HOST: Final = (
    "No host keeps this session.{set} From the next start on, sessions can go on in one; `acp-tui host` tells if a"
    " package is missing."
)
MAX_LEFT_LINES: Final = 1000
IN_TEXT: Final = ("backspace", "enter", "ctrl+j", LINE_END)
KEPT: Final = "What you typed is kept as your draft"
QUIT_AGAIN_S: Final = 5.0
"""Quitting twice within this time needs no confirmation."""


def _waiting_words(times: Sequence[float]) -> str:
    """How many prompts wait for these times, and for what; "" for none."""
    if not times:
        return ""
    first = min(times)  # 0 for one that the user wants sent as soon as there is an agent
    until = "for your command" if first == inf else f"until {clock_time(first)}" if first else "for its agent"
    return f"1 prompt waits {until}" if len(times) == 1 else f"{len(times)} prompts wait, the first {until}"


class AcpTuiApp(BaseApp):
    """The app for working with agents. The hub outside of it owns their processes and outlives the app."""

    TITLE = "acp-tui"
    CSS_PATH: ClassVar[CSSPathType | None] = [*FIRST_STYLESHEETS]
    DEFAULT_MODE = FIRST_MODE

    def __init__(
        self,
        hub: SessionHub,
        command: AgentCommand | None,
        cwd: Path,
        *,
        settings: Settings | None = None,
        notes: Sequence[str] = (),
        settings_file: Path | None = None,
    ) -> None:
        """Without `command`, the user chooses an agent first.

        With `settings_file`, changes to that file and to the project's file in `cwd` apply while the app runs.
        """
        super().__init__(settings, notes)
        self.tabs = Tabs(self)
        self._cwd = cwd
        self._settings_file = settings_file
        self._live_settings: LiveSettings | None = None
        self._changes: dict[Path, FolderChanges] = {}
        """For the folders of the tabs."""
        self.leaving_folders: set[Path] = set()
        """The worktrees that are about to be deleted."""
        self._memory: PromptMemory | None = None
        self._hub = hub
        self.can_leave = False
        """Whether the process can go on without the screen."""
        self.leaves = False
        """Whether it does so when the app has ended."""
        self.last_turn = ""
        """What stays in the terminal when the app has ended: lines for a terminal."""
        self.moves = ""
        """The ID of the session that another screen shows then; "" for none."""
        self._command = command
        self._notifier: Notifier | None = None
        self.record_to: RecordTo | None = None
        """Where to write another recording, besides the default one."""
        self.opening: Opening | None = None
        """How the first tab opens its session, in the app's folder; None for a new session."""
        self.first_prompt: str | None = None
        """What to send in the first tab's session, unless the user edits it before."""
        self._follows = False
        self._remembered: Sequence[str] = []
        self._in_front = ""
        self.done: frozenset[str] = frozenset()
        """The IDs of sessions that were open in a tab, or that the user didn't want to open again."""
        self._early_input: list[events.Key | events.Paste] | None = []
        """What was typed before the first tab could take it; None from then on."""
        self._listed_s = inf
        """Since when the agents to choose from can be seen, in monotonic seconds."""
        self.tabs.listeners.append(self._pass_early_input_on)
        self.last_key_at = 0.0
        """When the last key came, by the event loop's clock. Less urgent work makes room for its echo."""

    def on_mount(self) -> None:
        """Let the user choose an agent if none was named, and summarize problems in the settings."""
        if self._has_to_choose:
            self._read_other_stylesheets()
            self.call_after_refresh(self.choose_agent)  # over a screen that has its size
        self.tell_notes(self._notes)

    def on_ready(self) -> None:
        """Load what the first frame doesn't show: what an agent needs, in a thread, and the other stylesheets."""
        if self._command is not None:
            self.run_worker(preload_in_thread(BEFORE_AN_AGENT))
        self._read_other_stylesheets()

    def _read_other_stylesheets(self) -> None:
        """Load the other stylesheets, once. They style nothing on the screen, so nothing is styled again."""
        if not self.stylesheet.has_source(str(OTHER_STYLESHEETS[-1])):
            self.stylesheet.read_all(OTHER_STYLESHEETS)
            self.stylesheet.parse()

    async def action_quit(self, command: str = "quit") -> None:
        """Quit. A second request confirms it if an agent works or waits for the user, if a prompt waits for its time,
        and with several tabs if the key is that of the end of a text.

        `command` is the one whose key was pressed, and is to be pressed again. If a host keeps a session, the user
        chooses whether it goes on.
        """
        at_work = [
            tab for tab in self.tabs if tab.state in (TabState.WORKING, TabState.NEEDS_YOU) and not tab.link.is_hosted
        ]
        read_only = [tab for tab in self.tabs if tab.session is not None and tab.session.is_read_only]
        hosted = [tab for tab in self.tabs if tab.link.is_hosted and tab not in read_only]
        waiting = _waiting_words([at for tab in self.tabs if tab.session is not None for at in tab.session.queue.times])
        has_others = len(self.tabs) > 1 and command == "delete_or_quit"  # the key also deletes, in lists and text
        is_asked = all(tab.state is TabState.NEEDS_YOU for tab in at_work)
        one, several = ("waits for your answer", "wait for your answer") if is_asked else ("is working", "are working")
        works = f"an agent {one}" if len(at_work) == 1 else f"{len(at_work)} agents {several}"
        what = ", and ".join(filter(None, [works * bool(at_work), waiting])) or f"{len(self.tabs)} tabs are open"
        draft = ", and it comes back as a draft" if waiting and not at_work else ""
        hint = "; {detach} leaves it running" if at_work and self.can_leave else ""
        asks = self.keymap.hint(f"{{{command}}} again quits: {what}{draft}{hint}")  # a card may leave half a line
        if self.keys.asked_again == asks:
            self.exit()
        elif hosted:
            self.keys.ask_again(asks, QUIT_AGAIN_S, self.notices.drop_outdated)
            self._quit_asking(hosted, waiting, are_hosted=True)
        elif at_work and self.can_leave and self.settings.sessions.host == "ask":
            self._quit_asking(at_work, waiting, are_hosted=False)
        elif at_work or waiting or has_others:
            self.keys.note_asked(QUIT_AGAIN_S)
            ask_again(self, asks, QUIT_AGAIN_S)
        else:
            self.exit()

    @work(exclusive=True, group="quit")
    async def _quit_asking(self, tabs: Sequence[Tab], waiting: str, *, are_hosted: bool) -> None:
        chosen = await self.dialogs.at_quit(len(tabs), waiting, are_hosted=are_hosted)
        for tab in tabs if are_hosted and chosen == "end" else ():
            await tab.leave()
        if chosen is not None:
            self.leaves = chosen == "leave" and not are_hosted
            self.exit()

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Exit, and note what stays in the terminal: afterwards, there is nothing left to draw it."""
        panel = self.tabs.front.panel if self.tabs.front is not None else None
        scrollback = self.settings.appearance.scrollback and not self.leaves
        if panel is not None and panel.view.is_attached and scrollback:
            self.last_turn = "".join(f"{line.render(self.console)}\n" for line in panel.view.last_turn(MAX_LEFT_LINES))
        super().exit(result, return_code, message)

    def leave(self) -> None:
        """End the screen, and have the sessions go on without it."""
        self.leaves = True
        self.exit()

    def hang_up(self) -> None:
        """End without a terminal; the sessions go on if the user has chosen that."""
        self.leaves |= self.can_leave and self.settings.sessions.host == "always"
        self.exit()

    async def outlasting(self, work: Coroutine[Any, Any, object]) -> None:
        """Await work that goes on if the screen is left."""
        await self._hub.outlasting(work)

    def move_into_host(self, front: Tab) -> None:
        """Have the sessions go on in a host, and show the one in front from there."""
        if front.session is not None and self._can_leave(front):
            self.moves = str(front.session.session_id)
            self.leave()
        else:
            self.notify(self._why_not_left(front))

    def _why_not_left(self, front: Tab) -> str:
        """Why the session in front can't go on in a host that this process becomes."""
        if front.link.is_hosted:
            return "A host keeps this session already."
        if self.can_leave:
            return f"{front.writing.why_not or NO_SESSION}."
        return NO_HOST.format(set=" Set sessions.host to ask or always." * (self.settings.sessions.host == "never"))

    def _can_leave(self, tab: Tab) -> bool:
        """Whether the tab's session can go on without the screen, in a host that this process becomes."""
        agent = tab.link.agent
        return self.can_leave and agent is not None and not agent.command.is_host

    @work
    async def detach(self, front: Tab) -> None:
        """Leave the session of the tab in front running in its host. Without another tab, quit.

        If no host has it yet, all sessions go on in one.
        """
        if front.link.has_lost_host:
            self.notify(self.keymap.hint(NOT_CONNECTED["unhosted"]))
        elif self._can_leave(front):
            self.leave()
        elif not front.link.is_hosted:
            self.notify(self._why_not_left(front))
        elif len(self.tabs) > 1:
            await self.take_away(front)
            await front.detach()
        else:
            self.exit()

    def begin_to_follow(self) -> None:
        """Start to notify the user about the tabs, and to follow changes of the settings."""
        from acp_tui.ui.app.notifier import Notifier  # loading point: after the first frame

        if not self._follows:
            self._follows = True
            self.tabs.listeners.append(self._remember_if_killed)
            if not self.is_headless:
                self._notifier = Notifier(self, partial(write_to_terminal, self))
                self.tabs.listeners.append(self._notifier.check_tabs)
                self._notifier.check_tabs()
            self.follow_settings()

    def on_resize(self, event: events.Resize) -> None:
        for agent in self._hub.agents:
            agent.screen_resized(*event.size)

    def on_unmount(self) -> None:
        if self._notifier is not None:
            self._notifier.close()

    async def on_event(self, event: events.Event) -> None:
        """Note the time of keys before they are handled, and hold back those that come before the first tab."""
        if isinstance(event, events.Key):
            self.last_key_at = asyncio.get_running_loop().time()
        if self._early_input is not None and isinstance(event, events.Key | events.Paste) and self._is_early(event):
            self._early_input.append(event)
        else:
            await super().on_event(event)

    @property
    def _has_to_choose(self) -> bool:
        return self._command is None and self.opening is None

    def _is_early(self, event: events.Key | events.Paste) -> bool:
        """Whether it's for the first tab: without one, what is written before there are agents to choose from, and in
        one go with that, so that an Enter in it chooses none."""
        before = self._early_input or ()
        is_before = event.time < max([self._listed_s, *(one.time + GUARD_S for one in before[-1:])])
        is_text = isinstance(event, events.Paste) or event.is_printable or (event.key in IN_TEXT and before != [])
        return not self._has_to_choose or (is_before and is_text)

    def on_agents_screen_shown(self, message: AgentsScreen.Shown) -> None:  # by name: it's loaded later
        """What is written from now on searches the list, except in one go with what was written before."""
        if self._listed_s == inf and self._early_input:
            self.notify(KEPT)
        self._listed_s = min(self._listed_s, message.time)

    def _pass_early_input_on(self) -> None:
        """The first tab's prompt has the focus."""
        if self._early_input is not None:
            self.call_next(self._take_early_input)

    async def _take_early_input(self) -> None:
        if self.first_prompt is not None and self.tabs.front is not None:
            # Not by keys: a question may be on the screen, and nothing but the user's keys may answer it.
            self.tabs.front.writing.submit(PromptInput.Submitted(self.first_prompt))
        early, self._early_input = self._early_input or (), None
        prompt = self.tabs.front.screen.prompt if self.tabs.front is not None and self._has_to_choose else None
        for event in early:
            if prompt is None:
                await self.on_event(event)
            else:  # nothing but text, and not sent: who typed it hadn't chosen to whom
                press_in(prompt, events.Key(LINE_END, None) if getattr(event, "key", "") == "enter" else event)
        if prompt is not None and early:
            prompt.call_later(setattr, prompt, "border_title", EARLY)

    def get_default_screen(self) -> Screen[None]:
        """The screen of the first tab; an empty screen if the user has yet to choose an agent."""
        command = self._command
        if self._has_to_choose:
            return Screen()
        cwd = self._cwd if command is None or self.opening is not None else command.cwd or self._cwd
        link = self.link_to(command, cwd) if command is not None else AgentLink(None)
        return Tab(link, cwd, opening=self.opening, settings=self.settings).screen

    @cached_property
    def dialogs(self) -> Dialogs:
        from acp_tui.ui.app.dialogs import Dialogs  # loading point: BEFORE_A_COMMAND

        return Dialogs(self)

    @property
    def failure(self) -> ClientError | None:
        """Why no tab has a session; None if one has."""
        if any(tab.session is not None for tab in self.tabs):
            return None
        return next((tab.failure for tab in self.tabs if tab.failure is not None), None)

    def left_sessions(self) -> Sequence[LeftSession]:
        """The sessions that the user can reopen after the app has quit, which are remembered."""
        tabs = [tab for tab in self.tabs if tab.session is not None or tab.writing.recall is not None]
        if not tabs:
            return ()
        self._note_open()
        self._write_left()
        return self.dialogs.left_sessions(tabs, self.prompt_memory.places())

    def _remember_if_killed(self) -> None:
        """Remember the sessions in the tabs already, if they are others: who is killed has no time for it."""
        before = self._remembered, self._in_front
        self._note_open()
        if (self._remembered, self._in_front) != before:
            self.run_worker(self._remember_left())

    def _note_open(self) -> None:
        """Note which sessions are open, and which is in front, or was before an empty one."""
        open_ = [tab for tab in self.tabs if tab.kept_id]
        self.done |= {one for tab in open_ if tab.session is not None for one in (tab.kept_id, *tab.offered)}
        ids = self._remembered = [tab.kept_id for tab in open_]
        before = self._in_front if self._in_front in ids else next(reversed(ids), "")
        self._in_front = (self.tabs.front.kept_id if self.tabs.front is not None else "") or before

    async def _remember_left(self) -> None:
        await preload_in_thread(BEFORE_A_COMMAND)
        await to_thread.run_sync(self._write_left)

    def _write_left(self) -> None:
        self.dialogs.remember_left(self._cwd, lambda: (self._remembered, self.done), lambda: self._in_front)

    @work
    async def choose_agent(self, front: Tab | None = None) -> None:
        """Start an agent in a new tab, in the folder of the tab in front. Without a tab, canceling quits."""
        choice = await self.dialogs.choose_agent(self.tabs)
        if choice is None:
            if front is None:
                self.exit()
        elif choice.is_in_worktree and front is not None:
            await front.begin_in_worktree(choice.command)
        else:
            cwd = choice.command.cwd or (front.cwd if front is not None else self._cwd)
            worktree = await self.dialogs.add_worktree(self._cwd) if choice.is_in_worktree else cwd
            if worktree is None:
                self.choose_agent(front)
            else:
                await self.open_tab(self.link_to(choice.command, worktree), worktree)

    def link_to(self, command: AgentCommand, cwd: Path, name: str = "") -> AgentLink:
        """A link to an agent, called `name` if that is known, that isn't running yet and will start in this folder."""
        return AgentLink(partial(self._start_agent, command, cwd), make_visible_line(name or command.name), command)

    def commands_for(self, screen: Screen[object]) -> Iterator[Command]:
        """The commands that can do something now. Over a dialog or the inspector, only those of the whole app."""
        if not isinstance(screen, SessionScreen):
            yield from super().commands_for(screen)
            return
        places = {"prompt", "session", "conversation", "app", *places_of(screen.focused or screen)}
        yield from self.dialogs.possible(screen.tab, places)

    def suggested_for(self, screen: Screen[object]) -> Sequence[str]:
        """What one does first in a session, or what one does in a conversation."""
        if not isinstance(screen, SessionScreen):
            return ()
        return LATER if screen.tab.actions.was_said else FIRST

    # Tabs

    async def open_tab(
        self, link: AgentLink, cwd: Path, opening: Opening | None = None, *, chosen_in: Tab | None = None
    ) -> Tab:
        """Open a new tab for a session of this agent, in front: in place of the tab it was `chosen_in`, if unused."""
        tab = Tab(link, cwd, opening=opening, settings=self.settings)
        left = chosen_in if chosen_in is not None and chosen_in.makes_room_for(tab) else None
        await self.tabs.open(tab, left)
        if left is not None:
            self.run_worker(self._put_away(left))
        return tab

    def changes_in(self, cwd: Path) -> FolderChanges:
        """What has changed in a folder since the first of its tabs was opened, until the last one is closed."""
        from acp_tui.ui.changes.follower import FolderChanges  # loading point: BEFORE_TRACKING_CHANGES

        changes = self._changes.get(cwd)
        if changes is None:
            changes = self._changes[cwd] = FolderChanges(self, cwd)
            changes.start()
        return changes

    @property
    def prompt_memory(self) -> PromptMemory:
        """The prompts of all tabs, and those of earlier runs that were saved."""
        from acp_tui.client.prompts.memory import PromptMemory  # loading point: BEFORE_WRITING

        if self._memory is None:
            self._memory = PromptMemory(state_folder() if self.settings.history.keep else None)
        return self._memory

    async def close_tab(self, tab: Tab, others: Sequence[Tab] = (), *, is_chosen: bool | None = None) -> None:
        """Close a tab and its session, after confirmation, and `others` in the same worktree with it.

        `is_chosen` is whether that was chosen in a comparison.
        """
        for one in others:
            if not await one.may_close():
                return
        if await tab.may_close(others, is_chosen=is_chosen):
            if tab in self.tabs and not tab.actions.worktrees.left_for and (told := self._what_is_kept(tab)):
                self.notify(told, markup=False)
            await self.close_now(*others, tab)

    def _what_is_kept(self, tab: Tab) -> str:
        """Where the session of a tab that is being closed is found again, or its draft if that is all; or ""."""
        recall = tab.writing.recall
        if tab.kept_id:
            way = self.keymap.hint("; {choose_session} opens it again")
            return f"Closed {tab.name()}{way}" * self.settings.recordings.keep
        if recall is None or not tab.prompt.draft.strip() or len(self.tabs) == 1:
            return ""
        left = self.dialogs.left_sessions([tab], {recall.place})
        return "".join(f"Your draft {one.draft_words}" for one in left if one.draft_words)

    async def close_now(self, *tabs: Tab) -> None:
        """Close these tabs and their sessions. If there is no other tab, start another session in the last one."""
        for one in tabs:
            if one in self.tabs:  # it may have been closed in the meantime
                await (self._put_away(one) if len(self.tabs) > 1 else one.begin_anew())

    async def _put_away(self, tab: Tab) -> None:
        """Run it outside of the tab, as `take_away`: what works for the tab ends with it."""
        await self.take_away(tab)
        await tab.leave()

    async def take_away(self, tab: Tab) -> None:
        """Remove a tab, and stop following changes that no other tab needs."""
        await self.tabs.close(tab)
        followed = [tab.changes for tab in self.tabs]
        for cwd, changes in tuple(self._changes.items()):
            if changes not in followed:
                self._changes.pop(cwd).end()

    # Settings

    @work
    async def show_settings(self) -> None:
        live = await self._loaded_live_settings()
        await live.ask()
        await self.dialogs.show_settings(live, self.looks.choose_theme)

    @work
    async def action_choose_theme(self, written: str = "") -> None:
        """Use the theme that is named behind the command; without one of that name, let the user choose."""
        live = await self._made_live_settings()
        name = written.partition(" ")[2]
        if name in self.available_themes:
            await self.keep_theme(name)
            return
        await self.looks.choose_theme(live.settings.appearance.theme, self.keep_theme, name)

    async def keep_theme(self, name: str) -> None:
        """Write the theme to the user's settings."""
        live = await self._loaded_live_settings()
        try:
            await live.set("appearance.theme", name)
        except SettingsError as error:
            self.say(f"{error}; {error.hint}" if error.hint else str(error), is_wrong=True)

    @work
    async def follow_settings(self) -> None:
        """Apply changes of the settings files, as long as the app runs."""
        if self._settings_file is not None:
            live = await self._made_live_settings()
            await live.open()
            await live.follow()

    async def settings_in_force(self) -> Settings:
        """The settings once the files are read and the user has decided whether to use the project's."""
        project = project_settings_file(self._cwd)
        if self._settings_file is not None and await to_thread.run_sync(os.path.lexists, project):
            self.begin_to_follow()
            await (await self._made_live_settings()).ready()
        return self.settings

    async def _loaded_live_settings(self) -> LiveSettings:
        """The settings in force. Reads the files if nothing follows them."""
        live = await self._made_live_settings()
        if self._settings_file is None:
            await live.open()
        return live

    async def _made_live_settings(self) -> LiveSettings:
        await preload_in_thread(["acp_tui.ui.app.settings.follower"])
        from acp_tui.ui.app.settings.follower import LiveSettings  # loading point: after the first frame

        if self._live_settings is None:
            self._live_settings = LiveSettings(self, self._settings_file or settings_file(), self._cwd, self.settings)
        return self._live_settings

    async def trusts(self, project: ProjectSettings, user: SettingsRead) -> bool:
        """Ask the user whether to use a project's settings."""
        return await self.dialogs.trusts(project, user)

    def use_settings(self, settings: Settings) -> Sequence[str]:
        """Apply these settings. Returns problems with them."""
        if not settings.appearance.theme and self._live_settings is not None and not self._live_settings.is_open:
            self.looks.note_terminal_theme()
        appearance = self.looks.fitted(settings.appearance)
        before, self.settings = self.settings, replace(settings, appearance=appearance)
        if appearance != before.appearance:
            self.looks.use(appearance)
            self.looks.draw_anew()
        if settings.keys != before.keys:
            self.keymap = keymap_of(settings.keys)
        for tab in self.tabs:
            tab.use_settings(self.settings)
        return (*theme_notes(settings.appearance.theme), *self.keymap.notes)

    def deliver_screenshot(
        self, filename: str | None = None, path: str | None = None, time_format: str | None = None
    ) -> str | None:
        """Save the screenshot in the pictures or home folder, not in the project.

        It's written like everything else that contains conversation: Textual's own files have the permissions of the
        umask.
        """
        name = filename or f"acp-tui-{datetime.now():{time_format or '%Y-%m-%d-%H%M%S'}}.svg"
        pictures = user_pictures_path()
        file = Path(path or (pictures if pictures.is_dir() else Path.home()), name)
        try:
            replace_file(file, picture_of(self).encode(), is_ours=False)
        except OSError as error:
            told = f"The picture can't be saved as {from_home(file)}: {error.strerror}"
            self.notify(told, severity="error", markup=False)
        else:
            self.notify(f"The picture is saved as {from_home(file)}", markup=False)
        return None

    async def _start_agent(self, command: AgentCommand, cwd: Path, on_phase: Callable[[Phase], None]) -> Agent:
        # Load the wire types in a thread, so that keys stay responsive: loading takes longer than a frame.
        await to_thread.run_sync(self._hub.preload)
        await preload_in_thread(["acp_tui.ui.app.agent_start"])
        from acp_tui.ui.app.agent_start import start_agent  # loading point: BEFORE_AN_AGENT

        return await start_agent(self, self._hub, command, cwd, self.settings_in_force, on_phase, self.record_to)
