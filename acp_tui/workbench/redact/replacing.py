"""Replaces secrets in a text, however they are encoded. Length and width stay. `JoinedTexts` works across pieces."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import field
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from acp_tui.client.secrets.heuristics import find_secrets, open_block
from acp_tui.values import dataclass
from acp_tui.workbench.redact.encodings import DecodedText, Encoded, encoded_in, spelled_as, unbroken, views
from acp_tui.workbench.redact.json_paths import TextPiece
from acp_tui.workbench.redact.pseudonyms import NARROW, Pseudonyms, Secret, addresses, blank, cut_keys, users

MAX_CLEAN: Final = 200_000
MAX_LAST: Final = 1_000
MAX_LAST_CHARS: Final = 10_000
MAX_LEVELS: Final = 3
"""The maximum depth of nested encodings."""


class SecretStart(NamedTuple):
    at: int
    secret: Secret


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and what they were."""

    text: str
    found: tuple[SecretStart, ...] = ()


class Redactor:
    """Replaces secrets in texts, and remembers the ones it finds."""

    def __init__(self, pseudonyms: Pseudonyms) -> None:
        self.pseudonyms = pseudonyms
        self._clean: set[int] = set()
        """The hashes of clean texts, by current knowledge, because nearly all texts are checked several times."""
        self._last: dict[tuple[str, bool], Redacted] = {}
        """The latest replacements, because agents repeat themselves."""
        self._known_then = 0

    def redact(self, text: str, whole: Secret | None = None, *, goes_on: bool = False) -> Redacted:
        """Return the text without its secrets; `whole` is a secret in it, known by its place.

        If the text continues, its end may be part of a secret, which is replaced but not remembered.
        """
        self._forget_what_may_be_wrong()
        if whole is not None:
            return self._replaced(text, whole, goes_on=goes_on)
        if hash(text) in self._clean:
            return Redacted(text)
        last = self._last.get((text, goes_on))
        if last is not None:
            return last
        redacted = self._replaced(text, goes_on=goes_on)
        self._forget_what_may_be_wrong()
        if not redacted.found:
            self._clean.add(hash(text))
        elif len(text) <= MAX_LAST_CHARS:
            self._last[text, goes_on] = redacted
        return redacted

    def _forget_what_may_be_wrong(self) -> None:
        known = self.pseudonyms.version
        if known != self._known_then or len(self._clean) > MAX_CLEAN or len(self._last) > MAX_LAST:
            self._clean.clear()
            self._last.clear()
            self._known_then = known

    def _replaced(self, text: str, whole: Secret | None = None, *, goes_on: bool = False, level: int = 0) -> Redacted:
        canvas = _Canvas(text)
        # Escaped views first: read literally, the letter of an escape would count as part of the secret.
        ways = list(views(text))
        for view in reversed(ways):
            spans = sorted(self._spans(view.text, goes_on), key=lambda span: span[0] - span[1])
            for start, end, secret in spans:
                canvas.paint(view, start, end, secret)
        for view in reversed(ways):
            whole_lines = unbroken(view)
            for start, end, secret in self.pseudonyms.known_over_lines(whole_lines.text):
                canvas.paint(whole_lines, start, end, secret)
            self._within_encoded(canvas, view, level)
        if whole is not None:
            canvas.paint_found(text, whole)
        return canvas.redacted()

    def _spans(self, text: str, goes_on: bool) -> Iterator[tuple[int, int, Secret]]:
        if not goes_on:
            yield from self.pseudonyms.begun(text)
            yield from self._cut(text)
        # The addresses after the users, because a host follows a user.
        for find in chain(users(text), addresses(text, self.pseudonyms.users), find_secrets(text)):
            found = text[find.start : find.end]
            if goes_on and find.end == len(text):
                secret = self.pseudonyms.maybe_secret(found, find.kind)
            else:
                secret = self.pseudonyms.learn(found, find.kind, is_everywhere=find.is_known_elsewhere)
            if secret is not None:
                yield find.start, find.end, secret
        yield from self.pseudonyms.known(text)

    def _cut(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        for start, end, kind in cut_keys(text):
            secret = self.pseudonyms.maybe_secret(text[start:end], kind)
            if secret is not None:
                yield start, end, secret

    def _within_encoded(self, canvas: _Canvas, view: DecodedText, level: int) -> None:
        if level >= MAX_LEVELS:
            return
        for run in encoded_in(view.text):
            inside = self.redact_bytes(run.data, level=level + 1)
            if inside.found:
                canvas.recode(view, run, inside)

    def redact_base64(self, data: str) -> Redacted:
        """Redact base64 data. Returns other text redacted as text."""
        is_for_urls = "-" in data or "_" in data
        try:
            decoded = urlsafe_b64decode(data) if is_for_urls else b64decode(data)
        except ValueError:
            return self.redact(data)
        inside = self.redact_bytes(decoded)
        if not inside.found:
            return Redacted(data)
        encoded = (urlsafe_b64encode if is_for_urls else b64encode)(as_bytes(inside.text, decoded)).decode()
        return Redacted(_broken_as(encoded, data), inside.found)

    def redact_bytes(self, data: bytes, *, level: int = 0) -> Redacted:
        return self._replaced(as_text(data), level=level)


class _Canvas:
    """A text whose characters can each be replaced once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._chars: list[str] | None = None
        self._painted = bytearray()
        """Whether each character was replaced, once `_chars` is set."""
        self._found: list[SecretStart] = []

    def paint(self, view: DecodedText, start: int, end: int, secret: Secret) -> None:
        """Replace a secret in a view with its stand-in, or with blanks if only a part of it is left."""
        free = [at for at in range(start, end) if self._is_free(view.place(at)[0])]
        if not free:
            return
        is_as_long = end - start == len(secret.stand_in) or secret.text.startswith(view.text[start:end])
        is_whole = len(free) == end - start and is_as_long
        for at in free:
            old = view.text[at]
            self._put(*view.place(at), secret.stand_in[at - start] if is_whole else blank(old), old)
        self._found.append(SecretStart(view.place(start)[0], secret))

    def paint_found(self, text: str, secret: Secret) -> None:
        at = text.find(secret.text)
        if at >= 0:
            self.paint(DecodedText(text), at, at + len(secret.text), secret)

    def recode(self, view: DecodedText, run: Encoded, inside: Redacted) -> None:
        """Encode redacted content again, except where it's part of a secret itself."""
        changes = [(*view.place(at), new, view.text[at]) for at, new in run.changes(as_bytes(inside.text, run.data))]
        free = [change for change in changes if self._is_free(change[0])]
        for begin, end, new, old in free:
            self._put(begin, end, new, old)
        if free:
            self._found += [SecretStart(free[0][0], place.secret) for place in inside.found]

    def _is_free(self, at: int) -> bool:
        return self._chars is None or not self._painted[at]

    def _put(self, start: int, end: int, char: str, old: str) -> None:
        if self._chars is None:
            self._chars = list(self._text)
            self._painted = bytearray(len(self._text))
        self._painted[start:end] = b"\1" * (end - start)
        if char != old:
            self._chars[start:end] = spelled_as(char, self._text[start:end])

    def redacted(self) -> Redacted:
        if self._chars is None:
            return Redacted(self._text)
        return Redacted("".join(self._chars), tuple(self._found))


def bytes_of(base64: str) -> bytes:
    """Decode base64; invalid data gives no bytes."""
    try:
        return b64decode(base64)
    except ValueError:
        return b""


def as_text(data: bytes) -> str:
    """Decode bytes to a text that can be encoded back to the same bytes."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str, like: bytes) -> bytes:
    """Encode a redacted text to the same number of bytes as before."""
    encoded = text.encode("utf-8", "surrogateescape")
    if len(encoded) == len(like):
        return encoded
    pairs = zip(as_text(like), text, strict=True)
    return b"".join(_fitting(*pair) for pair in pairs)


def _fitting(old: str, new: str) -> bytes:
    before, after = (char.encode("utf-8", "surrogateescape") for char in (old, new))
    return after if len(after) == len(before) else NARROW.encode() * len(before)


def _broken_as(encoded: str, like: str) -> str:
    """Break and pad base64 like `like`."""
    chars = iter(encoded)
    return "".join(next(chars, "") if char.isalnum() or char in "+/-_=" else char for char in like)


BATCH: Final = 16 << 10
"""How many characters of a text to collect before checking them."""
OVERLAP: Final = 4 << 10
"""How many characters to check again with the next batch. Longer than nearly any secret."""
MAX_OVERLAP: Final = 32 << 10
"""A private key may be longer."""
_LONG_WORD: Final = re.compile(r"[A-Za-z0-9][\w.~+/=-]{15}")
MAX_STREAMS: Final = 64
"""The maximum number of texts in progress."""

Where: TypeAlias = tuple[int, int]
"""A line and a position in it."""


@dataclass(slots=True)
class _Part:
    where: Where
    text: str
    line_end: str

    @property
    def length(self) -> int:
        return len(self.text) + len(self.line_end)


@dataclass(slots=True)
class _Stream:
    parts: list[_Part] = field(default_factory=list)
    fresh: int = 0
    """The number of characters since the last check."""


class JoinedTexts:
    """Checks the pieces of each text together."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._streams: OrderedDict[tuple[str, ...], _Stream] = OrderedDict()
        self._messages: dict[tuple[str, ...], str] = {}
        """The message of each text's last piece."""
        self.split: dict[Where, Redacted] = {}
        """Pieces in which something must be replaced."""

    def see(self, where: Where, piece: TextPiece, text: str) -> None:
        stream = self._stream((*piece.stream, self._message(piece)))
        # A message may begin with a key, right after another that ended without a space.
        begins_anew = _LONG_WORD.match(text) is not None and stream.parts and not stream.parts[-1].line_end
        if piece.is_alone or begins_anew:
            alone = self._redactor.redact(text, goes_on=not piece.is_alone)
            if alone.found:
                self.split[where] = alone
        stream.parts.append(_Part(where, text, piece.line_end))
        stream.fresh += len(text)
        if stream.fresh >= BATCH:
            self._redact_joined(stream, goes_on=True)
            self._forget(stream)

    def end(self) -> None:
        for stream in self._streams.values():
            self._redact_joined(stream, goes_on=False)
        self._streams.clear()
        self._messages.clear()

    def _message(self, piece: TextPiece) -> str:
        before = self._messages.get(piece.stream, "")
        if piece.message is None:
            return before
        if piece.is_alone and piece.message != before:
            self._redact_joined(self._streams.pop((*piece.stream, before), _Stream()), goes_on=False)
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
            self._redact_joined(oldest, goes_on=False)
        return stream

    def _redact_joined(self, stream: _Stream, *, goes_on: bool) -> None:
        redacted = self._redactor.redact(_together(stream.parts), goes_on=goes_on)
        stream.fresh = 0
        if not redacted.found:
            return
        found = deque(sorted(redacted.found, key=lambda place: place.at))
        begin = 0
        for part in stream.parts:
            end = begin + part.length
            its = []
            while found and found[0].at < end:
                place = found.popleft()
                its.append(SecretStart(place.at - begin, place.secret))
            self._settle(part, redacted.text[begin : begin + len(part.text)], its)
            begin = end

    def _settle(self, part: _Part, text: str, found: list[SecretStart]) -> None:
        """Merge with earlier results: the longer text decides where it differs, otherwise the earlier result stays."""
        if text == part.text and not found:
            return
        before = self.split.get(part.where, Redacted(part.text))
        merged = zip(part.text, before.text, text, strict=True)
        both = {place.at: place for place in (*before.found, *found)}
        self.split[part.where] = Redacted(
            "".join(earlier if now == old else now for old, earlier, now in merged), tuple(both.values())
        )

    def _forget(self, stream: _Stream) -> None:
        """Drop the parts that can no longer have a part of a secret."""
        text = _together(stream.parts)
        begun = open_block(text)
        kept = max(OVERLAP, self._redactor.pseudonyms.longest_with_line_end, 0 if begun is None else len(text) - begun)
        surplus = len(text) - min(kept, MAX_OVERLAP)
        gone = 0
        for part in stream.parts:
            if surplus < part.length:
                break
            surplus -= part.length
            gone += 1
        del stream.parts[:gone]


def _together(parts: list[_Part]) -> str:
    return "".join(part.text + part.line_end for part in parts)
