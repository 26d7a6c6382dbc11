"""Hand-made recordings for replays: a session of two turns, with a question and a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from acp_tui.client.transcript.events import Event, Exited, Frame, Header, OwnAction
from acp_tui.client.transcript.lines import open_recording
from acp_tui.conversation.facts import RequestKey, SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import (
    ElicitationAnswered,
    PermissionAnswered,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
)
from acp_tui.rpc import Direction
from acp_tui.ui.replay.timeline import Timeline
from support.recordings import write

HEADER: Final = Header("agent", ("agent", "--acp"), cwd="/project", started_at="2026-11-21T12:00:00+00:00")
OPTIONS: Final = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def sent(at: float, request_id: int, method: str, **params: Any) -> Frame:
    """A request from the client."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return Frame(at, Direction.OUT, json.dumps(message).encode())


def got(at: float, request_id: int, **result: Any) -> Frame:
    """The agent's answer."""
    message = {"jsonrpc": "2.0", "id": request_id, "result": result}
    return Frame(at, Direction.IN, json.dumps(message).encode())


def told(at: float, session: str = "s", **update: Any) -> Frame:
    """An update of a session."""
    params = {"sessionId": session, "update": update}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    return Frame(at, Direction.IN, json.dumps(message).encode())


def said(at: float, text: str, session: str = "s") -> Frame:
    """A chunk of the agent's message."""
    return told(at, session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def prompted(at: float, request_id: int, text: str, session: str = "s") -> Frame:
    """The user's prompt."""
    return sent(at, request_id, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])


def begun(at: float = 0.0, session: str = "s", request_id: int = 1) -> list[Event]:
    """A new session."""
    return [
        sent(at, request_id, "session/new", cwd="/project", mcpServers=[]),
        got(at, request_id, sessionId=session),
    ]


def two_turns() -> list[Event]:
    """A question answered after 2.5 s, a command that prints, and a second turn after a long pause."""
    session, terminal = SessionId("s"), TerminalId("t")
    question = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "session/request_permission",
        "params": {
            "sessionId": "s",
            "toolCall": {"toolCallId": "c", "title": "Edit durations.py", "kind": "edit"},
            "options": OPTIONS,
        },
    }
    return [
        *begun(),
        prompted(1.0, 2, "Fix it"),
        said(2.0, "I look"),
        said(2.5, " at it."),
        Frame(3.0, Direction.IN, json.dumps(question).encode()),
        OwnAction(5.5, session, PermissionAnswered(RequestKey(1), "yes", at=1_790_000_000.0)),
        OwnAction(6.0, session, TerminalOpened(terminal, "make", "/project", columns=80, rows=5)),
        told(
            6.0,
            sessionUpdate="tool_call",
            toolCallId="m",
            title="make",
            kind="execute",
            content=[{"type": "terminal", "terminalId": "t"}],
        ),
        OwnAction(6.5, session, TerminalOutput(terminal, b"\x1b[32mbuilt\x1b[0m\r\n")),
        OwnAction(7.0, session, TerminalExited(terminal, 0, None, 0.5)),
        got(7.5, 2, stopReason="end_turn"),
        prompted(60.0, 3, "Thank you"),
        said(61.0, "You are welcome."),
        got(62.0, 3, stopReason="end_turn"),
        Exited(62.5, "exited with code 0"),
    ]


def timeline_of(folder: Path, events: Iterable[Event]) -> Timeline:
    """The timeline of these events, read to its end. Its file is open until the test ends."""
    timeline = unread_timeline_of(folder, events)
    timeline.read_on()
    return timeline


def unread_timeline_of(folder: Path, events: Iterable[Event]) -> Timeline:
    """The same, not read yet."""
    file = folder / "recording.jsonl"
    write(file, events, HEADER)
    return Timeline(open_recording(file))


def form(values: dict[str, Any]) -> list[Event]:
    """A session in which the agent asks for a form, which the user fills in two seconds later."""
    fields = {
        "name": {"type": "string", "title": "Name"},
        "signed": {"type": "boolean", "title": "Signed"},
        "mail": {"type": "string", "title": "Mail"},
    }
    schema = {"type": "object", "properties": fields, "required": ["name"]}
    params = {"sessionId": "s", "mode": "form", "message": "Who signs?", "requestedSchema": schema}
    asked = {"jsonrpc": "2.0", "id": 8, "method": "elicitation/create", "params": params}
    answer = {"jsonrpc": "2.0", "id": 8, "result": {"action": "accept", "content": values}}
    return [
        *begun(),
        prompted(1.0, 2, "Release it"),
        Frame(2.0, Direction.IN, json.dumps(asked).encode()),
        OwnAction(4.0, SessionId("s"), ElicitationAnswered(RequestKey(1), "accept")),
        Frame(4.0, Direction.OUT, json.dumps(answer).encode()),
    ]
