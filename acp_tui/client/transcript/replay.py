"""Plays a recording into conversations, one event at a time, without an agent, a file, or a clock.

Frames go through the protocol code as they did live. The client's actions are applied as recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from acp_tui.client.transcript.events import Closed, Event, Frame, OwnAction, Restarted
from acp_tui.client.transcript.lines import Recording, open_recording
from acp_tui.client.transcript.replayed_sessions import ReplayedSession, ReplayedSessions, Touch
from acp_tui.conversation import updates
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import AuthStatus, RequestKey, SessionId
from acp_tui.protocol import ProtocolError
from acp_tui.protocol.connection import Connection
from acp_tui.protocol.negotiation import read_agreement
from acp_tui.protocol.roles import ClientOffer
from acp_tui.protocol.v1.connection import ConnectionV1
from acp_tui.protocol.v1.inbound import MODE, MODEL, read_auth_status
from acp_tui.protocol.v1.inbound_content import read_block
from acp_tui.protocol.v1.initialize import InitializeRequest
from acp_tui.protocol.v1.session import PromptRequest
from acp_tui.protocol.wire import decode
from acp_tui.rpc import Direction, Pairing, RequestFailed
from acp_tui.rpc.messages import ErrorResponse, Message, Notification, Request, Result, read_message, read_value
from acp_tui.values import dataclass

T = TypeVar("T")

_Answer: TypeAlias = Result | ErrorResponse
_Read: TypeAlias = Callable[[_Answer], None]
_Params: TypeAlias = Mapping[str, Any]
_ALL: Final = ClientOffer(elicitation_form=True, elicitation_url=True, auth_terminal=True)


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One event, and the conversations it changed."""

    event: Event
    touched: tuple[Touch, ...]


