"""Lines and the JSON-RPC 2.0 messages in them, read leniently and written strictly.

`Pairing` matches answers to requests, in a live or recorded stream of frames.
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
    """The base of this package's errors."""


class RequestFailed(RpcError):
    """An error response, received or to be sent."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def detail(self) -> str | None:
        """The cause in the sender's words, if `data` has one."""
        if isinstance(self.data, str):
            return _start(self.data)
        if isinstance(self.data, dict):
            found = (self.data.get(key) for key in ("details", "message", "error"))
            return next((_start(text) for text in found if isinstance(text, str) and text), None)
        return None


MAX_ERROR_CHARACTERS: Final = 20_000
"""The limit for an error's message and cause, which are shown as a whole."""


def _start(text: str) -> str:
    return text if len(text) <= MAX_ERROR_CHARACTERS else f"{text[:MAX_ERROR_CHARACTERS]}…"


class ConnectionLost(RpcError):
    """The other side is gone: end of stream, or a broken pipe. Every pending request fails with this."""


class FrameTooLarge(ConnectionLost):
    """A line exceeded the limit without ending, so the stream can't be trusted anymore."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"a message of more than {limit_bytes:,} bytes without a line end")
        self.limit_bytes = limit_bytes


class AnswersUnread(ConnectionLost):
    """The other side doesn't read its messages, and too many are waiting."""

    def __init__(self, waiting_bytes: int) -> None:
        super().__init__(f"it hasn't read {waiting_bytes:,} bytes that were sent to it")
        self.waiting_bytes = waiting_bytes


RequestId: TypeAlias = str | int | float | None
"""Sent back exactly as it came: 1 and "1" are different IDs."""


class Direction(Enum):
    IN = "in"
    OUT = "out"

    @property
    def opposite(self) -> Direction:
        return Direction.OUT if self is Direction.IN else Direction.IN


class ErrorCode(IntEnum):
    """The codes of JSON-RPC 2.0 and its cancellation extension. Other integers may come too."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    REQUEST_CANCELLED = -32800


@dataclass(frozen=True, slots=True)
class Notification:
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Request:
    id: RequestId
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Result:
    id: RequestId
    value: Any


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    id: RequestId
    error: RequestFailed


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that isn't a message. It's an ordinary value, because agents print banners and warnings."""

    line: bytes
    reason: str
    answer: bytes | None = None
    """The answer that JSON-RPC requires, if any."""


MAX_DEPTH: Final = 200
"""Deeper than any meaningful message."""
TOO_DEEP: Final = f"JSON that is nested more than {MAX_DEPTH} deep"
MAX_CONTAINERS: Final = 100_000
"""More lists and objects than any meaningful message has. Parsing stops all threads: a line of 57 MiB of empty lists
stopped them for 12 s, and one of this many stops them for 0.1 s."""
MAX_VALUES: Final = 1_000_000
SURELY_FEW_BYTES: Final = 200_000
"""In a line this short, there can't be too many."""
PIECE_CHARACTERS: Final = 256 << 10
"""The size of a piece when writing a long text; takes about 2 ms."""
MAX_ID_CHARACTERS: Final = 4_096
"""The limit for an ID, which is kept while its request is served and then sent back. A longer method is cut."""

Message: TypeAlias = Notification | Request | Result | ErrorResponse | Malformed


def read_message(line: bytes) -> Message | None:
    """Read one line as a message; None for a blank line."""
    if not line or line.isspace():
        return None
    value = decode(line)
    return value if isinstance(value, Malformed) else read_value(line, value)


