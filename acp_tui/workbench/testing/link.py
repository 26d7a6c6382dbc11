"""Connects blocking test code with the client on an event loop in another thread. Errors become failures."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.transcript.events import Event, Exited, Resized, Stderr
from acp_tui.client.transcript.lines import open_recording
from acp_tui.conversation.visible import make_visible_line
from acp_tui.rpc import Direction
from acp_tui.workbench.conformance import Frame
from acp_tui.workbench.testing import failures
from acp_tui.workbench.testing.scripted_user import ScriptedUser, WatchedSession

__tracebackhide__ = True  # pytest shows the line of the test instead

T = TypeVar("T")

SCREEN: Final = (120, 40)
"""The size of the user's screen in a recording."""


class Link:
    """The link to one agent. Call `open` once the process runs."""

    agent: Agent
    user: ScriptedUser

    def __init__(self, portal: BlockingPortal, name: str, workspace: Path, recording: Path, timeout_s: float) -> None:
        self.name = name
        """The agent's name in messages."""
        self.workspace = workspace
        self.recording = recording
        self.frames: list[Frame] = []
        self._timeout_s = timeout_s
        self.call = portal.call
        """Calls a function on the loop, and waits for its result."""
        self.start = portal.start_task
        """Starts a task on the loop, and waits until it reports that it has started."""
        self._begun = time.monotonic()
        self._marks = 0

    def tap(self, direction: Direction, raw: bytes) -> None:
        self.frames.append(Frame(direction, time.monotonic() - self._begun, raw))

    def open(self, agent: Agent) -> None:
        self.agent = agent
        self.user = self.call(lambda: ScriptedUser(agent))
        self.ask("the handshake (initialize)", agent.initialize)
        self.name = make_visible_line(agent.title)

    def watch(self) -> WatchedSession:
        """Create a watch for a session about to be opened."""
        return self.call(lambda: WatchedSession(self.user, self.frames, self.recording))

    # Calls

    def limit_s(self, timeout_s: float | None) -> float:
        """The time limit of a call; None: the test's default."""
        return self._timeout_s if timeout_s is None else timeout_s

    def ask(self, what: str, call: Callable[[], Awaitable[T]], timeout_s: float | None = None) -> T:
        """Await a call of the client. Raises AgentFailure, which mentions `what`."""
        limit_s = self.limit_s(timeout_s)
        try:
            answer = self.call(lambda: _within(call, limit_s))
        except ClientError as error:
            failure = failures.failure_of(error, during=what, seen=self.seen())
        except TimeoutError:
            late = f"{self.name} didn't do this within {limit_s:g} s: {what}"
            failure = failures.TimedOut(late, advice=self._advice_on_silence(), seen=self.seen())
        else:
            self.require_answered()
            return answer
        self.require_answered()  # a question in the meantime may be the cause
        raise failure

    def _advice_on_silence(self) -> str:
        junk = failures.junk_in(list(self.agent.log))
        if junk:
            line = make_visible_line(junk[0])
            return f"It wrote something to stdout that isn't a message. Write it to stderr instead: {line}"
        if all(frame.direction is Direction.OUT for frame in self.frames):
            return "It sent nothing at all. Does it read stdin line by line and flush stdout after each message?"
        return "If the agent needs more time: timeout_s=..."

    # Questions

    def require_answered(self) -> None:
        """Raises Unanswered if it asked for something that the test doesn't mention."""
        unanswered = self.call(self.user.take_unanswered)
        if unanswered:
            raise failures.Unanswered(f"{self.name} {unanswered[0]}", seen=self.seen())

    def require_asked(self, done: str = "") -> None:
        """Raises NotAsked if an expected question didn't come. `done` describes what it did instead."""
        user = self.user
        missing = [rule.named("permission") for rule in user.permissions.take_missing()]
        missing += [rule.named("elicitation") for rule in user.elicitations.take_missing()]
        if missing:
            every = [f"permission {each.title!r}" for each in user.permissions.asked]
            asked = "\n".join([*every, *(f"elicitation {each.message!r}" for each in user.elicitations.asked)])
            raise failures.NotAsked(
                f"{self.name} didn't ask for {missing[0]}, which the test expects",
                advice="\n".join(filter(None, [f"Everything it asked:\n{failures.quoted(asked)}", done])),
                seen=self.seen(),
            )

    # What was observed

    def seen(self) -> str:
        """What to show below a failure."""
        parts = [
            failures.frames_text(self.frames, self.workspace),
            self._stderr_seen(),
            failures.recording_text(self.recording),
        ]
        return "\n\n".join(part for part in parts if part)

    def _stderr_seen(self) -> str:
        try:
            return failures.stderr_text(self.stderr())
        except (ClientError, TimeoutError) as error:
            return f"Its stderr couldn't be read: {error}"

    def stderr(self) -> str:
        """The agent's stderr. Raises TimeoutError, RecordingUnreadable."""
        lines = [event.data for event in self.recorded_events() if isinstance(event, Stderr)]
        return b"\n".join(lines).decode("utf-8", "replace")

    def recorded_events(self) -> list[Event]:
        """All events so far, once they are in the recording. Raises the same errors as `stderr`."""
        if self.agent.lost is not None:
            self.call(self.agent.stop)  # after which nothing more comes, not even half a line on stderr
        # A resize event, always with the same size, marks how far to read.
        self.call(lambda: self.agent.screen_resized(*SCREEN))
        self._marks += 1
        return events_until(self.recording, self._marks)


async def _within(call: Callable[[], Awaitable[T]], limit_s: float) -> T:
    with anyio.fail_after(limit_s):
        return await call()


WRITTEN_S: Final = 10.0
POLL_S: Final = 0.01
"""The writer thread doesn't report its progress."""


def events_until(path: Path, marks: int) -> list[Event]:
    """The events up to this number of resize events, or the agent's exit. Raises TimeoutError."""
    limit = time.monotonic() + WRITTEN_S
    events: list[Event] = []
    with open_recording(path) as recording:
        while time.monotonic() < limit:
            for event in recording:
                events.append(event)
                marks -= isinstance(event, Resized)
                if not marks or isinstance(event, Exited):
                    return events
            time.sleep(POLL_S)
    raise TimeoutError(f"{path} wasn't written within {WRITTEN_S:g} s; is the disk full?")