class Replay:
    """A recording being played, one event per step. It never waits."""

    def __init__(self, events: Iterable[Event]) -> None:
        """`events` may be a Recording that still grows: after its end, later steps return new events."""
        self._source = events
        self._events = self._with_messages()
        self.position_s = 0.0
        """The time of the last event."""
        self._restart({})

    def _restart(self, earlier: Mapping[SessionId, Conversation]) -> None:
        """Begin to play a process of the agent, after those that had these conversations."""
        self._sessions = ReplayedSessions(earlier)
        self._speaking: Connection = ConnectionV1(self._sessions, _ALL)
        self._pending: Pairing[_Read] = Pairing()
        """For our requests, how to apply their answers."""
        self._questions: Pairing[tuple[ReplayedSession, RequestKey]] = Pairing()
        self._notes: dict[SessionId, tuple[str, ...]] = {}

    # State

    @property
    def conversations(self) -> dict[SessionId, Conversation]:
        """By session ID, including closed sessions. They change with each step."""
        return self._sessions.conversations

    def before_opening(self) -> dict[SessionId, Conversation]:
        """Of the sessions that are being opened again, what was said before."""
        return self._sessions.before_opening()

    @property
    def outside(self) -> Conversation:
        """What belongs to no session: the agent's questions before there is one."""
        return self._sessions.outside.conversation

    @property
    def auth_status(self) -> AuthStatus | None:
        """Who was logged in, as far as the agent had told."""
        return self._sessions.auth_status

    # Stepping

    @property
    def events(self) -> Iterator[ReplayStep]:
        while (step := self.step()) is not None:
            yield step

    def step(self) -> ReplayStep | None:
        """Apply the next event; None at the end."""
        found = next(self._events, None)
        if found is None:
            if isinstance(self._source, Recording):  # it may grow
                self._events = self._with_messages()
            return None
        event, message = found
        self._sessions.touched = []
        self._apply(event, message)
        self.position_s = max(self.position_s, event.at)
        return ReplayStep(event, tuple(self._sessions.touched))

    def _with_messages(self) -> Iterator[tuple[Event, Any]]:
        """The next events, with the messages in frames that were parsed to read them."""
        if isinstance(self._source, Recording):
            return self._source.with_messages()
        return ((event, None) for event in self._source)

    def _apply(self, event: Event, message: Any) -> None:
        match event:
            case Frame(_, direction, data):
                said = read_message(data) if message is None else read_value(data, message)
                self._came(said) if direction is Direction.IN else self._went(said)
            case OwnAction(_, session_id, updates.PromptSent((), notes)) if session_id is not None:
                self._notes[session_id] = notes
            case OwnAction(_, session_id, update):
                self._sessions.apply_own(session_id, update)
            case Closed(_, session_id):
                self._sessions.close(session_id)
            case Restarted():
                self._sessions.end_telling(*self._sessions.told_late)
                self._restart(self.conversations)
            case _:
                pass

    # Messages from the agent

    def _came(self, message: Message | None) -> None:
        match message:
            case Notification(method, params):
                self._speaking.on_notification(method, params)
            case Request() as request:
                self._requested(request)
            case Result() | ErrorResponse() as answer:
                read = self._pending.answer(Direction.IN, answer.id)
                if read is not None:
                    read(answer)
            case _:
                pass

    def _requested(self, request: Request) -> None:
        self._sessions.asked = None
        try:
            waiting = self._speaking.on_request(request.method, request.params)
        except RequestFailed:
            return
        if isinstance(waiting, Coroutine):
            waiting.close()
        if self._sessions.asked is not None:
            self._questions.ask(Direction.IN, request.id, self._sessions.asked)

    # Messages to the agent

    def _went(self, message: Message | None) -> None:
        match message:
            case Request(request_id, method, params) if isinstance(params, dict):
                read = self._sent(method, params)
                if read is not None:
                    self._pending.ask(Direction.OUT, request_id, read)
            case Notification("session/cancel", {"sessionId": str(session_id)}):
                self._sessions.apply_own(SessionId(session_id), updates.CancelRequested())
            case Result() | ErrorResponse() as answer:
                self._answered(answer)
            case _:
                pass

    def _answered(self, answer: _Answer) -> None:
        """Apply an answer. The client's own record comes first; recordings of other programs don't have one."""
        session, key = self._questions.answer(Direction.OUT, answer.id) or (None, RequestKey(0))
        value = answer.value if isinstance(answer, Result) and isinstance(answer.value, dict) else {}
        if session is not None and key in session.conversation.permissions:
            outcome = value.get("outcome")
            option_id = outcome.get("optionId") if isinstance(outcome, dict) else None
            chosen = option_id if isinstance(option_id, str) else None
            self._sessions.apply(session, updates.PermissionAnswered(key, chosen))
        if session is not None and key in session.conversation.elicitations:
            action = value.get("action")
            self._sessions.apply(
                session, updates.ElicitationAnswered(key, action if action in ("accept", "decline") else "cancel")
            )

    def _sent(self, method: str, params: _Params) -> _Read | None:
        """Apply a request from the client. Returns how to apply its answer."""
        session_id = SessionId(str(params.get("sessionId")))
        session = self._sessions.open.get(session_id)
        match method:
            case "initialize":
                offer = _offer(params)
                self._speaking = ConnectionV1(self._sessions, offer)
                return lambda answer: self._agreed(offer, answer)
            case "auth/status":
                return self._auth_told
            case "session/new":
                self._sessions.early.await_new()
                return self._new
            case "session/fork":
                self._sessions.early.await_new()
                return lambda answer: self._new(answer, session)
            case "session/load" | "session/resume":
                is_resumed = not self._speaking.brings_history(method, params)
                if is_resumed and session is not None:
                    return lambda answer: self._resumed(session, answer)
                opened = self._sessions.begin(session_id, is_resumed=is_resumed)
                return lambda answer: self._opened(opened, answer)
            case "session/prompt" if session is not None:
                self._prompt(session, session_id, params)
                return lambda answer: self._prompt_answered(session, answer)
            case "session/set_config_option" | "session/set_mode" | "session/set_model":
                if session is not None:
                    return lambda answer: self._option_set(session, method, params, answer)
        return None

    def _prompt(self, session: ReplayedSession, session_id: SessionId, params: _Params) -> None:
        self._sessions.end_telling(session_id)
        notes = self._notes.pop(session_id, ())
        request = _readable(lambda: decode(PromptRequest, params))
        if request is not None:
            blocks = tuple(map(read_block, request.prompt))
            sent = updates.PromptSent(blocks, notes, self._speaking.accepts_prompts)
            self._sessions.apply(session, sent)

    # Answers of the agent

    def _auth_told(self, answer: _Answer) -> None:
        status = _result(answer, read_auth_status)
        if status is not None:
            self._sessions.on_auth_status(status)

    def _new(self, answer: _Answer, forked_from: ReplayedSession | None = None) -> None:
        is_fork = forked_from is not None
        read = _result(answer, lambda result: self._speaking.read_new_session(result, is_fork=is_fork))
        if read is not None:
            self._sessions.add(*read, forked_from)
        self._sessions.early.end_awaiting()

    def _opened(self, session: ReplayedSession, answer: _Answer) -> None:
        state = _result(answer, self._speaking.inbound.read_opened_session)
        if state is None:
            self._sessions.give_up(session)
        else:
            self._sessions.finish(session, state)

    def _resumed(self, session: ReplayedSession, answer: _Answer) -> None:
        for update in _result(answer, self._speaking.inbound.read_opened_session) or ():
            self._sessions.apply(session, update)

    def _agreed(self, offer: ClientOffer, answer: _Answer) -> None:
        agreed = _result(answer, read_agreement)
        if agreed is not None:
            speaking, agreement = agreed
            self._speaking = speaking(self._sessions, offer)
            self._speaking.early_modes = agreement.modes
            if agreement.identity is not None:
                self._sessions.quirks = agreement.identity.quirks

    def _prompt_answered(self, session: ReplayedSession, answer: _Answer) -> None:
        if isinstance(answer, ErrorResponse):
            update = self._speaking.read_prompt_refusal(answer.error)
        else:
            update = self._speaking.inbound.read_prompt_answer(answer.value)
        self._sessions.apply(session, update)

    def _option_set(self, session: ReplayedSession, method: str, params: _Params, answer: _Answer) -> None:
        update: updates.SessionUpdate | None
        if method == "session/set_config_option":
            update = _result(answer, self._speaking.inbound.read_config_options)
        else:
            option_id, value = (
                (MODE, params.get("modeId")) if method == "session/set_mode" else (MODEL, params.get("modelId"))
            )
            update = _result(answer, lambda _: updates.OptionChanged(option_id, str(value), option_id))
        if update is not None:
            self._sessions.apply(session, update)


