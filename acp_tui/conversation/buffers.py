"""Buffers that grow in small pieces: a text, and the last bytes of a stream. An append costs only its own size.

Bytes aren't interpreted: decoding and escape sequences are up to the reader.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from typing import Final


class TextBuffer:
    """A text that grows at its end. Buffers with the same text are equal."""

    __slots__ = ("_starts", "length", "pieces")

    def __init__(self, text: str = "") -> None:
        # Most buffers never grow, and a list that was appended to reserves extra room.
        self.pieces: list[str] = [text] if text else []
        self._starts: list[int] = [0] if text else []
        self.length = len(text)
        """Characters."""

    def append(self, piece: str) -> None:
        if piece:
            self.pieces.append(piece)
            self._starts.append(self.length)
            self.length += len(piece)

    @property
    def text(self) -> str:
        """The whole text; joined on first use and then kept."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
            self._starts = [0]
        return self.pieces[0] if self.pieces else ""

    def since(self, offset: int, most: int | None = None) -> str:
        """Return the text after the first `offset` characters, at most `most` of them. Costs only what it returns."""
        stop = self.length if most is None else min(offset + most, self.length)
        if offset >= stop:
            return ""
        first, behind = bisect_right(self._starts, offset) - 1, bisect_left(self._starts, stop)
        pieces = self.pieces[first:behind]
        pieces[-1] = pieces[-1][: stop - self._starts[behind - 1]]
        pieces[0] = pieces[0][offset - self._starts[first] :]
        return "".join(pieces)

    def __reduce__(self) -> tuple[type[TextBuffer], tuple[str]]:
        return TextBuffer, (self.text,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextBuffer) and self.length == other.length and self.text == other.text

    def __repr__(self) -> str:
        return f"TextBuffer({self.text!r})"


CHUNK_BYTES: Final = 4096
"""Smaller appends share a chunk, so that a stream of single bytes doesn't cost an object per byte."""
_CONTINUATION_BYTES: Final = bytes(range(0x80, 0xC0))
"""The bytes that continue a UTF-8 character."""


class ByteRing:
    """Keeps the last `limit_bytes` of a stream. Rings with the same bytes at the same offset are equal.

    An append costs only its own size: whole chunks drop off at the start, and a read cuts what the first chunk holds
    beyond the limit.
    """

    __slots__ = ("_chunks", "end", "limit_bytes", "stored")

    def __init__(self, limit_bytes: int) -> None:
        if limit_bytes < 0:
            raise ValueError(f"a ring can't keep {limit_bytes} bytes")
        self.limit_bytes = limit_bytes
        self._chunks: deque[bytearray] = deque()
        self.stored = 0
        self.end = 0
        """The number of bytes ever appended, which is the offset of the next byte."""

    @property
    def dropped(self) -> int:
        """The number of bytes lost at the start, which is the offset of the first readable byte."""
        return max(0, self.end - self.limit_bytes)

    def __len__(self) -> int:
        return self.end - self.dropped

    def shrink(self, limit_bytes: int) -> None:
        self.limit_bytes = min(self.limit_bytes, limit_bytes)
        self._drop()

    def append(self, data: bytes) -> None:
        """Add `data`; drops the oldest bytes beyond the limit."""
        self.end += len(data)
        kept = data[max(0, len(data) - self.limit_bytes) :]
        if self._chunks and len(self._chunks[-1]) < CHUNK_BYTES:
            self._chunks[-1] += kept
        elif kept:
            self._chunks.append(bytearray(kept))
        self.stored += len(kept)
        self._drop()

    def _drop(self) -> None:
        while self._chunks and self.stored - len(self._chunks[0]) >= self.limit_bytes:
            self.stored -= len(self._chunks.popleft())

    def read_from(self, offset: int, max_bytes: int | None = None) -> tuple[int, bytes]:
        """Return the bytes from `offset` on and their actual offset, which is later if bytes were lost.

        Copies only the bytes it returns, so a view can remember `start + len(data)` and read just what is new.
        """
        start = min(max(offset, self.dropped), self.end)
        stop = self.end if max_bytes is None else min(start + max_bytes, self.end)
        newest_first: list[bytearray] = []
        at = self.end
        for chunk in reversed(self._chunks):
            if at <= start:
                break
            at -= len(chunk)
            if at < stop:
                newest_first.append(chunk[max(0, start - at) : stop - at])
        return start, b"".join(reversed(newest_first))

    def read(self, max_bytes: int | None = None) -> bytes:
        """Return the last bytes, at most `max_bytes`. If bytes before them are missing, starts at a whole character."""
        wanted = len(self) if max_bytes is None else min(max_bytes, len(self))
        start, data = self.read_from(self.end - wanted)
        return data if start == 0 else from_character_boundary(data)

    def tail_text(self) -> str:
        """Return all of it as text. Invalid UTF-8 becomes U+FFFD."""
        return self.read().decode("utf-8", "replace")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByteRing):
            return NotImplemented
        return self.end == other.end and self.read_from(0) == other.read_from(0)

    def __repr__(self) -> str:
        return f"ByteRing({len(self)} of {self.end} bytes, limit {self.limit_bytes})"


def from_character_boundary(data: bytes) -> bytes:
    """Return `data` without leading bytes that belong to an earlier UTF-8 character."""
    longest_rest = data[:3]
    return data[len(longest_rest) - len(longest_rest.lstrip(_CONTINUATION_BYTES)) :]
