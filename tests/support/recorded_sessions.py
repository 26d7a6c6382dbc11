"""Recorded sessions: those that are kept, and ones made by hand; and what two of them have in common."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import anyio

from acp_tui import demo
from acp_tui.client.transcript.events import Event, Exited, Frame, Header, OwnAction
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.replay import Replay
from acp_tui.client.transcript.replayed_sessions import ReplayedSession, ReplayedSessions
from acp_tui.conversation.buffers import ByteRing, TextBuffer
from acp_tui.conversation.elicitation import FieldAnswer
from acp_tui.conversation.entry_list import EntryList
from acp_tui.conversation.facts import RequestKey, SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import (
    ElicitationAnswered,
    PermissionAnswered,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
)
from acp_tui.protocol.negotiation import speaks_v2
from acp_tui.rpc import Direction
from acp_tui.ui.replay.timeline import Timeline
from support.folding import fold
from support.recordings import lead_scenario, write
from support.schema import AGENTS, TRANSCRIPTS

# What was said in recordings of agents and of the demo's scenarios, in our format and that of ../shared

RECORDINGS: Final = Path(__file__).parents[1] / "data" / "recordings"


@dataclass
class Recorded:
    """One session of a recording."""

    name: str
    version: int
    """Of the protocol that its agent spoke."""
    updates: list[SessionUpdate] = field(default_factory=list)


def kept_recordings() -> list[Recorded]:
    """The sessions of the recordings in the repository."""
    return [said for path in sorted(RECORDINGS.glob("*.jsonl")) for said in _of_file(path)]


def transcripts() -> list[Recorded]:
    """The sessions that were recorded with other programs; none if they aren't beside the repository."""
    return [said for name, events in _transcripts() for said in _sessions(name, events)]


def scenarios(folder: Path) -> Iterator[Recorded]:
    """The sessions of the demo's scenarios, played in `folder`."""
    for name in demo.names():
        if name != "full":  # it plays six of the others
            (home := folder / name).mkdir()
            with chdir(folder):
                runs = anyio.run(lead_scenario, name, home)
            for run in runs:
                yield from _of_file(run.recording)


def _of_file(path: Path) -> Iterator[Recorded]:
    with open_recording(path) as recording:
        yield from _sessions(path.stem, recording)


def _transcripts() -> Iterator[tuple[str, list[Event]]]:
    for path in sorted((AGENTS / "v2" / "recordings").glob("*.ndjson")):
        yield path.stem, list(_frames(path))
    for path in sorted(TRANSCRIPTS.glob("*.ndjson")):
        handshake = path.with_name(path.name.rsplit("-", 1)[0] + "-INIT.ndjson")
        frames = list(_frames(path))
        opened = [
            _frame(Direction.OUT, {"id": "new", "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}),
            _frame(Direction.IN, {"id": "new", "result": {"sessionId": _session_in(frames)}}),
        ]
        yield path.stem, [*(_frames(handshake) if path != handshake else ()), *opened, *frames]


def _session_in(frames: Iterable[Frame]) -> str:
    params = (json.loads(frame.data).get("params") for frame in frames)
    found = (each.get("sessionId") for each in params if isinstance(each, dict))
    return next(filter(None, found), "none")


def _frames(path: Path) -> Iterator[Frame]:
    for line in path.read_text().splitlines():
        message = json.loads(line)
        if isinstance(message.get("msg"), dict):
            direction = Direction.IN if message["dir"] == "in" else Direction.OUT
            yield Frame(message["t"], direction, json.dumps(message["msg"]).encode())


def _frame(direction: Direction, message: dict[str, Any]) -> Frame:
    return Frame(0.0, direction, json.dumps({"jsonrpc": "2.0", **message}).encode())


def _sessions(name: str, events: Iterable[Event]) -> Iterator[Recorded]:
    """The sessions that said something, with all that changed them."""
    said = dict[int, tuple[ReplayedSession, Recorded]]()
    events = list(events)
    version = 2 if any(map(_agrees_on_v2, events)) else 1
    apply = ReplayedSessions.apply

    def note(sessions: ReplayedSessions, session: ReplayedSession, update: SessionUpdate) -> None:
        key = id(session)
        if key not in said:
            said[key] = (session, Recorded(f"{name}-{len(said) + 1}", version))
        said[key][1].updates.append(update)
        apply(sessions, session, update)

    with patch.object(ReplayedSessions, "apply", note):
        for _ in Replay(events).events:
            pass
    for session, recorded in said.values():
        if session.conversation.entries and fold(*recorded.updates) == session.conversation:
            yield recorded


def _agrees_on_v2(event: Event) -> bool:
    if not isinstance(event, Frame) or event.direction is not Direction.IN or b'"protocolVersion"' not in event.data:
        return False
    return speaks_v2(json.loads(event.data).get("result"))


# Made by hand for replays: a session of two turns, with a question and a terminal

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
    filled_in = tuple(
        FieldAnswer(name.title(), "yes", is_choice=True) if value is True else FieldAnswer(name.title(), value)
        for name, value in values.items()
    )
    return [
        *begun(),
        prompted(1.0, 2, "Release it"),
        Frame(2.0, Direction.IN, json.dumps(asked).encode()),
        OwnAction(4.0, SessionId("s"), ElicitationAnswered(RequestKey(1), "accept", None, filled_in)),
        Frame(4.0, Direction.OUT, json.dumps(answer).encode()),
    ]


# The look of a conversation regardless of its words: each letter and digit counts as any other


def shape(value: Any) -> Any:
    """The same values and sizes; texts that differ only in letters and digits become equal."""
    match value:
        case Enum():
            return value
        case str():
            return "".join(map(_blank, value))
        case bytes():
            return shape(value.decode("utf-8", "surrogateescape"))
        case TextBuffer():
            return shape(value.text)
        case ByteRing():
            return value.end, shape(value.read())
        case Mapping():
            return sorted(([shape(key), shape(item)] for key, item in value.items()), key=lambda pair: str(pair[0]))
        case set() | frozenset():
            return sorted(map(shape, value))
        case list() | tuple() | EntryList():
            return [shape(item) for item in value]
        case _ if is_dataclass(value):
            return type(value).__name__, {each.name: shape(getattr(value, each.name)) for each in fields(value)}
        case _:
            return value


def _blank(char: str) -> str:
    if not char.isalnum():
        return char
    return "ｘ" if unicodedata.east_asian_width(char) in "WF" else "x"
