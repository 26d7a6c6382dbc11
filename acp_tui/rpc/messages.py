"""What passes between two peers: lines, the JSON-RPC 2.0 messages in them, read leniently and written strictly.

`Pairing` tells which answer belongs to which request, in a stream of frames that passes live or was recorded.

RpcError
├── RequestFailed     the other side answered with an error; raised in a handler, it is the answer
└── ConnectionLost    nothing more will come: end of stream, broken pipe
    ├── FrameTooLarge     a line over the ceiling; the stream cannot be trusted to resume
    └── AnswersUnread     the other side does not read what it is sent
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from enum import Enum, IntEnum
from typing import Any, Final, Generic, TypeAlias, TypeVar

from pydantic_core import PydanticSerializationError, from_json, to_json

from acp_tui.values import dataclass


class RpcError(Exception):
    """Anything that goes wrong in this package."""


class RequestFailed(RpcError):
    """An error response, received or to be sent."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def detail(self) -> str | None:
        """The cause in the sender's words, where `data` carries one."""
        if isinstance(self.data, str):
            return self.data
        if isinstance(self.data, dict):
            found = (self.data.get(key) for key in ("details", "message", "reason", "error"))
            return next((text for text in found if isinstance(text, str) and text), None)
        return None


class ConnectionLost(RpcError):
    """The other side is gone; every pending request fails with this."""


