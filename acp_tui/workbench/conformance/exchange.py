"""Rules of the wire: an agent's lines, and JSON-RPC messages and answers.

The contents of messages are checked elsewhere.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from acp_tui.protocol.conductor import PROXY_INITIALIZES
from acp_tui.rpc import Direction, Pairing
from acp_tui.rpc.messages import Key, Recent, key_of
from acp_tui.values import dataclass
from acp_tui.workbench.conformance.rule import Frame, Judge, read_json, shown


@dataclass(frozen=True, slots=True)
class SeenRequest:
    index: int
    """The index of its frame."""
    at_s: float
    is_agents: bool
    """Whether the agent sent it, not the client."""
    method: str
    params: dict[str, Any]
    request_id: Any


@dataclass(frozen=True, slots=True)
class SeenNotification:
    index: int
    at_s: float
    is_agents: bool
    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SeenResponse:
    index: int
    at_s: float
    request: SeenRequest
    result: Any
    """None also if there is an error."""
    error: dict[str, Any] | None

    @property
    def is_agents(self) -> bool:
        """Whether the agent answered: the side that didn't ask."""
        return not self.request.is_agents

    @property
    def code(self) -> Any:
        return self.error.get("code") if self.error is not None else None


KEPT_OPEN: Final = 1000
"""The most requests waiting for an answer. A peer with more is stuck anyway."""

Event: TypeAlias = SeenRequest | SeenNotification | SeenResponse


class Exchange:
    """Tracks the messages in both directions."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._open: Pairing[SeenRequest] = Pairing(KEPT_OPEN)
        self._done: Recent[Key, int] = Recent()
        """Answers of the agent."""
        self._is_whole = False
        """Whether it has seen the first request. Otherwise, answers may belong to earlier requests."""
        self._last_told: SeenNotification | None = None
        """The client's notification, if nothing came since."""

    def read(self, index: int, frame: Frame, value: dict[str, Any]) -> Event | None:
        """Return what a message means; None if it means nothing."""
        is_agents = frame.direction is Direction.IN
        if is_agents:
            self._judge("A-RPC-1", value.get("jsonrpc") == "2.0", f"jsonrpc is {shown(value.get('jsonrpc'))}")
        if "method" not in value:
            return self._read_answer(index, frame.at_s, is_agents, value)
        method = value["method"]
        self._judge("A-RPC-2", isinstance(method, str) or not is_agents, f"a method is {shown(method)}")
        if not isinstance(method, str):
            return None
        params = self._params(is_agents, method, value.get("params"))
        if "id" in value:
            request = SeenRequest(index, frame.at_s, is_agents, method, params, value["id"])
            self._open_request(request, frame.direction)
            return request
        told = SeenNotification(index, frame.at_s, is_agents, method, params)
        self._last_told = None if is_agents else told
        return told

    def _params(self, is_agents: bool, method: str, params: Any) -> dict[str, Any]:
        if is_agents and not method.startswith("_"):
            is_right = params is None or isinstance(params, dict)
            self._judge("A-RPC-9", is_right, f"the params of {method} are {shown(params)}")
        return params if isinstance(params, dict) else {}

    def _open_request(self, request: SeenRequest, asker: Direction) -> None:
        name, is_id = shown(request.request_id), _is_id(request.request_id)
        if request.is_agents:
            self._judge("A-RPC-3", is_id, f"{request.method} has the id {name}")
        elif request.method in ("initialize", *PROXY_INITIALIZES):
            self._is_whole = True
        if not is_id:
            return
        earlier = self._open.ask(asker, request.request_id, request)
        if request.is_agents:
            frames = () if earlier is None else (earlier.index,)
            text = f"{request.method} has the id {name} of a request that is still open"
            self._judge("A-RPC-4", earlier is None, text, *frames)

    # Answers

    def _read_answer(self, index: int, at_s: float, is_agents: bool, value: dict[str, Any]) -> SeenResponse | None:
        has_result, error = "result" in value, value.get("error")
        if is_agents:
            self._judge("A-RPC-2", "id" in value, "an object has neither a method nor an id")
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
        return SeenResponse(index, at_s, request, value.get("result"), error if isinstance(error, dict) else None)

    def _is_expected(self, request_id: Any, request: SeenRequest | None) -> bool:
        told, self._last_told = self._last_told, None
        if request is not None:
            self._judge("A-RPC-5", True, "")
            if told is not None:
                self._judge("A-RPC-6", True, "")
            return True
        if request_id is None and told is not None:
            self._judge("A-RPC-6", False, f"the notification {told.method} was answered", told.index)
        elif _is_id(request_id) and (key := key_of(request_id)) in self._done and key is not None:
            text = f"the request {shown(request_id)} was answered a second time"
            self._judge("A-RPC-5", False, text, self._done[key])
        elif self._is_whole and not (self._open.has_forgotten(Direction.OUT) or self._done.has_forgotten):
            self._judge("A-RPC-5", False, f"no request has the id {shown(request_id)}")
        return False

    def _look_at_body(self, request: SeenRequest, has_result: bool, has_error: bool, error: Any) -> None:
        what = "both a result and an error" if has_result else "neither a result nor an error"
        is_right = has_result != has_error or (has_result and error is None)
        self._judge("A-RPC-7", is_right, f"the answer to {request.method} has {what}", request.index)
        if not has_error or error is None:
            return
        is_right = isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)
        self._judge("A-RPC-8", is_right, f"the answer to {request.method} has the error {shown(error)}", request.index)

    def finish(self) -> None:
        """End the connection. Prompts have a rule of their own."""
        for request in self._open.all_waiting(Direction.OUT):
            if request.method != "session/prompt":
                self._judge("A-RPC-10", False, f"{request.method} was never answered", request.index)
        if self._done:
            self._judge("A-RPC-10", True, "")


