"""Terminal input as Textual gets it: a paste never becomes keys, however it is split or forged."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from textual.events import Key, Paste
from textual.message import Message
from textual.messages import TerminalSupportsSynchronizedOutput

from acp_tui.client.desktop import ANSWER
from acp_tui.ui.textual_gaps.terminal_input import (
    EARLY_S,
    HELD_S,
    LATE_S,
    LINE_END,
    InputParser,
    InputRepair,
    TerminalAnswered,
    feed_early,
)
from support.terminals import process_on_terminal


def events(*pieces: str) -> list[str]:
    parser = InputParser()
    found = [event for piece in pieces for event in parser.feed(piece)]
    return [*filter(None, map(_told, found))]


def _told(event: Message) -> str:
    match event:
        case Key(key=key):
            return key
        case Paste(text=text):
            return f"paste {text!r}"
        case TerminalAnswered(answer=answer):
            return "answer" if answer == ANSWER else "sure answer"
    return ""


class Clock:
    """Time passes when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._now_s = 1000.0
        monkeypatch.setattr("time.monotonic", lambda: self._now_s)

    def read(self, parser: InputParser, *pieces: str, gap_s: float) -> list[str]:
        """Feed pieces, each so long after the one before; return what came of them by then, answers left out."""
        found: list[Message] = []
        for piece in pieces:
            self._now_s += gap_s
            found += [*parser.tick(), *parser.feed(piece)]
        return [told for told in map(_told, found) if told and "answer" not in told]

    def wait(self, parser: InputParser, for_s: float) -> list[str]:
        self._now_s += for_s
        return later(parser)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def later(parser: InputParser) -> list[str]:
    return [_told(event) for event in parser.tick()]


def pasted(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


@pytest.mark.parametrize("letter", "acdeghijklmnopqrstuvwxyz")
def test_keys_with_alt_may_come_at_once(letter: str) -> None:
    key = f"\x1b{letter}"
    assert events(f"{key}{key}\x1b[B") == [f"alt+{letter}", f"alt+{letter}", "down"]
    assert events(f"\x1b[A{key}\x1b", "[Bx") == ["up", f"alt+{letter}", "down", "x"]
    assert events(key, "\x1b[B") == events(key, "\x1b", "[B") == [f"alt+{letter}", "down"]


def test_a_key_with_alt_may_come_again_later() -> None:
    parser = InputParser()
    for _ in range(2):
        found = [*parser.feed("\x1bo")]
        while not found:
            found += parser.tick()
        assert [_told(event) for event in found] == ["alt+o"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc", "a\r\nb\rc"),
        ("x\x1b[31mred\r\n\x07", "x␛[31mred\r\n\x07"),
        ("a\x1b[201~rm -rf\r", "a␛[201~rm -rf\r"),
        ("a\x1b[200~b", "a␛[200~b"),
        ("\x1b", "␛"),
    ],
)
def test_all_of_a_paste_is_text(text: str, expected: str) -> None:
    assert events("a" + pasted(text) + "b") == ["a", f"paste {expected!r}", "b"]


def test_a_paste_may_come_in_any_pieces() -> None:
    whole = "a" + pasted("x\x1b[31m\r") + "b"
    for size in range(1, len(whole)):
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        assert events(*pieces) == ["a", "paste 'x␛[31m\\r'", "b"]


def test_two_pastes_at_once_are_two() -> None:
    assert events(pasted("a") + pasted("b") + "c") == ["paste 'a'", "paste 'b'", "c"]


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("\x1b\r", "alt+enter"),
        ("\x1b[13;3u", "alt+enter"),
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b\x7f", "alt+backspace"),
        ("\x1b1", "alt+1"),
        ("\x17", "ctrl+w"),
        ("\x1b[A", "up"),
    ],
)
def test_keys_keep_their_modifiers(sent: str, key: str) -> None:
    assert events(sent) == [key]


@pytest.mark.parametrize("sent", ["\x1bs", "\x1bS", "\x1b[115;3u", "\x1b1"])
def test_a_key_with_alt_is_no_text(sent: str) -> None:
    parser = InputParser()
    (key,) = [event for event in (*parser.feed(sent), *parser.feed("")) if isinstance(event, Key)]
    assert (key.key[:4], key.is_printable) == ("alt+", False)


def test_an_end_without_a_paste_is_nothing() -> None:
    assert events("a\x1b[201~b") == ["a", "b"]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (ANSWER, ["answer"]),
        (f"a{ANSWER}{ANSWER}b", ["a", "b", "answer", "answer"]),
        (f"\x1b[A{ANSWER}\x1b[B", ["up", "down", "answer"]),
        (f"\x1b[200~x{ANSWER}y\x1b[201~", ["paste 'xy'", "answer"]),
        ("a\x1b]11;rgb:ffff/ffff/ffff\x1b\\b\x1b]11;rgb:ff/ff/ff\x07c", ["a", "b", "c"]),
        ("a\x1b[?62;4cb", ["a", "b", "sure answer"]),
        (f"\x1b[200~x\x1b[?6c{ANSWER}y\x1b[201~", ["paste 'xy'", "sure answer", "answer"]),
    ],
)
def test_an_answer_of_the_terminal_is_no_key_however_it_is_split(sent: str, expected: list[str]) -> None:
    for size in range(1, len(sent) + 1):
        pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        assert sorted(events(*pieces)) == sorted(expected), size


