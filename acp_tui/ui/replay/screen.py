"""The replay screen: a session as you saw it, with keys to move through it. Touches no agent and no file."""

from __future__ import annotations

import asyncio
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final, NamedTuple

from anyio import create_task_group, move_on_after, to_thread
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from acp_tui.client.settings.settings import Settings
from acp_tui.client.transcript.events import Dropped, Event, Exited, TerminalCut
from acp_tui.client.transcript.replay import ReplayStep
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import RequestKey, SessionId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import clock
from acp_tui.ui.base.app import BaseApp, keep_what_is_loaded
from acp_tui.ui.commands.command import Command, Place
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.commands.keymap import BY_ID, PLACES_OF, Keymap, keymap_of
from acp_tui.ui.commands.table import COMMANDS, REPLAY_COMMANDS
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.kit.desktop import copy
from acp_tui.ui.kit.dialog import FrameKeys
from acp_tui.ui.kit.pickers import ReadingScreen
from acp_tui.ui.replay.panel import ReplayPanel
from acp_tui.ui.replay.player import READING_PAUSE_S, Player, Projector, Speed, Spot, moment_of
from acp_tui.ui.replay.recorded_reply import RecordedReply
from acp_tui.ui.replay.timeline import RecordedAnswer, Timeline
from acp_tui.ui.session.find_bar import FindBar
from acp_tui.ui.session.status import facts_of, state_of
from acp_tui.ui.session.status_line import MAX_CELLS, MIN_CELLS, Status, StatusLine, state_of_tab, tab_label
from acp_tui.ui.textual_gaps.internals import bindings_of_key

READING: Final = "reading the recording"
ENOUGH_S: Final = 0.5
"""What is read by then is enough to begin playing."""

_PLACES: Final = frozenset({"app", "dialog", "find", "list", "moving", "page", "replay"})


KEYS: Final = (
    "{replay_play} play · {replay_previous} {replay_next} events · {replay_prompt_above} {replay_prompt_below} prompts"
    " · {replay_slower} {replay_faster} speed · {find} find · {replay_leave} quit"
)


