"""A session whose agent was started again is played as one: from its first recording to its last one."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.cli import main
from acp_tui.client.sessions.session_history import recording_store
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.events import Event, Restarted
from acp_tui.client.transcript.lines import open_recording
from acp_tui.conversation.entries import Message, ToolCallEntry
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.replay.player import Player, Spot, moment_of
from acp_tui.ui.replay.timeline import Timeline
from support.recorded_sessions import HEADER, begun, got, prompted, said, sent, told
from support.recordings import write

S = SessionId("s-of-two-recordings")
CALL = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "status": "completed"}
USER = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Fix it"}}
FIRST: list[Event] = [
    *begun(0.5, S),
    *begun(0.6, "another", 2),
    prompted(1.0, 3, "Fix it", S),
    told(2.0, S, **CALL),
    said(3.0, "Done.", S),
    got(4.0, 3, stopReason="end_turn"),
    prompted(5.0, 4, "Something else", "another"),
    got(6.0, 4, stopReason="end_turn"),
]
SECOND: list[Event] = [
    sent(0.5, 1, "session/load", sessionId=S, cwd="/project", mcpServers=[]),
    told(0.6, S, **USER),
    said(0.7, "Done.", S),
    got(0.8, 1),
    prompted(2.0, 2, "Thank you", S),
    said(3.0, "You are welcome.", S),
    got(4.0, 2, stopReason="end_turn"),
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    write(first, FIRST, HEADER)
    with first.open("ab") as file:
        file.write(b'{"t":6.5,"type":"in","fr')  # killed
    write(second, SECOND, HEADER)
    return first, second


def texts(player: Player) -> list[str]:
    entries = player.conversation(S).entries
    return [
        entry.text if isinstance(entry, Message) else entry.call.title
        for entry in entries
        if isinstance(entry, Message | ToolCallEntry)
    ]


def test_the_second_recording_follows_the_first_in_time(files: tuple[Path, Path]) -> None:
    with open_recording(*files) as recording:
        timeline = Timeline(recording)
        timeline.read_on()
        assert list(timeline.events.times) == [
            0.5,
            0.5,
            0.6,
            0.6,
            *range(1, 7),
            6.0,
            6.5,
            6.6,
            6.7,
            6.8,
            8.0,
            9.0,
            10.0,
        ]
        assert [event.at for event in timeline.events] == list(timeline.events.times)
        assert [type(event) for event in timeline.events].index(Restarted) == len(FIRST)
        assert timeline.prompts_until(timeline.length) == (3, 3)
        assert not timeline.problems


def test_one_session_begins_at_once_and_waits_for_no_other(tmp_path: Path) -> None:
    file = tmp_path / "1.jsonl"
    long_before = [*begun(0.5, "another", 2), prompted(1.0, 3, "At length", "another")]
    between = [said(95.0, "Something else", "another"), got(96.0, 3, stopReason="end_turn")]
    own = [*begun(60.0, S), prompted(61.0, 4, "Fix it", S), said(63.0, "Done.", S), got(64.0, 4, stopReason="end_turn")]
    write(file, [*long_before, *own, *between, prompted(98.0, 5, "Thank you", S)], HEADER)
    with open_recording(file) as recording:
        timeline = Timeline(recording, wanted=S)
        timeline.read_on()
        assert timeline.prompts_until(timeline.length) == (2, 2)
        assert [timeline.events.times[at - 1] for at in (timeline.prompt_after(0, S), timeline.length)] == [1.0, 6.0]
        assert timeline.length_s == 6.0
        assert moment_of(timeline, Spot(text="Something else")) is None
        player, seen = Player(timeline), set[SessionId]()
        while not player.is_at_end:
            player.step()
            seen.update(player.conversations)
        assert seen == {S}
        assert player.at_s == 6.0


def test_what_was_said_before_stays_while_it_is_loaded_and_after(files: tuple[Path, Path]) -> None:
    with open_recording(*files) as recording:
        timeline = Timeline(recording, wanted=S)
        timeline.read_on()
        player, seen = Player(timeline), list[list[str]]()
        while not player.is_at_end:
            player.step()
            if not seen or seen[-1] != texts(player):
                seen.append(texts(player))
        assert seen == [
            [],
            ["Fix it"],
            ["Fix it", "Look"],
            ["Fix it", "Look", "Done."],
            ["Fix it", "Look", "Done.", "Thank you"],
            ["Fix it", "Look", "Done.", "Thank you", "You are welcome."],
        ]


def test_a_sessions_id_renders_and_redacts_all_of_it(tmp_path: Path, files: tuple[Path, Path]) -> None:
    store = recording_store(RecordingSettings())
    for file in files:
        with store.new_file("agent") as kept:
            kept.write(file.read_bytes())
    early, late, public = tmp_path / "early.txt", tmp_path / "late.txt", tmp_path / "public.jsonl"
    assert main.main(["render", S, "-o", str(early), "--at", "3.5s"]) == 0
    assert "Done." in early.read_text() and "Thank you" not in early.read_text()
    assert main.main(["render", S, "-o", str(late)]) == 0
    assert main.main(["redact", S, "-o", str(public)]) == 0
    assert main.main(["render", str(public), "-o", str(tmp_path / "public.txt"), "--at-text", "You are welcome."]) == 0
    for page in (late, tmp_path / "public.txt"):
        assert [word in page.read_text() for word in ("Fix it", "Look", "Done.", "Thank you")] == [True] * 4
    assert public.read_text().count("acp-tui-recording") == 2
