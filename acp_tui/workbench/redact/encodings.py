"""Runs of base64 and of hexadecimal digits in a text, also broken over lines, and the bytes that they stand for."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MIN_BASE64: Final = 24
MIN_HEX: Final = 24

# One line end between two runs, but no more: a line that is empty ends what was encoded.
_BREAK: Final = r"[ \t]*(?:\r?\n|\\r\\n|\\n)[ \t]*"
_BASE64: Final = re.compile(rf"[A-Za-z0-9+/_-]{{{MIN_BASE64},}}(?:{_BREAK}[A-Za-z0-9+/_-]{{2,}})*")
_HEX: Final = re.compile(
    rf"(?:[0-9a-fA-F]{{{MIN_HEX},}}|(?:[0-9a-fA-F]{{2}}[ :]){{12,}})(?:{_BREAK}[0-9a-fA-F :]{{2,}})*"
)
_DIGITS: Final = bytes(
    97 if chr(at).isascii() and (chr(at).isalnum() or chr(at) in "+/_-") else 32 for at in range(256)
)
_LONG: Final = b"a" * MIN_BASE64
_PAIRED: Final = bytes(
    48 if chr(at) in "0123456789abcdefABCDEF" else 32 if chr(at) in " :" else at for at in range(256)
)
_PAIRS: Final = b"00 " * 12
# Anything that is worth a look; of what only happens to be of such letters, nearly nothing is.
_READABLE: Final = re.compile(rb"(?:[ -~\n]\x00?){6}")
_BETWEEN: Final = re.compile(r"[\s\\:]")
_FROM_URLS: Final = str.maketrans("-_", "+/")
_FOR_URLS: Final = str.maketrans("+/", "-_")


@dataclass(frozen=True, slots=True)
class Encoded:
    """Bytes that are written in a text as something else."""

    places: Sequence[int]
    """Where its digits stand."""
    written: str
    data: bytes
    is_hex: bool = False

    def changes(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Which characters are others, and where, for other bytes of the same number."""
        written = data.hex() if self.is_hex else b64encode(data).decode()
        if "-" in self.written or "_" in self.written:
            written = written.translate(_FOR_URLS)
        for at, old, new in zip(self.places, self.written, written, strict=False):
            if old.lower() != new if self.is_hex else old != new:
                yield at, new.upper() if self.is_hex and self.written.isupper() else new


def may_be_encoded(text: str) -> bool:
    """Whether there is a run at all; quick."""
    data = text.encode("utf-8", "surrogatepass")
    return _LONG in data.translate(_DIGITS) or _may_be_hex(data)


def _may_be_hex(data: bytes) -> bool:
    data = data.translate(_PAIRED)
    return b"0" * MIN_HEX in data or _PAIRS in data


def encoded_in(text: str, unreadable: set[int]) -> Iterator[Encoded]:
    """What may be readable bytes. The same characters may come several times: nobody knows where bytes begin.

    Runs whose hashes are in `unreadable` hold none; it is added to.
    """
    for run in _BASE64.finditer(text):
        if hash(run[0]) in unreadable:
            continue
        places = _places(run, r"[A-Za-z0-9+/_-]")
        written = "".join(map(text.__getitem__, places))
        is_readable = False
        for begin in range(4):
            part = written[begin:]
            data = _from_base64(part)
            if _READABLE.search(data) is not None:
                is_readable = True
                yield Encoded(places[begin:], part, data)
        if not is_readable:
            unreadable.add(hash(run[0]))
    if not _may_be_hex(text.encode("utf-8", "surrogatepass")):
        return
    for run in _HEX.finditer(text):
        places = _places(run, r"[0-9a-fA-F]")
        places = places[: len(places) // 2 * 2]
        written = "".join(map(text.__getitem__, places))
        data = bytes.fromhex(written)
        if _READABLE.search(data) is not None:
            yield Encoded(places, written, data, is_hex=True)


def _places(run: re.Match[str], digit: str) -> Sequence[int]:
    if _BETWEEN.search(run[0]) is None:
        return range(*run.span())
    # The letters of an escaped line end are none of its digits.
    hidden = {at for found in re.finditer(r"\\[rn]", run[0]) for at in range(*found.span())}
    return [
        run.start() + found.start() for found in re.finditer(digit, run[0]) if found.start() not in hidden
    ]


def _from_base64(written: str) -> bytes:
    """The bytes of as many digits as there are; those of the last one may be a few bits short of a byte."""
    usable = written[: len(written) - (len(written) % 4 == 1)]
    return b64decode(usable.translate(_FROM_URLS) + "=" * (-len(usable) % 4))
