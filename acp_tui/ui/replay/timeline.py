"""A recording to be played: its events, and where something happens in them. Doesn't play itself."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, overload

import watchfiles

from acp_tui.client.sessions.session_history import shown_agent
from acp_tui.client.transcript.ending import events_for_end, is_enough
from acp_tui.client.transcript.events import Event, Frame, Header, OwnAction, Restarted
from acp_tui.client.transcript.lines import VERSION, Recording, RecordingUnreadable, SkippedLine, open_recording
from acp_tui.client.transcript.replay import Replay, ReplayStep, is_prompt
from acp_tui.client.transcript.replayed_sessions import Touch
from acp_tui.conversation.conversation import NOTHING, Conversation
from acp_tui.conversation.entries import Decision
from acp_tui.conversation.facts import AuthStatus, Fact, PermissionRequest, RequestKey, SessionId
from acp_tui.conversation.updates import ElicitationAnswered
from acp_tui.ui.replay.recorded_reply import RecordedReply
from acp_tui.values import dataclass

EVENTS_WITH_A_HANDSHAKE = 50
"""The agent identifies itself in one of the first events."""

Question = tuple[SessionId | None, RequestKey, int]
"""The last is the number of recordings that were begun before: each counts its questions anew."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The outcome of a permission request."""

    decision: Decision | None
    """None: the agent exited before."""
    after_s: float


class RecordedEvents(Sequence[Event]):
    """The events of a recording, read from the file when they are needed: it may be larger than the memory."""

    def __init__(self, recording: Recording, edit: Callable[[Event], Event]) -> None:
        self.times = array("d")
        """When each of them happened."""
        self._recording = recording
        self._edit = edit
        self._starts, self._sizes = array("Q"), array("Q")

    def note(self, at: float) -> None:
        """Add the recording's last event, as one that happened then."""
        self._starts.append(self._recording.place.start)
        self._sizes.append(len(self._recording.place))
        self.times.append(at)

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, index: int) -> Event: ...

    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...

    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        start = self._starts[index]
        event = self._recording.event_in(range(start, start + self._sizes[index]))
        return self._edit(event if event.at == self.times[index] else replace(event, at=self.times[index]))


class Front:
    """Follows which session the user turned to last."""

    def __init__(self) -> None:
        self.session_id: SessionId | None = None
        self._known: set[SessionId | None] = {None}

    def note(self, step: ReplayStep, *, is_prompt: bool) -> None:
        for touch in step.touched:
            if touch.session_id is not None and (is_prompt or touch.session_id not in self._known):
                self.session_id = touch.session_id
            self._known.add(touch.session_id)


class Ending(NamedTuple):
    """A recording at its end. Earlier entries may be missing."""

    replay: Replay
    front: Front


