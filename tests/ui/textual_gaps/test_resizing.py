"""A window that has its old size back before acp-tui has seen another one. The terminal dropped what didn't fit."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from support.terminals import process_on_terminal

ROWS = """
from textual.widgets import Label
from acp_tui.ui.base.app import BaseApp

class Demo(BaseApp):
    def compose(self):
        yield Label("the first row", id="first")
        yield Label("the second row")

    def on_key(self):
        self.query_one("#first").update("a key")

Demo().run()
"""
COMMAND = (sys.executable, "-c", ROWS)
REPORT = "\x1b[48;24;80;0;0t"
"""The size that the window has from the start."""


def test_it_is_drawn_again(tmp_path: Path) -> None:
    with process_on_terminal([], os.environ, tmp_path, command=COMMAND) as screen:
        screen.shows("the second row")
        screen.type("k")
        screen.shows("a key")

        screen.process.send_signal(signal.SIGWINCH)

        screen.shows("the second row")


def test_it_is_not_drawn_twice_where_the_terminal_begins_with_its_size(tmp_path: Path) -> None:
    with process_on_terminal([], os.environ, tmp_path, command=COMMAND) as screen:
        screen.shows("\x1b[?2048$p")
        screen.type("\x1b[?2048;2$y")
        screen.shows("\x1b[?2048h")
        screen.type(REPORT)
        screen.type("k")
        screen.shows("a key")
        assert screen.text.count("the second row") == 1

        screen.type(REPORT)

        screen.shows("the second row")