@pytest.mark.parametrize("answer", [ANSWER, "\x1b[?62;4c", "\x1b]11;rgb:ff/ff/ff\x07", "\x1b[?2026;2$y"])
def test_an_answer_is_no_text_even_if_its_beginning_was_taken_for_esc(answer: str) -> None:
    parser = InputParser()
    assert list(parser.feed(answer[:1])) == []
    while not (keys := later(parser)):
        pass
    assert keys == ["escape"]
    found = [_told(event) for piece in (*answer[1:], "a") for event in parser.feed(piece)]
    assert [told for told in found if told and "answer" not in told] == ["a"]


def test_textual_gets_its_answer_even_if_the_beginning_was_taken_for_esc() -> None:
    parser = InputParser()
    found = [*parser.feed("\x1b")]
    while not found:
        found += parser.tick()
    found += [event for piece in "[?2026;2$y" for event in parser.feed(piece)]
    assert [type(event) for event in found] == [Key, TerminalSupportsSynchronizedOutput]


def test_a_paste_is_one_even_if_its_beginning_was_taken_for_esc() -> None:
    parser = InputParser()
    assert list(parser.feed("\x1b")) == []
    while not (keys := later(parser)):
        pass
    assert keys == ["escape"]
    assert [_told(event) for event in parser.feed(pasted("a\0b")[1:] + pasted("c") + "d")] == [
        "paste 'ab'",
        "paste 'c'",
        "d",
    ]


def test_textual_does_not_read_a_long_paste_character_by_character() -> None:
    repair = InputRepair()
    assert len(repair.feed(pasted("x" * 100_000))) < 100
    assert repair.pastes == ["x" * 100_000]


def test_input_from_before_the_start_comes_first_and_once() -> None:
    feed_early(b"h\x1b]11;rgb:1111/1111/1111\x1b\\e\x1b[?1;2")
    parser = InputParser()
    assert [_told(event) for event in parser.feed("cl\x1b[?6c")] == ["sure answer", "h", "e", "l"]
    assert later(InputParser()) == []


def test_input_from_before_the_start_needs_no_other_input() -> None:
    feed_early(b"hi\x1b]11;rgb:1111/11")
    parser = InputParser()
    assert later(parser) == ["h", "i"]
    assert [_told(event) for event in parser.feed("11/1111\x07!")] == ["exclamation_mark"]


@pytest.mark.parametrize("enter", ["\r", "\n"])
@pytest.mark.parametrize("answers", ["", "\x1b[?62;22c\x1b[?2026;2$y\x1b[?2048;2$y"])
def test_of_early_lines_only_a_single_one_is_sent_by_its_enter(enter: str, answers: str) -> None:
    def keys(typed: str) -> list[str]:
        feed_early(f"{typed}{answers}".encode())
        return [key for key in later(InputParser()) if key not in ("sure answer", "")]

    assert keys(f"a{enter}") == ["a", "enter"]
    assert keys(f"{enter}a{enter}{enter}") == ["enter", "a", "enter", "enter"]
    assert keys(f"a{enter}\x03\x04") == ["a", "enter", "ctrl+c", "ctrl+d"]
    assert keys(f"a{enter}\tb") == ["a", LINE_END, "tab", "b"]
    assert keys(f"a{enter}{enter}b{enter}") == ["a", LINE_END, LINE_END, "b", LINE_END]
    assert keys(f"a{enter}b") == ["a", LINE_END, "b"]


@pytest.mark.parametrize("enter", ["\r", "\x1b[13u"])
def test_an_enter_soon_behind_early_lines_does_not_send_them(enter: str, clock: Clock) -> None:
    feed_early(b"a\nb")
    parser = InputParser()
    assert clock.read(parser, "c", enter, "d", gap_s=EARLY_S * 2) == ["a", LINE_END, "b", "c", LINE_END, "d"]
    assert clock.read(parser, enter, gap_s=HELD_S) == ["enter"]


def test_prompts_typed_early_one_after_the_other_are_sent_one_by_one(clock: Clock) -> None:
    feed_early(b"a\n")
    parser = InputParser()
    assert later(parser) == ["a", "enter"]
    assert clock.read(parser, "b", "\r", "c", gap_s=EARLY_S) == ["b", "enter", "c"]


def test_what_is_typed_on_the_screen_stays_what_it_is(clock: Clock) -> None:
    parser = InputParser()
    assert later(parser) == clock.wait(parser, EARLY_S) == []
    assert [_told(event) for event in parser.feed("a\nb\r\n")] == ["a", "ctrl+j", "b", "enter", "ctrl+j"]


def test_keys_that_only_begin_like_an_answer_are_typed_after_a_moment(clock: Clock) -> None:
    parser = InputParser()
    assert clock.read(parser, "\x1b", "]", "1", gap_s=0.2) == ["escape"]
    assert clock.wait(parser, HELD_S) == ["right_square_bracket", "1"]


