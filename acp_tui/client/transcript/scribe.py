"""Turns events into the lines of one recording, without secrets; where the lines go is not its matter."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from acp_tui.client.secrets.looks import open_block
from acp_tui.client.secrets.masking import MASK, Masker
from acp_tui.client.transcript import lines
from acp_tui.client.transcript.events import Event, Exited, Frame, Own, Stderr
from acp_tui.conversation.updates import (
    ElicitationAnswered,
    PermissionAsked,
    TerminalOutput,
    ToolCallReported,
)
from acp_tui.rpc import Direction

_FORM: Final = b"elicitation/create"
MAX_KEY_LINES: Final = 100
"""Of stderr that are hidden behind the beginning of a private key which has no end."""


class Scribe:
    """Writes one connection down, event by event."""

    def __init__(self, masker: Masker | None) -> None:
        """Without a masker secrets are kept."""
        self._masker = masker
        self._forms: set[tuple[type, Any]] = set()
        """The ids of the agent's questions that wait: what is answered is the user's."""
        self._key_lines = 0
        """How many lines of stderr may still belong to a private key that has begun there."""

    def write(self, event: Event) -> tuple[bytes, Any]:
        """The event's line, and for a frame that is JSON what it says, as it was written."""
        match event:
            case Frame(at, direction, data):
                return self._frame(at, direction, data)
            case Stderr(at, data) if self._masker is not None:
                event = Stderr(at, self._stderr(self._masker, data))
            case Own(at, session_id, TerminalOutput(terminal_id, data)) if self._masker is not None:
                event = Own(at, session_id, TerminalOutput(terminal_id, self._masker.output(data)))
            case Own(at, session_id, ElicitationAnswered() as answer) if self._masker is not None:
                event = Own(at, session_id, _masked_answer(answer))
            case Own() | Exited() if self._masker is not None:
                return self._masked(event, self._masker), None
        return lines.event_line(event), None

    def _frame(self, at: float, direction: Direction, data: bytes) -> tuple[bytes, Any]:
        message = lines.parsed(data)
        is_answer = self._is_answer_to_form(direction, data, message)
        if self._masker is None or not (is_answer or _is_suspect(self._masker, data, message)):
            return lines.frame_line(at, direction, data, is_json=message is not None), message
        loose = message if message is not None else _loosely(data)
        if loose is None:
            return lines.frame_line(at, direction, self._line(self._masker, data), is_json=False), None
        hidden = self._masker.message(loose, is_answer_to_form=is_answer)
        if hidden != loose:
            data = json.dumps(hidden, ensure_ascii=message is None, separators=(",", ":")).encode()
        return lines.frame_line(at, direction, data, is_json=message is not None), hidden

    def _is_answer_to_form(self, direction: Direction, data: bytes, message: Any) -> bool:
        if direction is Direction.IN:
            if _FORM in data or rb"elicitation\/create" in data:
                asked = message if message is not None else _loosely(data)
                if isinstance(asked, dict) and isinstance(asked.get("id"), str | int | float):
                    self._forms.add((type(asked["id"]), asked["id"]))
            return False
        if not self._forms or not isinstance(message, dict) or "method" in message:
            return False
        answered = (type(message.get("id")), message.get("id"))
        is_answer = answered in self._forms
        self._forms.discard(answered)
        return is_answer

    def _stderr(self, masker: Masker, data: bytes) -> bytes:
        """Line by line nobody could tell the lines of a private key from others."""
        has_ended = b"-----END " in data
        if self._key_lines and not has_ended:
            self._key_lines -= 1
            return MASK.encode() if data.strip() else data
        begun = open_block(data.decode("utf-8", "replace"))
        self._key_lines = MAX_KEY_LINES if begun is not None and b"PRIVATE KEY" in data else 0
        return self._line(masker, data)

    @staticmethod
    def _line(masker: Masker, data: bytes) -> bytes:
        return masker.line(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    @staticmethod
    def _masked(event: Own | Exited, masker: Masker) -> bytes:
        line = lines.event_line(event)
        if not masker.is_suspect(line):
            return line
        fields = json.loads(line)
        # A question about a file holds the file, where code is not to be taken for a log.
        is_about_call = isinstance(event, Own) and isinstance(
            event.update, PermissionAsked | ToolCallReported
        )
        hidden = masker.message(fields) if is_about_call else masker.log(fields)
        return lines.line(hidden)


def _masked_answer(answer: ElicitationAnswered) -> ElicitationAnswered:
    """What was filled in is between the user and the agent."""
    return replace(answer, values=tuple(replace(value, value=MASK) for value in answer.values))


def _is_suspect(masker: Masker, data: bytes, message: Any) -> bool:
    """Nearly all frames of a long turn are pieces of text: there the text is enough, which is a tenth of the frame."""
    text = _plain_text(message)
    return masker.is_suspect(data) if text is None else masker.is_suspect_text(text)


def _plain_text(message: Any) -> str | None:
    """The text of an update that holds nothing else but ids and kinds."""
    if type(message) is not dict or message.keys() != {"jsonrpc", "method", "params"}:
        return None
    params = message["params"]
    if type(params) is not dict or params.keys() != {"sessionId", "update"}:
        return None
    update = params["update"]
    if type(update) is not dict or not update.keys() <= {"sessionUpdate", "content", "messageId"}:
        return None
    block = update.get("content")
    if type(block) is not dict or block.keys() != {"type", "text"} or type(block["text"]) is not str:
        return None
    return block["text"]


def _loosely(data: bytes) -> Any:
    """As the connection reads what is not quite JSON (rpc.messages)."""
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
