"""Plays a recorded agent for one client: sends the same messages in the same order, when the client sends its part.

`client.transcript`'s README.md describes the format. If the client departs from the recording, that is reported with
the frame and its time, and:

- a request that comes too early is answered immediately; skipped ones may still come, and nothing waits for them;
- a message that doesn't come although the client waits for us is no longer waited for, except by what depends on it
  (see `progress`);
- a request that came before is answered as then, but a prompt with `refusal`; one that never came, with an error;
- a different kind of response (a permission rejected that was allowed, an error instead of a result) ends the turn:
  with `cancelled` if the client cancelled, otherwise with `refusal`; the rest of the turn is left out;
- a cancellation that wasn't recorded ends the turn with `cancelled`;
- requests that need a capability the client lacks aren't sent, but what came after the response is.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final, NoReturn

import anyio
from anyio.abc import ByteReceiveStream, ByteStream
from anyio.streams.stapled import StapledByteStream

from acp_tui.demo.client_calls import at
from acp_tui.rpc import (
    AnswersUnread,
    ConnectionLost,
    ErrorCode,
    FrameTooLarge,
    RequestFailed,
    RequestId,
    Wire,
    messages,
)
from acp_tui.rpc.peer import CANCEL_REQUEST
from acp_tui.workbench.mock.progress import Mapping, MockProgress, UnexpectedRequests
from acp_tui.workbench.mock.script import (
    CANCEL,
    CANCELLED,
    PROMPT,
    MockStep,
    Script,
    agreed_handshake,
    differences,
    kind_of,
    session_of,
)

ROOM_BYTES: Final = 64 << 10
"""The maximum number of bytes waiting to be written, so that a departing client is noticed before more is sent."""
PATIENCE_S: Final = 2.0
"""How much longer than in the recording a client may take for its messages in the middle of a turn."""
LAST_WORDS_S: Final = 1.0
"""For remaining messages after the client has closed its output, because it may still read."""
STEPS_PER_SLICE: Final = 64
COMPLAINTS: Final = (ErrorCode.PARSE_ERROR, ErrorCode.INVALID_REQUEST)
"""The error codes of responses to invalid messages."""


class Departed(Exception):
    """The client departed from the recording, and the session ends."""


class MockAgent:
    """One recorded agent. Speed 1 is as recorded, 2 is twice as fast, and 0 has no delays."""

    def __init__(
        self,
        script: Script,
        *,
        speed: float = 0,
        on_departure: Callable[[str], None],
        on_note: Callable[[str], None] = lambda _: None,
        on_stderr: Callable[[bytes], None] = lambda _: None,
        patience_s: float = PATIENCE_S,
        timeout_s: float | None = None,
    ) -> None:
        """`on_departure` may raise Departed.

        With a timeout, a client that sends or reads nothing also ends the session.
        """
        self._script = script
        self._speed = speed
        self._on_departure = on_departure
        self._on_note = on_note
        self._on_stderr = on_stderr
        self._patience_s = patience_s
        self._timeout_s = math.inf if timeout_s is None else timeout_s
        self._progress = MockProgress(script.steps)
        self._mapping = Mapping()
        self._surprises = UnexpectedRequests(self._progress, self._mapping)
        self._asked: dict[tuple[type, Any], MockStep] = {}
        """Our requests that wait for a response, by ID."""
        self._unanswered: dict[MockStep, RequestId] = {}
        """The client's requests that wait for a response."""
        self._due = 0.0
        """When to send the next step, in the loop's time."""
        self._changed = anyio.Event()
        self._is_deaf = False
        """Whether the client has closed its output."""
        self._has_said_all = anyio.Event()
        """Set after that, when everything that can be sent without its input has been sent."""
        self._wire: Wire
        self.is_lost = False
        """The recorded agent ended here, while the client is waiting or unprepared."""

    async def serve(self, stream: ByteStream) -> None:
        """Serve the client until it closes the connection, or the recorded agent exited.

        Raises Departed, in an exception group.
        """
        both_ways = StapledByteStream(stream, _Heard(stream, self._say_the_rest))
        self._wire = Wire(both_ways, self._hear, max_waiting_bytes=ROOM_BYTES, unread_limit_s=self._timeout_s)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._play, tasks.cancel_scope)
            try:
                await self._wire.serve()
            except AnswersUnread as error:
                self._give_up_on_reader(error)
            except FrameTooLarge as error:
                self._depart(None, f"the client sent {error}")
                raise Departed from error
            self._part()
            tasks.cancel_scope.cancel()

    async def _say_the_rest(self) -> None:
        self._is_deaf = True
        self._signal()
        with anyio.move_on_after(LAST_WORDS_S):
            await self._has_said_all.wait()

    def _signal(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    # What the agent sends

    async def _play(self, whole: anyio.CancelScope) -> None:
        with suppress(ConnectionLost):  # the client no longer reads
            await self._play_steps()
        self._has_said_all.set()
        if self.is_lost:
            whole.cancel()

    async def _play_steps(self) -> None:
        said = 0
        self._due = anyio.current_time()
        while (step := self._progress.next()) is not None:
            if not step.is_ours:
                await self._wait_for(step)
            elif await self._is_time_for(step):
                self._progress.pass_by(step)
                await self._say(step)
                said += 1
                if said % STEPS_PER_SLICE == 0:
                    await anyio.sleep(0)
        await self._end()

    async def _is_time_for(self, step: MockStep) -> bool:
        """Wait for the step's time; return False if something arrived that may change the next step."""
        if not self._speed or not step.gap_s:
            return True
        due = self._due + step.gap_s / self._speed
        if due > anyio.current_time():
            changed = self._changed
            with anyio.move_on_after(due - anyio.current_time()) as scope:
                await changed.wait()
            if not scope.cancelled_caught or self._progress.is_left_out(step):
                return False
        self._due = due
        return True

    async def _say(self, step: MockStep) -> None:
        match step.message:
            case None:
                await self._until_read()
                self._on_stderr(step.data)
            case messages.Result() | messages.Failure() if step.answers is not None:
                self._answer_as_recorded(step)
            case messages.Request(request_id):
                self._asked[type(request_id), request_id] = step
                self._wire.send(self._mapping.frame(step.data))
            case _:
                self._wire.send(self._mapping.frame(step.data))
        await self._wire.until_room()

    def _answer_as_recorded(self, step: MockStep) -> None:
        assert step.answers is not None
        is_again = step is not step.answers.answer
        if is_again or step.answers in self._unanswered:
            self._unanswered.pop(step.answers, None)
            self._wire.send(self._mapping.response(step.data, self._progress.came[step.answers]))

    async def _until_read(self) -> None:
        with anyio.move_on_after(self._timeout_s) as limit:
            await self._wire.flush()
        if limit.cancelled_caught:
            self._give_up_on_reader()

    def _give_up_on_reader(self, error: AnswersUnread | None = None) -> NoReturn:
        self._on_note(f"gave up after {self._timeout_s:g} s of waiting for the client to read")
        raise Departed from error

    async def _end(self) -> None:
        await self._until_read()
        if self._script.ended_itself:
            self.is_lost = True
        elif self._unanswered and not self._script.how_it_ended:
            self._on_note("the recording was cut off here, but the client is waiting for an answer")
            self.is_lost = True
        elif self._unanswered:
            self._on_note("the agent sends nothing more: in the recording it was silent until its client ended it")

    # What doesn't come

    async def _wait_for(self, step: MockStep) -> None:
        if self._is_deaf:
            await self._until_read()
            self._has_said_all.set()
        patience_s = self._patience_with(step)
        changed = self._changed
        with anyio.move_on_after(min(patience_s, self._timeout_s)) as scope:
            await changed.wait()
        self._due = anyio.current_time()
        if scope.cancelled_caught and not self._is_deaf:
            if self._timeout_s <= patience_s:
                self._on_note(f"{_place(step)}: gave up after {self._timeout_s:g} s of waiting for {step.what}")
                raise Departed
            self._put_off(step)

    def _patience_with(self, step: MockStep) -> float:
        """How long to wait for a step; without limit if the client doesn't wait for us."""
        is_waiting = any(request.answer is not None for request in self._unanswered)
        if not is_waiting or self._progress.is_overdue(step):
            return math.inf
        return self._patience_s + (step.gap_s / self._speed if self._speed else 0)

    def _put_off(self, step: MockStep) -> None:
        self._progress.put_off(step)
        if isinstance(step.message, messages.Request):
            self._depart(step, f"{step.method} was expected, but didn't come")
        else:
            self._on_note(f"{_place(step)}: waiting for {step.what}")

    # What the client sends

    def _part(self) -> None:
        for request in self._unanswered:
            if request.answer is not None:
                self._depart(request, f"the client disconnected before the answer to {request.method}")

    def _hear(self, line: bytes) -> None:
        match messages.read_message(line):
            case messages.Request() as request:
                self._requested(request)
            case messages.Notification() as notification:
                self._notified(notification)
            case messages.Result() | messages.Failure() as answer:
                self._answered(answer)
            case messages.Malformed(_, reason, answer):
                self._depart(None, f"the client sent a line that isn't a message: {reason}")
                if answer is not None:
                    self._wire.send(answer)
            case None:
                pass
        self._signal()

    # Requests

    def _requested(self, request: messages.Request) -> None:
        step = next((each for each in self._progress.expected(request) if self._is_of_session(each, request)), None)
        if step is None:
            before, what, answer = self._surprises.answer(request)
            self._depart(before, what)
            self._wire.send(answer)
            return
        self._miss_before(step)
        assert isinstance(step.message, messages.Request)
        is_handshake = request.method == "initialize"
        recorded = agreed_handshake(step) if is_handshake else step.message.params
        for difference in differences(recorded, request.params):
            self._depart(step, f"{request.method} {difference}")
        self._mapping.learn(step.message.params, request.params)
        self._mapping.learn_name("requestId", step.message.id, request.id)
        if is_handshake:
            self._leave_out_what_is_not_offered(step.message.params, request.params)
        self._unanswered[step] = request.id
        is_to_be_answered_now = self._progress.is_to_be_answered_now(step)
        self._progress.come(step, request.id)
        if is_to_be_answered_now and step.answer is not None:
            self._answer_as_recorded(step.answer)
            self._progress.leave_out(step.answer)

    def _is_of_session(self, step: MockStep, message: messages.Request | messages.Notification) -> bool:
        opens = message.method in ("session/load", "session/resume")
        return opens or self._mapping.name("sessionId", step.session) == session_of(message.params)

    def _miss_before(self, request: MockStep) -> None:
        for missed in self._progress.missed_before(request):
            self._depart(missed, f"{missed.method} was expected, but {request.method} came")
            if isinstance(missed.message, messages.Request):
                self._progress.put_off(missed)
            else:
                self._progress.leave_out(missed)

    def _leave_out_what_is_not_offered(self, then: Any, now: Any) -> None:
        lacking: dict[str, list[MockStep]] = {}
        for question, offer in no_longer_asked(self._script.steps, then, now):
            self._progress.leave_out(question)
            lacking.setdefault(offer, []).append(question)
        for offer, questions in lacking.items():
            which = ", ".join(dict.fromkeys(question.method for question in questions))
            self._depart(questions[0], f"{which} won't be asked: the client doesn't offer {offer} now")

    # Cancellations

    def _notified(self, notification: messages.Notification) -> None:
        if notification.method == CANCEL_REQUEST:
            self._taken_back(notification)
        elif notification.method == CANCEL:
            self._cancelled(notification)

    def _cancelled(self, notification: messages.Notification) -> None:
        session = session_of(notification.params)
        prompt = self._turn(lambda step: self._mapping.name("sessionId", step.session) == session)
        if prompt is None:
            return
        for step in self._progress.expected(notification):
            if step.session == prompt.session and (prompt.answer is None or step.place < prompt.answer.place):
                self._progress.come(step)
                return
        self._depart(prompt, "the turn was canceled, but not in the recording")
        self._end_turn(prompt, CANCELLED)

    def _taken_back(self, notification: messages.Notification) -> None:
        """Handle the cancellation of one request: the client no longer waits for its response."""
        params = notification.params if isinstance(notification.params, dict) else {}
        request_id = params.get("requestId")
        waiting = next((step for step, now in self._unanswered.items() if _is_same_id(now, request_id)), None)
        if waiting is None:
            return
        for step in self._progress.expected(notification):
            assert isinstance(step.message, messages.Notification) and isinstance(waiting.message, messages.Request)
            if _is_same_id(step.message.params.get("requestId"), waiting.message.id):
                self._progress.come(step)
                return
        self._depart(waiting, f"{waiting.method} was canceled, but not in the recording")
        if waiting.method == PROMPT:
            self._progress.leave_out_rest(waiting)
        elif waiting.answer is not None:
            self._progress.leave_out(waiting.answer)
        error = RequestFailed(ErrorCode.REQUEST_CANCELLED, "Request cancelled")
        self._wire.send(messages.write_failure(self._unanswered.pop(waiting), error))

    def _turn(self, is_it: Callable[[MockStep], bool]) -> MockStep | None:
        return next((step for step in self._unanswered if step.method == PROMPT and is_it(step)), None)

    def _end_turn(self, prompt: MockStep, reason: str) -> None:
        self._progress.leave_out_rest(prompt)
        self._wire.send(messages.write_result(self._unanswered.pop(prompt), {"stopReason": reason}))

    # Responses

    def _answered(self, answer: messages.Result | messages.Failure) -> None:
        question = self._asked.pop((type(answer.id), answer.id), None)
        if question is None and isinstance(answer, messages.Failure) and answer.error.code in COMPLAINTS:
            self._on_note(f"the client couldn't read a line: {answer.error.message}")
            return
        if question is None:
            self._depart(None, f"an answer came for a request that isn't open, {answer.id!r}")
            return
        recorded = question.answer
        if recorded is None or self._progress.is_left_out(recorded):
            return
        assert isinstance(recorded.message, messages.Result | messages.Failure)
        then, now = kind_of(question, recorded.message), kind_of(question, answer)
        if then != now:
            self._differ(question, recorded, then, now)
            return
        self._progress.come(recorded)
        if isinstance(answer, messages.Result) and isinstance(recorded.message, messages.Result):
            for difference in differences(recorded.message.value, answer.value):
                self._depart(recorded, f"the answer to {question.method} {difference}")
            self._mapping.learn(recorded.message.value, answer.value)

    def _differ(self, question: MockStep, recorded: MockStep, then: str, now: str) -> None:
        prompt = self._turn(lambda step: question.lane in (None, step.lane))
        ending = CANCELLED if now == CANCELLED else "refusal"
        so = f", so the turn ends with {ending}" if prompt is not None else ""
        self._depart(recorded, f"the answer to {question.method} was {then} and is {now}{so}")
        if prompt is None:
            self._progress.come(recorded)
        else:
            self._end_turn(prompt, ending)

    def _depart(self, step: MockStep | None, what: str) -> None:
        self._on_departure(what if step is None else f"{_place(step)}: {what}")


def _place(step: MockStep) -> str:
    return f"frame {step.number} ({step.at:.3f}s)"


def _is_same_id(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


class _Heard(ByteReceiveStream):
    """What a client sends. Before its end comes what can be said without it, because the client may still read."""

    def __init__(self, stream: ByteStream, say_the_rest: Callable[[], Awaitable[None]]) -> None:
        self._stream = stream
        self._say_the_rest = say_the_rest

    async def receive(self, max_bytes: int = 65536) -> bytes:
        try:
            return await self._stream.receive(max_bytes)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._say_the_rest()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()


TERMINAL: Final = "terminal/"
FILES: Final = {"fs/read_text_file": ("fs", "readTextFile"), "fs/write_text_file": ("fs", "writeTextFile")}


def no_longer_asked(steps: Iterable[MockStep], then: Any, now: Any) -> Iterator[tuple[MockStep, str]]:
    """The agent's requests that need a capability missing from the client's `initialize` in `now`, with its name.

    A capability that the recorded client lacked too doesn't count.
    """
    for step in steps:
        if step.is_ours and isinstance(step.message, messages.Request):
            path = _needs(step.message)
            if path and _offers(then, path) and not _offers(now, path):
                yield step, ".".join(path)


def _needs(question: messages.Request) -> tuple[str, ...]:
    if question.method.startswith(TERMINAL):
        return ("terminal",)
    if question.method == "elicitation/create":
        mode = question.params.get("mode") if isinstance(question.params, dict) else None
        return ("elicitation", mode if isinstance(mode, str) else "form")
    return FILES.get(question.method, ())


def _offers(params: Any, path: tuple[str, ...]) -> bool:
    return at(params, "clientCapabilities", *path) not in (None, False)
