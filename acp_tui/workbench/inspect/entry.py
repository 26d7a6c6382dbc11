"""What one line is, read from it alone, and what it is about in a few words. `index` says what belongs together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

from acp_tui.client.transcript.frame_log import Kind, Line
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


MAX_CHARACTERS: Final = 300
_NAMED: Final = (
    *("title", "status", "message", "command", "path", "cwd", "mode", "modeId", "currentModeId"),
    *("configId", "value", "methodId", "stopReason", "uri", "optionId", "action", "outcome"),
)
_COUNTED: Final = ("entries", "availableCommands", "configOptions", "options", "sessions", "mcpServers")


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The text may hold what an agent said: who shows it makes it visible."""

    about: str = ""
    request_id: str = ""
    """As JSON has it; "" where there is none."""


def glimpse(line: Line) -> Glimpse:
    """A look at the line; raises nothing, whatever stands there."""
    try:
        message = read_json(line.data)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        return Glimpse(line.data[: 4 * MAX_CHARACTERS].decode("utf-8", "replace")[:MAX_CHARACTERS])
    request_id = json.dumps(message["id"], ensure_ascii=False)[:40] if "id" in message else ""
    parts = filter(None, _parts(message))
    return Glimpse(" · ".join(parts)[:MAX_CHARACTERS], request_id)


def _parts(message: dict[str, Any]) -> Iterator[str]:
    error = message.get("error")
    if error is not None:
        fields = as_object(error)
        yield f"error {fields.get('code', '')}: {fields.get('message', error)}"
        return
    params = as_object(message.get("params") if "method" in message else message.get("result"))
    yield from _of_object(params)
    for key in ("update", "toolCall", "outcome"):
        yield from _of_object(as_object(params.get(key)))


def _of_object(fields: dict[str, Any]) -> Iterator[str]:
    for key in _NAMED:
        value = fields.get(key) if key in fields else None
        if isinstance(value, str | int | float):
            yield str(value)[:MAX_CHARACTERS]
    for key in ("content", "prompt"):
        yield _text(fields.get(key))
    for key in _COUNTED:
        if isinstance(fields.get(key), list):
            yield f"{len(fields[key])} {key}"
    if isinstance(fields.get("agentInfo"), dict):
        info = fields["agentInfo"]
        yield f"{info.get('title') or info.get('name') or ''} {info.get('version') or ''}".strip()


def _text(content: Any) -> str:
    """How the first text in there begins."""
    blocks = content if isinstance(content, list) else [content]
    for block in blocks:
        fields = as_object(block)
        if isinstance(fields.get("text"), str):
            return str(fields["text"])[:MAX_CHARACTERS]
        if isinstance(fields.get("content"), dict):
            return _text(fields["content"])
    return content[:MAX_CHARACTERS] if isinstance(content, str) else ""
