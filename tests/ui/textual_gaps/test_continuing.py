"""SIGCONT, which also comes with SIGHUP, in the middle of a write to the terminal. It must not wait for that write."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from support.terminal_process import TerminalProcess, process_on_terminal

CONTINUED_IN_A_WRITE = """
import signal
from textual.app import App
from acp_tui.ui.textual_gaps.driver import PacedDriver

class Demo(App):
    def on_mount(self):
        writer = self._driver._writer_thread
        queue = writer._queue
        put = queue._put

        def interrupted(text):  # the queue calls this while it holds its lock
            queue._put = put
            signal.raise_signal(signal.SIGCONT)
            put(text)

        queue._put = interrupted
        self._driver.write("written")
        self.call_later(self.wait_for_new_writer, writer)

    def wait_for_new_writer(self, before):
        if self._driver._writer_thread is before:
            self.call_later(self.wait_for_new_writer, before)
        else:
            self.exit(message="continued")

Demo(driver_class=PacedDriver).run()
"""


def test_a_continue_in_the_middle_of_a_write_is_handled_after_it(tmp_path: Path) -> None:
    command = (sys.executable, "-c", CONTINUED_IN_A_WRITE)
    with process_on_terminal([], os.environ, tmp_path, command=command) as (process, fd):
        screen = TerminalProcess(process, fd)
        assert screen.end() == 0
        assert "written" in screen.text
        assert "continued" in screen.text
