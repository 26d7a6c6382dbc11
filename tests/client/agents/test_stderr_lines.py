"""An agent's stderr is logged line by line, no matter how the pipe splits it."""

from __future__ import annotations

from collections import deque

import pytest

from acp_tui.client.agents.process import MAX_OPEN_CHARACTERS, StderrLines


def logged(*reads: bytes) -> list[str]:
    log: deque[str] = deque(maxlen=4)
    lines = StderrLines(log)
    for data in reads:
        lines.append(data)
    return list(log)


@pytest.mark.parametrize(
    ("reads", "lines"),
    [
        ((b"one\ntw", b"o\nthree\n"), ["one", "two", "three"]),
        ((b"one", b" and", b" more"), ["one and more"]),
        (("für".encode()[:2], "für".encode()[2:] + b"\n"), ["für"]),
        ((b"one\r", b"\ntwo\r\n"), ["one", "two"]),
        ((b"10%\r", b"20%\r", b"done\n"), ["10%", "20%", "done"]),
        ((b"one\n\n", b"\ntwo"), ["one", "", "", "two"]),
        ((b"\xff\n",), ["\ufffd"]),
        ((b"1\n2\n3\n4\n5", b"5\n"), ["2", "3", "4", "55"]),
    ],
)
def test_a_line_is_whole_and_one_that_goes_on_is_shown_as_far_as_it_is(
    reads: tuple[bytes, ...], lines: list[str]
) -> None:
    assert logged(*reads) == lines


def test_a_line_without_an_end_is_not_kept_whole() -> None:
    piece = b"x" * MAX_OPEN_CHARACTERS
    assert [len(line) for line in logged(piece, piece, b"y")] == [len(piece), len(piece), 1]


def test_a_long_line_stands_in_pieces_so_that_the_log_is_bounded_in_bytes() -> None:
    line = b"x" * (3 * MAX_OPEN_CHARACTERS + 5) + b"\n"
    assert [len(each) for each in logged(line)] == [MAX_OPEN_CHARACTERS] * 3 + [5]


def test_what_others_log_meanwhile_stays() -> None:
    log: deque[str] = deque()
    lines = StderrLines(log)
    lines.append(b"begin")
    log.append("junk on stdout")
    lines.append(b"ning\n")
    assert list(log) == ["begin", "junk on stdout", "beginning"]
