"""acp-tui on a terminal that shows lines: tests read its text and type. It doesn't know what should be there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from support.terminal_process import TerminalProcess, process_on_terminal


class LineTerminal(TerminalProcess):
    """Waits for its text in the order in which it arrives."""

    _seen = 0

    def shows(self, text: str) -> None:
        """Wait until this appears, after what was awaited before."""
        wanted = text.encode().replace(b"\n", b"\r\n")
        while (at := self.said.find(wanted, self._seen)) < 0:
            assert self.read(), f"it ended without {text!r}:\n{self.text}"
        self._seen = at + len(wanted)


@contextmanager
def line_terminal(*argv: str, cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[LineTerminal]:
    """acp-tui with these arguments on a dumb terminal; it stores everything below `cwd`."""
    environ = {"TERM": "dumb", "HOME": str(cwd), **(env or {})}
    with process_on_terminal(argv, environ, cwd) as (process, fd):
        yield LineTerminal(process, fd)
