"""Comments on lines of diffs, and how a prompt tells them. Of the files, it knows only whether they have changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from acp_tui.client.attachments.attach import without_mentions
from acp_tui.client.line_comparison import PlacedLine
from acp_tui.conversation.visible import make_visible_line

_FENCE: Final = re.compile("`{3,}")

MAX_BYTES: Final = 1 << 20
Version: TypeAlias = bytes
"""A digest of a file's content, so that a change that was undone is none; of a large file, when it was changed."""


def version_of(file: Path) -> Version | None:
    """None if it can't be read. Takes a few milliseconds at most, and doesn't wait for pipes."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:
            found = os.fstat(opened.fileno())
            if found.st_size > MAX_BYTES:
                return f"{found.st_mtime_ns} {found.st_size}".encode()
            return blake2b(opened.read(MAX_BYTES)).digest()
    except (OSError, ValueError):
        return None


class Comment(NamedTuple):
    lines: tuple[PlacedLine, ...]
    """At least one, all of the same file."""
    file: Path
    version: Version | None
    """The file's, when its lines were shown."""
    text: str

    @property
    def place(self) -> str:
        """The path and the lines' numbers. They are those of the new file, if it has any of the lines."""
        path = make_visible_line(self.lines[0].path)
        new = [line.new for line in self.lines if line.new is not None]
        old = [line.old for line in self.lines if line.old is not None]
        numbers = new or old
        if not numbers:
            return path
        last = f"-{numbers[-1]}" if numbers[-1] > numbers[0] else ""
        return f"{path}:{numbers[0]}{last}{'' if new else ' before the change'}"

    def prompt(self) -> str:
        note = "" if version_of(self.file) == self.version else " (the file has changed since)"
        lines = "\n".join(_snippet(self.lines))
        fence = "`" * max(3, *(len(run) + 1 for run in _FENCE.findall(lines)), 0)
        commented = f"{self.place}{note}\n{fence}diff\n{lines}\n{fence}"
        return f"{without_mentions(commented)}\n{self.text}"  # the path may be an agent's


def _snippet(lines: Sequence[PlacedLine]) -> Iterator[str]:
    """The lines as in a diff: in each change, the removed ones come first."""
    last: int | None = None
    for _, run in groupby(lines, key=lambda line: line.sign == " "):
        for line in sorted(run, key=lambda line: line.sign == "+"):
            if last is not None and line.new is not None and line.new > last + 1:
                yield "…"
            last = line.new or last
            yield line.sign + make_visible_line(line.text)


def comment_on(lines: Iterable[PlacedLine], comments: Iterable[Comment]) -> Comment | None:
    """The comment on these lines, and maybe on others, too."""
    wanted = set(lines)
    return next((comment for comment in comments if wanted.issubset(comment.lines)), None)


def write_comment(comment: Comment, comments: list[Comment]) -> None:
    """Add this comment, or put it in place of the one on the same lines. One without a text removes that."""
    at = next((at for at, other in enumerate(comments) if other.lines == comment.lines), len(comments))
    comments[at : at + 1] = [comment] * bool(comment.text.strip())
