"""What an agent writes to stderr, put into its log line by line however the pipe cuts it; it reads no pipe."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections import deque
from typing import Final

MAX_OPEN_CHARACTERS: Final = 4 << 10
"""Of a line that does not end: what comes then begins another. It is made anew with each piece of it."""


_PIECES: Final = re.compile(rf"(?s:.{{1,{MAX_OPEN_CHARACTERS}}})")


class StderrLines:
    """Appends to a log that others append to as well; the line that is being written stands there as far as it is."""

    def __init__(self, log: deque[str]) -> None:
        self._log = log
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._open = ""
        """The line that is being written, with a carriage return that may be half of its end."""
        self._shown = ""
        """What stands of it in the log."""

    def append(self, data: bytes) -> None:
        """More has come."""
        text = self._open + self._decoder.decode(data)
        if self._shown and self._log and self._log[-1] is self._shown:
            self._log.pop()
        lines = text.splitlines(keepends=True)
        is_open = bool(lines) and not lines[-1].endswith("\n") and len(lines[-1]) < MAX_OPEN_CHARACTERS
        self._open = lines[-1] if is_open else ""
        self._log.extend(piece for line in lines for piece in _PIECES.findall(line.rstrip("\r\n")) or [""])
        self._shown = self._log[-1] if is_open else ""
