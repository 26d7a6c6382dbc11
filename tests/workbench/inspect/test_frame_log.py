"""An agent's last lines: which stay, which go, and what that may cost."""

from __future__ import annotations

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.transcript.frame_log import LINE_BYTES, SHORT_BYTES, FrameLog, LineKind
from acp_tui.rpc import Direction


def test_lines_of_all_kinds_are_kept_in_their_order() -> None:
    log = FrameLog()
    log.tap(Direction.OUT, b"{}")
    log.stderr(b"loading\nhalf")
    log.tap(Direction.IN, b"junk")
    log.stderr(b" a line\nrest")
    log.exited("exited with code 1")

    assert [(line.kind, line.data) for line in log.lines(0, 10)] == [
        (LineKind.OUT, b"{}"),
        (LineKind.STDERR, b"loading"),
        (LineKind.IN, b"junk"),
        (LineKind.STDERR, b"half a line"),
        (LineKind.STDERR, b"rest"),
        (LineKind.NOTE, b"the agent's process exited with code 1"),
    ]


def test_the_oldest_lines_go_where_there_is_no_more_room() -> None:
    log = FrameLog(max_bytes=3 * (LINE_BYTES + 10))
    for number in range(10):
        log.tap(Direction.IN, b"%010d" % number)

    assert (log.first, log.end) == (7, 10)
    assert [line.data for line in log.lines(0, 9)] == [b"0000000007", b"0000000008"]
    assert log.line(6) is None
    assert log.line(10) is None


def test_the_last_line_stays_however_long_it_is() -> None:
    log = FrameLog(max_bytes=100)
    log.tap(Direction.IN, b"x" * 1_000)
    log.tap(Direction.IN, b"y" * 1_000)

    assert [line.data[:1] for line in log.lines(0, 5)] == [b"y"]


def test_lines_of_any_length_are_kept_as_they_were() -> None:
    log = FrameLog()
    frames = [b"", b"\0" * SHORT_BYTES, b"x" * (SHORT_BYTES + 1)]
    for frame in frames:
        log.tap(Direction.OUT, frame)

    assert [(line.kind, line.data) for line in log.lines(0, 3)] == [(LineKind.OUT, frame) for frame in frames]
    times = [line.at_s for line in (log.line(0), log.line(1), log.line(2)) if line is not None]
    assert times == sorted(times)
    assert times[-1] <= (log.now_s or 0)


async def test_nothing_is_kept_where_nobody_can_look() -> None:
    agent = Agent(AgentCommand("none", ("none",)), offer=None, on_phase=lambda _phase: None)
    assert agent.frames is None
