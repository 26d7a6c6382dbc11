"""What looks like a secret, by its own form or by what stands before it; it remembers nothing of what it has seen."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from acp_tui.client.redaction.finds import Find
from acp_tui.client.redaction.shapes import has_shape, shaped

# In small letters: a pattern that takes both takes three times as long.
_BEARER: Final = re.compile(r"b(?:earer|asic)\s+([\w.~+/=-]{12,})")
_VALUE: Final = r"[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token|digest)\s+)?([^\s\"',\\]{6,})"
_HEADERS: Final = {
    "authorization": re.compile(rf"authorization{_VALUE}"),
    "cookie": re.compile(rf"cookie{_VALUE}"),
    "x-": re.compile(rf"x-(?<![\w-]x-)[\w-]{{0,40}}(?:key|token|auth|secret)[\w-]{{0,40}}{_VALUE}"),
}
# One by one: what begins with a fixed text is found many times as fast as one of several.
_ASSIGNED: Final = {
    name: re.compile(rf"{name}(?:[\"']?\s*[:=]\s*|(?<=-{name})\s+)[\"']?([^\s\"'`,;&\\)\]}}<>]{{6,}})")
    for name in (
        "key", "token", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "credential", "credentials",
    )
}  # fmt: skip
_PASSWORDS: Final = ("password", "passwd", "pwd", "passphrase", "passcode")
# Where a name is in capital letters and nothing stands around the sign, it is a variable, and its value a value.
_VARIABLE: Final = re.compile(
    r"=(?:(?<=PASSWORD=)|(?<=PASSWD=)|(?<=SECRET=)|(?<=TOKEN=)|(?<=API_KEY=)|(?<=APIKEY=)|(?<=_ACCESS_KEY=)"
    r"|(?<=PRIVATE_KEY=)|(?<=SECRET_KEY=)|(?<=_PAT=))[\"']?([^\s\"'`,;&\\)\]}<>${(]{6,})"
)
_USERINFO: Final = re.compile(r"://([^/\s@:\"'\\<>]*):([^/\s@\"'\\<>]+)(?=@)")
# In quotes as the names of JSON are, a value is one whatever it looks like.
_QUOTED: Final = re.compile(
    r"(?:api[_-]?key|access[_-]?key|private[_-]?key|secret|password|passwd|pwd|passphrase|passcode"
    r"|(?:access|auth|refresh|bearer|api)[_-]?token)[\"']\s*:\s*[\"']([^\s\"'\\$(){}<>\[\]]{6,})(?=[\"'])"
)
_LONE_USERINFO: Final = re.compile(r"://([^/\s@:\"'\\<>]{16,})(?=@)")
_PEM_BEGIN: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?!\\)\s*")
_PEM_END: Final = "-----END "
_PEM_LINE: Final = re.compile(r"[A-Za-z0-9+/=]{32,}")

_SIGNS: Final = (
    "bearer", "basic ", "authorization", "cookie", "key", "token", "secret", "passw", "passp", "passc", "pwd",
    "credential", "-----begin", "_pat=",
)  # fmt: skip

MIN_RANDOM: Final = 16
MIN_ENTROPY: Final = 3.0
"""Bits a character."""


def has_sign(text: str) -> bool:
    """Whether a look is worth its time; nearly no text holds a sign of a secret."""
    if any(map(text.lower().__contains__, _SIGNS)):
        return True
    return ("://" in text and "@" in text) or has_shape(text)


def look(text: str) -> Iterator[Find]:
    """What in a text looks like a secret; finds may overlap."""
    small = _in_small_letters(text)
    for start, end, kind in shaped(text):
        yield Find(start, end, kind)
    if "://" in small and "@" in small:
        yield from _logins(text)
    if "-----begin" in small:
        yield from _private_keys(text)
    if "bearer" in small or "basic " in small:
        for found in _BEARER.finditer(small):
            if _is_no_word(text[found.start(1) : found.end(1)]):
                yield Find(*found.span(1), "token")
    for sign, pattern in _HEADERS.items():
        if sign in small:
            for found in pattern.finditer(small):
                if _is_no_word(text[found.start(1) : found.end(1)]):
                    yield Find(*found.span(1), "token")
    yield from _assigned(text, small)


def _in_small_letters(text: str) -> str:
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(char.lower() if char.isascii() else char for char in text)


def _logins(text: str) -> Iterator[Find]:
    for found in _USERINFO.finditer(text):
        if found[1]:
            yield Find(*found.span(1), "user", False)
        yield Find(*found.span(2), "password", looks_random(found[2], 8))
    for found in _LONE_USERINFO.finditer(text):
        if looks_random(found[1]):
            yield Find(*found.span(1), "token")


def _private_keys(text: str) -> Iterator[Find]:
    end = 0
    for begin in _PEM_BEGIN.finditer(text):
        if begin.start() < end:
            continue
        end = text.find(_PEM_END, begin.end())
        end = len(text) if end < 0 else end
        body = text[begin.end() : end].rstrip()
        yield Find(begin.end(), begin.end() + len(body), "private key", False)
        for line in _PEM_LINE.finditer(text, begin.end(), end):
            yield Find(*line.span(), "private key")


def _assigned(text: str, small: str) -> Iterator[Find]:
    for name, pattern in _ASSIGNED.items():
        is_password = name in _PASSWORDS
        for found in pattern.finditer(small) if name in small else ():
            value = text[found.start(1) : found.end(1)]
            if looks_random(value, 6 if is_password else MIN_RANDOM):
                yield Find(*found.span(1), "password" if is_password else "key", looks_random(value, 8))
    if ":" in text:
        for found in _QUOTED.finditer(small):
            yield Find(*found.span(1), "key", looks_random(text[found.start(1) : found.end(1)], 8))
    for found in _VARIABLE.finditer(text):
        yield Find(*found.span(1), "key", looks_random(found[1], 8))


def open_block(text: str) -> int | None:
    """Where a private key has begun that has not ended."""
    begun = text.rfind("-----BEGIN ")
    return begun if begun >= 0 and _PEM_END not in text[begun:] else None


def looks_random(text: str, at_least: int = MIN_RANDOM) -> bool:
    """Whether a text is long, of letters and digits, and no word of a language of humans or programs."""
    if len(text) < at_least or re.search(r"[$(){}<>\[\]]", text) is not None:
        return False
    return (
        any(map(str.isdigit, text))
        and any(map(str.isalpha, text))
        and (len(text) < MIN_RANDOM or _entropy(text) >= MIN_ENTROPY)
    )


def _is_no_word(text: str) -> bool:
    """Whether it is neither a word nor a piece of a program."""
    has_capital_within = any(map(str.isupper, text[1:])) and any(map(str.islower, text))
    return (has_capital_within or any(map(str.isdigit, text))) and re.search(r"[$(){}<>\[\]]", text) is None


def _entropy(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
