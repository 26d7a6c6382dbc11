"""The position in a replay, moments such as `12.5s`, and playing at a speed. Draws nothing."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final

from acp_tui.client.transcript.replay import Replay, ReplayStep
from acp_tui.client.transcript.replayed_sessions import Touch
from acp_tui.conversation import content, entries, facts, tool_calls
from acp_tui.conversation.conversation import Conversation
from acp_tui.ui.replay.timeline import Front, Timeline
from acp_tui.values import dataclass

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
MAX_WAIT_S: Final = 2.0
"""Nobody wants to watch a recorded user think."""


@dataclass(frozen=True, slots=True)
class Speed:
    speed: float = 1.0
    """A multiple of the recorded speed; 0: without waiting."""
    max_wait_s: float = MAX_WAIT_S
    """The maximum length of a pause, at any speed."""

    def wait_s(self, recorded_s: float) -> float:
        """How long to wait for a pause of this length in the recording."""
        if self.speed <= 0:
            return 0.0
        return min(max(recorded_s, 0.0) / self.speed, self.max_wait_s)

    def changed(self, step: int) -> Speed:
        """Change to the next usual speed: faster for 1, slower for -1."""
        if step > 0:
            speed = next((each for each in SPEEDS if each > self.speed), SPEEDS[-1])
        else:
            speed = next((each for each in reversed(SPEEDS) if each < self.speed), SPEEDS[0])
        return Speed(speed, self.max_wait_s)


class Player:
    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.restart()

    def restart(self) -> None:
        """Return to the beginning. This creates new conversations."""
        self.moment = 0
        self.is_ahead = False
        """Whether it's at the end before all is read."""
        self._front = Front()
        self._replay = Replay(self.timeline.events)

    def jump(self) -> bool:
        """Go to the end at once, if the timeline knows it."""
        is_ahead, ending = self.timeline.is_being_read, self.timeline.ending
        if ending is not None:
            self.moment, self.is_ahead = self.timeline.length, is_ahead
            self._replay, self._front = ending
        return ending is not None

    @property
    def front(self) -> facts.SessionId | None:
        """The session that the user turned to last."""
        return self._front.session_id

    @property
    def is_at_end(self) -> bool:
        return self.is_ahead or self.moment >= self.timeline.length

    @property
    def at_s(self) -> float:
        """The time of the last event."""
        return self._replay.position_s

    @property
    def gap_s(self) -> float:
        """The time from there to the next event."""
        return 0.0 if self.is_at_end else self.timeline.events.times[self.moment] - self.at_s

    def step(self) -> ReplayStep:
        """Apply the next event."""
        applied = self._replay.step()
        assert applied is not None
        step = self.timeline.shown(applied)
        self.moment += 1
        self._front.note(step, is_prompt=self.timeline.is_prompt(self.moment))
        return step

    @property
    def conversations(self) -> dict[facts.SessionId, Conversation]:
        """Of all sessions, or of the only one to show."""
        wanted, found = self.timeline.wanted, self._replay.conversations
        return found if wanted is None else {key: found[key] for key in (wanted,) if key in found}

    def conversation(self, session_id: facts.SessionId | None) -> Conversation:
        """The conversation of a session. For None or an unknown session, events outside any session."""
        found = self.conversations.get(session_id) if session_id is not None else None
        return found or self._replay.outside


SLICE_S: Final = 0.01
"""How long to apply events before keys and frames are handled."""
FAR: Final = 1_000
"""Events. Drawing what scrolls by takes longer than drawing only where it leads."""
READING_PAUSE_S: Final = 0.05
"""How long to wait for more to be read."""
MAX_LATE_S: Final = 0.5
"""If playing falls further behind than this, it doesn't catch up."""