@dataclass(eq=False)
class Timeline:
    """The recording as far as it's read. A moment is the number of events before it."""

    recording: Recording
    edit: Callable[[Event], Event] | None = None
    """Replaces an event with another, at the same time."""
    wanted: SessionId | None = None
    """The only session to show; None to show the one that the user turned to last.

    What happens elsewhere before it and between its turns takes no time then.
    """
    front: Front = field(init=False)
    """Where it's read to."""
    events: RecordedEvents = field(init=False)
    agent: str = ""
    answers: dict[Question, RecordedAnswer] = field(default_factory=dict)
    replies: dict[Question, RecordedReply] = field(default_factory=dict)
    """The user's answers to forms and pages."""
    is_being_read: bool = False
    is_end_wanted: bool = False
    """Whether to read what the end shows before the rest."""
    _ending: Ending | None = None
    _restarts: list[int] = field(default_factory=list)
    """Where each further recording begins."""
    _changes: list[int] = field(default_factory=list)
    _prompts: dict[SessionId | None, list[int]] = field(default_factory=lambda: {None: []})
    """Of each session; None: of all."""
    _asked: dict[Question, tuple[PermissionRequest, float]] = field(default_factory=dict)
    _elicited: dict[Question, float] = field(default_factory=dict)
    """When forms and pages were asked for."""
    _own: Conversation | None = None
    """That of the wanted session, once it has begun."""
    _left_out_s: float = 0.0
    _scan: Replay = field(init=False)

    def __post_init__(self) -> None:
        self.agent = self.header.agent
        self.front = Front()
        self._scan = Replay(self.recording)
        self.events = RecordedEvents(self.recording, self.edit or (lambda event: event))

    @property
    def header(self) -> Header:
        return self.recording.header

    @property
    def problems(self) -> list[SkippedLine]:
        return self.recording.problems

    @property
    def auth_status(self) -> AuthStatus | None:
        """Who was logged in at the end, as far as the agent had told."""
        return self._scan.auth_status

    @property
    def ending(self) -> Ending | None:
        """The end; None if it isn't known yet, or isn't what is shown, or not at these times."""
        if self.edit is not None or self.wanted is not None or not self.length:
            return None
        return self._ending if self.is_being_read else Ending(self._scan, self.front)

    @property
    def length(self) -> int:
        return len(self.events)

    @property
    def length_s(self) -> float:
        """The time of the last event."""
        return self._scan.position_s - self._left_out_s

    def read_on(self) -> None:
        """Read the events recorded so far. Blocks. What is read can be played meanwhile."""
        self.is_being_read = True
        has_ending = False
        try:
            before_s = self._scan.position_s
            for step in map(self.shown, self._scan.events):
                if self._is_elsewhere(step):
                    self._left_out_s += self._scan.position_s - before_s
                before_s = self._scan.position_s
                self.events.note(step.event.at - self._left_out_s)
                self._note(step)
                if self.is_end_wanted and not has_ending and len(self.recording.paths) == 1:
                    has_ending = True
                    self._read_ending()
        finally:
            self.is_being_read = False

    def shown(self, step: ReplayStep) -> ReplayStep:
        """The step without what it changes in sessions that aren't to be shown."""
        if self.wanted is None:
            return step
        return replace(step, touched=tuple(each for each in step.touched if each.session_id in (None, self.wanted)))

    def _is_elsewhere(self, step: ReplayStep) -> bool:
        """Whether another session is wanted than this happened in, and nothing goes on in that one."""
        own = next((touch.conversation for touch in step.touched if touch.session_id is not None), None)
        self._own = own or self._own
        return self.wanted is not None and own is None and (self._own is None or self._own.is_idle)

    def _read_ending(self) -> None:
        front = Front()
        with suppress(OSError, RecordingUnreadable), open_recording(*self.recording.paths) as recording:
            replay = Replay(events_for_end(recording))
            for step in replay.events:
                front.note(step, is_prompt=is_prompt(step.event))
            shown = replay.conversations.get(front.session_id) if front.session_id is not None else None
            if shown is not None and is_enough(shown):
                self._ending = Ending(replay, front)

    # Where something happens

    def change_after(self, moment: int) -> int:
        """The moment after the next change; the end if there isn't one."""
        at = bisect_right(self._changes, moment)
        return self._changes[at] if at < len(self._changes) else self.length

    def change_before(self, moment: int) -> int:
        """The moment after the previous change; the beginning if there isn't one."""
        at = bisect_left(self._changes, moment)
        return self._changes[at - 1] if at else 0

    def prompt_after(self, moment: int, session_id: SessionId | None = None) -> int:
        """The moment after the next prompt, of all sessions or this one; the end if there isn't one."""
        prompts = self._prompts.get(session_id, [])
        at = bisect_right(prompts, moment)
        return prompts[at] if at < len(prompts) else self.length

    def prompt_before(self, moment: int, session_id: SessionId | None = None) -> int:
        """The moment after the previous prompt, of all sessions or this one; the beginning if there isn't one."""
        prompts = self._prompts.get(session_id, [])
        at = bisect_left(prompts, moment)
        return prompts[at - 1] if at else 0

    def prompts_until(self, moment: int, session_id: SessionId | None = None) -> tuple[int, int]:
        """The number of prompts sent by then, and of all prompts."""
        prompts = self._prompts.get(session_id, [])
        return bisect_right(prompts, moment), len(prompts)

    def is_prompt(self, moment: int) -> bool:
        """Whether the event right before this moment is a prompt."""
        at = bisect_left(self._prompts[None], moment)
        return self._prompts[None][at : at + 1] == [moment]

    def question(self, session_id: SessionId | None, key: RequestKey, moment: int) -> Question:
        return session_id, key, bisect_right(self._restarts, moment)

    # Indexing

    def _note(self, step: ReplayStep) -> None:
        event = step.event
        is_early = self.length <= EVENTS_WITH_A_HANDSHAKE
        if is_early and isinstance(event, Frame) and (said := _agent_in(event.data)):
            self.agent = shown_agent(self.header.agent, self.header.argv, said)
        if isinstance(event, Restarted):
            self._restarts.append(self.length)
            self._asked.clear()
        self.front.note(step, is_prompt=(is_new := is_prompt(event)))
        if is_new and step.touched:
            for session_id in (None, *(touch.session_id for touch in step.touched if touch.session_id is not None)):
                self._prompts.setdefault(session_id, []).append(self.length)
        if any(touch.change != NOTHING or not touch.conversation.entries for touch in step.touched):
            self._changes.append(self.length)
        match event:
            case OwnAction(at, session_id, ElicitationAnswered(key, action, _, values)):
                question = self.question(session_id, key, self.length)
                self.replies[question] = RecordedReply(action, at - self._elicited.get(question, at), values)
        for touch in step.touched:
            for key in touch.conversation.elicitations if Fact.ELICITATIONS in touch.change.facts else ():
                self._elicited.setdefault(self.question(touch.session_id, key, self.length), event.at)
            if Fact.PERMISSIONS in touch.change.facts:
                self._note_permissions(touch, event.at)

    def _note_permissions(self, touch: Touch, at: float) -> None:
        session_id, conversation, _ = touch
        for key, request in conversation.permissions.items():
            self._asked.setdefault(self.question(session_id, key, self.length), (request, at))
        for question, (request, asked_at) in list(self._asked.items()):
            if question[0] == session_id and question[1] not in conversation.permissions:
                del self._asked[question]
                decisions = conversation.tool_call(request.tool_call_id).decisions
                self.answers[question] = RecordedAnswer(decisions[-1] if decisions else None, at - asked_at)


def open_playable(*paths: Path) -> Recording:
    """Open recordings of a supported version as one. Blocks. Raises RecordingUnreadable."""
    recording = open_recording(*paths)
    if recording.header.version > VERSION:
        recording.close()
        raise RecordingUnreadable(
            f"{paths[0]} was made by a newer acp-tui: its format is version {recording.header.version},"
            f" and this acp-tui reads up to version {VERSION}",
            hint="update acp-tui",
        )
    return recording


def _agent_in(frame: bytes) -> str:
    """The name in an agent's response to `initialize`; "" if this isn't one."""
    if b'"protocolVersion"' not in frame:
        return ""
    try:
        result: Any = json.loads(frame)["result"]
        info: Any = result.get("agentInfo") or result["info"]
        return str(info.get("title") or info.get("name") or "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


STEP_MS: Final = 50
DEBOUNCE_MS: Final = 200


async def growth_of(path: Path) -> AsyncIterator[None]:
    """Yield each time the file was written to, until cancelled.

    Raises OSError or RuntimeError if it can't be watched.
    """
    async for _ in watchfiles.awatch(path, watch_filter=None, step=STEP_MS, debounce=DEBOUNCE_MS, rust_timeout=0):
        yield
