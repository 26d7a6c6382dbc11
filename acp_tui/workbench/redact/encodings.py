"""The ways to read a text that may hide a secret: escaped, wrapped, colored, or encoded.

Each view maps positions back to the text.
"""

from __future__ import annotations

import re
from array import array
from base64 import b64decode, b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape
from itertools import accumulate
from typing import Final, TypeAlias
from urllib.parse import unquote

from acp_tui.values import dataclass

MAX_LEVELS: Final = 3
"""The maximum depth of JSON strings within JSON strings, or of URL encoding."""
WIDTHS: Final = (80, 100, 120)
"""Widths at which programs break lines, even within words."""

# A string up to its terminator, a sequence with parameters, or any other; also if cut off at the end. And the null
# bytes between letters in UTF-16.
_ESCAPE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|$)|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\|$)|[ -/]*(?:[0-~]|$))|\x00"
)
# A letter printed over another, as in a terminal's manual pages or when an echo is corrected.
_PRINTED_OVER: Final = re.compile(r"(?:[^\x08\x1b]\x08)+[^\x08\x1b]")
# Invisible characters within a word, and marks that make it bold.
_MARK: Final = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]|(?<=\\S)\\*\\*(?=\\S)")
_ENTITY: Final = re.compile(r"&(?:#\d{2,7}|#[xX][0-9A-Fa-f]{2,6}|amp|lt|gt|quot|apos);")
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*")
_JSON: Final = re.compile(r'\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|["\\/bfnrt])')
_LINE_END: Final = re.compile(r"\r?\n")
_WRAP: Final = re.compile(
    "|".join(
        rf"{end}(?<={begin}[^\r\n]{{{width}}}{end})(?=\S)"
        for width in WIDTHS
        for end in (r"\r\n", r"\n")
        for begin in (r"\n", r"\A")
    )
)
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

_Char: TypeAlias = tuple[str, int]
"""A character, and its length as it was written."""
_Decode: TypeAlias = Callable[[str], Iterable[_Char]]


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text, read in one way, in stretches: decoded characters, and what is as in the view below."""

    text: str
    below: DecodedText | None = None
    """None: it's the text itself."""
    starts: Sequence[int] = ()
    origins: Sequence[int] = ()
    """Where each stretch begins in the view below."""
    lengths: Sequence[int] = ()
    """How long it is there; 0 for what isn't decoded."""

    def place(self, at: int) -> tuple[int, int]:
        """Return the start and end in the original text of a character in this view."""
        if self.below is None:
            return at, at + 1
        number = bisect_right(self.starts, at) - 1
        origin, length = self.origins[number], self.lengths[number]
        if not length:
            return self.below.place(origin + at - self.starts[number])
        return self.below.place(origin)[0], self.below.place(origin + length - 1)[1]


def views(text: str) -> Iterator[DecodedText]:
    """Every way to read the text, the literal one first. Each is made from the one before."""
    view = DecodedText(text)
    yield view
    for _ in range(MAX_LEVELS):
        known = view
        for pattern, decode in _WAYS:
            if pattern.search(view.text) is not None:
                view = _decoded(view, pattern, decode)
                yield view
        if view is known:
            return


def _decoded(below: DecodedText, pattern: re.Pattern[str], decode: _Decode) -> DecodedText:
    parts, origins, lengths = zip(*_stretches(below.text, pattern, decode), strict=True)
    starts = accumulate(map(len, parts), initial=0)
    return DecodedText("".join(parts), below, array("L", starts), array("L", origins), array("L", lengths))


def _stretches(text: str, pattern: re.Pattern[str], decode: _Decode) -> Iterator[tuple[str, int, int]]:
    at = 0
    for found in pattern.finditer(text):
        yield text[at : found.start()], at, 0
        at = found.start()
        for char, length in decode(found[0]):
            yield char, at, length
            at += length
        at = found.end()
    yield text[at:], at, 0


def unbroken(view: DecodedText) -> DecodedText:
    return _decoded(view, _LINE_END, _dropped)


def _dropped(_: str) -> tuple[_Char, ...]:
    return ()


def _last(written: str) -> Iterator[_Char]:
    yield written[-1], len(written)


def _entity_decoded(written: str) -> Iterator[_Char]:
    yield unescape(written)[:1], len(written)


def _percent_decoded(written: str) -> Iterator[_Char]:
    for char in unquote(written, errors="surrogateescape"):
        yield char, 3 * len(char.encode("utf-8", "surrogateescape"))


