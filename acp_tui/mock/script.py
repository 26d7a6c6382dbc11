"""What an agent did in a recording, step by step, with what each step answers; who plays it is not its matter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from acp_tui.client.settings.masking import MASK
from acp_tui.client.transcript.events import Event, Exited, Frame, Own, Stderr
from acp_tui.conversation.updates import Disconnected
from acp_tui.rpc import Direction
from acp_tui.rpc.messages import Failure, Message, Notification, Request, Result, read_message, write_request

Key: TypeAlias = tuple[Direction, type, Any]
"""A request, by who asked: 1 and "1" are two ids."""


@dataclass(slots=True, eq=False)
class Step:
    """A line that went over the wire, or to stderr."""

    number: int
    """Of the frame, from 1."""
    at: float
    is_ours: bool
    """The agent sends it; else the client does."""
    data: bytes
    message: Message | None = None
    """None: a line on stderr."""
    session: str | None = None
    answers: Step | None = None
    """For a response, the request."""
    answer: Step | None = None
    """For a request, the response; None where there was none."""

    @property
    def method(self) -> str:
        """Of a request or a notification; of a response that of its request."""
        if isinstance(self.message, Request | Notification):
            return self.message.method
        return self.answers.method if self.answers is not None else ""


@dataclass(slots=True)
class Script:
    """All of it."""

    steps: list[Step] = field(default_factory=list)
    ended_itself: bool = False
    """The agent was gone before the client was done with it."""
    how_it_ended: str = ""


def read_script(events: Iterable[Event]) -> Script:
    """The steps of a recording, in their order."""
    script = Script()
    asked: dict[Key, Step] = {}
    frames = 0
    for event in events:
        match event:
            case Frame(at, direction, data):
                frames += 1
                message = read_message(data)
                if message is not None:
                    step = Step(frames, at, direction is Direction.IN, _runnable(data, message), message)
                    _relate(step, direction, asked)
                    script.steps.append(step)
            case Stderr(at, data):
                script.steps.append(Step(0, at, True, data))
            case Own(_, _, Disconnected()):
                script.ended_itself = True
            case Exited(_, how):
                script.how_it_ended = how
            case _:
                pass
    return script


def _relate(step: Step, direction: Direction, asked: dict[Key, Step]) -> None:
    match step.message:
        case Request(request_id, _, params):
            asked[direction, type(request_id), request_id] = step
            step.session = _session(params)
        case Notification(_, params):
            step.session = _session(params)
        case Result(request_id) | Failure(request_id):
            asker = Direction.OUT if direction is Direction.IN else Direction.IN
            request = asked.pop((asker, type(request_id), request_id), None)
            if request is not None:
                step.answers, request.answer, step.session = request, step, request.session
        case _:
            pass


def _runnable(data: bytes, message: Message) -> bytes:
    """A command is run without the variables of which the values were masked: "***" would mislead it."""
    match message:
        case Request(request_id, "terminal/create", {"env": list(env), **params}):
            kept = [each for each in env if not (isinstance(each, dict) and each.get("value") == MASK)]
            if len(kept) < len(env):
                return write_request(request_id, message.method, {**params, "env": kept})
    return data


def _session(params: Any) -> str | None:
    session_id = params.get("sessionId") if isinstance(params, dict) else None
    return session_id if isinstance(session_id, str) else None
