"""Reads files that a user names, anywhere on the disk, without waiting for ever and in bounded memory.

It does not judge what the bytes are, nor decide what to do where they cannot be had.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Final

_PIECE_BYTES: Final = 1 << 16
_SCANNED_BYTES: Final = 64 << 20  # a second or two of counting lines
_SPECIAL_KINDS: Final = {
    stat.S_IFIFO: "named pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}


class SpecialFile(Exception):
    """Neither file nor folder: reading it could wait for ever."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class TooMuch(Exception):
    """More bytes would have to be read than is allowed."""


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines of a file, 1-based, both inclusive."""

    first: int
    last: int

    @property
    def fragment(self) -> str:
        """What a file's URI ends with when it means these lines."""
        return f"#L{self.first}" if self.first == self.last else f"#L{self.first}-L{self.last}"

    def __str__(self) -> str:
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"


@contextmanager
def open_regular(path: Path) -> Iterator[BufferedReader]:
    """Open a regular file; links are followed.

    Raises: SpecialFile, OSError.
    """
    _require_regular(path.stat())  # before it is opened: that alone can move a device
    with open(path, "rb", opener=_open_at_once) as file:
        _require_regular(os.fstat(file.fileno()))  # it may have been swapped since
        yield file


def read_all(file: BufferedReader, limit_bytes: int) -> bytes:
    """All that is left of a file; its size is not asked, because files in /proc have none.

    Raises: TooMuch, OSError.
    """
    content = file.read(limit_bytes + 1) or b""  # None: there would have been something to wait for
    if len(content) > limit_bytes:
        raise TooMuch
    return content


def read_lines(file: BufferedReader, lines: LineRange, limit_bytes: int) -> tuple[bytes, int]:
    """These lines of a file with their endings, and the number of the last line that was seen.

    A line ends with a line feed. The last line seen comes before the range if the file ends there.

    Raises: TooMuch, OSError.
    """
    wanted: list[bytes] = []
    wanted_bytes = scanned_bytes = ended = 0
    line_has_begun = False
    while ended < lines.last and (piece := file.readline(_PIECE_BYTES)):
        scanned_bytes += len(piece)
        if ended + 1 >= lines.first:
            wanted.append(piece)
            wanted_bytes += len(piece)
        if wanted_bytes > limit_bytes or scanned_bytes > _SCANNED_BYTES:
            raise TooMuch
        line_has_begun = not piece.endswith(b"\n")  # a long line comes in several pieces
        ended += not line_has_begun
    return b"".join(wanted), ended + line_has_begun


def _open_at_once(path: str, flags: int) -> int:
    """O_NONBLOCK: opening a named pipe must not wait for its other end."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def _require_regular(status: os.stat_result) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind not in (stat.S_IFREG, stat.S_IFDIR):  # opening a directory fails by itself
        raise SpecialFile(_SPECIAL_KINDS.get(kind, "special file"))
