"""Recordings of a few events, before and after redaction."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from acp_tui.client.transcript.events import Event, Frame, Header, OwnAction
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import TerminalOutput
from acp_tui.rpc import Direction
from acp_tui.workbench.redact import RedactionReport, RedactOptions, redact
from support.recordings import write

IN, OUT = Direction.IN, Direction.OUT
SESSION = SessionId("s1")
TOKEN = "sk-ant-api03-AbCdEf123456789_XyZw-QQQQ99"
HEADER = Header("agent", ("agent", "--acp"), cwd="/home/jdoe/app", started_at="2026-11-21T12:00:00+00:00")


def frame(message: Any, direction: Direction = IN, **how: Any) -> Frame:
    return Frame(0.0, direction, json.dumps({"jsonrpc": "2.0", **message}, **how).encode())


def update(**fields: Any) -> Frame:
    return frame({"method": "session/update", "params": {"sessionId": SESSION, "update": fields}})


def says(text: str, kind: str = "agent_message_chunk") -> Frame:
    return update(sessionUpdate=kind, content={"type": "text", "text": text})


def prints(data: bytes) -> OwnAction:
    return OwnAction(0.0, SESSION, TerminalOutput(TerminalId("t"), data))


class Redacted:
    """A recording before and after."""

    def __init__(self, folder: Path, *events: Event, header: Header = HEADER, **how: Any) -> None:
        self.source, self.out = folder / "raw.jsonl", folder / "redacted.jsonl"
        write(self.source, events, header, is_raw=True)
        self.report = self._redacted(self.source, self.out, **how)
        self.text = self.out.read_text()
        self.lines = [json.loads(line) for line in self.text.splitlines()]

    @staticmethod
    def _redacted(
        source: Path,
        out: Path,
        environ: dict[str, str] | None = None,
        host: str = "",
        full_names: Iterable[str] = (),
        **options: Any,
    ) -> RedactionReport:
        return redact(source, out, RedactOptions(**options), environ or {}, host, full_names)

    def said(self, number: int) -> str:
        """The text of a message; the first event is 1."""
        text = self.lines[number]["frame"]["params"]["update"]["content"]["text"]
        assert isinstance(text, str)
        return text


def strings_of(recording: Path) -> list[str]:
    """All keys and values of its lines, in order."""

    def of(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for key, item in value.items() for text in (key, *of(item))]
        return [text for item in value for text in of(item)] if isinstance(value, list) else [str(value)]

    return [text for line in recording.read_text().splitlines() for text in of(json.loads(line))]
