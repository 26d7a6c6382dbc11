"""What a user who types into a terminal gets: its window and its size."""

from __future__ import annotations

from typing import Any, cast

import pytest

from acp_tui.client.terminals.emulator import PlainEmulator, make_emulator
from acp_tui.client.terminals.screen import MakeEmulator, TerminalScreen
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalId

EMULATORS = [make_emulator, PlainEmulator]


class Opened:
    """A terminal of 20 by 4, with so little output that it needs no thread."""

    def __init__(self, *, make: MakeEmulator = make_emulator, output: bytes = b"") -> None:
        self.state = TerminalState(TerminalId("t"), columns=20, rows=4)
        nobody = cast(Any, None)
        self.screen = TerminalScreen(self.state, make, nobody, nobody)
        self.prints(output)

    def prints(self, data: bytes) -> None:
        """The program prints this, and it is shown."""
        self.state.output.append(data)
        self.screen.update()

    def rows(self, top: int | None = None) -> list[str]:
        """The rows of the window that aren't empty."""
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
