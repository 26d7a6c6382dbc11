"""Texts that come in pieces: a secret may begin in one and end in a later one. Where pieces stand is not its matter."""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from acp_tui.client.secrets.looks import open_block
from acp_tui.workbench.redact.places import Piece
from acp_tui.workbench.redact.texts import Place, Redacted, Redactor

BATCH: Final = 16 << 10
"""Characters of a text that come until it is looked at."""
OVERLAP: Final = 4 << 10
"""Of those that were looked at, so many are looked at again with the next: more than nearly any secret takes."""
MAX_OVERLAP: Final = 32 << 10
"""A private key may be longer."""
_LONG_WORD: Final = re.compile(r"[A-Za-z0-9][\w.~+/=-]{15}")
MAX_STREAMS: Final = 64
"""Texts that go on at the same time."""

Where: TypeAlias = tuple[int, int]
"""A line, and a place in it."""


@dataclass(slots=True)
class _Part:
    where: Where
    text: str
    line_end: str
    skip: int = 0
    """So many characters are no longer looked at."""

    @property
    def rest(self) -> str:
        return (self.text + self.line_end)[self.skip :]


@dataclass(slots=True)
class _Stream:
    parts: list[_Part] = field(default_factory=list)
    fresh: int = 0
    """Characters that have come since it was looked at."""


class Streams:
    """Looks at the pieces of each text together."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._streams: OrderedDict[tuple[str, ...], _Stream] = OrderedDict()
        self._messages: dict[tuple[str, ...], str] = {}
        """Which message of a text a piece was of last."""
        self.split: dict[Where, Redacted] = {}
        """Pieces in which something is to be replaced."""

    def see(self, where: Where, piece: Piece, text: str) -> None:
        """The next piece of a text."""
        stream = self._stream((*piece.stream, self._message(piece)))
        # A message may begin with a key, right behind another that ended without a space.
        begins_anew = _LONG_WORD.match(text) is not None and stream.parts and not stream.parts[-1].line_end
        if piece.is_alone or begins_anew:
            alone = self._redactor.redact(text, goes_on=not piece.is_alone)
            if alone.found:
                self.split[where] = alone
        stream.parts.append(_Part(where, text, piece.line_end))
        stream.fresh += len(text)
        if stream.fresh >= BATCH:
            self._look(stream, goes_on=True)
            self._forget(stream)

    def end(self) -> None:
        """No text goes on."""
        for stream in self._streams.values():
            self._look(stream, goes_on=False)
        self._streams.clear()
        self._messages.clear()

    def _message(self, piece: Piece) -> str:
        before = self._messages.get(piece.stream, "")
        if piece.message is None:
            return before
        if piece.is_alone and piece.message != before:
            ended = self._streams.pop((*piece.stream, before), _Stream())
            self._look(ended, goes_on=False)
        if piece.message:
            self._messages[piece.stream] = piece.message
        return piece.message

    def _stream(self, key: tuple[str, ...]) -> _Stream:
        stream = self._streams.get(key)
        if stream is not None:
            self._streams.move_to_end(key)
            return stream
        stream = self._streams[key] = _Stream()
        if len(self._streams) > MAX_STREAMS:
            _, oldest = self._streams.popitem(last=False)
            self._look(oldest, goes_on=False)
        return stream

    def _look(self, stream: _Stream, *, goes_on: bool) -> None:
        redacted = self._redactor.redact(_together(stream.parts), goes_on=goes_on)
        stream.fresh = 0
        if not redacted.found:
            return
        found = deque(sorted(redacted.found, key=lambda place: place.at))
        begin = 0
        for part in stream.parts:
            end = begin + len(part.rest)
            its = []
            while found and found[0].at < end:
                place = found.popleft()
                its.append(Place(place.at - begin + part.skip, place.secret))
            self._settle(part, redacted.text[begin:end], its)
            begin = end

    def _settle(self, part: _Part, text: str, found: list[Place]) -> None:
        """Where the whole text shows something it is right; else what was seen before, of less of the text."""
        text = part.text[: part.skip] + text[: max(len(part.text) - part.skip, 0)]
        if text == part.text and not found:
            return
        before = self.split.get(part.where, Redacted(part.text))
        merged = zip(part.text, before.text, text, strict=True)
        both = {place.at: place for place in (*before.found, *found)}
        self.split[part.where] = Redacted(
            "".join(earlier if now == old else now for old, earlier, now in merged), tuple(both.values())
        )

    def _forget(self, stream: _Stream) -> None:
        """Keep as much as a secret may have begun in."""
        text = _together(stream.parts)
        begun = open_block(text)
        kept = max(
            OVERLAP, self._redactor.ledger.longest_with_line_end, 0 if begun is None else len(text) - begun
        )
        surplus = len(text) - min(kept, MAX_OVERLAP)
        gone = 0
        for part in stream.parts:
            if surplus < len(part.rest):
                part.skip += max(surplus, 0)
                break
            surplus -= len(part.rest)
            gone += 1
        del stream.parts[:gone]


def _together(parts: list[_Part]) -> str:
    return "".join(part.rest for part in parts)
