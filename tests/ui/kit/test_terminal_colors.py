"""How acp-tui asks the terminal about its looks: on a real PTY, whose terminal answers as the test says."""

from __future__ import annotations

import os
import termios
import threading
import tty
from collections.abc import Iterator, Sequence
from pathlib import Path
from select import select
from typing import NamedTuple

import pytest

from acp_tui.ui.kit import terminal_colors
from acp_tui.ui.kit.terminal_colors import QUERY, exchange, has_unicode, light_or_dark, shade_of
from support.waiting import LIMIT_S

DA1 = b"\x1b[?62;22c"
LIGHT = b"\x1b]11;rgb:fbfb/fafa/f7f7\x1b\\"


class Pty(NamedTuple):
    """Both ends of a terminal."""

    terminal: int
    program: int

    def answer(self, pieces: Sequence[bytes]) -> threading.Thread:
        """Read the question, then write these, each after the previous one was read."""
        thread = threading.Thread(target=self._answer, args=(pieces,))
        thread.start()
        return thread

    def _answer(self, pieces: Sequence[bytes]) -> None:
        asked = b""
        while QUERY not in asked:
            asked += os.read(self.terminal, 1024)
        for piece in pieces:
            os.write(self.terminal, piece)

    def ask(self, *pieces: bytes, limit_s: float = LIMIT_S) -> bytes:
        """What a program that asks this terminal reads."""
        thread = self.answer(pieces)
        answer = exchange(self.program, self.program, limit_s, lambda: None)
        thread.join(LIMIT_S)
        return answer

    @property
    def left_over(self) -> bytes:
        """What the program still has to read."""
        tty.setcbreak(self.program, termios.TCSANOW)
        return os.read(self.program, 1024) if select([self.program], [], [], 0)[0] else b""


@pytest.fixture
def pty() -> Iterator[Pty]:
    """A terminal as a shell leaves it."""
    ends = Pty(*os.openpty())
    yield ends
    for end in ends:
        os.close(end)


def test_a_light_terminal_is_light_and_a_dark_one_dark(pty: Pty) -> None:
    assert shade_of(pty.ask(LIGHT, DA1)) == "light"
    assert shade_of(pty.ask(b"\x1b]11;rgb:1616/1717/1d1d\x07", DA1)) == "dark"


def test_an_answer_may_come_in_pieces(pty: Pty) -> None:
    answer = LIGHT + DA1
    assert pty.ask(*(answer[at : at + 1] for at in range(len(answer)))) == answer


def test_a_terminal_that_knows_no_such_question_is_not_waited_for(pty: Pty) -> None:
    assert shade_of(pty.ask(DA1)) is None


def test_a_terminal_that_answers_nothing_is_given_up(pty: Pty) -> None:
    assert pty.ask(limit_s=0) == b""


def test_no_answer_is_left_to_be_read_or_was_echoed(pty: Pty) -> None:
    pty.ask(LIGHT, DA1)
    assert pty.left_over == b""
    assert not select([pty.terminal], [], [], 0)[0]


def test_keys_are_kept_before_in_and_behind_the_answer(pty: Pty) -> None:
    os.write(pty.terminal, b"hel")
    answer = pty.ask(LIGHT, b"lo", DA1 + b" there")
    assert answer == b"hel" + LIGHT + b"lo" + DA1 + b" there"
    assert shade_of(answer) == "light"


def test_an_answer_that_comes_too_late_is_not_echoed(pty: Pty) -> None:
    pty.ask(limit_s=0)
    os.write(pty.terminal, LIGHT + DA1)
    assert pty.left_over == LIGHT + DA1
    assert not select([pty.terminal], [], [], 0)[0]


def test_a_pipe_is_not_asked() -> None:
    read, write = os.pipe()
    assert exchange(read, write, LIMIT_S, _never) == b""
    os.close(write)
    assert os.read(read, 1) == b""
    os.close(read)


def test_without_a_terminal_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_colors, "exchange", _never)
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        assert terminal_colors.ask_terminal(_never) == b""


@pytest.mark.parametrize(
    ("answer", "shade"),
    [
        (b"\x1b]11;rgb:ff/ff/ff\x07", "light"),
        (b"\x1b]11;rgb:f/f/f\x07", "light"),
        (b"\x1b]11;rgba:0000/0000/0000/ffff\x1b\\", "dark"),
        (b"\x1b]11;rgb:0000/ffff/0000\x07", "light"),
        (b"\x1b]11;rgb:0000/0000/ffff\x07", "dark"),
        (b"\x1b]11;#ffffff\x07", None),
        (b"", None),
    ],
)
def test_the_shade_is_read_from_every_form_of_answer(answer: bytes, shade: str | None) -> None:
    assert shade_of(answer + DA1) == shade


def _never(*_: object) -> bytes:
    raise AssertionError("the terminal was asked")


@pytest.mark.parametrize(
    ("value", "shade"), [("15;0", "dark"), ("0;15", "light"), ("0;default;7", "light"), ("7;8", "dark")]
)
def test_a_terminal_that_says_so_by_itself_is_not_asked(value: str, shade: str) -> None:
    assert light_or_dark({"TERM": "xterm", "COLORFGBG": value}, _never) == shade


@pytest.mark.parametrize("value", ["", "0;default", "nonsense"])
def test_where_the_environment_does_not_tell_the_terminal_is_asked(value: str) -> None:
    assert light_or_dark({"TERM": "xterm", "COLORFGBG": value}, lambda: LIGHT) == "light"


@pytest.mark.parametrize("term", ["linux", "dumb", ""])
def test_terminals_that_would_show_the_question_are_not_asked(term: str) -> None:
    assert light_or_dark({"TERM": term}, _never) is None


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, True),
        ({"LANG": "en_GB.UTF-8"}, True),
        ({"LANG": "C.utf8"}, True),
        ({"LANG": "sr_RS.UTF-8@latin"}, True),
        ({"LANG": "en_US"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "POSIX", "LC_ALL": ""}, False),
        ({"LANG": "xx.nonsense"}, True),
    ],
    ids=str,
)
def test_the_locale_tells_whether_there_is_more_than_ascii(environ: dict[str, str], expected: bool) -> None:
    assert has_unicode(environ) is expected
