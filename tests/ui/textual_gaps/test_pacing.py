"""How the app paces its output to a slow terminal."""

import asyncio
import os
import threading

import pytest
from rich.console import RenderableType
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.widgets import Static

from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.textual_gaps.driver import (
    AHEAD_S,
    BUFFER_BYTES,
    FASTER,
    FASTER_S,
    FULL_S,
    ROW_BYTES,
    SLOW_WRITES,
    SMALL_ROWS,
    Pace,
    PacedFile,
    Pacing,
    rows_of,
)
from acp_tui.ui.textual_gaps.internals import draw_rows_again
from support.waiting import LIMIT_S, until

FRAME = 8_000
SLOW = 60_000
"""Bytes per second."""


def _slow_pace(now_s: float = 0.0) -> Pace:
    """One that has met a slow terminal, whose buffer is now full."""
    pace = Pace()
    for _ in range(SLOW_WRITES):
        pace.note_sent(FRAME)
        pace.note_taken(FRAME, FRAME, FRAME, FRAME / SLOW, now_s)
    return pace


@pytest.mark.parametrize("is_small", [True, False])
def test_there_is_no_room_while_the_writer_has_something_left(is_small: bool) -> None:
    pace = Pace()
    assert pace.has_room(0.0, is_small=is_small)
    pace.note_sent(FRAME)
    assert not pace.has_room(100.0, is_small=is_small)
    pace.note_taken(FRAME, FRAME, 0, 0.0, 100.0)
    assert pace.has_room(100.0, is_small=is_small)


def test_one_wait_makes_no_slow_terminal() -> None:
    pace = Pace()
    pace.note_sent(FRAME)
    pace.note_taken(FRAME, FRAME, FRAME, FRAME / SLOW, 0.0)
    assert pace.has_room(0.0, is_small=False)


def test_a_slow_terminal_gets_the_next_frame_once_the_buffer_is_drained() -> None:
    pace = _slow_pace()
    assert not pace.has_room(0.5 * BUFFER_BYTES / SLOW, is_small=False)
    assert pace.has_room(BUFFER_BYTES / SLOW, is_small=False)


def test_the_echo_of_a_key_waits_for_no_estimate() -> None:
    assert _slow_pace().has_room(0.0, is_small=True)


def test_a_terminal_that_keeps_up_is_given_more_by_and_by() -> None:
    pace = _slow_pace()
    now_s = 0.0
    for _ in range(10):
        now_s += FASTER_S + 1
        pace.note_taken(0, FRAME, 0, 0.0, now_s)
    # At the speed measured first, this would be much too soon.
    assert pace.has_room(now_s + FRAME / SLOW / 10, is_small=False)


def test_a_file_writes_everything_and_says_how_much_that_was() -> None:
    reading, writing = os.openpty()
    pace, text = Pace(), "né" * 5_000
    got: list[bytes] = []

    def read() -> None:
        while sum(map(len, got)) < len(text.encode()):
            got.append(os.read(reading, 4_096))

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(writing, "w", encoding="utf-8") as terminal:
        pace.note_sent(len(text))
        PacedFile(terminal, pace).write(text)
        reader.join(timeout=LIMIT_S)
    os.close(reading)
    assert b"".join(got).decode() == text
    assert pace.has_room(0.0, is_small=False)


def test_a_terminal_that_is_gone_takes_nothing_and_stops_nobody() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        os.close(ours)
        PacedFile(terminal, Pace()).write("a frame")  # in Textual's thread, which others wait for


def test_a_slow_terminal_has_no_more_before_it_than_it_takes_in_a_tenth_of_a_second() -> None:
    pace, now_s, in_flight, most = _slow_pace(), 0.0, float(BUFFER_BYTES), 0.0
    for _ in range(2_000):
        now_s += 0.01
        in_flight = max(0.0, in_flight - SLOW * 0.01)
        room = pace.room_bytes(now_s)
        assert room is not None
        if room > 0:
            pace.note_sent(int(room))
            pace.note_taken(int(room), int(room), 0, 0.0, now_s)
            in_flight += int(room)
            most = max(most, in_flight) if now_s > 1 else most
    assert 0 < most <= AHEAD_S * SLOW


def test_a_paced_terminal_that_lets_us_wait_is_given_less() -> None:
    pace = _slow_pace()
    pace.note_taken(0, 1_000, 1_000, FULL_S, 5.0)
    assert not pace.has_room(5.0 + BUFFER_BYTES / SLOW, is_small=False)
    assert pace.has_room(5.0 + FASTER * BUFFER_BYTES / SLOW, is_small=False)


def test_a_busy_machine_is_no_slow_terminal() -> None:
    pace = Pace()
    for _ in range(2 * SLOW_WRITES):
        pace.note_sent(FRAME)
        pace.note_taken(FRAME, FRAME, FRAME, FULL_S / 2, 0.0)
    assert pace.room_bytes(0.0) is None


class _Sent(BaseApp):
    """Shows this many rows of text, and stores what it sends."""

    def compose(self) -> ComposeResult:
        yield Static("\n".join(f"row {number}" for number in range(20)))


async def test_a_frame_goes_to_a_slow_terminal_in_parts_and_all_of_it_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, pace = _Sent(), _slow_pace()
    parts: list[set[int]] = []
    sent: list[set[int]] = []
    monkeypatch.setattr(Pacing, "pace", pace)
    monkeypatch.setattr(App, "_display", lambda self, screen, frame: sent.append(rows_of(frame)))
    room = iter([0.0] + [AHEAD_S * SLOW / 10] * 1_000)
    monkeypatch.setattr(pace, "room_bytes", lambda now_s: next(room))
    async with app.run_test(size=(80, 20)) as pilot:
        sent.clear()
        app.screen.refresh()
        while not parts or not app.pacing.has_room(is_small=False):
            await pilot.pause()
            parts = [rows for rows in sent if rows]
    assert max(map(len, parts)) <= max(SMALL_ROWS, AHEAD_S * SLOW / 10 / ROW_BYTES)
    assert set().union(*parts) == set(range(20))
    assert max(parts[0]) == 19  # the prompt is below


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that Textual sends to the terminal: none during a batch."""
    rows: list[int] = []

    def display(self: App[None], screen: Screen[None], frame: RenderableType | None) -> None:
        if not self._batch_count:
            rows.extend(rows_of(frame))

    monkeypatch.setattr(App, "_display", display)
    return rows


async def test_a_frame_that_a_batch_drops_is_drawn_when_the_batch_ends(drawn: list[int]) -> None:
    app = _Sent()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        with app.batch_update():
            drawn.clear()
            draw_rows_again(app.screen, range(20))
            assert drawn == []
        await until(lambda: {*drawn} == {*range(20)}, _turn)


async def test_what_changes_during_a_batch_is_drawn_when_it_ends(drawn: list[int]) -> None:
    app = _Sent()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        drawn.clear()
        with app.batch_update():
            app.query_one(Static).refresh(Region(0, 3, 80, 1))
            for _ in range(20):
                await _turn()
            assert drawn == []
        await until(lambda: 3 in drawn, _turn)


async def _turn() -> None:
    """Let the event loop go around, without a message for any widget."""
    await asyncio.sleep(0)