def decode(line: bytes) -> Any:
    """Return the line's JSON, or Malformed if it can't be read."""
    if has_too_many_values(line):
        return Malformed(line, f"JSON with more than {MAX_CONTAINERS:,} lists and objects, or {MAX_VALUES:,} values")
    try:
        return from_json(line)  # refuses more than 200 levels
    except ValueError as error:
        if "recursion limit" in str(error):
            return Malformed(line, TOO_DEEP)
    # The fast parser rejects some of what agents send: half a surrogate pair (a JavaScript string that was cut), a
    # byte order mark, invalid UTF-8 in a string.
    try:
        value = json.loads(line.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return Malformed(line, "not JSON")
    return Malformed(line, TOO_DEEP) if _nests_deeper(value, MAX_DEPTH) else value


def read_value(line: bytes, value: Any) -> Message:
    """Read a line as a message whose JSON is decoded already."""
    if isinstance(value, list):
        return Malformed(line, "a batch, which ACP doesn't use", _invalid("Batches aren't supported"))
    if not isinstance(value, dict):
        return Malformed(line, "JSON, but not an object")
    method = value.get("method")
    if isinstance(method, str):
        return _read_call(line, value, method)
    if "id" not in value or not _is_id(value["id"]):
        return Malformed(line, "not a request or a response")
    if method is not None:
        answer = _invalid("The method isn't a string", value["id"])
        return Malformed(line, "a request with an invalid method", answer)
    if value.get("error") is not None:
        return ErrorResponse(value["id"], _read_error(value["error"]))
    # Serializers that drop undefined or null values omit an empty result.
    if any(key in value for key in ("result", "error", "jsonrpc")):
        return Result(value["id"], value.get("result"))
    return Malformed(line, "not a request or a response")


def has_too_many_values(line: bytes) -> bool:
    """Whether parsing this JSON would take long. Takes about 5 ms for each MiB, and nothing for a short line."""
    if len(line) <= SURELY_FEW_BYTES:
        return False
    if line.count(b"[") + line.count(b"{") <= MAX_CONTAINERS and line.count(b",") <= MAX_VALUES:
        return False
    escaped = line.count(b'\\"')  # also counts the ends of strings that end with a backslash: at most every other quote
    if (line.count(b'"') - escaped) // 2 > MAX_VALUES:
        return True
    outside = b"".join(line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    return outside.count(b"[") + outside.count(b"{") > MAX_CONTAINERS or outside.count(b",") > MAX_VALUES


def _nests_deeper(value: Any, limit: int) -> bool:
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


def _read_call(line: bytes, value: dict[str, Any], method: str) -> Message:
    params = value.get("params")
    params = {} if params is None else params
    if len(method) > MAX_ID_CHARACTERS:
        method = f"{method[:MAX_ID_CHARACTERS]}…"
    if "id" not in value:
        return Notification(method, params)
    if not _is_id(value["id"]):
        return Malformed(line, "a request with an invalid id", _invalid("The id isn't a short string or a number"))
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
        _start(message) if isinstance(message, str) and message else "an error without a message",
        error.get("data"),
    )


def write_request(request_id: RequestId, method: str, params: Any) -> bytes:
    """Return a request as one line without its line end."""
    return encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def write_notification(method: str, params: Any) -> bytes:
    """Return a notification as one line without its line end."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def write_result(request_id: RequestId, value: Any) -> bytes:
    """Return a successful response as one line without its line end."""
    return b"".join(result_pieces(request_id, value))


def result_pieces(request_id: RequestId, value: Any) -> Iterator[bytes]:
    """Yield the same line in pieces that take a few milliseconds each: a text may be as long as a file."""
    yield b'{"jsonrpc":"2.0","id":%b,"result":' % encode(request_id)
    yield from _pieces(value)
    yield b"}"


def _pieces(value: Any) -> Iterator[bytes]:
    if isinstance(value, str) and len(value) > PIECE_CHARACTERS:
        yield b'"'
        for start in range(0, len(value), PIECE_CHARACTERS):
            yield encode(value[start : start + PIECE_CHARACTERS])[1:-1]
        yield b'"'
    elif isinstance(value, dict) and value and all(isinstance(key, str) for key in value):
        before = b"{"
        for key, each in value.items():
            yield before + encode(key) + b":"
            yield from _pieces(each)
            before = b","
        yield b"}"
    else:
        yield encode(value)


def write_failure(request_id: RequestId, error: RequestFailed) -> bytes:
    """Return an error response as one line without its line end."""
    body = {"code": int(error.code), "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return encode({"jsonrpc": "2.0", "id": request_id, "error": body})


def _invalid(message: str, request_id: RequestId = None) -> bytes:
    return write_failure(request_id, RequestFailed(ErrorCode.INVALID_REQUEST, message))


def encode(message: Any) -> bytes:
    """Return a value as JSON, in one line."""
    try:
        return to_json(message)  # without a temporary copy, for example of a 60 MB file
    except PydanticSerializationError:  # half a surrogate pair, which is only valid UTF-8 when escaped
        return json.dumps(message, separators=(",", ":")).encode()


# Lines


DEFAULT_MAX_FRAME_BYTES: Final = 64 << 20


class FrameSplitter:
    """Splits received bytes into lines without their line ends."""

    def __init__(self, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        # The pieces of an unfinished line, joined once, so that a line of many MiB isn't copied on every read.
        self._partial: list[bytes] = []
        self._partial_bytes = 0

    @property
    def unfinished(self) -> bytes:
        """The beginning of the line that hasn't ended."""
        return b"".join(self._partial[:100])[:500]

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes. Raises FrameTooLarge for a line over the limit."""
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
    """Return an ID as a dict key: 1, 1.0, true, and "1" are different IDs. None for what can't be an ID."""
    is_id = request_id is None or isinstance(request_id, str | int | float)
    return (type(request_id), request_id) if is_id else None


class Recent(dict[K, V]):
    """A mapping that drops its oldest entries. After that, a missing key may have been present before."""

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
        """Return False only if `key` was certainly never present, or was removed."""
        return self.has_forgotten or key in self


class Pairing(Generic[V]):
    """The requests of a connection that wait for answers, with a value for each.

    A side is named by the direction of its frames: IN for the other side, OUT for ours.
    """

    def __init__(self, limit: int = sys.maxsize) -> None:
        """`limit` is the most requests to remember per side. Beyond it, the oldest is forgotten."""
        self._waiting: dict[Direction, Recent[Key, V]] = {side: Recent(limit) for side in Direction}

    def ask(self, asker: Direction, request_id: Any, request: V) -> V | None:
        """Add a request of `asker`. Returns the one waiting under the same ID, which will never be answered."""
        key, waiting = key_of(request_id), self._waiting[asker]
        if key is None:
            return None
        before = waiting.pop(key, None)  # the new one is the newest
        waiting[key] = request
        return before

    def answer(self, answerer: Direction, request_id: Any) -> V | None:
        """Take out the request that `answerer` answers. Returns None if no request waits under this ID."""
        key = key_of(request_id)
        return None if key is None else self._waiting[answerer.opposite].pop(key, None)

    def waiting(self, asker: Direction, request_id: Any) -> V | None:
        key = key_of(request_id)
        return None if key is None else self._waiting[asker].get(key)

    def all_waiting(self, asker: Direction) -> Iterator[V]:
        """Iterate over the waiting requests of `asker`, oldest first."""
        yield from tuple(self._waiting[asker].values())

    def has_forgotten(self, asker: Direction) -> bool:
        """Whether an answer without a known request may still belong to a forgotten one of `asker`."""
        return self._waiting[asker].has_forgotten