def _is_id(request_id: Any) -> bool:
    """Whether ACP allows this ID. JSON-RPC discourages null but allows it."""
    return request_id is None or isinstance(request_id, str) or type(request_id) is int


MAX_PIECES: Final = 200
MAX_PIECES_BYTES: Final = 64 << 10


class LineCheck:
    """Checks the agent's lines and returns the JSON objects among them."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        # Lines that may be pieces of one message, with their frames.
        self._pieces: list[bytes] = []
        self._frames: list[int] = []

    def read(self, index: int, frame: Frame) -> dict[str, Any] | None:
        """Return the message; None if the line isn't one."""
        self._judge("A-LINE-2", _is_utf_8(frame.raw), "a line isn't UTF-8")
        if not frame.raw.strip():
            return None
        try:
            value = frame.value()
        except ValueError:
            self._take_piece(index, frame.raw)
            return None
        if not isinstance(value, dict):
            # Any indented object may have a line with only a bracket or a number.
            if self._pieces and not isinstance(value, list):
                self._take_piece(index, frame.raw)
                return None
            what = "a batch of messages" if isinstance(value, list) else "JSON that isn't an object"
            self._judge("A-LINE-1", False, f"a line is {what}, not a message")
            return None
        if self._pieces and "jsonrpc" not in value and "method" not in value:
            self._take_piece(index, frame.raw)
            return None
        self.finish()
        self._judge("A-LINE-1", True, "")
        return value

    def finish(self) -> None:
        """Judge pending pieces of a message as separate lines."""
        frames, self._frames, self._pieces = self._frames, [], []
        now = self._judge.frame
        for frame in frames:
            self._judge.frame = frame
            self._judge("A-LINE-1", False, "a line isn't JSON")
        self._judge.frame = now

    def _take_piece(self, index: int, raw: bytes) -> None:
        if not self._pieces and not raw.lstrip().startswith(b"{"):
            self._judge("A-LINE-1", False, "a line isn't JSON")
            return
        self._pieces.append(raw)
        self._frames.append(index)
        if raw.rstrip().endswith(b"}") and self._is_whole():
            *earlier, _ = self._frames
            text = f"one message spans {len(self._frames)} lines"
            self._pieces, self._frames = [], []
            self._judge("A-LINE-3", False, text, *earlier)
        elif len(self._pieces) > MAX_PIECES or sum(map(len, self._pieces)) > MAX_PIECES_BYTES:
            self.finish()

    def _is_whole(self) -> bool:
        # A line end may have been between two values or inside a string.
        for glue in (b"\n", b"\\n"):
            try:
                value = read_json(glue.join(self._pieces))
            except ValueError:
                continue
            return isinstance(value, dict)
        return False


def _is_utf_8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