class Projector:
    """Moves a player. Only one of its coroutines may run at a time; cancel it at any point."""

    def __init__(self, player: Player, pace: Speed, on_step: Callable[[ReplayStep], None]) -> None:
        """`on_step` is called for each event, except while it goes back, or far ahead until the last one."""
        self.player = player
        self.pace = pace
        self.plays = True
        """Whether to play after the goal is reached."""
        self.stop_at: int | None = None
        """The moment at which it pauses."""
        self.goal: int | None = None
        """The target of a move in progress."""
        self.is_news = False
        """Whether events were applied without `on_step`, so that everything has to be shown again."""
        self._on_step = on_step

    @property
    def moment(self) -> int:
        """The current moment, or the one it's moving to."""
        return self.player.moment if self.goal is None else self.goal

    async def go_to_goal(self) -> None:
        """Go to the goal. An earlier moment is reached by playing again from the beginning."""
        if self.goal is None:
            return
        player, turn = self.player, _Turn()
        is_back = self.goal < player.moment or player.is_ahead
        if is_back:
            player.restart()
        is_far = self.goal - player.moment > FAR
        self.is_news = self.is_news or is_back or is_far
        if is_far and self.goal >= player.timeline.length and player.jump():
            self._on_step(ReplayStep(player.timeline.events[-1], ()))
        while player.moment < min(self.goal, player.timeline.length):
            step = player.step()
            if not self.is_news or (not is_back and player.moment == self.goal):
                self._on_step(step)
            await turn.give()
        self.goal = None

    async def play(self) -> None:
        """Play each event at its time, until the end or `stop_at`."""
        loop, turn = asyncio.get_running_loop(), _Turn()
        due = loop.time()
        while self.player.moment != self.stop_at:
            if self.player.is_at_end:
                if not self.player.timeline.is_being_read:
                    break
                await asyncio.sleep(READING_PAUSE_S)
                continue
            due = max(due + self.pace.wait_s(self.player.gap_s), loop.time() - MAX_LATE_S)
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            else:
                await turn.give()
            self._on_step(self.player.step())
        self.stop_at = None
        self.plays = False


class _Turn:
    """Yields to the event loop regularly."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()

    async def give(self) -> None:
        if self._loop.time() - self._since > SLICE_S:
            await asyncio.sleep(0)
            self._since = self._loop.time()


QUESTION = "question"
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


@dataclass(frozen=True, slots=True)
class Spot:
    """A moment of a recording. Exactly one field is set."""

    events: int | None = None
    """After this many events."""
    seconds: float | None = None
    text: str | None = None
    """When this text first appears."""
    is_question: bool = False
    """At the first permission request."""

    @property
    def shown(self) -> str:
        return f"{self.text!r} doesn't appear" if self.text is not None else "no permission request"


def read_spot(text: str) -> Spot:
    """Parse 120 (events), 12.5s, 1:05, or question. Raises ValueError."""
    if text == QUESTION:
        return Spot(is_question=True)
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = clock.groups()
        return Spot(seconds=int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds))
    if seconds_only := _SECONDS.fullmatch(text):
        return Spot(seconds=float(seconds_only[1]))
    if text.isdecimal():
        return Spot(events=int(text))
    raise ValueError(f"{text!r} isn't a moment: use 120 (events), 12.5s, 1:05, or {QUESTION}")


def moment_of(timeline: Timeline, spot: Spot) -> int | None:
    """Find the moment; None if it never comes."""
    if spot.events is not None:
        return min(spot.events, timeline.length)
    if spot.seconds is not None:
        return bisect_right(timeline.events.times, spot.seconds)
    player = Player(timeline)
    while not player.is_at_end:
        if _is_there(player.step(), spot):
            return player.moment
    return None


def _is_there(step: ReplayStep, spot: Spot) -> bool:
    if spot.text is None:
        return any(touch.conversation.permissions for touch in step.touched)
    return any(spot.text in said for touch in step.touched for said in _said(touch))


def _said(touch: Touch) -> Iterator[str]:
    conversation, change = touch.conversation, touch.change
    for entry_id in change.entries:
        yield from _texts(conversation.entries[entry_id])
    if change.terminal is not None:
        yield conversation.terminals[change.terminal].output.read_from(0)[1].decode("utf-8", "replace")
    for request in conversation.permissions.values():
        yield from (option.name for option in request.options)
    for elicitation in conversation.elicitations.values():
        yield elicitation.message
    for plan in conversation.plans.values():
        yield from (step.content for step in plan.steps)


def _texts(entry: entries.Entry) -> Iterator[str]:
    match entry:
        case entries.Message():
            yield entry.text
        case entries.ToolCallEntry(call):
            yield call.shown_title
            for item in call.content:
                match item:
                    case tool_calls.BlockContent(content.Text(text)):
                        yield text
                    case tool_calls.FileChange():
                        yield item.words
                    case tool_calls.TextDiff():
                        yield item.path
                        yield item.new_text
        case entries.OwnCommand(line):
            yield line
        case entries.Failure(message, detail, stderr_tail):
            yield from (message, detail or "", stderr_tail)
        case _:
            pass
