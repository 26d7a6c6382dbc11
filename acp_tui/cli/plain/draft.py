"""Puts a prompt together that is typed in several lines: behind a backslash, or in a block of three quotes."""

from __future__ import annotations

from typing import Final

QUOTES: Final = '"""'


class Draft:
    """The lines so far."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._is_block = False

    @property
    def is_open(self) -> bool:
        """Whether more is to come."""
        return self._is_block or bool(self._lines)

    def add(self, line: str) -> str | None:
        """The prompt where it ends with this line, None where it goes on."""
        if self._is_block:
            return self._add_to_block(line)
        if not self._lines and line.lstrip().startswith(QUOTES):
            self._is_block = True
            return self._add_to_block(line.lstrip().removeprefix(QUOTES))
        if line.endswith("\\"):
            self._lines.append(line[:-1])
            return None
        return self._end(line)

    def _add_to_block(self, line: str) -> str | None:
        text, quotes, _ = line.partition(QUOTES)
        if not quotes:
            self._lines.append(line)
            return None
        return self._end(text).strip("\n")

    def _end(self, line: str) -> str:
        text = "\n".join([*self._lines, line])
        self.drop()
        return text

    def drop(self) -> None:
        """Begin anew."""
        self._lines, self._is_block = [], False
