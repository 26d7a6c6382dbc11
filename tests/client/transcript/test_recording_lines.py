"""Recordings read back byte for byte; broken, foreign, or newer lines stop nothing."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client.transcript import lines
from acp_tui.client.transcript.events import (
    Closed,
    Dropped,
    Event,
    Exited,
    Frame,
    Header,
    OwnAction,
    Resized,
    Stderr,
    TerminalCut,
    UnknownEvent,
)
from acp_tui.client.transcript.extension_updates import KINDS
from acp_tui.client.transcript.lines import RecordingUnreadable, open_recording
from acp_tui.conversation.content import Text
from acp_tui.conversation.elicitation import FieldAnswer
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey, SessionId
from acp_tui.conversation.tool_calls import (
    BlockContent,
    FilePart,
    Location,
    TerminalContent,
    TerminalId,
    TextDiff,
    ToolCallId,
    ToolCallPatch,
)
from acp_tui.conversation.updates import (
    CancelRequested,
    ClientRemark,
    CommandRun,
    CommandsReplaced,
    CompactionChanged,
    CompactionChunk,
    DiffsPlaced,
    Disconnected,
    ElicitationAnswered,
    ElicitationAsked,
    ElicitationCompleted,
    InfoChanged,
    MessageChunk,
    MessageReplaced,
    NoticeShown,
    OptionChanged,
    OptionsReplaced,
    PermissionAnswered,
    PermissionAsked,
    PermissionNoted,
    PlanReplaced,
    PromptAccepted,
    PromptJoined,
    PromptRefused,
    PromptSent,
    Reconnected,
    Renamed,
    SessionUpdate,
    StateReported,
    SubagentReported,
    SubagentSaid,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TerminalReported,
    TerminalResized,
    TerminalWaiting,
    ToolCallContentAdded,
    ToolCallReported,
    TurnEnded,
    TurnFailed,
    UnknownUpdate,
    UsageReported,
)
from acp_tui.rpc import Direction
from support.recordings import write

TERMINAL = TerminalId("term-1")
PATCH = ToolCallPatch(
    ToolCallId("acp-tui_1"),
    title="Write x",
    kind="edit",
    status="pending",
    content=(
        BlockContent(Text("leads to \u202e")),
        TextDiff("x", "new", "old"),
        TextDiff("y", "new"),
        TerminalContent(TERMINAL),
    ),
    locations=(Location("/x", 3),),
    raw_input={"a": [1, None]},
)
OPTIONS = (PermissionOption("allow", "Allow", "allow_once"), PermissionOption("no", "No", "reject_once"))
OWN: tuple[SessionUpdate, ...] = (
    PromptSent((), ("a note",)),
    PromptJoined((Text("turn left"),), ("a note",)),
    CancelRequested(),
    PermissionAsked(PermissionRequest(RequestKey(2), PATCH.tool_call_id, OPTIONS, note="why", is_ours=True), PATCH),
    PermissionNoted(RequestKey(2), "a word"),
    PermissionAnswered(RequestKey(2), "allow", 1700000000.25, None),
    PermissionAnswered(RequestKey(2), None, None, "a rule"),
    ElicitationAnswered(RequestKey(3), "decline", 1700000000.25),
    ElicitationAnswered(RequestKey(4), "accept", None, (FieldAnswer("Name", "Ada"), FieldAnswer("Ok", "yes", True))),
    ElicitationCompleted("e"),
    ToolCallReported(ToolCallPatch(ToolCallId("c"), status="failed")),
    DiffsPlaced(ToolCallId("c"), (FilePart(0, 7, "above\n", ""),)),
    CommandRun("ls", TERMINAL),
    TerminalOpened(TERMINAL, "ls -l", "/tmp", True, 80, 24),
    TerminalOutput(TERMINAL, "für\x1b[0m\r\n".encode()),
    TerminalOutput(TERMINAL, b"\xff\xc3"),
    TerminalWaiting(TERMINAL, True),
    TerminalResized(TERMINAL, 100, 40),
    TerminalExited(TERMINAL, None, "SIGTERM", 1.5),
    Disconnected("gone", "tail"),
    Reconnected(True),
    Reconnected(False, why="it knows it no more"),
    ClientRemark("a word"),
    Renamed("mine"),
)
FOLLOWING_FROM_FRAMES = {
    *(MessageChunk, PlanReplaced, CommandsReplaced, OptionsReplaced, OptionChanged, InfoChanged),
    *(UsageReported, NoticeShown, CompactionChanged, CompactionChunk, UnknownUpdate),
    *(TurnEnded, TurnFailed, ElicitationAsked, PromptAccepted, PromptRefused, StateReported),
    *(MessageReplaced, ToolCallContentAdded, TerminalReported, SubagentReported, SubagentSaid),
}
EVENTS: tuple[Event, ...] = (
    *(OwnAction(0.25, SessionId("s"), update) for update in OWN),
    OwnAction(1.0, None, ElicitationCompleted("outside")),
    Closed(1.5, SessionId("s")),
    Stderr(1.6, b"a line"),
    Stderr(1.6, b"\xfe"),
    Resized(2.0, 80, 24),
    TerminalCut(3.0, "t", 17),
    Dropped(3.5, 4, "why"),
    Exited(4.0, "exited with code 0"),
)
HEADER = Header("a", ("a", "--acp"), ("KEY",), "1.0", "/tmp", (80, 24), "2026-11-21T12:00:00+00:00")


def test_the_header_says_which_sandbox_the_agent_ran_in() -> None:
    boxed = replace(HEADER, sandbox="workspace")
    assert lines.read_header(lines.header_line(boxed)) == boxed
    assert lines.read_header(lines.header_line(HEADER)).sandbox == ""


def line_of(event: Event) -> bytes:
    if isinstance(event, Frame):
        is_json = lines.parsed(event.data) is not None
        return lines.frame_line(event.at, event.direction, event.data, is_json=is_json)
    return lines.event_line(event)


def test_the_samples_hold_every_update_of_our_own() -> None:
    assert {type(update) for update in OWN} == set(KINDS)


def test_whatever_no_frame_tells_is_written() -> None:
    assert set(get_args(SessionUpdate)) == FOLLOWING_FROM_FRAMES | set(KINDS)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(getattr(event, "update", event)).__name__)
def test_an_event_is_read_as_it_was_written(event: Event) -> None:
    line = line_of(event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert lines.read_event(line[:-1]) == event


def test_the_header_is_read_as_it_was_written() -> None:
    assert lines.read_header(lines.header_line(HEADER)) == HEADER


@pytest.mark.parametrize(
    "data",
    [
        b'{"id":1,"result":{}}',
        b' { "b" : 1.0, "a":1e5,\t"b":2 } \r',
        b'{"x":"\\u00e9\xc3\xa9\xe2\x80\xa8"}',
        b'{"x":"\\ud83d"}',
        b'\xef\xbb\xbf{"x":1}',
        b'{"x":NaN}',
        b'{"x":"\xff"}',
        b"not JSON, but a banner",
        b"42",
        b"",
        b'{"frame":{}}}{"x":1}',
        b'{"n":123456789012345678901234567890}',
    ],
)
def test_a_frame_is_the_same_to_the_byte(data: bytes) -> None:
    line = line_of(Frame(1.5, Direction.IN, data))
    json.loads(line)  # for jq and similar tools
    assert lines.read_event(line[:-1]) == Frame(1.5, Direction.IN, data)


@given(st.binary().filter(lambda data: b"\n" not in data))
def test_any_line_is_the_same_to_the_byte(data: bytes) -> None:
    assert lines.read_event(line_of(Frame(0.0, Direction.OUT, data))[:-1]) == Frame(0.0, Direction.OUT, data)


@given(st.binary())
def test_no_line_breaks_the_reader(data: bytes) -> None:
    with suppress(lines.BadLine):
        lines.read_event(data)


def test_a_frame_in_a_line_that_another_program_wrote_anew_means_the_same() -> None:
    line = line_of(Frame(1.5, Direction.IN, b'{"id": 1}'))
    for written in (json.dumps(json.loads(line), indent=None), json.dumps({**json.loads(line), "more": 1})):
        event = lines.read_event(written.encode())
        assert isinstance(event, Frame)
        assert json.loads(event.data) == {"id": 1}


def test_what_a_later_version_adds_is_kept_or_ignored() -> None:
    later = {
        "format": "acp-tui-recording",
        "version": 9,
        "agent": {"name": "a", "command": ["a"]},
        "moon": "full",
    }
    assert lines.read_header(json.dumps(later).encode()).version == 9
    event = {"t": 1, "type": "thunder", "loud": True}
    assert lines.read_event(json.dumps(event).encode()) == UnknownEvent(1.0, "thunder", event)
    cancel = {"t": 1.0, "type": "cancel", "session": "s", "gently": True}
    assert lines.read_event(json.dumps(cancel).encode()) == OwnAction(1.0, SessionId("s"), CancelRequested())


@pytest.mark.parametrize("cwd", ["p", ".", "", None])
def test_a_folder_that_says_not_where_it_is_is_left_out_of_the_header(cwd: str | None) -> None:
    header = json.loads(lines.header_line(HEADER)) | {"cwd": cwd}
    assert lines.read_header(json.dumps(header).encode()).cwd == ""


@pytest.mark.parametrize("fields", [{"key": "x"}, {"key": [1], "option_id": {}}, {}])
def test_an_event_with_fields_of_other_types_is_kept_as_unknown(fields: dict[str, object]) -> None:
    event = {"t": 1.0, "type": "permission_answered", "session": "s", **fields}
    assert isinstance(lines.read_event(json.dumps(event).encode()), UnknownEvent)


@pytest.mark.parametrize("time", ["1e999", "NaN", "-1", "9" * 400, "true", '"1"'])
@pytest.mark.parametrize("rest", ['"type":"in","frame":{}', '"type":"thunder"'])
def test_a_time_that_cannot_be_makes_no_event(time: str, rest: str) -> None:
    with pytest.raises(lines.BadLine):
        lines.read_event(f'{{"t":{time},{rest}}}'.encode())


@pytest.mark.parametrize(
    "fields",
    [
        '"type":"screen_resized","columns":1e999,"rows":1',
        '"type":"dropped","events":1e999',
        '"type":"terminal_resized","terminal_id":"t","columns":1000000000,"rows":24',
        '"type":"terminal_opened","terminal_id":"t","columns":80,"rows":-1',
        '"type":"permission_asked","key":1e999,"toolCall":{"toolCallId":"a"},"options":[]',
    ],
)
def test_a_number_that_cannot_be_makes_an_event_unknown(fields: str) -> None:
    assert isinstance(lines.read_event(f'{{"t":1,{fields}}}'.encode()), UnknownEvent)


# Files


def test_junk_between_the_lines_is_left_out_and_named(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    write(file, EVENTS[:2])
    file.write_bytes(file.read_bytes() + b"<<<<<<< HEAD\n\n[1]\n" + line_of(EVENTS[2]) + b'{"t":2.0,"ty')
    with open_recording(file) as recording:
        assert list(recording) == list(EVENTS[:3])
        assert [problem.line for problem in recording.problems] == [4, 6]
        assert recording.half_line == b'{"t":2.0,"ty'


def test_a_recording_that_is_still_written_is_read_on(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    write(file, EVENTS[:1])
    whole = line_of(EVENTS[1])
    with open_recording(file) as recording, file.open("ab", buffering=0) as writer:
        assert list(recording) == [EVENTS[0]]
        writer.write(whole[:9])
        assert list(recording) == []
        writer.write(whole[9:])
        assert list(recording) == [EVENTS[1]]
        assert recording.half_line == b""


@pytest.mark.parametrize("content", [b"", b"{}\n", b"hello\n", b'{"type":"session","cwd":"/project"}\n'])
def test_what_is_no_recording_is_refused_by_name(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(content)
    with pytest.raises(RecordingUnreadable, match=r"r\.jsonl isn't a recording"):
        open_recording(tmp_path / "r.jsonl")


def test_a_recording_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RecordingUnreadable, match=r"nothing\.jsonl can't be read"):
        open_recording(tmp_path / "nothing.jsonl")
