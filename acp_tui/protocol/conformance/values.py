"""Rules of single values that no schema can hold: paths, lines, times, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from acp_tui.protocol.conformance.exchange import Answered, Asked, Event, Told
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity, shown
from acp_tui.protocol.conformance.scene import as_list, as_object, objects
from acp_tui.protocol.v1 import methods

ABSOLUTE: Final = Rule(
    "A-PATH-1",
    Severity.ERROR,
    "All paths are absolute.",
    "Join them with the session's folder before you send them.",
    "overview#argument-requirements",
    "R-FS-5",
)
FROM_ONE: Final = Rule(
    "A-PATH-2",
    Severity.WARNING,
    "Lines are counted from 1.",
    "Leave the line out where none is meant.",
    "overview#argument-requirements",
    "R-TOOL-9",
)
ISO_TIME: Final = Rule(
    "A-TIME-1",
    Severity.WARNING,
    "Times are written as ISO 8601 has them.",
    "Write 2026-08-20T10:30:00Z.",
    "session-list",
    "R-SESS-8",
)
ONE_STEP: Final = Rule(
    "A-PLAN-1",
    Severity.NOTE,
    "One step of a plan is in progress.",
    "Clients show one as the current one; say the others are pending.",
    "agent-plan",
    "R-PLAN-1",
)
FITS: Final = Rule(
    "A-USAGE-1",
    Severity.WARNING,
    "What is used of the context is not more than its size.",
    "Count what is in the context now, not all that was ever sent.",
    "schema#usageupdate",
    "R-USAGE-1",
)
BASE64: Final = Rule(
    "A-CONT-1",
    Severity.WARNING,
    "The data of pictures, sounds and other bytes is base64.",
    "Send the standard alphabet with its padding, without line ends and without data:...;base64, before it.",
    "content",
    "R-CONT-2",
)
RULES: Final = (ABSOLUTE, FROM_ONE, ISO_TIME, ONE_STEP, FITS, BASE64)

_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_LOOKED_AT: Final = 4096
"""Characters at the beginning and at the end: a picture has millions."""
_WITH_PATH: Final = (methods.FS_READ_TEXT_FILE, methods.FS_WRITE_TEXT_FILE)


class ValueCheck:
    """Looks at the values of each message of the agent's."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def see(self, event: Event) -> None:
        """A message passes."""
        if not event.is_agents:
            return
        match event:
            case Asked(method=method, params=params) if method in _WITH_PATH:
                self._look_at_place(params.get("path"), params.get("line"))
            case Asked(method=methods.TERMINAL_CREATE, params=params):
                self._look_at_path(params.get("cwd"))
            case Asked(method=methods.SESSION_REQUEST_PERMISSION, params=params):
                self._look_at_call(as_object(params.get("toolCall")))
            case Told(method=methods.SESSION_UPDATE, params=params):
                self._look_at_update(as_object(params.get("update")))
            case Answered(request=request, result=result) if request.method == methods.SESSION_LIST:
                for item in objects(as_object(result).get("sessions")):
                    self._look_at_listed(item)

    def finish(self) -> None:
        """Nothing is left to say."""

    def _look_at_update(self, update: dict[str, Any]) -> None:
        match update.get("sessionUpdate"):
            case "tool_call" | "tool_call_update":
                self._look_at_call(update)
                for part in objects(update.get("content")):
                    self._look_at_block(as_object(part.get("content")))
            case "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk":
                self._look_at_block(as_object(update.get("content")))
            case "plan":
                entries = objects(update.get("entries"))
                current = sum(entry.get("status") == "in_progress" for entry in entries)
                self._judge.check(ONE_STEP, current <= 1, f"{current} are")
            case "session_info_update":
                self._look_at_time(update.get("updatedAt"))
            case "usage_update":
                used, size = update.get("used"), update.get("size")
                if type(used) is int and type(size) is int and size > 0:
                    self._judge.check(FITS, used <= size, f"{used:,} of {size:,} tokens are used")

    def _look_at_call(self, call: dict[str, Any]) -> None:
        for path, line in _places(call):
            self._look_at_place(path, line)

    def _look_at_block(self, block: dict[str, Any]) -> None:
        data = block.get("data") if block.get("type") in ("image", "audio") else None
        if block.get("type") == "resource":
            data = as_object(block.get("resource")).get("blob")
        if isinstance(data, str):
            self._judge.check(
                BASE64, _is_base64(data), f"the data of {block['type']} begins with {shown(data[:30])}"
            )

    def _look_at_listed(self, item: dict[str, Any]) -> None:
        self._look_at_path(item.get("cwd"))
        for directory in as_list(item.get("additionalDirectories")):
            self._look_at_path(directory)
        self._look_at_time(item.get("updatedAt"))

    def _look_at_place(self, path: Any, line: Any) -> None:
        self._look_at_path(path)
        if type(line) is int:
            self._judge.check(FROM_ONE, line >= 1, f"a line is {line}")

    def _look_at_path(self, path: Any) -> None:
        if isinstance(path, str):
            self._judge.check(ABSOLUTE, _ABSOLUTE.match(path) is not None, f"a path is {shown(path)}")

    def _look_at_time(self, time: Any) -> None:
        if not isinstance(time, str):
            return
        try:
            datetime.fromisoformat(time)
        except ValueError:
            self._judge.check(ISO_TIME, False, f"a time is {shown(time)}")
        else:
            self._judge.check(ISO_TIME, "T" in time, f"a time is {shown(time)}")


def _is_base64(data: str) -> bool:
    is_begun = _BASE64.fullmatch(data[:_LOOKED_AT]) is not None
    return is_begun and _BASE64.fullmatch(data[-_LOOKED_AT:]) is not None and len(data) % 4 == 0


def _places(call: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    for location in objects(call.get("locations")):
        yield location.get("path"), location.get("line")
    for part in objects(call.get("content")):
        if part.get("type") == "diff":
            yield part.get("path"), None
