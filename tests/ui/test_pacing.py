"""How the app paces what it sends to a terminal that takes it slowly."""

import os
import threading

import pytest

from acp_tui.ui.pacing import BUFFER_BYTES, FASTER_S, SLOW_WRITES, Pace, PacedFile
from support.waiting import LIMIT_S

FRAME = 8_000
SLOW = 60_000
"""Bytes a second."""


def _slow_pace(now_s: float = 0.0) -> Pace:
    """One that has met a slow terminal, whose buffer is full now."""
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


def test_a_slow_terminal_gets_the_next_frame_when_it_has_worked_off_the_systems_buffer() -> None:
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
    # At the speed that was measured first, this would be much too soon.
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
