"""The updates that acp-tui makes itself, as JSON fields and back; what an agent says is in its frames.

Questions of acp-tui's own, such as whether a file outside of the workspace may be read, are written as the protocol
writes an agent's.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from acp_tui.conversation import UNSET
from acp_tui.conversation.facts import PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import (
    BlockContent,
    TerminalContent,
    TerminalId,
    TextDiff,
    ToolCallContent,
    ToolCallPatch,
)
from acp_tui.conversation.updates import (
    CancelRequested,
    CommandRun,
    Disconnected,
    ElicitationAnswered,
    ElicitationCompleted,
    PermissionAnswered,
    PermissionAsked,
    PermissionNoted,
    PromptSent,
    Reconnected,
    Remarked,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TerminalResized,
    TerminalWaiting,
    ToolCallReported,
)
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.v1 import agent_requests, content, inbound, outbound
from acp_tui.protocol.v1.inbound_content import read_block, read_tool_call
from acp_tui.protocol.v1.session import PromptRequest
from acp_tui.protocol.wire import decode, to_wire

MAX_CELLS: Final = 2_000
"""Of a terminal, each way; larger screens there are none."""

TYPES: Final[Mapping[str, type]] = {
    "prompt": PromptSent,
    "cancel": CancelRequested,
    "permission_asked": PermissionAsked,
    "permission_noted": PermissionNoted,
    "permission_answered": PermissionAnswered,
    "elicitation_answered": ElicitationAnswered,
    "elicitation_completed": ElicitationCompleted,
    "tool_call": ToolCallReported,
    "command_run": CommandRun,
    "terminal_opened": TerminalOpened,
    "terminal_output": TerminalOutput,
    "terminal_waiting": TerminalWaiting,
    "terminal_resized": TerminalResized,
    "terminal_exited": TerminalExited,
    "disconnected": Disconnected,
    "reconnected": Reconnected,
    "remark": Remarked,
}
KINDS: Final = {update: kind for kind, update in TYPES.items()}


class NotReadable(Exception):
    """The fields are not those of such an update."""


def as_fields(update: SessionUpdate) -> dict[str, Any]:
    """What is written of the update, beside its kind."""
    match update:
        case PromptSent(blocks, notes):
            unsent = (
                {"prompt": [to_wire(outbound.content_block(block)) for block in blocks]} if blocks else {}
            )
            return {"notes": list(notes), **unsent}
        case TerminalOutput():
            return {"terminal_id": update.terminal_id, **as_text(update.data)}
        case ToolCallReported():
            return {"toolCall": _tool_call(update.patch)}
        case PermissionAsked(request, patch):
            options = [_option(option.option_id, option.name, option.kind) for option in request.options]
            asked = {"toolCall": _tool_call(patch), "options": options}
            return {"key": request.key, "note": request.note, **asked}
        case _:
            return asdict(update)


def from_fields(kind: str, fields: Mapping[str, Any]) -> SessionUpdate:
    """The update of a kind in `TYPES`. Raises NotReadable."""
    try:
        match kind:
            case "prompt":
                return _prompt(fields)
            case "terminal_output":
                return TerminalOutput(TerminalId(str(fields["terminal_id"])), from_text(fields))
            case "tool_call":
                return ToolCallReported(read_tool_call(decode(content.ToolCallUpdate, fields["toolCall"])))
            case "permission_asked":
                return _asked(fields)
            case _:
                update: SessionUpdate = _adapter(kind).validate_python(dict(fields))
                return _of_a_size(update)
    except (ValidationError, MalformedMessage, KeyError, TypeError, ValueError) as error:
        raise NotReadable(str(error)) from error


def _of_a_size(update: SessionUpdate) -> SessionUpdate:
    """The update, unless it is of a terminal that no emulator could hold. Raises ValueError."""
    sides = (update.columns, update.rows) if isinstance(update, TerminalOpened | TerminalResized) else ()
    if not all(0 < side <= MAX_CELLS for side in sides):
        raise ValueError("a terminal of a size that there is not")
    return update


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(TYPES[kind])


def as_text(data: bytes) -> dict[str, str]:
    """Bytes as text where they are, so that a recording can be read with the eye."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def from_text(fields: Mapping[str, Any]) -> bytes:
    """The bytes. Raises KeyError, TypeError or ValueError."""
    text = fields.get("text")
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b64decode(fields["base64"])


def _prompt(fields: Mapping[str, Any]) -> PromptSent:
    unsent = decode(PromptRequest, {"sessionId": "", "prompt": fields.get("prompt") or []})
    return PromptSent(tuple(map(read_block, unsent.prompt)), tuple(map(str, fields.get("notes") or ())))


# Questions


def _asked(fields: Mapping[str, Any]) -> PermissionAsked:
    params = {"sessionId": "", "toolCall": fields["toolCall"], "options": fields["options"]}
    _, patch, options, _ = inbound.read_permission_request(params)
    note = fields.get("note")
    key = RequestKey(int(fields["key"]))
    request = PermissionRequest(
        key, patch.tool_call_id, options, note=note if isinstance(note, str) else None
    )
    return PermissionAsked(request, patch)


def _option(option_id: str, name: str, kind: str) -> dict[str, Any]:
    return to_wire(agent_requests.PermissionOption(option_id=option_id, name=name, kind=kind))


def _tool_call(patch: ToolCallPatch) -> dict[str, Any]:
    given: dict[str, Any] = {
        "title": patch.title,
        "kind": patch.kind,
        "status": patch.status,
        "raw_input": patch.raw_input,
        "raw_output": patch.raw_output,
    }
    if patch.content is not UNSET:
        given["content"] = [_content(item) for item in patch.content]
    if patch.locations is not UNSET:
        given["locations"] = [
            content.ToolCallLocation(path=place.path, line=place.line) for place in patch.locations
        ]
    set_ones = {name: value for name, value in given.items() if value is not UNSET}
    return to_wire(content.ToolCallUpdate(tool_call_id=patch.tool_call_id, **set_ones))


def _content(item: ToolCallContent) -> Any:
    match item:
        case BlockContent(block):
            return content.Content(content=outbound.content_block(block))
        case TextDiff():
            return content.Diff(path=item.path, new_text=item.new_text, old_text=item.old_text)
        case TerminalContent(terminal_id):
            return content.Terminal(terminal_id=terminal_id)
        case _:
            return item.raw