def is_prompt(event: Event) -> bool:
    return (
        isinstance(event, Frame)
        and event.direction is Direction.OUT
        and b'"session/prompt"' in event.data
        and isinstance(message := read_message(event.data), Request)
        and message.method == "session/prompt"
    )


def replayed(*paths: Path, is_before_opening: bool = False) -> dict[SessionId, Conversation]:
    """The conversations at the end of recordings, by session ID. Blocks. Raises RecordingUnreadable.

    With `is_before_opening`, a session that is being opened again is as it was before.
    """
    with open_recording(*paths) as recording:
        replay = Replay(recording)
        for _ in replay.events:
            pass
        return {**replay.conversations, **(replay.before_opening() if is_before_opening else {})}


def _result(answer: _Answer, read: Callable[[Any], T]) -> T | None:
    return _readable(lambda: read(answer.value)) if isinstance(answer, Result) else None


def _readable(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except ProtocolError:
        return None


def _offer(params: _Params) -> ClientOffer:
    """What the client offered, as far as it determines what was served."""
    request = _readable(lambda: decode(InitializeRequest, params))
    if request is None or "clientCapabilities" not in params:
        return _ALL
    offered = request.client_capabilities
    return ClientOffer(
        read_text_file=offered.fs.read_text_file,
        write_text_file=offered.fs.write_text_file,
        terminal=offered.terminal,
        elicitation_form=offered.elicitation is not None and offered.elicitation.form is not None,
        elicitation_url=offered.elicitation is not None and offered.elicitation.url is not None,
    )
