"""Renders a moment of a recording, or of what the demo agent plays, to a file format.

The studio shows the session's screen, headless, at that moment. Nothing in it comes from this machine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
from anyio import to_thread
from textual import events, on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from acp_tui.client.errors import ClientError
from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.client.transcript.events import Event
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import session_facts
from acp_tui.ui.base.app import BaseApp, picture_of
from acp_tui.ui.kit.themes import DARK
from acp_tui.ui.prompt.input import PromptFrame
from acp_tui.ui.replay.demo_recording import DemoUser, record_demo, timeless, without_durations
from acp_tui.ui.replay.panel import RecordedPanel
from acp_tui.ui.replay.player import Player, Spot, moment_of
from acp_tui.ui.replay.timeline import Timeline, open_playable
from acp_tui.ui.session.sidebar import SIDEBAR_FROM_COLUMNS, Sidebar, SidebarState
from acp_tui.ui.session.status import facts_of, state_of
from acp_tui.ui.session.status_line import Status, StatusLine
from acp_tui.ui.textual_gaps.internals import painted_rows
from acp_tui.values import dataclass

QUIET_ROUNDS: Final = 3
"""A message can cause another, and that a layout."""
POLL_S: Final = 0.005
SETTLE_LIMIT_S: Final = 60.0


class PictureScreen(Screen[None]):
    """The screen of a recorded session. It only shows; it can't act."""

    def __init__(self, timeline: Timeline, settings: Settings) -> None:
        super().__init__()
        self._timeline = timeline
        self._settings = settings
        self.panel: RecordedPanel | None = None
        self._place = Vertical(id="session")
        self._frame = PromptFrame(id="prompt-frame")
        self._line = StatusLine(id="status")
        self._sidebar: Sidebar | None = None

    def compose(self) -> ComposeResult:
        yield from (self._place, self._frame, self._line)

    def on_mount(self) -> None:
        self.set_focus(self._frame.prompt)
        self.show_facts()

    async def show(self, conversation: Conversation) -> None:
        before = self.panel
        folds, images = self._settings.conversation, self._settings.appearance.images
        self.panel = RecordedPanel(conversation, self._timeline.header.cwd, folds=folds, images=images)
        self.panel.prompt = self._frame.prompt
        if before is not None:
            await before.remove()
        await self._place.mount(self.panel, before=0)
        self.show_facts()

    @on(events.DescendantFocus)
    @on(RecordedPanel.FactsChanged)
    def show_facts(self) -> None:
        line = self._line
        if self.panel is None:
            line.show(Status(phase="waiting for the agent"))
            return
        conversation = self.panel.conversation
        self._frame.prompt.note_requests(conversation.permissions)
        agent = make_visible_line(self._timeline.agent)
        state = "answering" if self.panel.card.has_focus_within else state_of(conversation)
        line.show(Status(agent=agent, state=state, facts=facts_of(conversation)))
        if self.app.size.width >= SIDEBAR_FROM_COLUMNS:
            self._show_sidebar(conversation)

    def _show_sidebar(self, conversation: Conversation) -> None:
        """Show what the recording knows, which excludes changed files."""
        if self._sidebar is None:
            self._sidebar = Sidebar(id="sidebar")
            self.add_class("-with-sidebar")
            self._place.mount(self._sidebar)
        # Not the whole path: the home folder's owner is private.
        folder = Path(self._timeline.header.cwd).name
        facts = session_facts(conversation, self._timeline.agent, folder, None)
        plans = tuple(conversation.plans.values())
        self._sidebar.show(SidebarState(plans, facts=facts))


class _PictureApp(BaseApp):
    """An app that looks the same everywhere."""

    def __init__(self, timeline: Timeline, theme: str) -> None:
        # A link would name this machine.
        settings = Settings(appearance=Appearance(theme, images="blocks", reduced_motion=True, links=False))
        self._timeline = timeline
        super().__init__(settings, environ={})  # ignore NO_COLOR of this terminal
        if theme not in self.available_themes:
            known = ", ".join(sorted(self.available_themes))
            raise ClientError(f"there is no theme {theme!r}", hint=f"known: {known}")

    def get_default_screen(self) -> PictureScreen:
        return PictureScreen(self._timeline, self.settings)


