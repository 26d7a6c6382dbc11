"""Plays a recorded agent for one client: sends what it sent, in its order, when the client has said what it said then.

The order is that of the recording: a frame of the agent's is sent when every request, answer and cancellation that
stood before it has come. Where the client departs from the recording, that is said with the number of the frame, and:

- a request that stands further on is taken as that one; what was skipped is left out;
- a request that came before is answered as then, but a prompt with `refusal`; one that never came with -32601;
- an answer of another kind (a permission rejected that was allowed, an error for a result) ends the turn: with
  `cancelled` where the client cancelled, else with `refusal`; what the agent did in the rest of it is left out;
- a cancellation that was not there ends the turn with `cancelled`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import anyio
from anyio.abc import ByteStream

from acp_tui.mock.answers import CANCELLED, kind_of, lacking
from acp_tui.mock.mapping import Mapping
from acp_tui.mock.script import Script, Step
from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.rpc.framing import FrameSplitter
from acp_tui.rpc.messages import (
    Failure,
    Junk,
    Notification,
    Request,
    RequestId,
    Result,
    read_message,
    write_failure,
    write_result,
)

PROMPT: Final = "session/prompt"
CANCEL: Final = "session/cancel"
RECEIVE_BYTES: Final = 64 << 10


class Departed(Exception):
    """The client did something else than in the recording, and that is the end."""


class MockAgent:
    """One recorded agent. Speed 1 is as recorded, 2 twice as fast, 0 without delays."""

    def __init__(
        self,
        script: Script,
        *,
        speed: float = 0,
        on_departure: Callable[[str], None],
        on_stderr: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        """`on_departure` may raise Departed."""
        self._script = script
        self._speed = speed
        self._on_departure = on_departure
        self._on_stderr = on_stderr
        self._mapping = Mapping()
        self._at = 0
        self._came: dict[Step, RequestId] = {}
        """What the client has said of what it said in the recording; requests with their ids of now."""
        self._left_out: set[Step] = set()
        self._asked: dict[tuple[type, Any], Step] = {}
        """Our questions that wait, by their ids."""
        self._unanswered: dict[Step, RequestId] = {}
        """The client's requests that wait."""
        self._changed = anyio.Event()
        self._sending = anyio.Lock()
        self._stream: ByteStream

    @property
    def is_lost(self) -> bool:
        """The recorded agent ended here, with the client still waiting or surprised."""
        return self._at == len(self._script.steps) and (bool(self._unanswered) or self._script.ended_itself)

    async def serve(self, stream: ByteStream) -> None:
        """Serve the client until it ends the connection, or the agent in the recording ended by itself.

        Raises Departed, in a group.
        """
        self._stream = stream
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._play, tasks.cancel_scope)
            await self._listen()
            tasks.cancel_scope.cancel()

    # What the agent says

    async def _play(self, whole: anyio.CancelScope) -> None:
        before = 0.0
        while self._at < len(self._script.steps):
            step = self._script.steps[self._at]
            if self._is_waited_for(step):
                changed = self._changed
                await changed.wait()
                continue
            if step.is_ours and step not in self._left_out:
                await anyio.sleep((step.at - before) / self._speed if self._speed and step.at > before else 0)
                if step not in self._left_out:  # the client may have departed meanwhile
                    await self._say(step)
            before = step.at
            self._at += 1
        if self.is_lost:
            whole.cancel()

    def _is_waited_for(self, step: Step) -> bool:
        if step.is_ours or step in self._came or step in self._left_out:
            return False
        match step.message:
            case Request() | Notification("session/cancel"):
                return True
            case Result() | Failure():
                return step.answers is not None and step.answers not in self._left_out
            case _:
                return False

    async def _say(self, step: Step) -> None:
        match step.message:
            case None:
                self._on_stderr(step.data)
            case Request(request_id):
                self._asked[type(request_id), request_id] = step
                await self._send(self._mapping.frame(step.data))
            case Result() | Failure() if step.answers is not None:
                if step.answers in self._unanswered:
                    await self._send(self._mapping.frame(step.data, self._unanswered.pop(step.answers)))
            case _:
                await self._send(self._mapping.frame(step.data))

    async def _send(self, line: bytes) -> None:
        async with self._sending:
            await self._stream.send(line + b"\n")

    # What the client says

    async def _listen(self) -> None:
        lines = FrameSplitter()
        while True:
            try:
                data = await self._stream.receive(RECEIVE_BYTES)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return
            for line in lines.feed(data):
                await self._hear(line)
            self._changed.set()
            self._changed = anyio.Event()

    async def _hear(self, line: bytes) -> None:
        match read_message(line):
            case Request() as request:
                await self._requested(request)
            case Notification() as notification:
                await self._notified(notification)
            case Result() | Failure() as answer:
                await self._answered(answer)
            case Junk(_, reason):
                self._on_departure(f"a line that is no message: {reason}")
            case None:
                pass

    # Requests

    async def _requested(self, request: Request) -> None:
        step = next(self._ahead(request), None)
        if step is None:
            await self._answer_unexpected(request)
            return
        self._leave_out_before(step)
        assert isinstance(step.message, Request)
        for name in lacking(step.message.params, request.params):
            self._depart(step, f'{request.method} has no "{name}" now')
        self._mapping.learn(step.message.params, request.params)
        self._mapping.learn_name("requestId", step.message.id, request.id)
        self._came[step] = request.id
        self._unanswered[step] = request.id

    def _ahead(self, message: Request | Notification) -> Iterator[Step]:
        """The client's messages of this kind that have not come."""
        for step in self._script.steps[self._at :]:
            if step.is_ours or step in self._came or step in self._left_out or step.method != message.method:
                continue
            if type(step.message) is type(message) and self._is_of_session(step, message):
                yield step

    def _is_of_session(self, step: Step, message: Request | Notification) -> bool:
        session = message.params.get("sessionId") if isinstance(message.params, dict) else None
        opens = message.method in ("session/load", "session/resume")
        return opens or self._mapping.name("sessionId", step.session) == session

    def _leave_out_before(self, expected: Step) -> None:
        """What the client has passed by, in the same session or before there was one, will not come."""
        for step in self._script.steps[self._at :]:
            if step is expected:
                return
            is_told = isinstance(step.message, Request) or step.method == CANCEL
            if is_told and self._is_waited_for(step) and step.session in (None, expected.session):
                self._depart(step, f"{step.method} was expected, and {expected.method} came")
                self._leave_out(step)

    def _leave_out(self, request: Step) -> None:
        """A request, and for a prompt its turn."""
        self._left_out.add(request)
        if request.method == PROMPT:
            self._left_out.update(self._rest_of_turn(request))

    def _rest_of_turn(self, prompt: Step) -> Iterator[Step]:
        """What is still to come of a turn, with its end."""
        for step in self._script.steps[self._at :]:
            if step.session == prompt.session and step.number > prompt.number and step.message is not None:
                yield step
            if step is prompt.answer:
                return

    async def _answer_unexpected(self, request: Request) -> None:
        before = next((step for step in reversed([*self._came]) if step.method == request.method), None)
        if request.method == PROMPT:
            self._depart(None, "a prompt that the recording does not have")
            await self._send(write_result(request.id, {"stopReason": "refusal"}))
        elif before is not None and before.answer is not None:
            self._depart(before, f"{request.method} came again, and is answered as then")
            await self._send(self._mapping.frame(before.answer.data, request.id))
        else:
            self._depart(None, f"{request.method} is not in the recording")
            error = RequestFailed(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {request.method}")
            await self._send(write_failure(request.id, error))

    # Cancellations

    async def _notified(self, notification: Notification) -> None:
        if notification.method != CANCEL:
            return
        session = notification.params.get("sessionId") if isinstance(notification.params, dict) else None
        prompt = self._turn(lambda step: self._mapping.name("sessionId", step.session) == session)
        if prompt is None:
            return
        step = next(self._ahead(notification), None)
        if step is not None and (prompt.answer is None or step.number < prompt.answer.number):
            self._came[step] = None
            return
        self._depart(prompt, "the turn was cancelled")
        await self._end_turn(prompt, CANCELLED)

    def _turn(self, is_it: Callable[[Step], bool]) -> Step | None:
        """The prompt that waits for its answer."""
        return next((step for step in self._unanswered if step.method == PROMPT and is_it(step)), None)

    async def _end_turn(self, prompt: Step, reason: str) -> None:
        self._left_out.update(self._rest_of_turn(prompt))
        await self._send(write_result(self._unanswered.pop(prompt), {"stopReason": reason}))

    # Answers

    async def _answered(self, answer: Result | Failure) -> None:
        question = self._asked.pop((type(answer.id), answer.id), None)
        if question is None:
            self._depart(None, f"an answer to a request that nobody sent, {answer.id!r}")
            return
        recorded = question.answer
        if recorded is None or recorded in self._left_out:
            return
        assert isinstance(recorded.message, Result | Failure)
        then, now = kind_of(question, recorded.message), kind_of(question, answer)
        if then != now:
            await self._differ(question, recorded, then, now)
            return
        self._came[recorded] = None
        if isinstance(answer, Result) and isinstance(recorded.message, Result):
            for name in lacking(recorded.message.value, answer.value):
                self._depart(recorded, f'the answer to {question.method} has no "{name}" now')
            self._mapping.learn(recorded.message.value, answer.value)

    async def _differ(self, question: Step, recorded: Step, then: str, now: str) -> None:
        prompt = self._turn(lambda step: question.session in (None, step.session))
        ending = CANCELLED if now == CANCELLED else "refusal"
        so = f", so the turn ends with {ending}" if prompt is not None else ""
        self._depart(recorded, f"the answer to {question.method} was {then} and is {now}{so}")
        if prompt is None:
            self._came[recorded] = None
        else:
            await self._end_turn(prompt, ending)

    def _depart(self, step: Step | None, what: str) -> None:
        self._on_departure(what if step is None else f"frame {step.number}: {what}")
