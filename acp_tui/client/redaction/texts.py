"""Replaces what is secret in one text, in every way it can be read; the text keeps its length and its width."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from acp_tui.client.redaction.ledger import Ledger
from acp_tui.client.redaction.names import hosts, users
from acp_tui.client.redaction.patterns import look
from acp_tui.client.redaction.stand_ins import NARROW, Secret, blank
from acp_tui.client.redaction.views import View, spelled_as, views

_BASE64: Final = re.compile(r"(?<![\w+/-])(?:[A-Za-z0-9+/]{24,}|[A-Za-z0-9_-]{24,})={0,2}(?![\w+/=-])")
MAX_CLEAN: Final = 20_000
MAX_CLEAN_CHARS: Final = 100


class Place(NamedTuple):
    """Where in a text a secret begins."""

    at: int
    secret: Secret


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and which they were."""

    text: str
    found: tuple[Place, ...] = ()


class Redactor:
    """Replaces secrets in texts, and remembers those that it finds."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._clean: set[str] = set()
        self._known_then = 0

    def redact(self, text: str, whole: Secret | None = None, *, goes_on: bool = False) -> Redacted:
        """The text without its secrets; `whole` is in it, and a secret by its place.

        Where the text goes on, what stands at its end may be a part of a secret: it is replaced, and not remembered.
        """
        if whole is None and text in self.clean:
            return Redacted(text)
        redacted = self._in_base64(self._replaced(text, whole, goes_on=goes_on), text)
        if not redacted.found and len(text) <= MAX_CLEAN_CHARS:
            self.clean.add(text)
        return redacted

    @property
    def clean(self) -> set[str]:
        """Texts that hold nothing, as far as is known so far: nearly all strings of a recording stand there often."""
        if self._known_then != len(self.ledger) or len(self._clean) > MAX_CLEAN:
            self._clean.clear()
            self._known_then = len(self.ledger)
        return self._clean

    def _replaced(self, text: str, whole: Secret | None = None, *, goes_on: bool = False) -> Redacted:
        canvas = _Canvas(text)
        # What is escaped first: read as it stands, the letter of an escape would pass for one of the secret.
        for view in reversed(list(views(text))):
            spans = sorted(self._spans(view, goes_on), key=lambda span: span[0] - span[1])
            for start, end, secret in spans:
                canvas.paint(view, start, end, secret)
        if whole is not None:
            canvas.paint_found(text, whole)
        return canvas.redacted()

    def _spans(self, view: View, goes_on: bool) -> Iterator[tuple[int, int, Secret]]:
        text = view.text
        for find in (*look(text), *users(text), *hosts(text, self.ledger.users)):
            found = text[find.start : find.end]
            if goes_on and find.end == len(text):
                secret = self.ledger.perhaps(found, find.kind)
            else:
                secret = self.ledger.learn(found, find.kind, is_everywhere=find.is_known_elsewhere)
            if secret is not None:
                yield find.start, find.end, secret
        yield from self.ledger.known(text)

    def _in_base64(self, redacted: Redacted, original: str) -> Redacted:
        text, found = redacted.text, list(redacted.found)
        for run in _BASE64.finditer(original):
            if text[run.start() : run.end()] != run[0]:
                continue  # it is a secret itself
            inside = self._decoded(run[0])
            if inside is not None and inside.found:
                text = text[: run.start()] + inside.text + text[run.end() :]
                found += [Place(run.start(), place.secret) for place in inside.found]
        return Redacted(text, tuple(found))

    def _decoded(self, run: str) -> Redacted | None:
        return self.redact_base64(run) if len(run) % 4 == 0 else None

    def redact_base64(self, data: str) -> Redacted:
        """The same for what is written in base64; what is none is left as it is."""
        is_for_urls = "-" in data or "_" in data
        try:
            decoded = urlsafe_b64decode(data) if is_for_urls else b64decode(data, validate=True)
        except ValueError:
            return Redacted(data)
        inside = self.redact_bytes(decoded)
        if not inside.found:
            return Redacted(data)
        encoded = (urlsafe_b64encode if is_for_urls else b64encode)(as_bytes(inside.text, decoded))
        return Redacted(encoded.decode(), inside.found)

    def redact_bytes(self, data: bytes) -> Redacted:
        """The text in some bytes, which need not all be text."""
        return self._replaced(as_text(data))


class _Canvas:
    """A text that is painted over, each character once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._chars: list[str] | None = None
        self._painted: set[int] = set()
        self._found: list[Place] = []

    def paint(self, view: View, start: int, end: int, secret: Secret) -> None:
        """Put a stand-in where a view has a secret; where only a part of it is left, something that says nothing."""
        places = range(start, end)
        free = [at for at in places if view.starts[at] not in self._painted]
        if not free:
            return
        is_whole = len(free) == len(places) == len(secret.stand_in)
        for at in free:
            char = secret.stand_in[at - start] if is_whole else blank(view.text[at])
            self._put(view.starts[at], view.ends[at], char, view.text[at])
        self._found.append(Place(view.starts[start], secret))

    def paint_found(self, text: str, secret: Secret) -> None:
        """The same for a secret that stands in the text as it is."""
        at = text.find(secret.text)
        if at >= 0:
            end = at + len(secret.text)
            self.paint(View(text, range(len(text)), range(1, len(text) + 1)), at, end, secret)

    def _put(self, start: int, end: int, char: str, old: str) -> None:
        if self._chars is None:
            self._chars = list(self._text)
        self._painted.update(range(start, end))
        if char != old:
            self._chars[start:end] = spelled_as(char, self._text[start:end])

    def redacted(self) -> Redacted:
        """What has become of it."""
        if self._chars is None:
            return Redacted(self._text)
        return Redacted("".join(self._chars), tuple(self._found))


def bytes_of(base64: str) -> bytes:
    """The bytes that are written so; what is not base64 counts as none."""
    try:
        return b64decode(base64)
    except ValueError:
        return b""


def as_text(data: bytes) -> str:
    """Bytes as a text from which the same bytes can be made."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str, like: bytes) -> bytes:
    """The bytes of a redacted text, as many as before."""
    encoded = text.encode("utf-8", "surrogateescape")
    if len(encoded) == len(like):
        return encoded
    pairs = zip(as_text(like), text, strict=True)
    return b"".join(_fitting(*pair) for pair in pairs)


def _fitting(old: str, new: str) -> bytes:
    before, after = (char.encode("utf-8", "surrogateescape") for char in (old, new))
    return after if len(after) == len(before) else NARROW.encode() * len(before)


def total(places: Iterable[Place]) -> None:
    """Count what was replaced."""
    for place in places:
        place.secret.count += 1