class Studio:
    """Shows moments of one timeline; see `open_studio`. Its methods return when the screen is settled."""

    def __init__(self, pilot: Pilot[Any], timeline: Timeline) -> None:
        self.player = Player(timeline)
        self.app: App[Any] = pilot.app
        self._pilot = pilot

    async def show(self, moment: int) -> None:
        """Show this moment, which must not be before the last one shown."""
        player, panel = self.player, self.panel
        while player.moment < moment:
            for touch in player.step().touched:
                if panel is not None and touch.conversation is panel.conversation:
                    panel.note(touch.change)
        conversation = self.conversation
        is_there = player.front is not None or conversation.entries
        if is_there and (panel is None or panel.conversation is not conversation):
            await self._screen.show(conversation)
        self._screen.show_facts()
        await self.settle()

    @property
    def conversation(self) -> Conversation:
        return self.player.conversation(self.player.front)

    @property
    def strips(self) -> list[Strip]:
        return painted_rows(self.app.screen)

    @property
    def svg(self) -> str:
        return picture_of(self.app)

    @property
    def _screen(self) -> PictureScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, PictureScreen)
        return screen

    @property
    def panel(self) -> RecordedPanel | None:
        """The session; None before there is one."""
        return self._screen.panel

    async def settle(self) -> None:
        """Wait until everything is read, drawn, and laid out."""
        with anyio.fail_after(SETTLE_LIMIT_S):
            quiet = 0
            while quiet < QUIET_ROUNDS:
                is_still = self._is_still
                quiet = quiet + 1 if is_still else 0
                if not is_still:
                    await anyio.sleep(POLL_S)
                await self._pilot.pause(0)

    @property
    def _is_still(self) -> bool:
        panel = self.panel
        if panel is None:
            return True
        terminals = panel.conversation.terminals.values()
        # While the emulator loads, no terminal has a screen.
        is_loading = any(panel.view.terminal_screens.screen(state) is None for state in list(terminals)[:1])
        return panel.is_settled and not is_loading


@asynccontextmanager
async def open_studio(timeline: Timeline, size: tuple[int, int], theme: str = DARK.name) -> AsyncIterator[Studio]:
    """Open a screen of this size (columns and rows). Raises ClientError."""
    async with _PictureApp(timeline, theme or DARK.name).run_test(size=size, notifications=False) as pilot:
        yield Studio(pilot, timeline)


SUFFIXES: Final = (".svg", ".txt")


@dataclass(frozen=True, slots=True)
class View:
    at: Spot | None = None
    """None: the end."""
    size: tuple[int, int] = (120, 40)
    """Columns and rows."""
    theme: str = DARK.name


def suffix_of(output: Path) -> str:
    """The file format, by suffix. Raises ClientError."""
    suffix = output.suffix.lower()
    if suffix not in SUFFIXES:
        raise ClientError(f"{output} doesn't name a known format", hint=f"known: {' '.join(SUFFIXES)} .md .jsonl")
    return suffix


@asynccontextmanager
async def timeline_of(
    *files: Path, edit: Callable[[Event], Event] = timeless, wanted: SessionId | None = None
) -> AsyncIterator[Timeline]:
    """Open recordings as one. Raises RecordingUnreadable."""
    with await to_thread.run_sync(open_playable, *files) as recording:
        timeline = Timeline(recording, edit, wanted)
        await to_thread.run_sync(timeline.read_on)
        yield timeline


@asynccontextmanager
async def timeline_of_demo(name: str, user: DemoUser, size: tuple[int, int]) -> AsyncIterator[Timeline]:
    """Record what the demo agent plays. Raises ClientError."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "demo.jsonl")
        await record_demo(name, user, file, screen=size)
        async with timeline_of(file, edit=without_durations) as timeline:
            yield timeline


async def render(timeline: Timeline, view: View, suffix: str) -> bytes:
    """Return the contents of the file; `suffix` is one of SUFFIXES. Raises ClientError."""
    moment = timeline.length if view.at is None else await to_thread.run_sync(moment_of, timeline, view.at)
    if view.at is not None and moment is None:
        raise ClientError(f"in this recording {view.at.shown}")
    assert moment is not None
    async with open_studio(timeline, view.size, view.theme) as studio:
        await studio.show(moment)
        text = "".join(f"{strip.text.rstrip()}\n" for strip in studio.strips)
        return (studio.svg if suffix == ".svg" else text).encode()
