"""Takes a session out of a recording, whole; the rest of the file stays to the byte."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from acp_tui.client.transcript.events import Closed, Event, Frame, Own
from acp_tui.client.transcript.lines import BadLine, parsed, read_event
from acp_tui.client.transcript.store import create
from acp_tui.protocol.v1 import methods
from acp_tui.rpc import Direction


def without_session(path: Path, session_id: str) -> None:
    """Leave out all that is of the session, and delete the file where it holds no other. Raises OSError."""
    belonging = _Belonging(session_id)
    with path.open("rb") as recording:
        recording.readline()
        for number, line in enumerate(recording):
            belonging.see(number, line)
    if not belonging.has_others:
        path.unlink()
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with path.open("rb") as old, create(beside) as new:
            new.write(old.readline())
            new.writelines(line for number, line in enumerate(old) if number not in belonging.lines)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


class _Belonging:
    """Finds the lines of one session, by looking at all lines in their order."""

    def __init__(self, session_id: str) -> None:
        self.lines: set[int] = set()
        self.has_others = False
        self._session_id = session_id
        self._asked: dict[tuple[Direction, Any], str | None] = {}
        """By who asked and by the request's id: of which session that was."""
        self._new: dict[tuple[Direction, Any], int] = {}
        """The lines of requests for a new session, which had no id yet."""

    def see(self, number: int, line: bytes) -> None:
        try:
            event = read_event(line.rstrip(b"\r\n"))
        except BadLine:
            return
        session_id = self._session_of(number, event)
        if session_id == self._session_id:
            self.lines.add(number)
        elif session_id is not None:
            self.has_others = True

    def _session_of(self, number: int, event: Event) -> str | None:
        if isinstance(event, Own | Closed):
            return event.session_id
        message = parsed(event.data) if isinstance(event, Frame) else None
        if not isinstance(event, Frame) or not isinstance(message, dict):
            return None
        request_id = message.get("id")
        if "method" not in message:
            asker = Direction.OUT if event.direction is Direction.IN else Direction.IN
            return self._answered((asker, request_id), message)
        params = message.get("params")
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        found = session_id if isinstance(session_id, str) else None
        if isinstance(request_id, str | int):
            self._asked[event.direction, request_id] = found
            if message["method"] == methods.SESSION_NEW:
                self._new[event.direction, request_id] = number
        return found

    def _answered(self, key: tuple[Direction, Any], message: dict[str, Any]) -> str | None:
        if not isinstance(key[1], str | int):
            return None
        result = message.get("result")
        if key in self._new and isinstance(result, dict):
            asked_at, opened = self._new.pop(key), result.get("sessionId")
            if opened == self._session_id:
                self.lines.add(asked_at)
            return opened if isinstance(opened, str) else None
        return self._asked.pop(key, None)
