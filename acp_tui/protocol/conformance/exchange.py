"""Rules of JSON-RPC: what a message is, and which answer belongs to which request; not what is said with it."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from acp_tui.protocol.conformance.rule import Frame, Judge, Rule, Severity, shown
from acp_tui.protocol.v1.methods import INITIALIZE, SESSION_PROMPT
from acp_tui.rpc import Direction, Pairing
from acp_tui.rpc.pairing import Key, Recent, key_of
from acp_tui.values import dataclass

VERSION: Final = Rule(
    "A-RPC-1",
    Severity.ERROR,
    'Every message says "jsonrpc": "2.0".',
    "Let a JSON-RPC library write the messages.",
    "overview",
    "R-RPC-1",
)
MESSAGE: Final = Rule(
    "A-RPC-2",
    Severity.ERROR,
    "Every object is a request, a notification or a response, and its method is a string.",
    "A message has a method, or an id with a result or an error.",
    "overview",
    "R-RPC-3",
)
ID: Final = Rule(
    "A-RPC-3",
    Severity.ERROR,
    "An id is a string, a whole number or null.",
    "Count requests, or name them.",
    "schema#requestid",
    "R-RPC-2",
)
UNIQUE_ID: Final = Rule(
    "A-RPC-4",
    Severity.ERROR,
    "No request has the id of one that still waits for its answer.",
    "Use each id once in a connection.",
    "schema#requestid",
    "R-RPC-2",
)
KNOWN_ID: Final = Rule(
    "A-RPC-5",
    Severity.ERROR,
    "Every response answers one request of the client's, under its id, and only once.",
    'Echo the id as it came (1 and "1" are two), and answer once.',
    "overview",
    "R-RPC-3",
)
NO_ANSWER: Final = Rule(
    "A-RPC-6",
    Severity.ERROR,
    "Notifications are not answered, unknown and malformed ones neither.",
    "Answer only what has an id.",
    "extensibility",
    "R-RPC-4",
)
EITHER: Final = Rule(
    "A-RPC-7",
    Severity.ERROR,
    "A response has either a result or an error.",
    'Where there is nothing to say, the result is {}: serialisers that leave out empty values drop "result".',
    "overview",
    "R-RPC-4",
)
ERROR_OBJECT: Final = Rule(
    "A-RPC-8",
    Severity.ERROR,
    "An error has a whole number as code and a text as message.",
    "Put the cause into error.data.",
    "schema#error",
    "R-ERR-2",
)
PARAMS: Final = Rule(
    "A-RPC-9",
    Severity.ERROR,
    "Params are an object.",
    "Send {} where there are none.",
    "overview",
    "R-RPC-6",
)
ANSWERED: Final = Rule(
    "A-RPC-10",
    Severity.ERROR,
    "Every request is answered.",
    "Answer with an error where the work fails, also after it was cancelled.",
    "overview",
    "R-RPC-4",
)
RULES: Final = (
    VERSION,
    MESSAGE,
    ID,
    UNIQUE_ID,
    KNOWN_ID,
    NO_ANSWER,
    EITHER,
    ERROR_OBJECT,
    PARAMS,
    ANSWERED,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request."""

    index: int
    """Its frame."""
    at_s: float
    is_agents: bool
    """False: the client's."""
    method: str
    params: dict[str, Any]
    request_id: Any


@dataclass(frozen=True, slots=True)
class Told:
    """A notification."""

    index: int
    at_s: float
    is_agents: bool
    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """A response to a request."""

    index: int
    at_s: float
    request: Asked
    result: Any
    """None where there is an error, too."""
    error: dict[str, Any] | None

    @property
    def is_agents(self) -> bool:
        """Whoever did not ask has answered."""
        return not self.request.is_agents

    @property
    def code(self) -> Any:
        """Of the error; None where there is none."""
        return self.error.get("code") if self.error is not None else None


KEPT_OPEN: Final = 1000
"""Requests that wait for an answer; a peer that has more of them is lost anyway."""

Event: TypeAlias = Asked | Told | Answered


