"""What was said in recorded sessions of agents and of the demo's scenarios, in our format and that of `../shared`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import anyio

from acp_tui import demo
from acp_tui.client.transcript.events import Event, Frame
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.replay import Replay
from acp_tui.client.transcript.replayed_sessions import ReplayedSession, ReplayedSessions
from acp_tui.conversation import reducer
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.updates import SessionUpdate
from acp_tui.protocol.negotiation import speaks_v2
from acp_tui.rpc import Direction
from support.golden import AGENTS, TRANSCRIPTS
from support.recordings import lead_scenario

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
        if session.conversation.entries and _folded(recorded.updates) == session.conversation:
            yield recorded


def _agrees_on_v2(event: Event) -> bool:
    if not isinstance(event, Frame) or event.direction is not Direction.IN or b'"protocolVersion"' not in event.data:
        return False
    return speaks_v2(json.loads(event.data).get("result"))


def _folded(updates: Iterable[SessionUpdate]) -> Conversation:
    conversation = Conversation()
    for update in updates:
        reducer.apply(conversation, update)
    return conversation
