"""Cuts a text that still grows into blocks that are finished: paragraphs, lists, fenced code. It draws nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_FENCE: Final = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*(`{3,}|~{3,})(.*)")


class Blocks:
    """A block ends at a blank line, or with its fence; within a fence blank lines end nothing."""

    def __init__(self) -> None:
        self._unread = ""
        """The line that has not ended."""
        self._lines: list[str] = []
        self._fence = ""
        """What opened the fence that is open."""

    def add(self, text: str) -> Iterator[str]:
        """The blocks that are finished now."""
        *lines, self._unread = (self._unread + text).split("\n")
        for line in lines:
            yield from self._take(line)

    def rest(self) -> Iterator[str]:
        """What is left, when nothing more comes for now."""
        if self._unread:
            line, self._unread = self._unread, ""
            yield from self._take(line)
        yield from self._end()

    def _take(self, line: str) -> Iterator[str]:
        if not self._fence and not line.strip():
            yield from self._end()
            return
        self._lines.append(line)
        found = _FENCE.fullmatch(line.rstrip("\r"))
        if found is None:
            return
        marks, rest = found[1], found[2]
        if not self._fence:
            self._fence = "" if marks[0] == "`" and "`" in rest else marks
        elif marks.startswith(self._fence) and not rest.strip():
            self._fence = ""
            yield from self._end()

    def _end(self) -> Iterator[str]:
        if self._lines:
            block, self._lines = "\n".join(self._lines), []
            yield block