def _json_decoded(written: str) -> Iterator[_Char]:
    escape = written[1:]
    yield chr(int(escape[1:], 16)) if len(escape) > 1 else _SHORT.get(escape, escape), len(written)


_WAYS: Final[Sequence[tuple[re.Pattern[str], _Decode]]] = (
    # First what hides a text without encoding it.
    *((_ESCAPE, _dropped), (_PRINTED_OVER, _last), (_MARK, _dropped), (_WRAP, _dropped)),
    *((_PERCENT, _percent_decoded), (_ENTITY, _entity_decoded), (_JSON, _json_decoded)),
)


def spelled_as(char: str, like: str) -> str:
    """Write `char` in the same escaped form, and length, as `like`."""
    if len(like) == 1:
        return char
    if re.fullmatch(r"(?:%[0-9A-Fa-f]{2})+", like):
        spelled = "".join(f"%{byte:02X}" for byte in char.encode())
        return spelled if len(spelled) == len(like) else "%78" * (len(like) // 3)
    if "\b" in like:
        return "".join(old if old == "\b" else char for old in like)
    if like.startswith("&"):
        return _entity(char, like)
    escape = re.search(r"(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))$", like)
    if escape is not None and like.startswith("\\"):
        digits = len(escape[1] or escape[2])
        return f"{like[:-digits]}{ord(char):0{digits}x}"
    return char * len(like)


def _entity(char: str, like: str) -> str:
    digits, is_hex = len(like) - 3, like[2] in "xX"
    if is_hex:
        return f"&#x{ord(char):0{digits - 1}x};"
    return f"&#{ord(char if ord(char) < 10**digits else char.upper()):0{digits}};"


MIN_BASE64: Final = 24
MIN_HEX: Final = 24

# At most one line break between two runs: an empty line ends the encoded data.
_BREAK: Final = r"[ \t]*(?:\r?\n|\\r\\n|\\n)[ \t]*"
_BASE64: Final = re.compile(rf"[A-Za-z0-9+/_-]{{{MIN_BASE64},}}(?:{_BREAK}[A-Za-z0-9+/_-]{{2,}})*")
_HEX: Final = re.compile(
    rf"(?:[0-9a-fA-F]{{{MIN_HEX},}}|(?:[0-9a-fA-F]{{2}}[ :]){{12,}})(?:{_BREAK}[0-9a-fA-F :]{{2,}})*"
)
# Worth decoding. Almost no text that merely uses the same characters matches.
_READABLE: Final = re.compile(rb"(?:[ -~\n]\x00?){6}")
_BETWEEN: Final = re.compile(r"[\s\\:]")
_FROM_URLS: Final = str.maketrans("-_", "+/")
_FOR_URLS: Final = str.maketrans("+/", "-_")


@dataclass(frozen=True, slots=True)
class Encoded:
    places: Sequence[int]
    """The positions of its digits."""
    written: str
    data: bytes
    is_hex: bool = False

    def changes(self, data: bytes) -> Iterator[tuple[int, str]]:
        """The characters to change, with their positions, to encode other bytes of the same length."""
        written = data.hex() if self.is_hex else b64encode(data).decode()
        if "-" in self.written or "_" in self.written:
            written = written.translate(_FOR_URLS)
        for at, old, new in zip(self.places, self.written, written, strict=False):
            if old.lower() != new if self.is_hex else old != new:
                yield at, new.upper() if self.is_hex and self.written.isupper() else new


def encoded_in(text: str) -> Iterator[Encoded]:
    """Find runs that may encode readable bytes. A run may occur several times, because its alignment is unknown."""
    for run in _BASE64.finditer(text):
        places = _places(run, r"[A-Za-z0-9+/_-]")
        written = "".join(map(text.__getitem__, places))
        for begin in range(4):
            part = written[begin:]
            data = _from_base64(part)
            if _READABLE.search(data) is not None:
                yield Encoded(places[begin:], part, data)
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
    # The letters of an escaped line break aren't digits.
    hidden = {at for found in re.finditer(r"\\[rn]", run[0]) for at in range(*found.span())}
    return [run.start() + found.start() for found in re.finditer(digit, run[0]) if found.start() not in hidden]


def _from_base64(written: str) -> bytes:
    """Decode all complete digits. The last byte may lack a few bits."""
    usable = written[: len(written) - (len(written) % 4 == 1)]
    return b64decode(usable.translate(_FROM_URLS) + "=" * (-len(usable) % 4))
