"""What an agent gets of a terminal's output."""

from __future__ import annotations

import pytest

from acp_tui.conversation.plain_text import plain_text
from support.waiting import LINEAR, growth


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        (b"one\r\ntwo\r\n", "one\ntwo\n"),
        (b"one\r\r\ntwo", "one\ntwo"),
        (b"\x1b[1;38;5;196mred\x1b[0m \x1b[4:3mcurly\x1b[m", "red curly"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\", "alink"),
        (b"\x1b[?1049h\x1b[2J\x1b[10;5Hscreen\x1b[?25l", "screen"),
        (b"\x1bPq#0;2;0\x1b\\after\x1b(B\x1b=\x1b>\x1bM\x1b#8.", "after."),
        (b"\x1b]unfinished title\r\nnext line", "\nnext line"),
        (b"cut \x1b[3", "cut "),
        (b"cut \x1b", "cut "),
        (b" 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n"),
        (b" 10%\r 50%\r", " 50%"),
        (b"100%\r 5", " 50%"),
        (b"downloading\rdone", "doneloading"),
        (b"downloading\rdone\x1b[K", "done"),
        (b"12345\b\b\x1b[K", "123"),
        (b"12345\r\x1b[K1\r\x1b[3G2", "1 2"),
        ("━━━━ 10%\r━━ 9%\r".encode(), "━━ 9%10%"),
        ("\x1b[32m━━━━\x1b[m 10%\r━\rx".encode(), "x━━━ 10%"),
        (b"12345\r12\x1b[1K", "   45"),
        (b"12345\x1b[2Kx\n", "     x\n"),
        (b"\x1b[2K\x1b[1G10%\x1b[2K\x1b[1Gdone", "done"),
        (b"\x1b[31mred\x1b[m\r\x1b[1mg\x1b[mreen", "green"),
        (b"abc\b\b\b\b\bX", "Xbc"),
        (b"\x1b[9999999G.\r\x1b[K", ""),
        ("漢字かな\rab".encode(), "ab字かな"),
        ("漢字\ra".encode(), "a 字"),
        ("漢字\b\b\bx".encode(), " x字"),
        ("cafe\u0301!\b?".encode(), "cafe\u0301?"),
        ("😀😀\b\bok".encode(), "😀ok"),
        (b"a\tb\rc", "c\tb"),
        (b"a\tb\r12345678c", "12345678c"),
        (b"a\tb\r1234", "1234    b"),
        (b"one\ra\x1b]0;title\x07b\ntwo", "abe\ntwo"),
        (b"loading...\r\x1b[K\r\nready", "\nready"),
        (b"loading...\r          \rready", "ready"),
        (b"|\b/\b-\b done N\bNA\bA", " done NA"),
        (b"bell\x07 nul\0 del\x7f tab\tkept c1\xc2\x9b!", "bell nul del tab\tkept c1!"),
        ("grüße €😀".encode(), "grüße €😀"),
        (b"bad \xff\xfe bytes", "bad \ufffd\ufffd bytes"),
        (b"", ""),
    ],
)
def test_escapes_and_controls_go_and_text_stays(printed: bytes, read: str) -> None:
    assert plain_text(printed, is_complete=True) == read


def test_a_character_that_is_still_arriving_is_left_out_until_the_end() -> None:
    assert plain_text(b"a\xe2\x82", is_complete=False) == "a"
    assert plain_text(b"a\xe2\x82", is_complete=True) == "a\ufffd"


def test_a_cell_of_an_overwritten_line_holds_few_of_the_marks_that_combine_in_it() -> None:
    """Joined one by one, 160,000 of them took 1.4 s."""
    marks = "\u0301" * 200_000
    assert plain_text(f"ab{marks}\rc".encode(), is_complete=True) == f"cb{marks[:63]}"


@pytest.mark.parametrize(
    "piece",
    [
        *(b"\x1b]", b"\x1b[", b"\x1bP", b"\x1b", b"\r", b"\b", b"x\b", b"x\r", b"\x1b[1", b"\r\x1b", b"["),
        *(b"\x1b[1K", b"x\x1b[2K", b"\rx\x1b[1K", b"\rx\x1b[999G\x1b[K", b"\x1b[2K\x1b[999Gx\r"),
        *(b"\t\r", "漢\b".encode()),
    ],
)
def test_a_lot_of_anything_is_read_in_linear_time(piece: bytes) -> None:
    assert growth(lambda size: plain_text(piece * size, is_complete=True), 2_000) < LINEAR
    assert growth(lambda size: plain_text(b"x" * size + piece * size, is_complete=True), 2_000) < LINEAR
    # What a pattern does in one call isn't counted. If that were quadratic, this would take longer than a test may.
    plain_text(piece * (300_000 // len(piece)), is_complete=True)
    plain_text(b"x" * 100_000 + piece * (100_000 // len(piece)), is_complete=True)
