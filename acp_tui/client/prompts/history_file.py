"""The file of the prompts that were sent: a line for each, added to by several acp-tui at once, and bounded.

It keeps nothing in memory. All of it blocks, and is for threads.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_tui.client.files import open_private, replace_file
from acp_tui.client.prompts.past_prompt import PastPrompt, line_of, prompt_of, without_repeats
from acp_tui.client.prompts.private_file import locked

MAX_BYTES: Final = 8 << 20
KEPT_BYTES: Final = 6 << 20
"""So much is left of a file that has grown too large."""
MAX_LINE_BYTES: Final = 256 << 10
"""A longer prompt is not kept: a few of them would leave no room for any other."""
SLACK: Final = 1.1
"""So many times the entries that are kept may stand in the file before it is written anew."""


class HistoryFile:
    """One file of prompts."""

    def __init__(self, path: Path, max_entries: int) -> None:
        self.path = path
        self._max_entries = max_entries

    def version(self) -> tuple[int, int] | None:
        """Another one when the file has changed; None where there is no file to be read."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size

    def read(self) -> list[PastPrompt]:
        """The prompts, oldest first, each in the place of its last time. Lines that are none are passed over.

        A file that has grown too large is made smaller. Raises OSError.
        """
        lines = self._lines()
        if len(lines) > self._max_entries * SLACK or sum(map(len, lines)) > MAX_BYTES:
            with suppress(OSError), locked(self.path):
                self._shrink()  # where that cannot be, what was read is none the worse
        return self._kept(lines)

    def append(self, prompts: Sequence[PastPrompt]) -> None:
        """Add these at the end. Raises OSError; what stood there before is whole in any case."""
        lines = [line for line in map(line_of, prompts) if len(line) <= MAX_LINE_BYTES]
        if not lines:
            return
        with locked(self.path):
            if _append(self.path, b"".join(lines)) > MAX_BYTES:
                self._shrink()

    def _lines(self) -> list[bytes]:
        try:
            with self.path.open("rb") as file:
                # Of a file that is far too large, for whatever reason, the end is enough.
                file.seek(max(file.seek(0, os.SEEK_END) - 2 * MAX_BYTES, 0))
                return file.read().splitlines(keepends=True)
        except FileNotFoundError:
            return []

    def _kept(self, lines: Sequence[bytes]) -> list[PastPrompt]:
        prompts = [prompt for line in lines if (prompt := prompt_of(line)) is not None]
        return without_repeats(prompts)[-self._max_entries :]

    def _shrink(self) -> None:
        """Write it anew with no more than there is room for."""
        room, kept = KEPT_BYTES, []
        for prompt in reversed(self._kept(self._lines())):
            line = line_of(prompt)
            room -= len(line)
            if room < 0:
                break
            kept.append(line)
        replace_file(self.path, b"".join(reversed(kept)))


def _append(path: Path, lines: bytes) -> int:
    """Add these lines in one piece, or nothing; gives the file's size."""
    fd = open_private(path)
    try:
        size = os.fstat(fd).st_size
        # What a crash has left of a line must not spoil the next one.
        if size and os.pread(fd, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        if os.write(fd, lines) < len(lines):
            os.ftruncate(fd, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return size + len(lines)
    finally:
        os.close(fd)
