"""What a frame is about in a few words, for one row of a list; all of it is in `outline`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from acp_tui.client.transcript.frame_line import Line
from acp_tui.protocol.conformance.rule import read_json
from acp_tui.workbench.inspect.entry import as_object

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
