"""What one line is, read from it alone: a request, an update of which kind. What belongs together, is `index`'s."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

from acp_tui.client.transcript.frame_line import Kind, Line
from acp_tui.protocol.conformance.rule import read_json

MAX_NAME: Final = 120
"""Characters of a method, a kind or a session that are kept."""


class Form(Enum):
    """What a line is."""

    REQUEST = "request"
    RESPONSE = "response"
    NOTIFICATION = "notification"
    JUNK = "junk"
    """No message, where one should be."""
    TEXT = "text"
    """Of stderr, or a note."""


class Entry(NamedTuple):
    """What is kept of a line."""

    at_s: float
    kind: Kind
    form: Form
    size: int
    """Bytes."""
    method: str = ""
    """Of a response it is not known here."""
    update: str = ""
    """The kind of a session/update."""
    session: str = ""
    key: int = 0
    """Of a request and its answer the same, but for a chance of one in 2^61."""
    is_error: bool = False


def read_entry(line: Line) -> Entry:
    """It raises nothing, whatever stands there."""
    at_s, kind, data = line
    if kind in (Kind.STDERR, Kind.NOTE):
        return Entry(at_s, kind, Form.TEXT, len(data))
    try:
        value = read_json(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return Entry(at_s, kind, Form.JUNK, len(data), is_error=kind is Kind.IN)
    return _read_message(line, value)


def _read_message(line: Line, value: dict[str, Any]) -> Entry:
    at_s, kind, data = line
    method = value.get("method")
    if isinstance(method, str):
        params = as_object(value.get("params"))
        form = Form.REQUEST if "id" in value else Form.NOTIFICATION
        update = _name(as_object(params.get("update")).get("sessionUpdate"))
        key = key_of(value) if "id" in value else 0
        return Entry(at_s, kind, form, len(data), _name(method), update, _name(params.get("sessionId")), key)
    if "result" in value or "error" in value:
        session = _name(as_object(value.get("result")).get("sessionId"))
        is_error = value.get("error") is not None
        return Entry(
            at_s,
            kind,
            Form.RESPONSE,
            len(data),
            session=session,
            key=key_of(value),
            is_error=is_error,
        )
    return Entry(at_s, kind, Form.JUNK, len(data), is_error=kind is Kind.IN)


def key_of(message: dict[str, Any]) -> int:
    """Its id as a number: 1 and "1" are two."""
    request_id = message.get("id")
    return hash((type(request_id).__name__, repr(request_id)))


def as_object(value: Any) -> dict[str, Any]:
    """The object, an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def _name(value: Any) -> str:
    return value[:MAX_NAME] if isinstance(value, str) else ""
