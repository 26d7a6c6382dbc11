"""What the end of a recording shows is the same if most of what comes before it was never read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_tui.client.transcript.ending import events_for_end, is_enough
from acp_tui.client.transcript.events import Closed, Event, Frame, OwnAction
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.replay import Replay, replayed
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry
from acp_tui.conversation.facts import RequestKey, SessionId
from acp_tui.conversation.tool_calls import TerminalId, ToolCallId
from acp_tui.conversation.updates import (
    CancelRequested,
    ClientRemark,
    DiffsPlaced,
    PermissionAnswered,
    TerminalOpened,
    TerminalOutput,
)
from acp_tui.rpc import Direction
from acp_tui.ui.session.status import facts_of, state_of
from support.recorded_sessions import HEADER, OPTIONS
from support.recordings import write

EXAMPLES = int(os.environ.get("ACP_TUI_EXAMPLES", "300"))
IDS = ("s1", 's"2')
MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
Said = Callable[[str, int, int], Event]


def frame(message: dict[str, Any], way: Direction = Direction.IN) -> Frame:
    data = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
    return Frame(1.0, way, data.encode())


def update(session: str, **fields: Any) -> Frame:
    return frame({"method": "session/update", "params": {"sessionId": session, "update": fields}})


def chunk(kind: str, **more: Any) -> Said:
    def say(session: str, at: int, number: int) -> Event:
        content = {"type": "text", "text": f"{kind} {at} "}
        named = {key: f"{value}{number}" for key, value in more.items()}
        return update(session, sessionUpdate=f"{kind}_chunk", content=content, **named)

    return say


def text(words: str, kind: str = "agent_message_chunk") -> Said:
    return lambda session, at, number: update(session, sessionUpdate=kind, content={"type": "text", "text": words})


def content_first(session: str, at: int, number: int) -> Event:
    return update(session, content={"type": "text", "text": f"first {at}"}, sessionUpdate="agent_message_chunk")


def call(kind: str, status: str, **more: Any) -> Said:
    def report(session: str, at: int, number: int) -> Event:
        content = [{"type": "content", "content": {"type": "text", "text": f"output {at}"}}]
        named = {"toolCallId": f"c{number}", "title": f"Call {at}", "status": status, "content": content}
        return update(session, sessionUpdate=kind, **named, **more)

    return report


def of_subagent(said: Said) -> Said:
    def say(session: str, at: int, number: int) -> Event:
        message = json.loads(said(session, at, number).data)  # type: ignore[union-attr]
        message["params"]["update"]["_meta"] = {"claudeCode": {"parentToolUseId": f"c{number}"}}
        return frame(message)

    return say


def prompt(session: str, at: int, number: int) -> Event:
    params = {"sessionId": session, "prompt": [{"type": "text", "text": f"prompt {number}"}]}
    return frame({"id": 100 + number, "method": "session/prompt", "params": params}, Direction.OUT)


def answer(session: str, at: int, number: int) -> Event:
    return frame({"id": 100 + number, "result": {"stopReason": ("end_turn", "cancelled", "refusal")[number % 3]}})


def ask(session: str, at: int, number: int) -> Event:
    wanted = {"toolCallId": f"c{number}", "title": f"May I {at}"}
    params = {"sessionId": session, "toolCall": wanted, "options": OPTIONS}
    return frame({"id": f"q{at}", "method": "session/request_permission", "params": params})


def fact(**fields: Any) -> Said:
    return lambda session, at, number: update(session, **fields)


def plan(session: str, at: int, number: int) -> Event:
    steps = [{"content": f"step {at}", "priority": "high", "status": ("pending", "completed")[number % 2]}]
    return update(session, sessionUpdate="plan", entries=steps)


def own(make: Callable[[int, int], Any]) -> Said:
    return lambda session, at, number: OwnAction(1.0, SessionId(session), make(at, number))


SPOKEN = chunk("agent_message")
EMPTY = text("")
NAMED = chunk("agent_message", messageId="m")
FOR_CALL = of_subagent(SPOKEN)
REPEATED = text("prompt", "user_message_chunk")
CALLED = call("tool_call", "pending")
PLACED = own(lambda at, number: DiffsPlaced(ToolCallId(f"c{number}"), ()))
SAYING: tuple[Said, ...] = (
    *[SPOKEN] * 5,
    *[chunk("agent_thought")] * 2,
    *(chunk("user_message"), NAMED, chunk("user_message", messageId="m")),
    *(EMPTY, REPEATED, text("prompt 1", "user_message_chunk"), text("[MODE_UPDATE] code"), content_first),
    *[CALLED, call("tool_call_update", "completed"), call("tool_call_update", "failed")] * 2,
    call("tool_call_update", "completed", _meta={"terminal_output": {"terminal_id": "t1", "data": "printed"}}),
    *(FOR_CALL, of_subagent(CALLED)),
    *(prompt, prompt, answer, answer, ask, plan),
    fact(sessionUpdate="usage_update", used=7, size=9, cost={"amount": 3, "currency": "USD"}),
    fact(sessionUpdate="current_mode_update", currentModeId="code"),
    own(lambda at, number: ClientRemark(f"remark {at}")),
    PLACED,
    own(lambda at, number: PermissionAnswered(RequestKey(number), "yes")),
    own(lambda at, number: TerminalOpened(TerminalId(f"t{number}"), "make", "/project")),
    own(lambda at, number: TerminalOutput(TerminalId(f"t{number}"), b"output\r\n")),
    own(lambda at, number: CancelRequested()),
    lambda session, at, number: Closed(1.0, SessionId(session)),
)


def any_events(*sessions: str) -> st.SearchStrategy[list[tuple[Said, str, int]]]:
    return st.lists(st.tuples(st.sampled_from(SAYING), st.sampled_from(sessions), st.integers(0, 2)), min_size=20)


def hidden(*said: Said, then: Said) -> list[tuple[Said, str, int]]:
    """What was said before two calls that have nothing to do with it, and what depends on it after them."""
    return [*((each, "s1", 0) for each in said), (CALLED, "s1", 1), (CALLED, "s1", 2), (then, "s1", 0)]


def begun() -> Iterable[Event]:
    for number, session in enumerate(IDS):
        yield frame({"id": number, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}, Direction.OUT)
        yield frame({"id": number, "result": {"sessionId": session, "modes": MODES}})


def write_said(file: Path, said: Iterable[tuple[Said, str, int]], *, is_spaced: bool = False) -> None:
    at = count()
    events = [*begun(), *(say(session, next(at), number) for say, session, number in said)]
    if is_spaced:  # as Python writes JSON unless told otherwise
        events = [
            replace(each, data=json.dumps(json.loads(each.data)).encode()) if isinstance(each, Frame) else each
            for each in events
        ]
    write(file, events, HEADER)


def ending_of(file: Path, near_end: int) -> dict[SessionId, Conversation]:
    with open_recording(file) as recording:
        replay = Replay(events_for_end(recording, near_end))
        assert all(replay.events)
    return replay.conversations


@settings(max_examples=EXAMPLES, deadline=None)
@given(any_events("s1") | any_events(*IDS), st.integers(0, 20), st.integers(0, 4), st.booleans())
@example(hidden(prompt, SPOKEN, SPOKEN, then=REPEATED), 3, 1, False)
@example(hidden(prompt, EMPTY, SPOKEN, SPOKEN, then=REPEATED), 3, 1, False)
@example(hidden(SPOKEN, CALLED, then=PLACED), 3, 1, False)
@example(hidden(SPOKEN, NAMED, then=NAMED), 3, 1, False)
@example(hidden(SPOKEN, FOR_CALL, then=FOR_CALL), 3, 1, False)
def test_the_end_of_any_recording_is_that_of_a_full_reading(
    said: list[tuple[Said, str, int]], lines: int, entries: int, is_spaced: bool
) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "recording.jsonl")
        write_said(file, said, is_spaced=is_spaced)
        near_end = sum(map(len, file.read_bytes().splitlines(keepends=True)[-lines:] if lines else []))
        whole, ending = replayed(file), ending_of(file, near_end)
    assert ending.keys() == whole.keys()
    for session_id, full in whole.items():
        shown = ending[session_id]
        assert facts_of(shown) == facts_of(full)
        assert state_of(shown) == state_of(full)
        assert shown.plans == full.plans
        if is_enough(shown, entries):
            assert last(shown, entries) == last(full, entries)
            assert shown.permissions == full.permissions


def last(conversation: Conversation, count: int) -> list[Entry]:
    """So many of the last entries."""
    return list(conversation.entries)[max(len(conversation.entries) - count, 0) :]


@pytest.mark.parametrize("is_spaced", [False, True])
def test_early_messages_and_calls_are_left_out_unless_the_end_names_them(tmp_path: Path, is_spaced: bool) -> None:
    early = [(SPOKEN, "s1", 0), *[(SPOKEN, "s1", 0), (CALLED, "s1", 1), (CALLED, "s1", 2)] * 1_000]
    late = [(SPOKEN, "s1", 0), (CALLED, "s1", 2)]
    file = tmp_path / "recording.jsonl"
    write_said(file, [(prompt, "s1", 0), *early, *late], is_spaced=is_spaced)
    near_end = sum(map(len, file.read_bytes().splitlines(keepends=True)[-2:]))
    with open_recording(file) as recording:
        read = list(events_for_end(recording, near_end))
    calls = [event for event in read if isinstance(event, Frame) and b'"c2"' in event.data]
    assert len(calls) == 1_001
    assert len(read) == len(calls) + len([*begun(), "prompt", "first words", "unread", "last words"])
