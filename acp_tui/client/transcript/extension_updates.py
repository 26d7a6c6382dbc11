"""The updates that acp-tui itself makes, converted to JSON fields and back.

Its own questions, such as whether an agent may read a file outside the workspace, are written like an agent's.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from pydantic_core import ValidationError

from acp_tui.conversation import updates
from acp_tui.conversation.content import ContentBlock
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.v1 import content, encode_updates, inbound
from acp_tui.protocol.v1.inbound_content import read_block, read_tool_call
from acp_tui.protocol.v1.session import PromptRequest
from acp_tui.protocol.validators import reader_of
from acp_tui.protocol.wire import decode

TYPES: Final[Mapping[str, type]] = {
    "prompt": updates.PromptSent,
    "prompt_joined": updates.PromptJoined,
    "cancel": updates.CancelRequested,
    "permission_asked": updates.PermissionAsked,
    "permission_noted": updates.PermissionNoted,
    "permission_answered": updates.PermissionAnswered,
    "elicitation_answered": updates.ElicitationAnswered,
    "elicitation_completed": updates.ElicitationCompleted,
    "tool_call": updates.ToolCallReported,
    "diffs_placed": updates.DiffsPlaced,
    "command_run": updates.CommandRun,
    "terminal_opened": updates.TerminalOpened,
    "terminal_output": updates.TerminalOutput,
    "terminal_waiting": updates.TerminalWaiting,
    "terminal_resized": updates.TerminalResized,
    "terminal_exited": updates.TerminalExited,
    "disconnected": updates.Disconnected,
    "reconnected": updates.Reconnected,
    "remark": updates.ClientRemark,
    "renamed": updates.Renamed,
}
"""What a recording contains. Everything else is in its frames."""
KINDS: Final = {update: kind for kind, update in TYPES.items()}

TOLD: Final[Mapping[str, type]] = {
    **TYPES,
    "prompt_accepted": updates.PromptAccepted,
    "prompt_refused": updates.PromptRefused,
    "turn_ended": updates.TurnEnded,
    "turn_failed": updates.TurnFailed,
    "elicitation_asked": updates.ElicitationAsked,
}
"""What a host sends its clients in addition to what an agent can: `_acp_tui/update`."""
TOLD_KINDS: Final = {update: kind for kind, update in TOLD.items()}


class NotReadable(Exception):
    """The fields don't form such an update."""


def as_fields(update: updates.SessionUpdate) -> dict[str, Any]:
    match update:
        case updates.PromptSent(blocks, notes) | updates.PromptJoined(blocks, notes):
            unsent = {"prompt": [encode_updates.block_of(block) for block in blocks]} if blocks else {}
            awaits_id = isinstance(update, updates.PromptSent) and update.awaits_id
            return {"notes": list(notes), **unsent} | ({"awaits_id": True} if awaits_id else {})
        case updates.TerminalOutput():
            return {"terminal_id": update.terminal_id, **as_text(update.data)}
        case updates.ToolCallReported():
            return {"toolCall": encode_updates.tool_call_of(update.patch)}
        case updates.PermissionAsked(request, patch):
            options = [
                {"optionId": option.option_id, "name": option.name, "kind": option.kind} for option in request.options
            ]
            asked = {"toolCall": encode_updates.tool_call_of(patch), "options": options}
            return {"key": request.key, "note": request.note, **asked}
        case _:
            return asdict(update)


def from_fields(kind: str, fields: Mapping[str, Any]) -> updates.SessionUpdate:
    """The update of a kind in `TOLD`. Raises NotReadable."""
    try:
        match kind:
            case "prompt":
                return updates.PromptSent(*_prompt(fields), awaits_id=fields.get("awaits_id") is True)
            case "prompt_joined":
                return updates.PromptJoined(*_prompt(fields))
            case "terminal_output":
                return updates.TerminalOutput(TerminalId(str(fields["terminal_id"])), from_text(fields))
            case "tool_call":
                return updates.ToolCallReported(read_tool_call(decode(content.ToolCallUpdate, fields["toolCall"])))
            case "permission_asked":
                return _asked(fields)
            case _:
                update: updates.SessionUpdate = reader_of(TOLD[kind]).validate_python(dict(fields))
                return _of_a_size(update)
    except (ValidationError, MalformedMessage, KeyError, TypeError, ValueError) as error:
        raise NotReadable(str(error)) from error


def _of_a_size(update: updates.SessionUpdate) -> updates.SessionUpdate:
    """The update, unless no emulator could hold its terminal. Raises ValueError."""
    sides = (
        (update.columns, update.rows) if isinstance(update, updates.TerminalOpened | updates.TerminalResized) else ()
    )
    if not all(0 < side <= updates.MAX_CELLS for side in sides):
        raise ValueError("a terminal of a size that there isn't")
    return update


def as_text(data: bytes) -> dict[str, str]:
    """Bytes as text if possible, so that people can read a recording."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def from_text(fields: Mapping[str, Any]) -> bytes:
    """The bytes. Raises KeyError, TypeError or ValueError."""
    text = fields.get("text")
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b64decode(fields["base64"])


def _prompt(fields: Mapping[str, Any]) -> tuple[tuple[ContentBlock, ...], tuple[str, ...]]:
    unsent = decode(PromptRequest, {"sessionId": "", "prompt": fields.get("prompt") or []})
    return tuple(map(read_block, unsent.prompt)), tuple(map(str, fields.get("notes") or ()))


# Questions


def _asked(fields: Mapping[str, Any]) -> updates.PermissionAsked:
    params = {"sessionId": "", "toolCall": fields["toolCall"], "options": fields["options"]}
    _, asked = inbound.read_permission_request(params)
    note = fields.get("note")
    key = RequestKey(int(fields["key"]))
    # The agent's questions are frames.
    request = replace(asked.request, key=key, note=note if isinstance(note, str) else None, is_ours=True)
    return updates.PermissionAsked(request, asked.patch)