class SessionLine(Static):
    """Shows the sessions, their states, and which one is on the screen."""

    DEFAULT_CSS = "SessionLine { height: 1; display: none; }"

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, conversations: Mapping[SessionId, Conversation], shown: SessionId | None) -> None:
        self.display = len(conversations) > 1
        if self.display:
            width = self.app.size.width
            room = min(MAX_CELLS, max(MIN_CELLS, width // len(conversations)))
            labels = [
                _label(number, conversation, room, is_shown=session_id == shown)
                for number, (session_id, conversation) in enumerate(conversations.items(), 1)
            ]
            self.update(Content.assemble(*labels).truncate(width, ellipsis=True))


def _label(number: int, conversation: Conversation, cells: int, *, is_shown: bool) -> Content:
    def name(room: int) -> str:
        return Content(conversation.shown_title or "session").truncate(room, ellipsis=True).plain

    return tab_label(number, state_of_tab(conversation, has_news=False), name, cells, is_front=is_shown)


def about(timeline: Timeline) -> Iterator[str]:
    header = timeline.header
    yield from (f"File     {path}" for path in timeline.recording.paths)
    yield f"Agent    {timeline.agent}: {shlex.join(header.argv)}"
    yield f"Folder   {header.cwd or 'unknown'}"
    yield f"Started  {header.started_at or 'unknown'}"
    yield f"Length   {clock(timeline.length_s)}, {timeline.length:,} events"
    yield f"Secrets  {'recorded' if header.is_raw else 'not recorded'}"
    if timeline.auth_status is not None:
        yield f"Login    {make_visible_line(timeline.auth_status.in_words)}"
    if timeline.problems:
        yield ""
        yield f"Skipped, because it couldn't be read ({len(timeline.problems)}):"
        yield from (f"  line {problem.line}: {problem.why}" for problem in timeline.problems)
    if timeline.recording.half_line:
        yield ""
        yield "The last line is incomplete: the recording is still being written, or was cut off."


class ReplayScreen(Screen[None]):
    """Shows one session of the recording at a time."""

    PLACE: ClassVar[Place] = "replay"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(each.keys, each.action, each.title, show=False, id=each.id) for each in REPLAY_COMMANDS
    ]

    def __init__(
        self,
        timeline: Timeline,
        *,
        pace: Speed,
        until: Spot | None = None,
        settings: Settings | None = None,
    ) -> None:
        """`until` is where it pauses first."""
        super().__init__()
        self.timeline = timeline
        self._player = Player(timeline)
        self.projector = Projector(self._player, pace, self._show_step)
        self._until = until
        self._settings = settings or Settings()
        keys, here = keymap_of(self._settings.keys).keys, {each.id for each in REPLAY_COMMANDS}
        refused = [
            each.id for each in COMMANDS if each.where == "session" and each.has_priority and each.id not in here
        ]
        self._refused = {key: id_ for id_ in refused for key in keys[id_]}
        """What needs a session, by the user's keys for it."""
        self._chosen: SessionId | None = None
        """The session that stays on the screen; None: the one that the user turned to last."""
        self._note = READING
        self._is_read = asyncio.Event()
        self._panel = self._new_panel()
        self._bar = ReplayBar()
        self._keys = FrameKeys(KEYS)

    def _new_panel(self) -> ReplayPanel:
        return ReplayPanel(
            self._player.conversation(None),
            self.timeline.header.cwd,
            answer_to=self._answer_to,
            reply_to=self._reply_to,
            folds=self._settings.conversation,
            images=self._settings.appearance.images,
        )

    def compose(self) -> ComposeResult:
        yield SessionLine()
        yield Vertical(self._panel, id="session")
        yield StatusLine(id="status")
        yield self._bar
        yield self._keys

    def on_mount(self) -> None:
        self._panel.view.focus()
        self._tell()
        self.call_after_refresh(self._begin)

    @work
    async def _begin(self) -> None:
        needs_all = self._until is not None or self.projector.pace.speed == 0
        async with create_task_group() as reading:
            reading.start_soon(self._read_all)
            with move_on_after(math.inf if needs_all else ENOUGH_S):
                await self._is_read.wait()
            self._note = ""
            if (is_long := not self._is_read.is_set()) and not self.timeline.is_end_wanted:
                self._go_to(self._beginning)  # it plays meanwhile
        self._tell_problems()
        self._tell()
        if is_long or self.timeline.is_end_wanted:
            return
        if self._until is not None:
            self.projector.stop_at = await to_thread.run_sync(moment_of, self.timeline, self._until)
            if self.projector.stop_at is None:
                self.notify(f"In this recording {self._until.shown}.", severity="warning", markup=False)
        stop_at = self.projector.stop_at
        self._go_to(self._beginning if stop_at is None else min(self._beginning, stop_at))

    async def _read_all(self) -> None:
        try:
            await to_thread.run_sync(self.timeline.read_on, abandon_on_cancel=True)
        except OSError as error:
            self.notify(f"It can't be read to its end: {error.strerror}", severity="error", markup=False)
        self._is_read.set()

    def _tell_problems(self) -> None:
        if problems := self.timeline.problems:
            first = f"line {problems[0].line}: {make_visible_line(problems[0].why)}"
            more = f", and {len(problems) - 1} more: press i" if len(problems) > 1 else ""
            self.notify(f"Skipped: {first}{more}", title="The recording", severity="warning", markup=False)
        if not self.timeline.events:
            self.notify("Nothing was recorded.", severity="warning")

    # What the recording knows

    @property
    def shown(self) -> SessionId | None:
        return self._chosen if self._chosen in self._player.conversations else self._player.front

    @property
    def _stays_with(self) -> SessionId | None:
        """The only session whose prompts count; None if it shows the session of each prompt."""
        return self._chosen or self.timeline.wanted

    @property
    def _beginning(self) -> int:
        """The first prompt, because there is nothing to see before; without any, where the recording begins."""
        has_prompts = self.timeline.prompts_until(0, self._stays_with)[1] > 0
        return self.timeline.prompt_after(0, self._stays_with) if has_prompts else 0

    def _answer_to(self, key: RequestKey) -> RecordedAnswer | None:
        return self.timeline.answers.get(self.timeline.question(self.shown, key, self._player.moment))

    def _reply_to(self, key: RequestKey) -> RecordedReply | None:
        return self.timeline.replies.get(self.timeline.question(self.shown, key, self._player.moment))

    # Moving

    def _go_to(self, moment: int) -> None:
        """Go to a moment, and keep playing if it was playing."""
        if self._player.is_ahead and self.timeline.is_being_read and moment > 0:
            self.notify("Only the end has been read so far. Try again when all is read.")
            return
        self.projector.goal = moment
        self._note = ""
        self._move()

    def _move(self) -> None:
        """Start the projector's new task in place of the running one."""
        self.run_worker(self._moving(), group="moving", exclusive=True)
        self._tell()

    async def _moving(self) -> None:
        await self.projector.go_to_goal()
        self._show_session(is_news=self.projector.is_news)
        self.projector.is_news = False
        if self.projector.plays:
            await self.projector.play()
        self._tell()

    # What is shown

    def _show_step(self, step: ReplayStep) -> None:
        if self._player.conversation(self.shown) is not self._panel.conversation:
            self._show_session()
        else:
            for touch in step.touched:
                if touch.conversation is self._panel.conversation:
                    self._panel.note(touch.change)
        sessions = self._player.conversations.values()
        is_over = bool(sessions) and all(each.is_idle for each in sessions)
        self._note = "" if is_over and isinstance(step.event, Exited) else _note_on(step.event)
        self._tell_position()

    def _show_session(self, *, is_news: bool = False) -> None:
        conversation = self._player.conversation(self.shown)
        if is_news or conversation is not self._panel.conversation:
            self._panel.show(conversation)
        self._tell()

    @on(ReplayPanel.FactsChanged)
    def _tell(self) -> None:
        conversation = self._panel.conversation
        facts = tuple(filter(None, (self._panel.below, *facts_of(conversation))))
        agent = make_visible_line(self.timeline.agent)
        has_session = self.shown is not None or bool(conversation.entries)
        status = Status(agent=agent, state=state_of(conversation), facts=facts)
        for line in self.query(StatusLine):
            line.show(status if has_session else Status(phase=f"no session with {agent} yet"))
        for sessions in self.query(SessionLine):
            sessions.show(self._player.conversations, self.shown)
        self._tell_position()

    def _tell_position(self) -> None:
        timeline, player = self.timeline, self._player
        position = Position(
            at_s=player.at_s,
            length_s=max(timeline.length_s, player.at_s),
            is_playing=self.projector.plays,
            speed=self.projector.pace.speed,
            prompts=timeline.prompts_until(player.moment, self._stays_with),
            note=self._note or self._place,
        )
        self._bar.show(position)

    @property
    def _place(self) -> str:
        """The position in words, if there is no other note."""
        if self.timeline.is_being_read:
            return READING
        return "the end" if self.timeline.events and self._player.is_at_end else ""

    # Keys

    def before_key(self, event: events.Key) -> bool:
        """Refuse what needs a session, unless the focused widget has a use for the key. Returns whether it did."""
        is_refused = event.key in self._refused and not (self.focused and any(bindings_of_key(self.focused, event.key)))
        if is_refused:
            self.action_do(self._refused[event.key])
        return is_refused

    def action_toggle_playing(self) -> None:
        """Play or pause. At the end, play from the beginning."""
        projector = self.projector
        projector.plays = not projector.plays
        if projector.plays and (self._player.is_ahead or projector.moment >= self.timeline.length):
            projector.goal = self._beginning
        self._move()

    def action_step(self, direction: int) -> None:
        """Go to the next or the previous change, and pause."""
        self.projector.plays = False
        find = self.timeline.change_after if direction > 0 else self.timeline.change_before
        self._go_to(find(self.projector.moment))

    def action_to_prompt(self, direction: int) -> None:
        find = self.timeline.prompt_after if direction > 0 else self.timeline.prompt_before
        self._go_to(find(self.projector.moment, self._stays_with))

    def action_to_start(self) -> None:
        self._go_to(self._beginning)

    @work(group="moving", exclusive=True)
    async def action_to_end(self) -> None:
        """Go to the end. While the recording is being read, show what the end needs first."""
        player, view = self._player, self._panel.view
        self.timeline.is_end_wanted = True
        if player.is_ahead:
            view.action_follow()
        while not self._is_read.is_set() or (player.is_ahead and not view.scrolling.is_following):
            if not player.is_ahead and player.jump():
                self.projector.goal, self.projector.plays = None, False
                self._show_session(is_news=True)
            await asyncio.sleep(READING_PAUSE_S)
        self._go_to(self.timeline.length)

    def action_change_speed(self, step: int) -> None:
        self.projector.pace = self.projector.pace.changed(step)
        self._move()  # the current pause has another length now

    def action_next_session(self, direction: int) -> None:
        """Show another session of the recording, and stay with it."""
        sessions = list(self._player.conversations)
        if len(sessions) < 2:
            self.notify("There is only one session up to here.")
            return
        at = sessions.index(self.shown) if self.shown in sessions else 0
        self._chosen = sessions[(at + direction) % len(sessions)]
        self._show_session()

    def action_follow(self) -> None:
        self._panel.view.action_follow()

    def action_toggle_all(self) -> None:
        self._panel.view.toggle_all()

    def action_toggle_plan(self) -> None:
        self._panel.toggle_plan()

    async def action_find(self) -> None:
        opened = next((bar for bar in self.query(FindBar) if bar.display), None)
        if opened is None:
            await self.mount(FindBar(self._panel.view), before="#status")
        else:
            opened.begin()

    @on(ConversationView.Searched)
    def _show_search(self, message: ConversationView.Searched) -> None:
        for bar in self.query(FindBar):
            bar.show_state(message.state)

    @work
    async def action_copy(self) -> None:
        if selected := self._panel.view.selected_text:
            await copy(self, selected)
            self._panel.view.clear_selection()
        else:
            self.notify("Nothing is selected. Press q to quit.")

    @work
    async def action_help(self) -> None:
        """Show the keys, and run the chosen command."""
        if action := await self.app.push_screen_wait(HelpScreen(("replay", "app"), is_all=False)):
            await self.run_action(action)

    def action_tell_about(self) -> None:
        self.app.push_screen(ReadingScreen("The recording", "\n".join(about(self.timeline))))

    def action_do(self, id_: str) -> None:
        """Refuse: a replay has no agent, opens no editor, and writes no file."""
        title = BY_ID[id_].title
        self.notify(f"Not available in a replay: {title[0].lower()}{title[1:]}.", markup=False)


def _note_on(event: Event) -> str:
    """A note on an event that no conversation shows."""
    match event:
        case Exited(how=how):
            return f"the agent's process {make_visible_line(how)}"
        case Dropped(events=count, why=why):
            return f"{count} events are missing: {make_visible_line(why)}"
        case TerminalCut(dropped_bytes=count):
            return f"{count} bytes of a terminal are missing"
        case _:
            return ""


class ReplayApp(BaseApp):
    TITLE = "acp-tui replay"

    def __init__(
        self,
        timeline: Timeline,
        *,
        pace: Speed | None = None,
        until: Spot | None = None,
        settings: Settings | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """See `ReplayScreen`; `notes` are the problems of the settings."""
        super().__init__(settings, notes)
        # Widgets mustn't show keys that do nothing here.
        known = self.keymap.keys.items()
        self.keymap = Keymap({id_: () if _PLACES.isdisjoint(PLACES_OF[id_]) else keys for id_, keys in known})
        self._make_screen = partial(ReplayScreen, timeline, pace=pace or Speed(), until=until, settings=self.settings)

    def on_mount(self) -> None:
        self.tell_notes(self._notes)
        self.call_after_refresh(keep_what_is_loaded)

    def get_default_screen(self) -> ReplayScreen:
        return self._make_screen()

    def commands_for(self, screen: Screen[object]) -> Iterator[Command]:
        yield from (*REPLAY_COMMANDS, *super().commands_for(screen))


MIN_TRACK: Final = 8
"""A shorter track would be useless."""
REDRAW_S: Final = 0.1
"""The bar redraws at most this often, even in a flood of events."""


class Position(NamedTuple):
    at_s: float = 0.0
    length_s: float = 0.0
    is_playing: bool = False
    speed: float = 1.0
    prompts: tuple[int, int] = (0, 0)
    """The current prompt, and how many there are."""
    note: str = ""
    """A note in plain text."""


class ReplayBar(Static):
    """Draws a Position, at most a few times a second."""

    DEFAULT_CSS = "ReplayBar { height: 1; }"

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.position = Position()
        self._is_due = False

    def show(self, position: Position) -> None:
        if position == self.position:
            return
        self.position = position
        if not self._is_due:
            self._is_due = True
            self.set_timer(REDRAW_S, self._draw)

    @on(events.Resize)
    def _draw(self) -> None:
        self._is_due = False
        self.update(bar_of(self.position, self.content_size.width))


def bar_of(position: Position, width: int) -> Content:
    mark = "▶" if position.is_playing else "‖"
    left = Content.assemble((f"{mark} ", "$text-accent"), f"{clock(position.at_s)} / {clock(position.length_s)}  ")
    number, count = position.prompts
    prompts, speed = f"prompt {number} of {count}" if count else "", _speed(position.speed)
    for facts in ((position.note, prompts, speed), (position.note, speed)):
        right = Content.styled("  " + " · ".join(filter(None, facts)), "$foreground-muted")
        room = width - left.cell_length - right.cell_length
        if room >= MIN_TRACK:
            done = round(room * position.at_s / position.length_s) if position.length_s else 0
            track = (("━" * done, "$text-accent"), ("─" * (room - done), "$foreground-muted"))
            return Content.assemble(left, *track, right)
    return Content.assemble(left, right).truncate(width, ellipsis=True)


def _speed(speed: float) -> str:
    return f"×{speed:g}" if speed else "no waiting"
