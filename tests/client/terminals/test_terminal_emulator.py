"""The emulators: what they show, where the cursor is, what they answer, and how they close."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from collections.abc import Iterator

import pytest

from acp_tui.client.terminals.emulator import (
    LOADING_SWITCH_INTERVAL_S,
    MAX_REPLY_BYTES,
    CellStyle,
    Emulator,
    GhosttyEmulator,
    PlainEmulator,
    TerminalModes,
    load_emulator,
    make_emulator,
)

COLUMNS, ROWS = 20, 5
RED = 1


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    pytest.importorskip("pyghostty")
    opened = GhosttyEmulator(COLUMNS, ROWS, 1000)
    yield opened
    opened.close()


@pytest.fixture
def plain() -> Emulator:
    return PlainEmulator(COLUMNS, ROWS, 1000)


def styled(attribute: str) -> CellStyle:
    return CellStyle(attributes=frozenset({attribute}))


def texts(emulator: Emulator, start: int = 0, stop: int | None = None) -> list[str]:
    return ["".join(segment.text for segment in line) for line in emulator.lines(start, stop)]


def style_of(emulator: Emulator, sgr: str) -> CellStyle | None:
    emulator.feed(f"\x1b[{sgr}mx".encode())
    return emulator.lines()[0][0].style


def test_text_is_shown_and_trailing_blank_rows_are_not(emulator: Emulator) -> None:
    emulator.feed(b"one\r\n\r\nthree  \r\n\r\n")
    assert texts(emulator) == ["one", "", "three"]
    assert emulator.line_count == 3


def test_an_empty_terminal_has_no_lines(emulator: Emulator) -> None:
    assert (emulator.lines(), emulator.line_count, emulator.cursor) == ([], 0, (0, 0))


def test_a_sequence_may_be_cut_anywhere(emulator: Emulator) -> None:
    for byte in "grün \x1b[31mrot\x1b[0m €".encode():
        emulator.feed(bytes([byte]))
    assert texts(emulator) == ["grün rot €"]
    assert [segment.text for segment in emulator.lines()[0]] == ["grün ", "rot", " €"]


def test_cursor_addressing_overwrites(emulator: Emulator) -> None:
    emulator.feed(b"0%\r50%\r100%\r\nline\x1b[1A\x1b[2;3Hxx\x1b[4;1Hlast")
    assert texts(emulator) == ["100%", "lixx", "", "last"]
    assert emulator.cursor == (4, 3)


def test_what_scrolled_away_stays_and_any_window_of_it_can_be_read(emulator: Emulator) -> None:
    emulator.feed(b"".join(b"line %d\r\n" % number for number in range(100)))
    assert emulator.line_count == 100
    assert texts(emulator, 40, 43) == ["line 40", "line 41", "line 42"]
    assert texts(emulator, 98) == ["line 98", "line 99"]
    assert texts(emulator, 98, 500) == ["line 98", "line 99"]
    assert texts(emulator, 200) == texts(emulator, 5, 5) == texts(emulator, 5, 2) == []
    assert emulator.cursor == (0, 100)


def test_the_scrollback_is_roughly_limited(emulator: Emulator) -> None:
    emulator.feed(b"".join(b"line %d\r\n" % number for number in range(20_000)))
    assert 900 <= emulator.line_count <= 4_000  # whole pages are dropped
    assert texts(emulator, emulator.line_count - 1) == ["line 19999"]


def test_lines_that_scroll_away_leave_their_memory_to_the_next_ones() -> None:
    pytest.importorskip("pyghostty")
    emulator = GhosttyEmulator(120, 30, 1000)
    lines = b"".join(b"\x1b[32mline %d\x1b[m\r\n" % number for number in range(20_000))
    emulator.feed(lines)  # as much as is kept
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    emulator.feed(lines)
    pages = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    emulator.close()
    assert pages < 500  # each of 4 KB, taken from the system; with a limit in lines, it was 9,000


def test_long_lines_wrap_and_flow_anew_on_resize(emulator: Emulator) -> None:
    emulator.feed(b"x" * 25)
    assert texts(emulator) == ["x" * 20, "x" * 5]
    emulator.resize(10, ROWS)
    assert texts(emulator) == ["x" * 10, "x" * 10, "x" * 5]
    emulator.resize(0, -3)
    assert texts(emulator)[0] == "x"


@pytest.mark.parametrize(
    ("sgr", "style"),
    [
        ("1", styled("bold")),
        ("2", styled("dim")),
        ("3", styled("italic")),
        ("4", styled("underline")),
        ("4:3", styled("underline")),
        ("21", styled("double_underline")),
        ("5", styled("blink")),
        ("7", styled("reverse")),
        ("8", styled("conceal")),
        ("9", styled("strike")),
        ("53", styled("overline")),
        ("31", CellStyle(1)),
        ("97", CellStyle(15)),
        ("42", CellStyle(background=2)),
        ("38;5;196", CellStyle(196)),
        ("48;5;20", CellStyle(background=20)),
        ("38;2;1;2;3", CellStyle((1, 2, 3))),
        ("48:2::4:5:6", CellStyle(background=(4, 5, 6))),
        (
            "1;3;4;9;31;48;5;20",
            CellStyle(RED, 20, frozenset({"bold", "italic", "underline", "strike"})),
        ),
        ("4;58;5;3", styled("underline")),
        ("0", None),
    ],
)
def test_styles_and_colors_are_kept(emulator: Emulator, sgr: str, style: CellStyle | None) -> None:
    assert style_of(emulator, sgr) == style


def test_a_style_goes_on_over_the_end_of_a_line(emulator: Emulator) -> None:
    emulator.feed(b"\x1b[31mone\r\ntwo\x1b[0m\r\nthree")
    assert [line[0].style for line in emulator.lines()] == [CellStyle(RED)] * 2 + [None]


def test_wide_and_joined_characters_are_whole_and_take_their_cells(emulator: Emulator) -> None:
    emulator.feed("你好 e\u0301 👨\u200d👩|\r\n".encode() + "漢".encode() * 11)
    assert texts(emulator) == ["你好 e\u0301 👨\u200d👩|", "漢" * 10, "漢"]
    assert emulator.cursor == (2, 2)


def test_backgrounds_reach_to_the_edge_on_rows_with_and_without_text(emulator: Emulator) -> None:
    emulator.feed(b"\x1b[44m\x1b[2J\x1b[2;1Hhi\x1b[K")
    blue = CellStyle(background=4)
    assert texts(emulator) == [" " * 20, "hi" + " " * 18] + [" " * 20] * 3
    assert {segment.style for line in emulator.lines() for segment in line} == {blue}


def test_a_true_color_background_fills_blank_rows_too(emulator: Emulator) -> None:
    emulator.feed(b"\x1b[48;2;9;8;7m\x1b[2J")
    assert emulator.lines()[3][0].style == CellStyle(background=(9, 8, 7))


def test_questions_are_answered_once(emulator: Emulator) -> None:
    emulator.feed(b"ab\x1b[6n\x1b[c")
    replies = emulator.take_replies()
    assert replies.startswith(b"\x1b[1;3R\x1b[?")
    assert emulator.take_replies() == b""


def test_a_flood_of_questions_does_not_fill_the_memory(emulator: Emulator) -> None:
    emulator.feed(b"\x1b[6n" * 50_000)
    assert 0 < len(emulator.take_replies()) <= MAX_REPLY_BYTES


def test_modes_say_how_to_type(emulator: Emulator) -> None:
    assert emulator.modes == TerminalModes()
    emulator.feed(b"\x1b[?1h\x1b[?2004h\x1b[?1004h\x1b[?1049h\x1b[?25l")
    assert emulator.modes == TerminalModes(True, True, True, True, False)


def test_the_alternate_screen_hides_and_gives_back_the_first(emulator: Emulator) -> None:
    emulator.feed(b"shell\r\n\x1b[?1049h\x1b[Heditor")
    assert texts(emulator) == ["editor"]
    emulator.feed(b"\x1b[?1049l")
    assert texts(emulator) == ["shell"]


@pytest.mark.parametrize("make", [GhosttyEmulator, PlainEmulator])
def test_a_closed_emulator_refuses_instead_of_reaching_freed_memory(
    make: type[GhosttyEmulator | PlainEmulator],
) -> None:
    if make is GhosttyEmulator:
        pytest.importorskip("pyghostty")
    emulator = make(COLUMNS, ROWS, 100)
    emulator.feed(b"text")
    emulator.close()
    emulator.close()
    for call in (
        lambda: emulator.feed(b"x"),
        lambda: emulator.resize(3, 3),
        emulator.lines,
        lambda: emulator.cursor,
    ):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_noise_neither_crashes_nor_leaves_the_grid(emulator: Emulator) -> None:
    noise = random.Random(4)
    alphabet = [
        b"\x1b[",
        b"\x1b]",
        b"\x1bP",
        b"\x07",
        b"\x1b\\",
        b";",
        b"9",
        b"999999999",
        b"m",
        b"H",
        b"J",
        b"r",
        b"L",
        b"@",
        b"\n",
        "漢".encode(),
        b"\xff",
    ]
    for _ in range(100):
        emulator.feed(b"".join(noise.choices(alphabet, k=100)) + noise.randbytes(50))
        emulator.resize(noise.randint(1, 40), noise.randint(1, 10))
        assert len(emulator.lines()) == emulator.line_count


def test_pyghostty_is_imported_with_the_first_terminal_and_not_before() -> None:
    script = "import sys, acp_tui.client.terminals.emulator; sys.exit('pyghostty' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_loading_leaves_the_interpreter_as_it_was() -> None:
    before = sys.getswitchinterval()
    load_emulator()
    assert sys.getswitchinterval() == before > LOADING_SWITCH_INTERVAL_S


def test_there_is_a_plain_emulator_where_pyghostty_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyghostty", None)
    assert isinstance(make_emulator(COLUMNS, ROWS, 100), PlainEmulator)


def test_ghostty_is_the_first_choice() -> None:
    pytest.importorskip("pyghostty")
    emulator = make_emulator(COLUMNS, ROWS, 100)
    assert isinstance(emulator, GhosttyEmulator)
    emulator.close()


def test_plain_shows_text_without_escapes_and_the_last_state_of_progress(plain: Emulator) -> None:
    plain.feed(b"\x1b[31mred\x1b[0m\r\n 10%\r 90%\x1b[")
    plain.feed(b"1m\r\nwide \xe6\xbc\r\n\r\n")
    assert texts(plain) == ["red", " 90%", "wide \ufffd"]
    assert (plain.cursor, plain.line_count, plain.take_replies(), plain.modes) == (
        (0, 4),
        3,
        b"",
        TerminalModes(),
    )


def test_plain_wraps_to_its_width_and_keeps_its_limit(plain: Emulator) -> None:
    plain.feed("漢".encode() * 11 + b"\r\na\tb\r\n")
    assert texts(plain) == ["漢" * 10, "漢", "a       b"]
    plain.resize(5, ROWS)
    assert texts(plain, 0, 2) == ["漢漢", "漢漢"]
    plain.feed(b"line\r\n" * 5000)
    assert plain.line_count <= 1000 + ROWS
