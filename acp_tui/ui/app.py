"""The Textual app: stylesheets, themes, and the way to an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.types import CSSPathType

from acp_tui.client.settings.tree import Settings
from acp_tui.ui.command import Command
from acp_tui.ui.commands import COMMANDS
from acp_tui.ui.keymap import places_of
from acp_tui.ui.settings_app import SettingsApp
from acp_tui.ui.stylesheets import split_stylesheets
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.ui.tab.host import Opening
from acp_tui.ui.tab.loading import preloaded
from acp_tui.ui.tab.screen import SessionScreen
from acp_tui.ui.tab_state import TabState
from acp_tui.ui.terminal_input import mend_terminal_input
from acp_tui.ui.textual_internals import write_to_terminal

if TYPE_CHECKING:
    # Loaded after the first frame: it brings the wire types along.
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.errors import ClientError
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.hub import SessionHub
    from acp_tui.client.sessions.phase import Phase
    from acp_tui.client.transcript.record_to import RecordTo
    from acp_tui.ui.notifying.notifier import Notifier
    from acp_tui.ui.tab.reopening import LeftSession


FIRST_STYLESHEETS, OTHER_STYLESHEETS = split_stylesheets()
QUIT_AGAIN_S: Final = 5.0
"""Who wants to quit twice within this time means it."""


class AcpTuiApp(SettingsApp):
    """Works with agents. The hub around it owns their processes and outlives the app."""

    TITLE = "acp-tui"
    CSS_PATH: ClassVar[CSSPathType | None] = [*FIRST_STYLESHEETS]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (24, "-high")]  # noqa: RUF012 - no ClassVar in Textual either
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Quit", show=False, priority=True)]

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
        """Without `command` the user chooses one first."""
        super().__init__(cwd, settings or Settings(), notes, settings_file)
        mend_terminal_input()
        self._hub = hub
        self._command = command
        self._notifier: Notifier | None = None
        self.record_to: RecordTo | None = None
        """Where the user wants a recording, beside the one that is kept."""
        self.opening: Opening | None = None
        """How the first tab comes to its session, in the app's folder; None: a new one."""
        self._follows = False
        self._asked_to_quit_at = -QUIT_AGAIN_S
        self.last_key_at = 0.0
        """When the last key came, by the event loop's clock: what can wait makes room for its echo."""

    def on_mount(self) -> None:
        """Let the user choose an agent where none was named; say what is wrong in the settings, briefly."""
        if self._command is None and self.opening is None:
            self._read_other_stylesheets()
            self.call_after_refresh(self.action_choose_agent)  # over a screen that has its size
        self.tell_notes(self._notes)

    def on_ready(self) -> None:
        """The first frame is there: read the looks of what is not in it."""
        self._read_other_stylesheets()

    def _read_other_stylesheets(self) -> None:
        """Once. Nothing on the screen is in them, so nothing is styled anew."""
        if not self.stylesheet.has_source(str(OTHER_STYLESHEETS[-1])):
            self.stylesheet.read_all(OTHER_STYLESHEETS)
            self.stylesheet.parse()

    async def action_quit(self) -> None:
        """Quit; where an agent is at work or waits for the user, only when it is wanted twice."""
        at_work = [tab for tab in self.tabs if tab.state in (TabState.WORKING, TabState.NEEDS_YOU)]
        now = asyncio.get_running_loop().time()
        if at_work and now - self._asked_to_quit_at > QUIT_AGAIN_S:
            self._asked_to_quit_at = now
            what = "An agent is at work" if len(at_work) == 1 else f"{len(at_work)} agents are at work"
            self.notify(self.keymap.hint(f"{what}; {{quit}} again quits all the same"), severity="warning")
        else:
            self.exit()

    def begin_to_follow(self) -> None:
        """Tell a user who looks elsewhere what is new in the tabs, and see when the settings change."""
        if not self._follows:
            self._follows = True
            self._begin_notifying()
            self.follow_settings()

    def _begin_notifying(self) -> None:
        from acp_tui.ui.notifying.notifier import Notifier

        if not self.is_headless:
            self._notifier = Notifier(self, partial(write_to_terminal, self))
            self.tabs.listeners.append(self._notifier.look)
            self._notifier.look()

    def on_resize(self, event: events.Resize) -> None:
        """Let the recordings know."""
        for agent in self._hub.agents:
            agent.screen_resized(*event.size)

    def on_unmount(self) -> None:
        """Leave the terminal's window as it was."""
        if self._notifier is not None:
            self._notifier.close()

    async def on_event(self, event: events.Event) -> None:
        """Note keys before anything is done with them."""
        if isinstance(event, events.Key):
            self.last_key_at = asyncio.get_running_loop().time()
        await super().on_event(event)

    def get_default_screen(self) -> Screen[None]:
        """That of the first tab; an empty one where the user has yet to choose an agent."""
        if self.opening is not None:
            return self._reopened_tab(self.opening)
        return Screen() if self._command is None else self._first_tab(self._command)

    def _first_tab(self, command: AgentCommand) -> SessionScreen:
        cwd = command.cwd or self._cwd
        return SessionScreen(self.link_to(command, cwd), cwd, settings=self.settings)

    def _reopened_tab(self, opening: Opening) -> SessionScreen:
        link = self.link_to(self._command, self._cwd) if self._command is not None else AgentLink(None)
        return SessionScreen(link, self._cwd, opening=opening, settings=self.settings)

    @property
    def failure(self) -> ClientError | None:
        """Why no tab has a session; None where one has."""
        if any(tab.session is not None for tab in self.tabs):
            return None
        return next((tab.failure for tab in self.tabs if tab.failure is not None), None)

    def left_sessions(self) -> Sequence[LeftSession]:
        """What the user can come back to, once the app has ended."""
        tabs = [tab for tab in self.tabs if tab.session is not None]
        if not tabs:
            return ()
        from acp_tui.ui.tab.reopening import left_sessions  # a session has loaded most of it

        return left_sessions(tabs)

    @work
    async def action_choose_agent(self) -> None:
        """Start an agent in a new tab, in the folder of the tab in front; without one, to choose none is to quit."""
        from acp_tui.ui.screens.agents import choose_agent

        front = self.tabs.front
        command = await choose_agent(self)
        if command is not None:
            cwd = command.cwd or (front.cwd if front is not None else self._cwd)
            await self.open_tab(self.link_to(command, cwd), cwd)
        elif front is None:
            self.exit()

    @work
    async def action_inspect(self) -> None:
        """Show what passes between us and the agent of the tab in front."""
        await preloaded(["acp_tui.ui.inspector.desk"])
        from acp_tui.ui.inspector.desk import inspect_tab

        if self.tabs.front is not None:
            await inspect_tab(self.tabs.front)

    def link_to(self, command: AgentCommand, cwd: Path) -> AgentLink:
        """A way to an agent that does not run yet, and will start in that folder."""
        return AgentLink(partial(self._start_agent, command, cwd), _shown_name(command))

    def commands_for(self, screen: Screen[object]) -> Iterator[Command]:
        """What can be done now; over a dialog or the inspector, only what concerns all of acp-tui."""
        if not isinstance(screen, SessionScreen):
            yield from super().commands_for(screen)
            return
        from acp_tui.ui.tab.possible import is_possible

        here = {"session", "conversation", "app", *places_of(screen.focused or screen)}
        for command in COMMANDS:
            if command.action and command.where in here and is_possible(command, screen):
                yield command

    async def keep_theme(self, name: str) -> None:
        """Write it into the user's settings."""
        from acp_tui.client.errors import SettingsError

        desk = await self.loaded_settings_desk()
        try:
            await desk.set("appearance.theme", name)
        except SettingsError as error:
            self.say(f"{error}; {error.hint}" if error.hint else str(error), is_wrong=True)

    def deliver_screenshot(
        self, filename: str | None = None, path: str | None = None, time_format: str | None = None
    ) -> str | None:
        """Into the folder where acp-tui was started: that for downloads, Textual's choice, may not exist.

        By the door that all goes through that holds conversation: Textual's own files are as the umask has them.
        """
        from acp_tui.client.files import replace_file

        name = filename or f"acp-tui_{datetime.now():{time_format or '%Y-%m-%dT%H_%M_%S_%f'}}.svg"
        file = Path(path or Path.cwd(), name)
        try:
            replace_file(file, self.export_screenshot().encode(), is_ours=False)
        except OSError as error:
            self.notify(f"It cannot be saved in {file}: {error.strerror}", severity="error", markup=False)
        else:
            self.notify(f"Saved in {file}", markup=False)
        return None

    async def _start_agent(
        self, command: AgentCommand, cwd: Path, on_phase: Callable[[Phase], None]
    ) -> Agent:
        from anyio import to_thread

        # The wire types take longer to load than a frame may: in a thread, so that keys are answered meanwhile.
        await to_thread.run_sync(self._hub.preload)
        from acp_tui.client.sessions.offers import INTERACTIVE
        from acp_tui.client.sessions.policy import policy_of
        from acp_tui.client.sessions.recordings import recording_plan
        from acp_tui.ui.agent_start import ready_to_start

        settings = await self.settings_in_force()
        trace_context = settings.agent.trace_context.as_mapping()
        return await self._hub.start_agent(
            await ready_to_start(self, command),
            cwd=cwd,
            offer=replace(INTERACTIVE, trace_context=trace_context),
            on_phase=on_phase,
            policy=policy_of(settings),
            keeps_frames=True,
            recordings=recording_plan(
                settings.recordings,
                cwd,
                partial(self.notify, title="Recording", severity="warning", timeout=10, markup=False),
                to=self.record_to,
                screen=(self.size.width, self.size.height),
            ),
        )


def _shown_name(command: AgentCommand) -> str:
    """Its name as a line that can be shown; the first frame waits for it."""
    if command.name.isascii() and command.name.isprintable():
        return command.name
    from acp_tui.conversation.visible import make_visible_line

    return make_visible_line(command.name)
