"""The recorder keeps everything in order, within limits, and never slows the session down."""

from __future__ import annotations

import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript import recorder as recorder_module
from acp_tui.client.transcript.events import Dropped, Event, Exited, Frame, Header, OwnAction, Stderr, TerminalCut
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.recorder import Outlet, Recorder
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_plan
from acp_tui.client.transcript.store import RecordingStore, create, create_beside
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import TerminalExited, TerminalOutput, TurnEnded
from acp_tui.rpc import Direction
from support.recordings import play
from support.waiting import LIMIT_S

HEADER = Header("agent", ("agent",))
SESSION, TERMINAL = SessionId("s"), TerminalId("t")


class Gate:
    """A disk that accepts nothing until it is released."""

    def __init__(self, path: Path) -> None:
        self.opened = threading.Event()
        self._path = path

    def open(self) -> BinaryIO:
        assert self.opened.wait(10)
        return self._path.open("wb")


def recording(path: Path, troubles: list[str] | None = None, **options: Any) -> Recorder:
    outlet = Outlet(options.pop("open_file", lambda: path.open("wb")), options.pop("max_bytes", 1 << 30))
    told = [] if troubles is None else troubles
    return Recorder(HEADER, [outlet], on_trouble=told.append, **options)


def events(path: Path) -> list[Event]:
    with open_recording(path) as found:
        return list(found)


def test_everything_is_kept_in_order_with_its_time(tmp_path: Path) -> None:
    recorder = recording(tmp_path / "r")
    for number in range(1000):
        recorder.tap(Direction(("in", "out")[number % 2]), b'{"n":%d}' % number)
    recorder.close()
    found = events(tmp_path / "r")
    assert [event.data for event in found if isinstance(event, Frame)] == [b'{"n":%d}' % n for n in range(1000)]
    assert [event.at for event in found] == sorted(event.at for event in found)


def test_stderr_is_kept_by_lines_its_last_half_too(tmp_path: Path) -> None:
    recorder = recording(tmp_path / "r")
    for data in (b"one\ntw", b"o\n", b"\nrest"):
        recorder.stderr(data)
    recorder.exited("exited with code 0")
    recorder.close()
    said = [event.data for event in events(tmp_path / "r") if isinstance(event, Stderr)]
    assert said == [b"one", b"two", b"", b"rest"]


def test_what_the_frames_tell_anyway_is_not_noted_twice(tmp_path: Path) -> None:
    recorder = recording(tmp_path / "r")
    recorder.own(SESSION, TurnEnded("end_turn"))
    recorder.close()
    assert events(tmp_path / "r") == []


def test_a_terminal_keeps_its_start_and_counts_the_rest(tmp_path: Path) -> None:
    recorder = recording(tmp_path / "r", terminal_bytes=10)
    for data in (b"01234567", b"89abcdef", b"more"):
        recorder.own(SESSION, TerminalOutput(TERMINAL, data))
    recorder.own(SESSION, TerminalExited(TERMINAL, 0, None))
    recorder.own(SESSION, TerminalOutput(TerminalId("u"), b"x" * 11))
    recorder.exited("was stopped")
    recorder.close()
    found = events(tmp_path / "r")
    output = [e.update.data for e in found if isinstance(e, OwnAction) and isinstance(e.update, TerminalOutput)]
    assert output == [b"01234567", b"89", b"x" * 10]
    cuts = [(event.terminal_id, event.dropped_bytes) for event in found if isinstance(event, TerminalCut)]
    assert cuts == [("t", 10), ("u", 1)]


def test_what_comes_faster_than_the_disk_is_counted_and_memory_is_bounded(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "r")
    recorder = recording(tmp_path / "r", open_file=gate.open, buffer_bytes=1000)
    for _ in range(50):
        recorder.tap(Direction.IN, b"x" * 100)
    gate.opened.set()
    recorder.close()
    *frames, dropped = events(tmp_path / "r")
    assert isinstance(dropped, Dropped)
    assert len(frames) + dropped.events == 50
    assert len(frames) < 12


def test_a_full_recording_says_how_much_is_missing(tmp_path: Path) -> None:
    recorder = recording(tmp_path / "r", max_bytes=2000)
    for _ in range(100):
        recorder.tap(Direction.IN, b'{"x":"%s"}' % (b"y" * 100))
    recorder.close()
    found = events(tmp_path / "r")
    frames = [event for event in found if isinstance(event, Frame)]
    assert len(frames) + sum(event.events for event in found if isinstance(event, Dropped)) == 100
    assert (tmp_path / "r").stat().st_size < 2600


