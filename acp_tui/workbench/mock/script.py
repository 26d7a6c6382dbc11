"""An agent's recorded behavior, step by step; what each step answers, and which differences matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any, Final

from acp_tui.client.secrets.masking import MASK
from acp_tui.client.transcript.events import Event, Exited, Frame, OwnAction, Stderr
from acp_tui.conversation.updates import Disconnected
from acp_tui.rpc import Direction, Pairing, RequestId
from acp_tui.rpc.messages import Failure, Message, Notification, Request, Result, read_message, write_request
from acp_tui.rpc.peer import CANCEL_REQUEST
from acp_tui.values import dataclass

PROMPT: Final = "session/prompt"
CANCEL: Final = "session/cancel"
NEW: Final = "session/new"
OPENERS: Final = (NEW, "session/load", "session/resume", "session/fork")
"""The methods that open a session. Nothing can be sent about a session before."""


@dataclass(slots=True, eq=False)
class MockStep:
    """A line on the wire or on stderr."""

    place: int
    """Its index among all steps."""
    number: int
    """The number of the frame, from 1; for stderr, of the previous one."""
    at: float
    """Seconds since the start of the recording."""
    gap_s: float
    """Seconds since the previous step of either side."""
    is_ours: bool
    """Whether the agent sends it; otherwise the client does."""
    data: bytes
    message: Message | None = None
    """None: a line on stderr. The params of the agent's notifications aren't stored again."""
    session: str | None = None
    lane: str | None = None
    """The session it's ordered in. A step without a session belongs to the turn it's in."""
    answers: MockStep | None = None
    """For a response: the request."""
    answer: MockStep | None = None
    """For a request: the first response; None if there was none."""

    @property
    def method(self) -> str:
        """The method of a request or notification; for a response, of its request."""
        if isinstance(self.message, Request | Notification):
            return self.message.method
        return self.answers.method if self.answers is not None else ""

    @property
    def what(self) -> str:
        """The step in words, as something to wait for."""
        return f"the answer to {self.method}" if isinstance(self.message, Result | Failure) else self.method


@dataclass(slots=True)
class Script:
    """The whole script. Of the client's steps, only those that the agent needed to continue."""

    steps: list[MockStep] = field(default_factory=list)
    ended_itself: bool = False
    """Whether the agent exited before the client was done with it."""
    how_it_ended: str = ""
    """Empty: the exit wasn't recorded."""


def read_script(events: Iterable[Event]) -> Script:
    """The steps of a recording, in order."""
    reading = _Reading()
    for event in events:
        match event:
            case Frame(at, direction, data):
                reading.script.ended_itself = False  # a session may end, and its agent go on
                reading.frame(at, direction, data)
            case Stderr(at, data):
                reading.add(at, data, None, is_ours=True)
            case OwnAction(_, _, Disconnected()):
                reading.script.ended_itself = True
            case Exited(_, how):
                reading.script.how_it_ended = how
            case _:
                pass
    return reading.script


class _Reading:
    def __init__(self) -> None:
        self.script = Script()
        self._frames = 0
        self._at = 0.0
        self._waiting: Pairing[MockStep] = Pairing()
        self._answered: Pairing[MockStep] = Pairing()
        """Requests with a response, because an agent may answer twice."""
        self._turns: dict[str | None, MockStep] = {}
        """Prompts without a response, by session; last one at the end."""

    def frame(self, at: float, direction: Direction, data: bytes) -> None:
        self._frames += 1
        message = read_message(data)
        is_ours = direction is Direction.IN
        if message is None or not (is_ours or self._is_needed(message)):
            return
        if is_ours and isinstance(message, Notification):
            step = self.add(at, data, Notification(message.method, None), is_ours=True)
        else:
            step = self.add(at, _runnable(data, message), message, is_ours=is_ours)
        self._relate(step, message, direction)

    def add(self, at: float, data: bytes, message: Message | None, *, is_ours: bool) -> MockStep:
        lane = next(reversed(self._turns), None) if is_ours else None
        place, gap_s = len(self.script.steps), max(0.0, at - self._at)
        step = MockStep(place, self._frames, at, gap_s, is_ours, data, message, lane=lane)
        self._at = at
        self.script.steps.append(step)
        return step

    def _is_needed(self, message: Message) -> bool:
        """Whether the agent may have waited for this message of the client."""
        match message:
            case Request():
                return True
            case Result(request_id) | Failure(request_id):
                return self._waiting.waiting(Direction.IN, request_id) is not None
            case Notification(method, params) if method == CANCEL:
                return session_of(params) in self._turns
            case Notification(method, {"requestId": str() | int() | float() as request_id}) if method == CANCEL_REQUEST:
                return self._waiting.waiting(Direction.OUT, request_id) is not None
            case _:
                return False

    def _relate(self, step: MockStep, message: Message, direction: Direction) -> None:
        match message:
            case Request(request_id, method, params):
                self._waiting.ask(direction, request_id, step)
                self._place(step, session_of(params))
                if method == PROMPT and not step.is_ours:
                    self._turns[step.session] = step
            case Notification(_, params):
                self._place(step, session_of(params))
            case Result(request_id) | Failure(request_id):
                self._answer(step, direction.opposite, request_id)
            case _:
                pass

    def _place(self, step: MockStep, session: str | None) -> None:
        if session is not None or not step.is_ours:
            step.session = step.lane = session

    def _answer(self, step: MockStep, asker: Direction, request_id: RequestId) -> None:
        request = self._waiting.answer(asker.opposite, request_id)
        if request is None:
            step.answers = self._answered.waiting(asker, request_id)
            return
        self._answered.ask(asker, request_id, request)
        step.answers, request.answer, step.session = request, step, request.session
        if self._turns.get(request.session) is request:
            del self._turns[request.session]
        if request.method in OPENERS and isinstance(step.message, Result):
            request.lane = session_of(step.message.value) or request.lane
        step.lane = request.lane


