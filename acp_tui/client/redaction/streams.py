"""Texts that come in pieces: a secret may begin in one and end in a later one. Where pieces stand is not its matter."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from acp_tui.client.redaction.patterns import has_open_block
from acp_tui.client.redaction.places import Piece
from acp_tui.client.redaction.texts import Place, Redacted, Redactor

MAX_WINDOW: Final = 8 << 10
"""Characters of a text that are looked at together, beyond the last piece: more than any secret takes."""
MAX_STREAMS: Final = 256
"""Texts that go on at the same time."""

Where: TypeAlias = tuple[int, int]
"""A line, and a place in it."""


@dataclass(slots=True)
class _Part:
    where: Where
    text: str
    line_end: str
    skip: int = 0
    """So many characters are settled, and no longer looked at."""

    @property
    def rest(self) -> str:
        return (self.text + self.line_end)[self.skip :]


@dataclass(slots=True)
class _Stream:
    parts: list[_Part] = field(default_factory=list)
    """The last ones: all that a secret can stand in which is not at its end yet."""


class Streams:
    """Looks at the pieces of each text together."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._streams: OrderedDict[tuple[str, ...], _Stream] = OrderedDict()
        self.split: dict[Where, Redacted] = {}
        """Pieces that look otherwise within their text than alone."""

    def see(self, where: Where, piece: Piece, text: str) -> None:
        """The next piece of a text."""
        stream = self._stream(piece.stream)
        stream.parts.append(_Part(where, text, piece.line_end))
        self._look(stream.parts, goes_on=True)
        self._forget(stream)

    def end(self) -> None:
        """No text goes on."""
        for stream in self._streams.values():
            self._look(stream.parts, goes_on=False)
        self._streams.clear()

    def _stream(self, key: tuple[str, ...]) -> _Stream:
        stream = self._streams.setdefault(key, _Stream())
        self._streams.move_to_end(key)
        if len(self._streams) > MAX_STREAMS:
            _, oldest = self._streams.popitem(last=False)
            self._look(oldest.parts, goes_on=False)
        return stream

    def _look(self, parts: list[_Part], *, goes_on: bool) -> None:
        together = self._redactor.redact("".join(part.rest for part in parts), goes_on=goes_on)
        if not together.found and not any(part.where in self.split for part in parts):
            return
        at = 0
        for part in parts:
            end = at + max(len(part.text) - part.skip, 0)
            found = [
                Place(one.at - at + part.skip, one.secret) for one in together.found if at <= one.at < end
            ]
            self._settle(part, together.text[at:end], found)
            at += len(part.rest)

    def _settle(self, part: _Part, text: str, found: list[Place]) -> None:
        before = self.split.get(part.where) or self._redactor.redact(part.text, goes_on=True)
        settled = [place for place in before.found if place.at < part.skip]
        # Alone it may show more, such as base64 that begins with the piece.
        alone = self._redactor.redact(text, goes_on=True)
        more = [Place(place.at + part.skip, place.secret) for place in alone.found]
        now = Redacted(before.text[: part.skip] + alone.text, (*settled, *found, *more))
        if now != before:
            self.split[part.where] = now

    def _forget(self, stream: _Stream) -> None:
        """Keep what is behind the last line end, or more where a secret may have one."""
        text = "".join(part.rest for part in stream.parts)
        kept = max(len(text) - text.rfind("\n") - 1, self._redactor.ledger.longest_with_line_end)
        if has_open_block(text):
            kept = len(text)
        surplus = len(text) - min(kept, MAX_WINDOW)
        while stream.parts and surplus >= len(stream.parts[0].rest):
            surplus -= len(stream.parts.pop(0).rest)
        if stream.parts and surplus > 0:
            stream.parts[0].skip += surplus
