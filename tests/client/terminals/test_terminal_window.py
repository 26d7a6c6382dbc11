"""What a terminal's screen gives to one who types into it: its window, its size, and answers to the program."""

from __future__ import annotations

from typing import Any, cast

import pytest

from acp_tui.client.terminals.emulator import PlainEmulator, make_emulator
from acp_tui.client.terminals.screen import MakeEmulator, TerminalScreen
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalId

WHERE_IS_THE_CURSOR = b"\x1b[6n"
EMULATORS = [make_emulator, PlainEmulator]


class Opened:
    """A terminal of 20 by 4; output so short that no thread is needed for it."""

    def __init__(self, *, make: MakeEmulator = make_emulator, output: bytes = b"", answered: int = 0) -> None:
        self.state = TerminalState(TerminalId("t"), columns=20, rows=4, answered=answered)
        self.replies: list[tuple[int, bytes]] = []
        nobody = cast(Any, None)
        self.screen = TerminalScreen(self.state, make, nobody, nobody, self._note)
        self.prints(output)

    def _note(self, position: int, replies: bytes) -> None:
        self.replies.append((position, replies))

    def prints(self, data: bytes) -> None:
        """The program prints this, and it is shown."""
        self.state.output.append(data)
        self.screen.update()

    def rows(self, top: int | None = None) -> list[str]:
        """The rows of the window, as far as there is something on them."""
        return ["".join(part.text for part in line) for line in self.screen.window(top).lines]


@pytest.mark.parametrize("make", EMULATORS)
def test_the_window_is_the_screen_or_what_has_scrolled_away(make: MakeEmulator) -> None:
    opened = Opened(make=make, output=b"1\r\n2\r\n3\r\n4\r\n5\r\n6")
    assert opened.rows() == ["3", "4", "5", "6"]
    assert opened.rows(1) == ["2", "3", "4", "5"]
    window = opened.screen.window(1)
    assert (window.top, window.lines_below, window.cursor) == (1, 1, (1, 4))
    assert opened.rows(-5) == ["1", "2", "3", "4"]
    assert opened.screen.window(99).lines_below == 0


@pytest.mark.parametrize("make", EMULATORS)
def test_a_new_size_is_taken_from_the_state(make: MakeEmulator) -> None:
    opened = Opened(make=make, output=b"x" * 20)
    opened.state.columns, opened.state.rows = 10, 2
    opened.screen.update()
    assert opened.rows() == ["x" * 10] * 2


def test_a_question_is_answered_with_where_it_was_asked() -> None:
    pytest.importorskip("pyghostty")
    opened = Opened()
    opened.prints(b"ab" + WHERE_IS_THE_CURSOR)
    opened.prints(b"c")
    assert opened.replies == [(6, b"\x1b[1;3R")]


def test_what_another_emulator_has_answered_is_not_answered_again() -> None:
    pytest.importorskip("pyghostty")
    old, new = b"ab" + WHERE_IS_THE_CURSOR, b"cd" + WHERE_IS_THE_CURSOR
    opened = Opened(output=old + new, answered=len(old))
    assert opened.replies == [(len(old + new), b"\x1b[1;5R")]
    assert opened.rows() == ["abcd"]


def test_a_program_that_has_ended_gets_no_answer() -> None:
    pytest.importorskip("pyghostty")
    opened = Opened()
    opened.state.has_exited = True
    opened.prints(WHERE_IS_THE_CURSOR)
    assert opened.replies == []