def session_of(params: Any) -> str | None:
    session_id = params.get("sessionId") if isinstance(params, dict) else None
    return session_id if isinstance(session_id, str) else None


def _runnable(data: bytes, message: Message) -> bytes:
    """Remove masked environment variables from a command, because the value "***" would mislead it."""
    match message:
        case Request(request_id, "terminal/create", {"env": list(env), **params}):
            kept = [each for each in env if not (isinstance(each, dict) and each.get("value") == MASK)]
            if len(kept) < len(env):
                return write_request(request_id, message.method, {**params, "env": kept})
    return data


CANCELLED: Final = "cancelled"
_AT_WILL: Final = frozenset({
    "_meta", "clientInfo", "clientCapabilities", "additionalDirectories", "messageId", "cursor",
    "exitStatus", "exitCode", "signal",
})  # fmt: skip
"""Fields that the protocol lets a client omit. Of the capabilities, only those that are used matter."""


def kind_of(question: MockStep, answer: Result | Failure) -> str:
    """The kind of a response in a word: the action, allow or reject, or whether there is a result at all."""
    if isinstance(answer, Failure):
        return "an error"
    value = answer.value if isinstance(answer.value, dict) else {}
    if question.method == "session/request_permission":
        return _outcome(question, value.get("outcome"))
    if question.method == "elicitation/create":
        return str(value.get("action"))
    return "a result"


def _outcome(question: MockStep, outcome: Any) -> str:
    if not isinstance(outcome, dict):
        return "no outcome"
    if outcome.get("outcome") != "selected":
        return str(outcome.get("outcome"))
    params = question.message.params if isinstance(question.message, Request) else {}
    options = params.get("options") if isinstance(params, dict) else None
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict) and option.get("optionId") == outcome.get("optionId"):
            return str(option.get("kind")).partition("_")[0]
    return "an option that wasn't offered"


def differences(recorded: Any, live: Any) -> Iterator[str]:
    """Describe recorded fields that are now missing or of another type."""
    if not isinstance(recorded, dict) or not isinstance(live, dict):
        return
    for key, value in recorded.items():
        now = live.get(key)
        if value in (None, [], {}) or (now is None and key in _AT_WILL):
            continue
        if now is None:
            yield f'no longer has "{key}"'
        elif _kind(value) != _kind(now):
            yield f'has {_kind(now)} as "{key}" now, but had {_kind(value)}'
        elif key == "protocolVersion" and now < value:  # a client that requests more gets the recorded version
            yield f'has "{key}" {now} now, but had {value}'


_ONLY_IN_V2: Final = frozenset({"info", "capabilities"})


def agreed_handshake(step: MockStep) -> Any:
    """The params of a recorded `initialize` that matter for the negotiated version.

    A client that requests version 2 sends everything in both forms. If the agent didn't answer 2, one form is enough.
    """
    assert isinstance(step.message, Request)
    recorded = step.message.params
    answer = step.answer.message if step.answer is not None else None
    result = answer.value if isinstance(answer, Result) else None
    agreed = result.get("protocolVersion") if isinstance(result, dict) else None
    if not isinstance(recorded, dict) or agreed == 2:
        return recorded
    kept = {key: value for key, value in recorded.items() if key not in _ONLY_IN_V2}
    return {**kept, "protocolVersion": agreed} if agreed == 1 else kept


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "a boolean"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"
