"""An agent under test: a real process behind the client that users have, called from plain code that blocks.

All that moves is on an event loop in a thread of its own, so a test may be `def` or `async def` under any loop.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript.events import Event, Stderr
from acp_tui.conversation.elicitation import FormValues
from acp_tui.conversation.facts import SessionId, SessionPage
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.conversation.visible import make_visible_line
from acp_tui.protocol.capabilities import AgentCapabilities, AgentIdentity, AuthMethod
from acp_tui.protocol.conformance import Finding, Frame, Linter, Severity
from acp_tui.protocol.workplace import McpServer
from acp_tui.rpc import Direction
from acp_tui.testing.answers import ElicitationAnswers, PermissionAnswers
from acp_tui.testing.asked import Wanted
from acp_tui.testing.attending import Attendant
from acp_tui.testing.evidence import frames_text, junk_in, recording_text, stderr_text
from acp_tui.testing.failures import AgentFailure, NotAsked, TimedOut, Unanswered, failure_of
from acp_tui.testing.recorded import events_until
from acp_tui.testing.session import AcpSession, Prompt, RunningTurn
from acp_tui.testing.turn import Turn
from acp_tui.testing.watching import Watch

T = TypeVar("T")

SCREEN: Final = (120, 40)
"""What a recording says of the user's screen."""


