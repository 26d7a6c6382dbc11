"""Inspecting an agent's lines: live or from a recording of any length, without secrets, with broken rules."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.transcript import lines
from acp_tui.client.transcript.events import Event, Exited, Frame, Header, Stderr
from acp_tui.client.transcript.frame_log import FrameLog
from acp_tui.client.transcript.lines import RecordingUnreadable
from acp_tui.rpc import Direction
from acp_tui.workbench.inspect.inspection import Inspection, inspect_agent, inspect_file
from acp_tui.workbench.inspect.search import read_query
from acp_tui.workbench.inspect.source import SLICE_LINES, FileSource
from support.recorded_sessions import two_turns
from support.waiting import LIMIT_S, Bell

TOKEN = "abcdef0123456789"


@asynccontextmanager
async def looking(inspection: Inspection) -> AsyncIterator[Callable[[Callable[[], bool]], Any]]:
    """Lets it work; returns a way to wait for something."""
    bell = Bell()
    inspection.listener = bell.ring
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inspection.run)
            yield bell.until
            tasks.cancel_scope.cancel()


def recording(folder: Path, events: Iterable[Event], *, is_raw: bool = False) -> Path:
    file = folder / "recording.jsonl"
    header = Header("agent", ("agent",), started_at="2026-11-21T12:00:00+00:00", is_raw=is_raw)
    written = [lines.header_line(header)]
    for event in events:
        if isinstance(event, Frame):
            written.append(lines.frame_line(event.at, event.direction, event.data, is_json=True))
        else:
            written.append(lines.event_line(event))
    file.write_bytes(b"".join(written))
    return file


def frame(at: float, direction: Direction, **message: Any) -> Frame:
    return Frame(at, direction, json.dumps(message).encode())


def done(inspection: Inspection, lines: int) -> Callable[[], bool]:
    return lambda: inspection.index.end == inspection.searched == inspection.checked == lines


# What there is


async def test_what_happened_before_one_looks_is_there_and_what_comes_is_added() -> None:
    log = FrameLog()
    log.tap(Direction.OUT, b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}')
    log.stderr(b"loading\n")
    inspection = inspect_agent(log)
    assert inspection.count == 0
    async with looking(inspection) as until:
        await until(done(inspection, 2))
        assert inspection.rows(0, 1)[0].took_s is None
        log.tap(Direction.IN, b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}')
        await until(done(inspection, 3))
        assert inspection.rows(0, 1)[0].took_s is not None
    assert log.listeners == []


async def test_what_the_agent_sends_costs_nothing_while_nobody_looks() -> None:
    log = FrameLog()
    inspection = inspect_agent(log)
    log.tap(Direction.IN, b"{}")

    assert (log.listeners, inspection.index.end) == ([], 0)


async def test_a_long_run_drops_its_oldest_lines_and_says_so() -> None:
    log = FrameLog(max_bytes=4_000)
    for number in range(100):
        log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"_n%d"}' % number)
    inspection = inspect_agent(log)
    async with looking(inspection) as until:
        await until(done(inspection, 100))
        assert inspection.source.first == log.first > 0
        assert inspection.position_of(0) == log.first
        assert await inspection.detail(0) is None


async def test_what_comes_too_fast_to_read_is_left_out_and_the_rest_stays_in_place() -> None:
    log = FrameLog(max_bytes=4_000)
    inspection = inspect_agent(log)
    inspection.show_only(read_query("_n"))
    async with looking(inspection) as until:
        log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"_n"}')
        await until(done(inspection, 1))
        for number in range(100):
            log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"_n","params":{"n":%d}}' % number)
        await until(done(inspection, 101))
        assert inspection.position_of(0) == log.first > 1
        detail = await inspection.detail(100)
        assert detail is not None
        assert b'"n":99' in detail.line.data


async def test_matches_leave_with_the_oldest_lines() -> None:
    log = FrameLog(max_bytes=400 * 200)
    inspection = inspect_agent(log)
    inspection.show_only(read_query("_rare"))
    async with looking(inspection) as until:
        for batch in range(20):
            log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"_rare"}')
            for _ in range(299):
                log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"_n"}')
            await until(done(inspection, 300 * (batch + 1)))
        assert inspection.index.first > 0
        shown = [row.position for row in inspection.rows(0, inspection.count)]
        assert shown == [at for at in range(0, 6_000, 300) if at >= inspection.index.first]


async def test_a_recording_has_frames_stderr_and_the_end(tmp_path: Path) -> None:
    events = [*two_turns(), Stderr(63.0, b"bye"), Exited(64.0, "exited with code 0")]
    inspection = inspect_file(recording(tmp_path, events))
    async with looking(inspection) as until:
        await until(done(inspection, 14))
        rows = inspection.rows(0, 14)
        assert [row.label.method for row in rows[:3]] == ["session/new", "session/new", "session/prompt"]
        assert rows[2].took_s == 6.5
        detail = await inspection.detail(13)
        assert detail is not None
        assert detail.line.data == b"the agent's process exited with code 0"


async def test_what_is_written_to_a_recording_meanwhile_is_seen(tmp_path: Path) -> None:
    file = recording(tmp_path, two_turns())
    inspection = inspect_file(file)
    async with looking(inspection) as until:
        await until(lambda: inspection.count == 12)
        with file.open("ab") as more:
            more.write(b'{"t":70,"type":"in","frame":{"jsonrpc":"2.0","me')
        inspection.wake()
        with file.open("ab") as more:
            more.write(b'thod":"_late"}}\nno event\n')
        inspection.wake()
        await until(lambda: inspection.count == 14)
        assert inspection.rows(12, 13)[0].label.method == "_late"


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{}\n")
    with pytest.raises(RecordingUnreadable):
        inspect_file(tmp_path / "x")


async def test_a_recording_of_many_frames_is_read_in_slices_and_only_places_are_kept(tmp_path: Path) -> None:
    line = '{"t":%d.5,"type":"in","frame":{"jsonrpc":"2.0","method":"_n","params":{"n":%d}}}\n'
    file = recording(tmp_path, [])
    with file.open("a") as more:
        more.writelines(line % (number, number) for number in range(20_000))
    inspection = inspect_file(file)
    counts = [0]

    def is_read() -> bool:
        counts.append(inspection.count)
        return inspection.count == 20_000

    async with looking(inspection) as until:
        await until(is_read)
        assert max(after - before for before, after in pairwise(counts)) <= SLICE_LINES
        detail = await inspection.detail(15_000)
        assert detail is not None
        assert b'"n":15000' in detail.line.data


# What it shows and finds


async def test_a_filter_shows_what_fits_and_goes_on_with_what_comes() -> None:
    log = FrameLog()
    inspection = inspect_agent(log)
    inspection.show_only(read_query("_b"))
    async with looking(inspection) as until:
        for name in (b"_a", b"_b", b"_a"):
            log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"%s"}' % name)
        await until(done(inspection, 3))
        assert [row.position for row in inspection.rows(0, 9)] == [1]
        log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"_b"}')
        await until(done(inspection, 4))
        assert [row.position for row in inspection.rows(0, 9)] == [1, 3]
        assert inspection.ordinal_of(2) == 1
        assert (inspection.shows(3), inspection.shows(2)) == (True, False)


@pytest.mark.parametrize("step", [1, 7, 60])
async def test_lines_of_any_length_and_distance_are_read_again_as_they_were(tmp_path: Path, step: int) -> None:
    sizes = [10, 100_000, 3, 300_000, 5_000] * 16
    said = [b'{"n":%d,"text":"%s"}' % (at, b"x" * size) for at, size in enumerate(sizes)]
    file = recording(tmp_path, [Frame(0.0, Direction.IN, each) for each in said])
    with closing(FileSource(file)) as source:
        while (await source.read_on())[1]:
            pass
        wanted = range(0, len(said), step)
        again = await source.lines_at(wanted)
        assert [again[at].data for at in wanted] == [said[at] for at in wanted]
        assert await source.matching(wanted, lambda line: b'"n":0,' in line.data) == [0]


async def test_a_text_is_looked_for_in_frames_alone_however_their_lines_were_written(tmp_path: Path) -> None:
    file = recording(tmp_path, [Frame(0.0, Direction.IN, b'{"method":"frame"}'), Stderr(1.0, b"frame \xff")])
    with file.open("a") as more:
        more.write('{"t": 2.5, "type": "in", "frame": {"method": "no such word"}}\n')
        more.write('{"t":3,"type":"in","frame":{"method":"none"}}\n')
    inspection = inspect_file(file)
    inspection.show_only(read_query("frame"))
    async with looking(inspection) as until:
        await until(lambda: inspection.searched == 4)
        assert [row.position for row in inspection.rows(0, 9)] == [0, 1]


async def test_broken_rules_are_marked_said_and_can_be_filtered() -> None:
    log = FrameLog()
    log.tap(Direction.IN, b"Welcome!")
    log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"_fine","params":{}}')
    inspection = inspect_agent(log)
    inspection.show_only(read_query("is:lint"))
    async with looking(inspection) as until:
        await until(done(inspection, 2))
        (row,) = inspection.rows(0, 9)
        detail = await inspection.detail(row.position)
        assert detail is not None
        assert [note.rule.rule_id for note in detail.notes] == ["A-LINE-1"]


# Secrets


def with_secrets() -> list[Event]:
    servers = [{"name": "s", "command": "s", "args": [], "env": [{"name": "S_TOKEN", "value": TOKEN}]}]
    return [
        frame(0.0, Direction.OUT, jsonrpc="2.0", id=1, method="session/new", params={"mcpServers": servers}),
        frame(1.0, Direction.IN, jsonrpc="2.0", id=1, result={"sessionId": f"s-{TOKEN}"}),
        frame(2.0, Direction.IN, jsonrpc="2.0", id=2, method="elicitation/create", params={}),
        frame(3.0, Direction.OUT, jsonrpc="2.0", id=2, result={"action": "accept", "content": {"pin": "hunter"}}),
        Stderr(4.0, f"token={TOKEN}".encode()),
    ]


async def test_secrets_are_masked(tmp_path: Path) -> None:
    inspection = inspect_file(recording(tmp_path, with_secrets(), is_raw=True))
    async with looking(inspection) as until:
        await until(done(inspection, 5))
        shown = b"".join([detail.line.data for at in range(5) if (detail := await inspection.detail(at))])
        assert TOKEN.encode() not in shown
        assert b"hunter" not in shown
        inspection.want_glimpses(range(5))
        await until(lambda: inspection.glimpse(4) is not None)
        assert TOKEN not in str([inspection.glimpse(at) for at in range(5)])


async def test_what_the_agent_runs_with_is_secret_too() -> None:
    log = FrameLog()
    log.environ = {"MY_API_KEY": TOKEN}
    log.tap(Direction.IN, json.dumps({"jsonrpc": "2.0", "method": "_x", "params": TOKEN}).encode())
    inspection = inspect_agent(log)
    async with looking(inspection) as until:
        await until(done(inspection, 1))
        detail = await inspection.detail(0)
        assert detail is not None
        assert TOKEN.encode() not in detail.line.data
