"""A text that grows by small pieces; appending costs the piece, not the text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class TextBuffer:
    """Text appended to at its end; two buffers with the same text are equal."""

    __slots__ = ("_pieces", "_starts", "length")

    def __init__(self, text: str = "") -> None:
        # Most stay as they are made, and a list that was appended to keeps room for more.
        self._pieces: list[str] = [text] if text else []
        self._starts: list[int] = [0] if text else []
        self.length = len(text)
        """Characters."""

    def append(self, piece: str) -> None:
        """Add `piece` at the end."""
        if piece:
            self._pieces.append(piece)
            self._starts.append(self.length)
            self.length += len(piece)

    @property
    def text(self) -> str:
        """All of it; joined once and then kept joined."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
            self._starts = [0]
        return self._pieces[0] if self._pieces else ""

    def since(self, offset: int, most: int | None = None) -> str:
        """What came after the first `offset` characters, at most so many of it; costs what it returns."""
        stop = self.length if most is None else min(offset + most, self.length)
        if offset >= stop:
            return ""
        first, behind = bisect_right(self._starts, offset) - 1, bisect_left(self._starts, stop)
        pieces = self._pieces[first:behind]
        pieces[-1] = pieces[-1][: stop - self._starts[behind - 1]]
        pieces[0] = pieces[0][offset - self._starts[first] :]
        return "".join(pieces)

    def __reduce__(self) -> tuple[type[TextBuffer], tuple[str]]:
        return TextBuffer, (self.text,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextBuffer) and self.length == other.length and self.text == other.text

    def __repr__(self) -> str:
        return f"TextBuffer({self.text!r})"