class FullDisk:
    """Accepts the header and nothing more."""

    name = "/full/disk"

    def __init__(self) -> None:
        self.writes = 0

    def write(self, data: bytes) -> None:
        self.writes += 1
        if self.writes > 1:
            raise OSError(28, "No space left on device")

    def flush(self) -> None: ...
    def close(self) -> None: ...


def test_a_full_disk_is_said_once(tmp_path: Path) -> None:
    troubles: list[str] = []
    recorder = recording(tmp_path / "r", troubles, open_file=FullDisk)
    for _ in range(3):
        recorder.tap(Direction.IN, b"{}")
    recorder.close()
    assert troubles == ["Recording stopped: /full/disk: No space left on device"]


async def test_a_folder_that_cannot_be_written_costs_no_session(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    troubles: list[str] = []
    plan = RecordingPlan(tmp_path, store=RecordingStore(tmp_path / "file" / "x"), on_trouble=troubles.append)
    run = await play("markdown", plan)
    [conversation] = run.conversations.values()
    assert conversation.last_stop_reason == "end_turn"
    assert troubles == [f"Recording stopped: {tmp_path / 'file'}: File exists"] or "Not a directory" in troubles[0]
    assert len(troubles) == 1


def test_a_failure_of_our_own_is_reported_and_ends_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr(recorder_module.Scribe, "write", fail)
    troubles: list[str] = []
    recorder = recording(tmp_path / "r", troubles)
    recorder.tap(Direction.IN, b"{}")
    recorder.close()
    assert troubles == ["Recording stopped: ZeroDivisionError: odd"]


def test_a_killed_process_leaves_what_it_had_written(tmp_path: Path) -> None:
    """Up to the last batch: nothing is held back until the end."""
    script = """
import os, sys, time
from pathlib import Path
from acp_tui.client.transcript.events import Header
from acp_tui.client.transcript.recorder import Outlet, Recorder
from acp_tui.rpc import Direction
path = Path(sys.argv[1])
recorder = Recorder(Header("a", ("a",)), [Outlet(lambda: path.open("wb"))], on_trouble=print)
for number in range(10):
    recorder.tap(Direction.IN, b'{"n":%d}' % number)
while not path.exists() or b'"n":9' not in path.read_bytes():
    time.sleep(0.01)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "r")], timeout=LIMIT_S)
    assert done.returncode == -9
    assert len(events(tmp_path / "r")) == 10


# Where


def test_a_kept_recording_is_for_its_owner_only(tmp_path: Path) -> None:
    store = RecordingStore(tmp_path / "state" / "recordings")
    with store.new_file("My Agent/../x") as file:
        path = Path(file.name)
    assert [path] == store.files()
    assert path.name.endswith(".jsonl")
    assert "-my-agent-..-x-" in path.name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, store.folder, store.folder.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_oldest_are_deleted_but_none_that_is_being_written(tmp_path: Path) -> None:
    store = RecordingStore(tmp_path, max_total_bytes=250)
    folder = tmp_path / "2026"
    folder.mkdir()
    for name in ("20260101-b.jsonl", "20260102-c.jsonl", "20260103-d.jsonl"):
        (folder / name).write_bytes(b"x" * 100)
    with create(folder / "20260100-a.jsonl") as writing:
        writing.write(b"x" * 100)
        writing.flush()
        store.prune()
        kept = [path.name for path in store.files()]
    assert kept == ["20260100-a.jsonl", "20260103-d.jsonl"]


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("mine")
    with create_beside(tmp_path / "r.jsonl") as file:
        assert Path(file.name).name == "r-2.jsonl"
    assert (tmp_path / "r.jsonl").read_text() == "mine"


def test_nothing_is_recorded_where_nothing_is_to_be_kept(tmp_path: Path) -> None:
    assert recording_plan(RecordingSettings(keep=False), tmp_path, print) is None


async def test_a_recording_ends_with_how_the_agent_ended_and_names_its_command(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    await play("markdown", RecordingPlan(tmp_path, file=file, screen=(80, 24)))
    assert isinstance(events(file)[-1], Exited)
    with open_recording(file) as found:
        header = found.header
    assert (header.agent, header.argv[1:4], header.cwd, header.screen) == (
        "demo",
        ("-m", "acp_tui.demo", "markdown"),
        str(tmp_path),
        (80, 24),
    )
    assert file.stat().st_mode & 0o077 == 0