SPLIT = (
    "\x1b",
    "[0",
    "n",
    "\x1b",
    "]11;rgb:ff/ff/ff\x1b",
    "\\",
    "\x1b",
    "[",
    "?62;4",
    "c",
    "\x1b",
    "[?2026;2$",
    "y",
    "a",
)


@pytest.mark.parametrize("gap_s", [0.03, 0.15, 0.5, 0.9])
def test_an_awaited_answer_is_no_esc_however_slowly_it_comes(clock: Clock, gap_s: float) -> None:
    assert clock.read(InputParser(is_awaited=lambda: True), *SPLIT, gap_s=gap_s) == ["a"]


def test_esc_is_a_key_soon_unless_an_answer_is_awaited(clock: Clock) -> None:
    parser, awaiting = InputParser(), InputParser(is_awaited=lambda: True)
    assert clock.read(parser, "\x1b", gap_s=1) + clock.read(awaiting, "\x1b", gap_s=0) == []
    assert clock.wait(parser, 0.2) == ["escape"]
    assert clock.wait(awaiting, 0) == []
    assert clock.wait(awaiting, HELD_S) == ["escape"]
    assert clock.read(awaiting, "a", gap_s=1) == ["a"]


def test_esc_is_a_key_at_once_if_another_key_or_a_whole_answer_follows(clock: Clock) -> None:
    parser = InputParser(is_awaited=lambda: True)
    assert clock.read(parser, "\x1b", "x", gap_s=0.2) == ["escape", "x"]
    assert clock.read(parser, "\x1b", ANSWER, gap_s=0.01) == ["escape"]
    assert clock.read(parser, "x", "\x1b", "\x1b[A", gap_s=0.01) == ["x", "escape", "up"]
    assert clock.read(parser, "\x1bx", "\x1b", "\r", gap_s=0.01) == ["alt+x", "alt+enter"]
    assert clock.read(parser, "\x1ba", "\x1b", "\x1b[A", gap_s=0.01) == ["alt+a", "escape", "up"]


def test_where_an_answer_came_in_late_pieces_others_may(clock: Clock) -> None:
    parser = InputParser()
    assert clock.read(parser, "\x1b", "[0n", "\x1b", "[0n", "\x1b", "[0n", "a", gap_s=0.3) == ["escape", "a"]
    assert clock.read(parser, "\x1b", gap_s=LATE_S) == []
    assert clock.wait(parser, 0.2) == ["escape"]


def test_a_slow_paste_types_nothing(clock: Clock) -> None:
    pieces = ("\x1b[200~a", "\x1b", "]", "b\x1b[201~")
    assert clock.read(InputParser(), *pieces, gap_s=HELD_S) == ["paste 'a␛]b'"]


AWAITS = """
from textual.app import App
from acp_tui.ui.textual_gaps import terminal_input
from acp_tui.ui.textual_gaps.driver import PacedDriver

terminal_input.HELD_S = 60.0  # the test may be slow

class Demo(App):
    def on_mount(self):
        self.bell()
        self.set_timer(0.3, self.bell)

    def on_key(self, event):
        self.exit(message=f"key {event.key}")

Demo(driver_class=PacedDriver).run()
"""


@pytest.mark.parametrize("is_owed", [False, True])
def test_the_terminal_owes_an_answer_until_it_has_come(tmp_path: Path, is_owed: bool) -> None:
    environ = {**os.environ, "ESCDELAY": "1"}
    with process_on_terminal([], environ, tmp_path, command=(sys.executable, "-c", AWAITS)) as screen:
        screen.until(lambda: b"\a" in screen.said and b"\x1b[c" in screen.said)
        screen.type("\x1b" if is_owed else "\x1b[?62c\x1b")
        if is_owed:
            screen.until(lambda: screen.said.count(b"\a") == 2)
            screen.type("[?62cx")
        assert screen.end() == 0
        assert f"key {'x' if is_owed else 'escape'}" in screen.text


@pytest.mark.parametrize("seed", range(200))
def test_no_text_appears_that_nobody_typed_however_fast_keys_follow_esc(seed: int) -> None:
    random = Random(seed)
    typed = "".join(random.choices("\x1b\x1b\x1b[O;19xM /é^", k=random.randint(2, 60)))
    cuts = sorted(random.choices(range(len(typed)), k=random.randint(0, 9)))
    parser = InputParser()
    found = [
        event
        for start, stop in pairwise((0, *cuts, len(typed)))
        if start < stop
        for event in parser.feed(typed[start:stop])
    ]
    written = [event.character for event in (*found, *parser.feed("")) if isinstance(event, Key) and event.is_printable]
    assert written.count("^") <= typed.count("^")


def test_keys_after_esc_that_are_no_sequence_are_all_there() -> None:
    assert events("\x1b[x y\x1b[A") == ["escape", "left_square_bracket", "x", "space", "y", "up"]
    long = "é" + "a" * 40
    assert events(f"\x1b {long}") == ["escape", "space", *long]
