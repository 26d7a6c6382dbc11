"""A look at some lines of a file, for whoever writes a range of them; it reads no more than it has to."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 4 << 20
MOST_LINE: Final = 400


@dataclass(frozen=True, slots=True)
class Peek:
    """Some lines of a file."""

    count: int
    """How many lines it has; where `is_cut`, at least so many."""
    is_cut: bool
    lines: tuple[tuple[int, str], ...]
    """Numbers, from 1, and texts of those asked for, as far as there are any."""


def peek(path: Path, lines: str, most_lines: int) -> Peek | None:
    """The first lines of a range such as `10-20`, `10` or nothing; None where it is no text file.

    It reads the disk, so run it in a thread.
    """
    content = _content(path)
    if content is None or b"\0" in content:
        return None
    texts = content.decode(errors="replace").splitlines()
    first, last = _range(lines, len(texts))
    shown = texts[first - 1 : min(last, first - 1 + most_lines)]
    numbered = tuple((first + at, text[:MOST_LINE]) for at, text in enumerate(shown))
    return Peek(len(texts), len(content) > MOST_BYTES, numbered)


def _range(lines: str, count: int) -> tuple[int, int]:
    """The numbers that are meant, as far as they are written: read as `attachments` reads them."""
    first, has_end, last = lines.partition("-")
    low = max(int(first or 1), 1)
    high = max(int(last), 1) if last else count if has_end or not first else low
    return min(low, high), max(low, high)


def _content(path: Path) -> bytes | None:
    try:
        # A named pipe would wait for whoever writes.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MOST_BYTES + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except (OSError, ValueError):
        return None