class FrameTooLarge(ConnectionLost):
    """A line grew over the ceiling without an end."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"a message of more than {limit_bytes:,} bytes without a line end")
        self.limit_bytes = limit_bytes


class AnswersUnread(ConnectionLost):
    """The other side takes none of what waits for it, and more than may wait does."""

    def __init__(self, waiting_bytes: int) -> None:
        super().__init__(f"it hasn't read {waiting_bytes:,} bytes that were sent to it")
        self.waiting_bytes = waiting_bytes


RequestId: TypeAlias = str | int | float | None
"""Echoed exactly as it came: 1 and "1" are two ids."""


class Direction(Enum):
    """Which way a frame went, seen from this side."""

    IN = "in"
    OUT = "out"

    @property
    def opposite(self) -> Direction:
        """The other one."""
        return Direction.OUT if self is Direction.IN else Direction.IN


class ErrorCode(IntEnum):
    """The codes of JSON-RPC 2.0 and of its cancellation extension; any other int may come too."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    REQUEST_CANCELLED = -32800


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that is never answered."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Request:
    """A message that is answered once."""

    id: RequestId
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a request that succeeded."""

    id: RequestId
    value: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """The answer to a request that failed."""

    id: RequestId
    error: RequestFailed


@dataclass(frozen=True, slots=True)
class Junk:
    """A line that is no message: kept as a value, because agents print banners and warnings."""

    line: bytes
    reason: str
    answer: bytes | None = None
    """What JSON-RPC wants sent back, where it does."""


MAX_DEPTH: Final = 200
"""Deeper than anything that means something."""
PIECE_CHARACTERS: Final = 256 << 10
"""Of a text that is written: so many take 2 ms."""
MAX_ID_CHARACTERS: Final = 4_096
"""An id is kept as long as its request is served, and goes back whole: one of a megabyte is no id."""

Message: TypeAlias = Notification | Request | Result | Failure | Junk


def read_message(line: bytes) -> Message | None:
    """One line as a message; None for a blank one."""
    if not line or line.isspace():
        return None
    try:
        value = _decode(line)
    except _NestedTooDeep:
        return Junk(line, f"JSON that is nested more than {MAX_DEPTH} deep")
    except (ValueError, RecursionError):
        return Junk(line, "not JSON")
    if isinstance(value, list):
        return Junk(line, "a batch, which ACP doesn't use", _invalid("Batches aren't supported"))
    if not isinstance(value, dict):
        return Junk(line, "JSON, but not an object")
    return _read_object(line, value)


class _NestedTooDeep(Exception):
    """Whatever walks such a value by recursion, to show it or to write it, would fail half way."""


def _decode(line: bytes) -> Any:
    try:
        return from_json(line)  # it reads nothing that is nested more than 200 deep
    except ValueError as error:
        if "recursion limit" in str(error):
            raise _NestedTooDeep from None
    # The fast parser refuses what agents do send: half of a surrogate pair (a JavaScript string that was cut), a byte
    # order mark, invalid UTF-8 inside a string.
    value = json.loads(line.decode("utf-8-sig", "replace"))
    if _nests_deeper(value, MAX_DEPTH):
        raise _NestedTooDeep
    return value


def _nests_deeper(value: Any, limit: int) -> bool:
    """Whether lists and objects stand in each other more than `limit` deep."""
    level = [value]
    for _ in range(limit + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _read_object(line: bytes, value: dict[str, Any]) -> Message:
    method = value.get("method")
    if isinstance(method, str):
        return _read_call(line, value, method)
    if "id" not in value or not _is_id(value["id"]):
        return Junk(line, "not a request or a response")
    if method is not None:
        answer = _invalid("The method isn't a string", value["id"])
        return Junk(line, "a request with an invalid method", answer)
    if value.get("error") is not None:
        return Failure(value["id"], _read_error(value["error"]))
    # Serialisers that drop undefined or null values write an empty result as no result at all.
    if any(key in value for key in ("result", "error", "jsonrpc")):
        return Result(value["id"], value.get("result"))
    return Junk(line, "not a request or a response")


def _read_call(line: bytes, value: dict[str, Any], method: str) -> Message:
    params = value.get("params")
    params = {} if params is None else params
    if "id" not in value:
        return Notification(method, params)
    if not _is_id(value["id"]):
        return Junk(line, "a request with an invalid id", _invalid("The id isn't a short string or a number"))
    return Request(value["id"], method, params)


def _is_id(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return len(value) <= MAX_ID_CHARACTERS
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _read_error(error: Any) -> RequestFailed:
    if not isinstance(error, dict):
        return RequestFailed(ErrorCode.INTERNAL_ERROR, "an error without a message", error)
    code, message = error.get("code"), error.get("message")
    return RequestFailed(
        code if isinstance(code, int) else int(ErrorCode.INTERNAL_ERROR),
        message if isinstance(message, str) and message else "an error without a message",
        error.get("data"),
    )


def write_request(request_id: RequestId, method: str, params: Any) -> bytes:
    """A request as one line without its line end."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def write_notification(method: str, params: Any) -> bytes:
    """A notification as one line without its line end."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def write_result(request_id: RequestId, value: Any) -> bytes:
    """A successful response as one line without its line end."""
    return b"".join(result_pieces(request_id, value))


def result_pieces(request_id: RequestId, value: Any) -> Iterator[bytes]:
    """The same line, of which each piece takes a few milliseconds to make: a text may be as long as a file is."""
    yield b'{"jsonrpc":"2.0","id":%b,"result":' % _encode(request_id)
    yield from _pieces(value)
    yield b"}"


def _pieces(value: Any) -> Iterator[bytes]:
    if isinstance(value, str) and len(value) > PIECE_CHARACTERS:
        yield b'"'
        for start in range(0, len(value), PIECE_CHARACTERS):
            yield _encode(value[start : start + PIECE_CHARACTERS])[1:-1]
        yield b'"'
    elif isinstance(value, dict) and value and all(isinstance(key, str) for key in value):
        before = b"{"
        for key, each in value.items():
            yield before + _encode(key) + b":"
            yield from _pieces(each)
            before = b","
        yield b"}"
    else:
        yield _encode(value)


def write_failure(request_id: RequestId, error: RequestFailed) -> bytes:
    """An error response as one line without its line end."""
    body = {"code": int(error.code), "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return _encode({"jsonrpc": "2.0", "id": request_id, "error": body})


def _invalid(message: str, request_id: RequestId = None) -> bytes:
    return write_failure(request_id, RequestFailed(ErrorCode.INVALID_REQUEST, message))


def _encode(message: Any) -> bytes:
    try:
        return to_json(message)  # without a second copy in between, of a file of 60 MB say
    except PydanticSerializationError:  # half of a surrogate pair: only its escape is valid UTF-8
        return json.dumps(message, separators=(",", ":")).encode()


# Lines


DEFAULT_MAX_FRAME_BYTES: Final = 64 << 20


class FrameSplitter:
    """Collects received bytes and gives back whole lines, without their line ends."""

    def __init__(self, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        # The pieces of a line that has not ended: joined once, so that a line of many MiB is not copied per read.
        self._partial: list[bytes] = []
        self._partial_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes. Raises FrameTooLarge for a line over the ceiling."""
        *lines, rest = data.split(b"\n")
        if lines and self._partial:
            lines[0] = b"".join([*self._partial, lines[0]])
            self._partial, self._partial_bytes = [], 0
        if rest:
            self._partial.append(rest)
            self._partial_bytes += len(rest)
        longest = max((len(line) for line in lines), default=0)
        if max(longest, self._partial_bytes) > self._max_frame_bytes:
            raise FrameTooLarge(self._max_frame_bytes)
        return lines