class AcpAgent:
    """Made by the fixture `acp_agent`, which also ends it. What takes `timeout_s` raises TimedOut."""

    def __init__(
        self, portal: BlockingPortal, name: str, workspace: Path, recording: Path, timeout_s: float
    ) -> None:
        self.name = name
        """What messages call it."""
        self.workspace = workspace
        """The folder of its sessions."""
        self.recording = recording
        """What passes between it and the client, for `acp-tui replay`."""
        self.timeout_s = timeout_s
        self.attendant: Attendant
        self._agent: Agent
        self._portal = portal
        self._frames: list[Frame] = []
        self._begun = time.monotonic()
        self._session: AcpSession | None = None
        self._marks = 0

    def tap(self, direction: Direction, raw: bytes) -> None:
        """A frame passes."""
        self._frames.append(Frame(direction, time.monotonic() - self._begun, raw))

    def open(self, agent: Agent) -> None:
        """It has been started: agree on the protocol."""
        __tracebackhide__ = True
        self._agent = agent
        self.attendant = self.on_loop(lambda: Attendant(agent))
        self.ask("the handshake (initialize)", agent.initialize)
        self.name = make_visible_line(agent.title)

    # Turns, in the session that was opened last

    @property
    def session(self) -> AcpSession:
        """The session that was opened last; a new one where there is none."""
        __tracebackhide__ = True
        return self._session or self.new_session()

    def prompt(self, prompt: Prompt, *, timeout_s: float | None = None) -> Turn:
        """Take a turn to its end.

        Raises Unanswered, NotAsked, RequestRefused, LoginNeeded, AgentGone and TimedOut.
        """
        __tracebackhide__ = True
        return self.session.prompt(prompt, timeout_s=timeout_s)

    def start_prompt(self, prompt: Prompt) -> RunningTurn:
        """Send a prompt and do not wait: for what has to happen during a turn, such as a cancel."""
        __tracebackhide__ = True
        return self.session.start_prompt(prompt)

    def cancel(self) -> None:
        """Cancel the turn that runs, as a user does."""
        self.session.cancel()

    def set_mode(self, mode: str, *, timeout_s: float | None = None) -> None:
        """Set the session's mode. Raises NotOffered."""
        __tracebackhide__ = True
        self.session.set_mode(mode, timeout_s=timeout_s)

    def set_option(self, option_id: str, value: str | bool, *, timeout_s: float | None = None) -> None:
        """Set an option of the session. Raises NotOffered."""
        __tracebackhide__ = True
        self.session.set_option(option_id, value, timeout_s=timeout_s)

    # What its user answers

    @property
    def permissions(self) -> PermissionAnswers:
        """How permission requests are answered, and which there were."""
        return self.attendant.permissions

    @property
    def elicitations(self) -> ElicitationAnswers:
        """How forms and pages are answered, and which there were."""
        return self.attendant.elicitations

    def on_permission(self, kind: str, *, title: Wanted = None, tool: str | None = None) -> None:
        """Answer every permission request that fits with the option of this kind, such as "allow_once".

        `title` is a part of the tool call's title, or a pattern; `tool` the tool call's kind.
        """
        self.permissions.on(kind, title=title, tool=tool)

    def on_elicitation(
        self, action: ElicitationAction, values: FormValues | None = None, *, message: Wanted = None
    ) -> None:
        """Answer every form or page that fits: "accept" (a form: with these values), "decline" or "cancel"."""
        self.elicitations.on(action, values, message=message)

    # Sessions

    def new_session(
        self,
        *,
        cwd: Path | None = None,
        mcp_servers: Sequence[McpServer] = (),
        additional_directories: Sequence[Path] = (),
        timeout_s: float | None = None,
    ) -> AcpSession:
        """Open a session in the workspace, or in `cwd`; calls without a session mean it from now on."""
        __tracebackhide__ = True
        watch = self._watch()
        return self._opened(
            "a session (session/new)",
            watch,
            lambda: self._agent.new_session(
                cwd or self.workspace,
                watch.note,
                mcp_servers=mcp_servers,
                additional_directories=additional_directories,
            ),
            timeout_s,
        )

    def load_session(
        self, session_id: str, *, cwd: Path | None = None, timeout_s: float | None = None
    ) -> AcpSession:
        """Open a session that the agent has kept; its history is in `updates` and `conversation`."""
        __tracebackhide__ = True
        watch = self._watch()
        return self._opened(
            f"the session {session_id!r} (session/load)",
            watch,
            lambda: self._agent.load_session(SessionId(session_id), cwd or self.workspace, watch.note),
            timeout_s,
        )

    def resume_session(
        self, session_id: str, *, cwd: Path | None = None, timeout_s: float | None = None
    ) -> AcpSession:
        """Go on with a session that the agent has kept, without its history."""
        __tracebackhide__ = True
        watch = self._watch()
        return self._opened(
            f"the session {session_id!r} (session/resume)",
            watch,
            lambda: self._agent.resume_session(SessionId(session_id), cwd or self.workspace, watch.note),
            timeout_s,
        )

    def list_sessions(
        self, *, cwd: Path | None = None, cursor: str | None = None, timeout_s: float | None = None
    ) -> SessionPage:
        """A page of the sessions that the agent knows."""
        __tracebackhide__ = True
        return self.ask(
            "its sessions (session/list)", lambda: self._agent.list_sessions(cwd, cursor), timeout_s
        )

    def delete_session(self, session_id: str, *, timeout_s: float | None = None) -> None:
        """Let the agent forget a session; one that is open is closed first."""
        __tracebackhide__ = True
        self.ask(
            f"deleting {session_id!r} (session/delete)",
            lambda: self._agent.delete_session(SessionId(session_id)),
            timeout_s,
        )

    def _watch(self) -> Watch:
        return self.on_loop(lambda: Watch(self.attendant, self._frames, self.recording))

    def _opened(
        self, what: str, watch: Watch, call: Callable[[], Awaitable[Session]], timeout_s: float | None
    ) -> AcpSession:
        __tracebackhide__ = True
        watch.session = self.ask(what, call, timeout_s)
        self._session = AcpSession(self, watch)
        return self._session

    # Login

    def authenticate(self, method_id: str, *, timeout_s: float | None = None) -> None:
        """Log in by one of `auth_methods`. Raises NotOffered for one that is not there, or that wants a terminal."""
        __tracebackhide__ = True
        self.ask(f"the login {method_id!r}", lambda: self._agent.authenticate(method_id), timeout_s)

    def logout(self, *, timeout_s: float | None = None) -> None:
        """Log out."""
        __tracebackhide__ = True
        self.ask("the logout", self._agent.logout, timeout_s)

    # What it says of itself, and what was seen of it

    @property
    def identity(self) -> AgentIdentity | None:
        """Its name and version, where it says them."""
        return self._agent.identity

    @property
    def capabilities(self) -> AgentCapabilities:
        """What it offers."""
        return self._agent.capabilities

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """The ways to log in."""
        return self._agent.auth_methods

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Every line on its stdin and stdout so far; `frame.value()` is its JSON."""
        return tuple(self._frames)

    @property
    def stderr(self) -> str:
        """What it said on stderr."""
        lines = [event.data for event in self._events() if isinstance(event, Stderr)]
        return b"\n".join(lines).decode("utf-8", "replace")

    def send_extension(self, method: str, params: Any, *, timeout_s: float | None = None) -> Any:
        """Send a request of the agent's own, whose name begins with "_"; gives its result as it came."""
        __tracebackhide__ = True
        return self.ask(method, lambda: self._agent.send_extension(method, params), timeout_s)

    def findings(self) -> list[Finding]:
        """The rules of the protocol that it broke so far, as `acp-tui check` knows them."""
        linter = Linter()
        return [finding for frame in self.frames for finding in linter.feed(frame)]

    def assert_conformant(self, *, warnings: bool = False) -> None:
        """It has broken no rule of the protocol so far; with `warnings`, none that is only a warning either."""
        __tracebackhide__ = True
        counted = (Severity.ERROR, Severity.WARNING) if warnings else (Severity.ERROR,)
        found = [finding for finding in self.findings() if finding.rule.severity in counted]
        if found:
            count = "a rule" if len(found) == 1 else f"{len(found)} rules"
            told = "\n\n".join(self._told(finding) for finding in found)
            raise AgentFailure(
                f"{self.name} breaks {count} of the protocol",
                advice=told,
                seen=recording_text(self.recording),
            )

    def _told(self, finding: Finding) -> str:
        rule, frames = finding.rule, self.frames
        shown = [frames[index] for index in finding.frames if index < len(frames)]
        return "\n".join(
            [
                f"{rule.rule_id} ({rule.severity.value}): {rule.sentence}",
                f"  {finding.text}",
                f"  {rule.advice}",
                f"  {rule.reference}",
                frames_text(shown, heading="Its frames"),
            ]
        )

    def stop(self) -> None:
        """End it and wait for that; the fixture does so in any case."""
        self.run(self._agent.stop)

    def recorded(self) -> Path:
        """The recording, once all that has happened until now is in it. Raises TimeoutError."""
        self._events()
        return self.recording

    def _events(self) -> list[Event]:
        # The size of the screen, which is the same each time, marks how far the recording has to be read.
        self.on_loop(lambda: self._agent.screen_resized(*SCREEN))
        self._marks += 1
        return events_until(self.recording, self._marks)

    # The way to its loop

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run this on the agent's loop and wait for it."""
        return self._portal.call(call)

    def on_loop(self, call: Callable[[], T]) -> T:
        """The same for what does not wait."""
        return self._portal.call(call)

    def start_task(self, task: Callable[..., Awaitable[Any]]) -> None:
        """Start this there, up to where it says so."""
        self._portal.start_task(task)

    def limit_s(self, timeout_s: float | None) -> float:
        """The limit of a call."""
        return self.timeout_s if timeout_s is None else timeout_s

    def ask(self, what: str, call: Callable[[], Awaitable[T]], timeout_s: float | None = None) -> T:
        """Await a call of the client's. What goes wrong with it is a failure of the test."""
        __tracebackhide__ = True
        limit_s = self.limit_s(timeout_s)
        failure: AgentFailure
        try:
            answer = self.run(lambda: _within(call, limit_s))
            self.require_answered()
            return answer
        except ClientError as error:
            failure = failure_of(error, during=what, seen=self.seen())
        except TimeoutError:
            failure = TimedOut(
                f"{self.name} was waited for {limit_s:g} s, in vain: {what}",
                advice=self._advice_on_silence(),
                seen=self.seen(),
            )
        self.require_answered()
        raise failure

    def _advice_on_silence(self) -> str:
        junk = junk_in(list(self._agent.log))
        if junk:
            return f"It writes to stdout what is no message; that belongs on stderr: {junk[0]!r}"
        if all(frame.direction is Direction.OUT for frame in self._frames):
            return "It has said nothing at all: does it read stdin line by line, and flush stdout behind each message?"
        return "For an agent that needs longer: timeout_s=..."

    def require_answered(self) -> None:
        """Raises Unanswered where it asked for what the test says nothing of."""
        __tracebackhide__ = True
        unanswered = self.on_loop(self.attendant.take_unanswered)
        if unanswered:
            raise Unanswered(f"{self.name} {unanswered[0]}", seen=self.seen())

    def require_asked(self) -> None:
        """Raises NotAsked where it did not ask for what it was expected to."""
        __tracebackhide__ = True
        for kind, answers in (("permission", self.permissions), ("elicitation", self.elicitations)):
            missing = answers.take_missing()
            if missing:
                raise NotAsked(
                    f"{self.name} did not ask for the {kind} that the test expects: {missing[0].shown}",
                    advice=f"What it asked in all:\n{_asked_text(self.attendant)}",
                    seen=self.seen(),
                )

    def seen(self) -> str:
        """What stands below a failure."""
        parts = [frames_text(self.frames), stderr_text(self.stderr), recording_text(self.recording)]
        return "\n\n".join(part for part in parts if part)


async def _within(call: Callable[[], Awaitable[T]], limit_s: float) -> T:
    with anyio.fail_after(limit_s):
        return await call()


def _asked_text(attendant: Attendant) -> str:
    asked = [f"  permission {each.title!r}" for each in attendant.permissions.asked]
    asked += [f"  elicitation {each.message!r}" for each in attendant.elicitations.asked]
    return "\n".join(asked) or "  nothing"
