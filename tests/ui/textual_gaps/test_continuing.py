"""SIGCONT, which also comes with SIGHUP, in the middle of a write to the terminal. It must not wait for that write."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from support.terminals import process_on_terminal

CONTINUED_IN_A_WRITE = """
import queue
import signal

class Interrupted(queue.Queue):
    made = 0
    is_armed = False

    def __init__(self, size=0):
        super().__init__(size)
        Interrupted.made += 1

    def _put(self, text):  # called while the lock is held
        if Interrupted.is_armed:
            Interrupted.is_armed = False
            signal.raise_signal(signal.SIGCONT)
        self.queue.append(text)

queue.Queue = Interrupted  # before Textual's writer takes it from there

from textual.app import App
from acp_tui.ui.textual_gaps.driver import PacedDriver

class Demo(App):
    def on_mount(self):
        before, Interrupted.is_armed = Interrupted.made, True
        self.bell()
        self.call_later(self.wait_for_new_writer, before)

    def wait_for_new_writer(self, before):
        if Interrupted.made == before:
            self.call_later(self.wait_for_new_writer, before)
        else:
            self.exit(message="continued")

Demo(driver_class=PacedDriver).run()
"""


def test_a_continue_in_the_middle_of_a_write_is_handled_after_it(tmp_path: Path) -> None:
    command = (sys.executable, "-c", CONTINUED_IN_A_WRITE)
    with process_on_terminal([], os.environ, tmp_path, command=command) as screen:
        assert screen.end() == 0
        assert "continued" in screen.text