KEPT: Final = 10_000

K = TypeVar("K")
V = TypeVar("V")
Key: TypeAlias = tuple[type, Any]


def key_of(request_id: Any) -> Key | None:
    """An id as something to find it by: 1, 1.0, true and "1" are four ids. None for what cannot be one."""
    is_id = request_id is None or isinstance(request_id, str | int | float)
    return (type(request_id), request_id) if is_id else None


class Recent(dict[K, V]):
    """A mapping that forgets its oldest entries. Once it has, what is not in it may have been."""

    def __init__(self, limit: int = KEPT) -> None:
        super().__init__()
        self._limit = limit
        self.has_forgotten = False

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self._limit:
            del self[next(iter(self))]
            self.has_forgotten = True

    def may_know(self, key: K) -> bool:
        """False only where `key` was certainly never there, or was taken out."""
        return self.has_forgotten or key in self


class Pairing(Generic[V]):
    """The requests of a connection that wait for their answers, each as what its follower made of it.

    A side is named by the way its frames go: IN for the other side, OUT for ours.
    """

    def __init__(self, limit: int = sys.maxsize) -> None:
        """`limit`: so many requests of a side are known at a time; with more, the oldest is forgotten."""
        self._waiting: dict[Direction, Recent[Key, V]] = {side: Recent(limit) for side in Direction}

    def ask(self, asker: Direction, request_id: Any, request: V) -> V | None:
        """A request of `asker` passes. Gives the one that waits under the same id, and is answered by nobody now."""
        key, waiting = key_of(request_id), self._waiting[asker]
        if key is None:
            return None
        before = waiting.pop(key, None)  # the new one is the youngest
        waiting[key] = request
        return before

    def answer(self, answerer: Direction, request_id: Any) -> V | None:
        """An answer of `answerer` passes. Gives its request, which waits no longer; None: nobody waits for it."""
        key = key_of(request_id)
        return None if key is None else self._waiting[answerer.opposite].pop(key, None)

    def waiting(self, asker: Direction, request_id: Any) -> V | None:
        """The request of `asker` that waits under this id."""
        key = key_of(request_id)
        return None if key is None else self._waiting[asker].get(key)

    def all_waiting(self, asker: Direction) -> Iterator[V]:
        """Those of `asker` that wait, the oldest first."""
        yield from tuple(self._waiting[asker].values())

    def has_forgotten(self, asker: Direction) -> bool:
        """Whether an answer that seems to belong to no request of `asker` may belong to one all the same."""
        return self._waiting[asker].has_forgotten