class Exchange:
    """Follows both directions."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._open: Pairing[Asked] = Pairing(KEPT_OPEN)
        self._done: Recent[Key, int] = Recent()
        """Answers of the agent."""
        self._is_whole = False
        """It was followed from its first request on: else answers may come to what was asked before."""
        self._last_told: Told | None = None
        """By the client, and nothing came since."""

    def read(self, index: int, frame: Frame, value: dict[str, Any]) -> Event | None:
        """What the message means; None where it means nothing."""
        is_agents = frame.direction is Direction.IN
        if is_agents:
            self._judge.check(
                VERSION, value.get("jsonrpc") == "2.0", f"jsonrpc is {shown(value.get('jsonrpc'))}"
            )
        if "method" not in value:
            return self._read_answer(index, frame.at_s, is_agents, value)
        method = value["method"]
        self._judge.check(MESSAGE, isinstance(method, str) or not is_agents, f"a method is {shown(method)}")
        if not isinstance(method, str):
            return None
        params = self._params(is_agents, method, value.get("params"))
        if "id" in value:
            request = Asked(index, frame.at_s, is_agents, method, params, value["id"])
            self._open_request(request, frame.direction)
            return request
        told = Told(index, frame.at_s, is_agents, method, params)
        self._last_told = None if is_agents else told
        return told

    def _params(self, is_agents: bool, method: str, params: Any) -> dict[str, Any]:
        if is_agents and not method.startswith("_"):
            is_right = params is None or isinstance(params, dict)
            self._judge.check(PARAMS, is_right, f"the params of {method} are {shown(params)}")
        return params if isinstance(params, dict) else {}

    def _open_request(self, request: Asked, asker: Direction) -> None:
        name, is_id = shown(request.request_id), _is_id(request.request_id)
        if request.is_agents:
            self._judge.check(ID, is_id, f"{request.method} has the id {name}")
        elif request.method == INITIALIZE:
            self._is_whole = True
        if not is_id:
            return
        earlier = self._open.ask(asker, request.request_id, request)
        if request.is_agents:
            frames = () if earlier is None else (earlier.index,)
            text = f"{request.method} has the id {name} of a request that is still open"
            self._judge.check(UNIQUE_ID, earlier is None, text, *frames)

    # Answers

    def _read_answer(
        self, index: int, at_s: float, is_agents: bool, value: dict[str, Any]
    ) -> Answered | None:
        has_result, error = "result" in value, value.get("error")
        if is_agents:
            self._judge.check(MESSAGE, "id" in value, "an object has neither a method nor an id")
            if "id" not in value:
                return None
        request_id = value.get("id")
        answerer = Direction.IN if is_agents else Direction.OUT
        request = self._open.answer(answerer, request_id) if _is_id(request_id) else None
        if is_agents and not self._is_expected(request_id, request):
            return None
        if request is None:
            return None
        if is_agents and (key := key_of(request_id)) is not None:
            self._done[key] = index
            self._look_at_body(request, has_result, "error" in value, error)
        return Answered(index, at_s, request, value.get("result"), error if isinstance(error, dict) else None)

    def _is_expected(self, request_id: Any, request: Asked | None) -> bool:
        told, self._last_told = self._last_told, None
        if request is not None:
            self._judge.check(KNOWN_ID, True, "")
            if told is not None:
                self._judge.check(NO_ANSWER, True, "")
            return True
        if request_id is None and told is not None:
            self._judge.check(NO_ANSWER, False, f"the notification {told.method} was answered", told.index)
        elif _is_id(request_id) and (key := key_of(request_id)) in self._done and key is not None:
            text = f"the request {shown(request_id)} was answered a second time"
            self._judge.check(KNOWN_ID, False, text, self._done[key])
        elif self._is_whole and not (self._open.has_forgotten(Direction.OUT) or self._done.has_forgotten):
            self._judge.check(KNOWN_ID, False, f"nobody asked anything under the id {shown(request_id)}")
        return False

    def _look_at_body(self, request: Asked, has_result: bool, has_error: bool, error: Any) -> None:
        what = "both a result and an error" if has_result else "neither a result nor an error"
        is_right = has_result != has_error or (has_result and error is None)
        self._judge.check(EITHER, is_right, f"the answer to {request.method} has {what}", request.index)
        if not has_error or error is None:
            return
        is_right = (
            isinstance(error, dict)
            and type(error.get("code")) is int
            and isinstance(error.get("message"), str)
        )
        text = f"the answer to {request.method} has the error {shown(error)}"
        self._judge.check(ERROR_OBJECT, is_right, text, request.index)

    def finish(self) -> None:
        """Nothing comes any more; prompts have a rule of their own."""
        for request in self._open.all_waiting(Direction.OUT):
            if request.method != SESSION_PROMPT:
                self._judge.check(ANSWERED, False, f"{request.method} was never answered", request.index)
        if self._done:
            self._judge.check(ANSWERED, True, "")


def _is_id(request_id: Any) -> bool:
    """Whether ACP allows it. JSON-RPC advises against null, and allows it."""
    return request_id is None or isinstance(request_id, str) or type(request_id) is int
