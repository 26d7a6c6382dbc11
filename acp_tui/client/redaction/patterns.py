"""What looks like a secret, by its own form or by what stands before it; it remembers nothing of what it has seen."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Find:
    """A piece of a text that looks like a secret."""

    start: int
    end: int
    kind: str
    is_known_elsewhere: bool = True
    """What it is may stand anywhere else too, and is a secret there as well."""


# What may be long is bounded where it may begin at many places: else a long line takes its length squared.
_KEYS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{22,}|glpat-[\w-]{16,}"
    r"|sk-[\w-]{16,}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}"
    r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}|xox[abeoprs]-[\w-]{10,}"
    r"|hf_[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}"
    r")(?![A-Za-z0-9])"
)
_JWT: Final = re.compile(r"(?<![A-Za-z0-9])eyJ[\w-]{8,1000}\.[\w-]{4,}(?:\.[\w-]*)?")
_BEARER: Final = re.compile(r"\b(?:bearer|basic)\s+([\w.~+/=-]{12,})", re.IGNORECASE)
_HEADER: Final = re.compile(
    r"\b(?:(?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{0,40}(?:key|token|auth|secret)[\w-]{0,40})[\"']?\s*[:=]\s*[\"']?"
    r"(?:(?:bearer|basic|token|digest)\s+)?([^\s\"',\\]{6,})",
    re.IGNORECASE,
)
_USERINFO: Final = re.compile(r"(?<=://)([^/\s@:\"'\\<>]*):([^/\s@\"'\\<>]+)(?=@)")
_PEM: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----(?!\\)\s*(.*?)\s*(?:-----END |\Z)", re.DOTALL
)
_PEM_LINE: Final = re.compile(r"[A-Za-z0-9+/=]{32,}")
_EMAIL: Final = re.compile(
    r"(?<![\w.+%-])(?!(?:git|noreply|no-reply)@)[\w.+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?![\w-])"
)
_ASSIGNED: Final = re.compile(
    r"(?:key|token|secret|passw(?:or)?d|pwd|passphrase|credentials?)[\"']?\s*[:=]\s*[\"']?([^\s\"'`,;&\\)\]}<>]{6,})",
    re.IGNORECASE,
)
_PASSWORD: Final = re.compile(r"passw|pwd|passphrase", re.IGNORECASE)

# Looked for first: nearly no text holds one of these, and the patterns take many times as long.
_SIGNS: Final = (
    "@", "akia", "asia", "agpa", "aida", "aroa", "anpa", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
    "github_pat_", "glpat-", "sk-", "sk_", "pk_", "rk_", "whsec_",
    "aiza", "ya29", "xox", "hf_", "npm_", "pypi-", "eyj", "bearer", "basic", "auth", "cookie", "key", "token",
    "secret", "passw", "passp", "pwd", "credential",
)  # fmt: skip

MIN_RANDOM: Final = 16
MIN_ENTROPY: Final = 3.0
"""Bits a character."""


def look(text: str) -> Iterator[Find]:
    """What in a text looks like a secret; finds may overlap."""
    small = text.lower()
    if not any(map(small.__contains__, _SIGNS)):
        return
    for kind, pattern in (("key", _KEYS), ("token", _JWT), ("token", _BEARER), ("token", _HEADER)):
        for found in pattern.finditer(text):
            yield Find(*found.span(pattern.groups), kind)
    logins = list(_USERINFO.finditer(text))
    for found in logins:
        if found[1]:
            yield Find(*found.span(1), "user", False)
        yield Find(*found.span(2), "password", looks_random(found[2], 8))
    for found in _EMAIL.finditer(text):
        if not any(login.start() <= found.start() <= login.end() for login in logins):
            yield Find(*found.span(), "e-mail")
    yield from _private_keys(text)
    yield from _assigned(text)


def _private_keys(text: str) -> Iterator[Find]:
    for block in _PEM.finditer(text):
        yield Find(*block.span(1), "private key", False)
        for line in _PEM_LINE.finditer(text, *block.span(1)):
            yield Find(*line.span(), "private key")


def _assigned(text: str) -> Iterator[Find]:
    for found in _ASSIGNED.finditer(text):
        is_password = _PASSWORD.search(text, found.start(), found.start(1)) is not None
        if looks_random(found[1], 6 if is_password else MIN_RANDOM):
            yield Find(*found.span(1), "password" if is_password else "key", looks_random(found[1], 8))


def has_open_block(text: str) -> bool:
    """Whether a private key has begun and not ended."""
    begun = text.rfind("-----BEGIN ")
    return begun >= 0 and "-----END " not in text[begun:]


def looks_random(text: str, at_least: int = MIN_RANDOM) -> bool:
    """Whether a text is long, of letters and digits, and no word of a language of humans or programs."""
    if len(text) < at_least or re.search(r"[$(){}<>]", text) is not None:
        return False
    return (
        any(map(str.isdigit, text))
        and any(map(str.isalpha, text))
        and (len(text) < MIN_RANDOM or _entropy(text) >= MIN_ENTROPY)
    )


def _entropy(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
