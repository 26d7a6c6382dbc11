"""The controlling terminal as a place to ask the user; what is asked there is not its matter."""

from __future__ import annotations

import os
import select
import termios
from contextlib import suppress

import anyio

from acp_tui.cli.visible_output import terminal_bytes


def open_terminal() -> Terminal | None:
    """The controlling terminal, where there is one; it may be there while stdin and stdout are pipes."""
    try:
        return Terminal(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return None


class Terminal:
    """Shows text and reads lines. A terminal that hung up shows nothing and has no lines."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` is its own from now on."""
        self._descriptor = descriptor

    def show(self, text: str) -> None:
        """Write `text` in its visible form."""
        with suppress(OSError):
            os.write(self._descriptor, terminal_bytes(text))

    def forget_typed(self) -> None:
        """Drop what was typed and has not been read, whole lines or not."""
        with suppress(termios.error):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def has_more(self) -> bool:
        """Whether something was typed that has not been read, a whole line or not."""
        try:
            settings = termios.tcgetattr(self._descriptor)
            at_once = [*settings]
            at_once[3] &= ~termios.ICANON
            termios.tcsetattr(self._descriptor, termios.TCSANOW, at_once)
            try:
                return bool(select.select([self._descriptor], [], [], 0)[0])
            finally:
                termios.tcsetattr(self._descriptor, termios.TCSANOW, settings)
        except termios.error:
            return False

    async def read_line(self) -> str | None:
        """A line the user typed; None at the end of input. The wait can be cancelled; a blocking read could not."""
        await anyio.wait_readable(self._descriptor)
        try:
            data = os.read(self._descriptor, 4096)
        except OSError:
            return None
        return data.decode("utf-8", "replace").strip() if data else None

    def close(self) -> None:
        """Give it back."""
        os.close(self._descriptor)
