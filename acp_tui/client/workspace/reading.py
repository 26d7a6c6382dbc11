"""Reads the text of a file, or some of its lines, in bounded memory.

It does not find the file: it gets the place from `containment`. What counts as text:

- UTF-8 only. A byte order mark stays in the text as U+FEFF, so that writing back what was read keeps it. UTF-16 and
  UTF-32 are refused by name rather than decoded, since writing back would silently turn them into UTF-8.
- A line ends with a line feed, and keeps its ending: `\\r\\n` comes out as it is in the file, and a lone carriage
  return does not end a line (nor do the further separators of `str.splitlines`).
- A NUL in the first 8 KiB means binary. Beyond that, only the lines that were asked for have to be valid.
"""

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from acp_tui.client.workspace.containment import Place, open_regular
from acp_tui.client.workspace.errors import FileTooLarge, NotText

_CHUNK_BYTES: Final = 1 << 20
_SNIFFED_BYTES: Final = 8192
_FOREIGN_MARKS: Final = (
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
)  # UTF-32's little-endian mark begins with the first

Piece: TypeAlias = tuple[int, bytes]
"""Bytes of a file, and the offset in it where they begin."""


@dataclass(frozen=True, slots=True)
class LineRange:
    """Which lines of a file are wanted."""

    skip: int
    count: int | None
    """None: all that follow."""

    @classmethod
    def of_request(cls, line: int | None, limit: int | None) -> Self:
        """From the protocol's 1-based line, where 0 means 1 (R-FS-2)."""
        skip = 0 if line is None else max(line - 1, 0)
        return cls(skip, None if limit is None else max(limit, 0))

    @property
    def is_whole_file(self) -> bool:
        """Whether no line is left out."""
        return self.skip == 0 and self.count is None


def read_text(place: Place, lines: LineRange, max_bytes: int) -> str:
    """The wanted lines with their endings, "" past the end of the file.

    Raises: NotAFile, NotText, FileTooLarge; OSError.
    """
    if place.obstacle is not None:
        raise place.obstacle
    with open_regular(place, os.O_RDONLY) as fd:
        size = os.fstat(fd).st_size
        if lines.is_whole_file and size > max_bytes:
            raise FileTooLarge(place.asked, size, max_bytes)
        pieces = _select(_refuse_binary(place, _chunks(fd)), lines)
        return _decode(place, _bounded(place, pieces, max_bytes))


def _chunks(fd: int) -> Iterator[Piece]:
    """The file's bytes as they come; its size is not asked, because files in /proc have none."""
    offset = 0
    while chunk := os.read(fd, _CHUNK_BYTES):
        yield offset, chunk
        offset += len(chunk)


def _refuse_binary(place: Place, chunks: Iterator[Piece]) -> Iterator[Piece]:
    for offset, chunk in chunks:
        if offset == 0 and chunk.startswith(_FOREIGN_MARKS):
            raise NotText(place.asked, "a UTF-16 or UTF-32 byte order mark", 0)
        if offset < _SNIFFED_BYTES and (found := chunk.find(b"\0", 0, _SNIFFED_BYTES - offset)) >= 0:
            raise NotText(place.asked, "a NUL", offset + found)
        yield offset, chunk


def _select(chunks: Iterator[Piece], lines: LineRange) -> Iterator[Piece]:
    """Cut the wanted lines out; reading stops behind the last of them."""
    skip, count = lines.skip, lines.count
    for offset, chunk in chunks:
        start, skip = _past_lines(chunk, 0, skip)
        end = len(chunk)
        if count is not None:
            end, count = _past_lines(chunk, start, count)
        yield offset + start, chunk[start:end]
        if count == 0:
            return


def _past_lines(chunk: bytes, start: int, count: int) -> tuple[int, int]:
    """The index behind `count` lines from `start` on, and how many of them are still to come."""
    found = chunk.count(b"\n", start)
    if found < count:
        return len(chunk), count - found
    for _ in range(count):
        start = chunk.index(b"\n", start) + 1
    return start, 0


def _bounded(place: Place, pieces: Iterator[Piece], max_bytes: int) -> Iterator[Piece]:
    size = 0
    for offset, piece in pieces:
        size += len(piece)
        if size > max_bytes:
            raise FileTooLarge(place.asked, size, max_bytes)
        yield offset, piece


def _decode(place: Place, pieces: Iterator[Piece]) -> str:
    """Piece by piece: decoding a big file in one call would hold the interpreter, and with it the event loop."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    texts: list[str] = []
    end = 0
    for offset, piece in pieces:
        texts.append(_decode_piece(place, decoder, offset, piece))
        end = offset + len(piece)
    texts.append(_decode_piece(place, decoder, end, b"", final=True))
    return "".join(texts)


def _decode_piece(
    place: Place, decoder: codecs.IncrementalDecoder, offset: int, piece: bytes, *, final: bool = False
) -> str:
    pending, _ = decoder.getstate()  # the beginning of a character, from the piece before
    try:
        return decoder.decode(piece, final)
    except UnicodeDecodeError as error:
        raise NotText(place.asked, error.reason, offset - len(pending) + error.start) from None
