"""What in a text looks like a secret, by its own shape or by what precedes it. Remembers nothing."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from acp_tui.client.secrets.names import PASSWORDS, SCHEMES
from acp_tui.client.secrets.shapes import MIN_RANDOM, found_in, has_shape, looks_random, pieces_of, shaped
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Find:
    """A piece of a text that looks like a secret or something else private."""

    start: int
    end: int
    kind: str
    """`key`, `token`, `password`, `private key`; `user` for the name before a password; others are for redaction."""
    is_known_elsewhere: bool = True
    """The same value may occur elsewhere, and is a secret there, too."""


# Lowercase only: matching both cases takes three times as long.
_BEARER: Final = re.compile(r"b(?:earer|asic)\s+([\w.~+/=-]{12,})")
_VALUE: Final = rf"[\"']?\s*[:=]\s*[\"']?(?:(?:{'|'.join(SCHEMES)})\s+)?([^\s\"',\\]{{6,}})"
_COOKIES: Final = re.compile(r"cookie[\"']?\s*[:=]\s*[\"']?([^\"'\\\r\n]{6,})")
"""All cookies, because servers choose their names freely."""
_HEADERS: Final = (
    ("bearer", _BEARER),
    ("basic ", _BEARER),
    ("authorization", re.compile(rf"authorization{_VALUE}")),
    ("x-", re.compile(rf"x-(?<![\w-]x-)[\w-]{{0,40}}(?:key|token|auth|secret)[\w-]{{0,40}}{_VALUE}")),
    ("cookie", _COOKIES),
)
"""What a text contains if the pattern is to be searched for."""
_NAMES: Final = ("key", "token", "secret", "credential", "credentials", "_pass", *PASSWORDS)
_ASCII_NAMES: Final = tuple(filter(str.isascii, _NAMES))


# One at a time: a pattern with a fixed prefix is many times as fast as one with alternatives.
@cache
def _assigned_to(name: str) -> re.Pattern[str]:
    name = re.escape(name)
    return re.compile(rf"{name}(?:[\"']?\s*[:=：]\s*|(?<=-{name})\s+)[\"']?([^\s\"'`,;&\\)\]}}<>]{{6,}})")


@cache
def _quoted_behind(name: str, of_what: tuple[str, ...]) -> re.Pattern[str]:
    """In quotes like JSON keys, any value counts."""
    is_of = "|".join(rf"(?<={what}{between}{name})" for what in of_what for between in ("", "[_-]"))
    return re.compile(rf"{name}(?:{is_of})[\"']\s*:\s*[\"']([^\s\"'\\$(){{}}<>\[\]]{{6,}})(?=[\"'])")


_QUOTED: Final = {
    "key": ("api", "access", "private"),
    "token": ("access", "auth", "refresh", "bearer", "api"),
    **dict.fromkeys(("secret", "password", "passwd", "pwd", "passphrase", "passcode"), ("",)),
}
# An uppercase name directly before the sign, without blanks, is a variable, and what follows is its value.
_VARIABLE: Final = re.compile(
    r"=(?:(?<=PASSWORD=)|(?<=PASSWD=)|(?<=_PASS=)|(?<=PASSPHRASE=)|(?<=SECRET=)|(?<=TOKEN=)|(?<=API_KEY=)|(?<=APIKEY=)|(?<=_ACCESS_KEY=)"
    r"|(?<=PRIVATE_KEY=)|(?<=SECRET_KEY=)|(?<=_PAT=))[\"']?([^\s\"'`,;&\\)\]}<>${(]{6,})"
)
_USERINFO: Final = re.compile(r"://([^/\s@:\"'\\<>]*):([^/\s\"'\\<>]+)(?=@)")
_BEHIND_KEYS: Final = ('":', "':", '" :', "' :")
_LONE_USERINFO: Final = re.compile(r"://([^/\s@:\"'\\<>]{16,})(?=@)")
_PEM_BEGIN: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?!\\)\s*"
    r"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\s*"
    r"|Private-Lines: [0-9]+\s*"
)
_PEM_END: Final = re.compile(r"-----END |---- END |Private-(?:MAC|Hash): ")
_PEM_LINE: Final = re.compile(r"[A-Za-z0-9+/=]{32,}")


class _Sentence(NamedTuple):
    """A secret that is known by the words around it, whatever it looks like."""

    signs: tuple[str, ...]
    """What its text contains, in small letters."""
    pattern: re.Pattern[str]
    kind: str = "password"


_QUOTE: Final = r"(?:\\?[\"'])?"
_GIVEN: Final = r"([^\s\"'\\$<{%*][^\s\"'\\]{2,})"
"""A value, but no variable or placeholder."""
_SENTENCES: Final = (
    _Sentence(
        ("login", "password"),
        re.compile(
            r"(?:machine\s{1,99}\S{1,200}|default|^|\n)\s{0,99}login\s{1,99}\S{1,200}\s{1,99}(?:account\s{1,99}\S{1,200}\s{1,99})?"
            rf"password\s{{1,99}}{_GIVEN}"
        ),
    ),
    _Sentence(
        ("curl", "-u", ":"),
        re.compile(
            r"curl\s[^\n|;&]{0,200}?(?<=\s)(?:-[a-zA-Z]{0,9}u|--user|-U|--proxy-user)(?:=|\s{1,9}|(?<=-[uU]))"
            rf"{_QUOTE}[^\s:\"'$]{{1,99}}:{_GIVEN}"
        ),
    ),
    _Sentence(
        ("wget", "password"),
        re.compile(rf"wget\s[^\n|;&]{{0,200}}?--(?:[a-z]{{1,9}}-)?password(?:=|\s{{1,9}}){_QUOTE}{_GIVEN}"),
    ),
    _Sentence(("sshpass", "-p"), re.compile(rf"sshpass\s{{1,9}}-p\s{{0,9}}{_QUOTE}{_GIVEN}")),
    *(
        _Sentence(
            (name,),
            re.compile(
                rf"{name}[\w-]{{0,20}}(?:\s(?:phrase|words))?{_QUOTE}\s{{0,9}}(?:(?:is\s{{0,3}})?[:=]|is)\s{{0,9}}{_QUOTE}"
                r"((?:[a-z]{3,8} ){11}(?:(?:[a-z]{3,8} ){3}){0,4}[a-z]{3,8})(?! [a-z]|[a-z])"
            ),
            "key",
        )
        for name in ("mnemonic", "seed", "phrase")
    ),
)
"""Programs that are given a login, and the words of a wallet: 12 to 24 of three to eight letters each."""
_LOGIN: Final = re.compile(rf"auth{_QUOTE}\s{{0,9}}:\s{{0,9}}{_QUOTE}([A-Za-z0-9+/]{{6,}}={{0,2}})(?=\\?[\"'])")

MIN_LENGTH: Final = 10
"""`pwd=` and six characters."""
_SIGNS_ALONE: Final = ("bearer", "basic ")
_BETWEEN: Final = ("=", ":", "-", "：")
"""One of these is between any other sign and the secret."""
_ALL_SIGNS: Final = (
    "authorization", "cookie", "key", "token", "secret", "credential", "_pass", "-----begin",
    "_pat=", "---- begin", "private-lines", *PASSWORDS,
)  # fmt: skip
_SIGNS: Final = tuple(filter(str.isascii, _ALL_SIGNS))


def has_sign(text: str) -> bool:
    """Whether a full search is worthwhile. Hardly any text contains a sign of a secret."""
    return any(map(_has_sign, pieces_of(text)))


def _has_sign(text: str) -> bool:
    if len(text) < MIN_LENGTH:
        return False
    small = text.lower()
    if any(map(small.__contains__, _SIGNS_ALONE)):
        return True
    if any(map(small.__contains__, _BETWEEN)) and any(
        map(small.__contains__, _SIGNS if text.isascii() else _ALL_SIGNS)
    ):
        return True
    if ("://" in text and "@" in text) or _has_auth(small) or any(_may_hold(each, small) for each in _SENTENCES):
        return True
    return has_shape(text)


def _may_hold(sentence: _Sentence, small: str) -> bool:
    return all(map(small.__contains__, sentence.signs))


def _has_auth(small: str) -> bool:
    return any(map(small.__contains__, ('auth"', "auth'", "auth\\")))


def is_login(value: str) -> bool:
    """Whether a text is a user and a password in base64, as Docker's settings and HTTP have it."""
    try:
        user, sign, password = b64decode(value, validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(user and sign and password) and (user + password).isprintable()


def find_secrets(text: str) -> Iterator[Find]:
    """What in a text looks like a secret. Results may overlap."""
    small = _in_small_letters(text)
    for start, end, kind in shaped(text):
        yield Find(start, end, kind)
    if "://" in small and "@" in small:
        yield from _logins(text)
    if "---- begin" in small or "-----begin" in small or "private-lines" in small:
        yield from _private_keys(text)
    for pattern in dict.fromkeys(pattern for sign, pattern in _HEADERS if sign in small):
        for found in found_in(pattern, small):
            if _is_no_word(text[found.start(1) : found.end(1)]):
                yield Find(*found.span(1), "token", pattern is not _COOKIES)
    for sentence in _SENTENCES:
        if _may_hold(sentence, small):
            for found in found_in(sentence.pattern, small):
                yield Find(*found.span(1), sentence.kind, False)
    if _has_auth(small):
        for found in found_in(_LOGIN, text):
            if is_login(found[1]):
                yield Find(*found.span(1), "password")
    yield from _assigned(text, small)


def _in_small_letters(text: str) -> str:
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(char.lower() if char.isascii() else char for char in text)


def _logins(text: str) -> Iterator[Find]:
    for found in found_in(_USERINFO, text):
        if found[1]:
            yield Find(*found.span(1), "user", False)
        yield Find(*found.span(2), "password", looks_random(found[2], 8))
    for found in found_in(_LONE_USERINFO, text):
        if looks_random(found[1]):
            yield Find(*found.span(1), "token")


def _private_keys(text: str) -> Iterator[Find]:
    end = 0
    for begin in _PEM_BEGIN.finditer(text):
        if begin.start() < end:
            continue
        closing = _PEM_END.search(text, begin.end())
        end = closing.start() if closing is not None else len(text)
        body = text[begin.end() : end].rstrip()
        yield Find(begin.end(), begin.end() + len(body), "private key", False)
        for line in _PEM_LINE.finditer(text, begin.end(), end):
            yield Find(*line.span(), "private key")


def _assigned(text: str, small: str) -> Iterator[Find]:
    has_keys = any(map(text.__contains__, _BEHIND_KEYS))
    for name in filter(small.__contains__, _ASCII_NAMES if small.isascii() else _NAMES):
        is_password = name in PASSWORDS or name == "_pass"
        for found in found_in(_assigned_to(name), small):
            value = text[found.start(1) : found.end(1)]
            if looks_random(value, 6 if is_password else MIN_RANDOM):
                yield Find(*found.span(1), "password" if is_password else "key", looks_random(value, 8))
        if has_keys and name in _QUOTED:
            for found in found_in(_quoted_behind(name, _QUOTED[name]), small):
                yield Find(*found.span(1), "key", looks_random(text[found.start(1) : found.end(1)], 8))
    for found in found_in(_VARIABLE, text):
        yield Find(*found.span(1), "key", looks_random(found[1], 8))


def open_block(text: str) -> int | None:
    """The position where an unfinished private key begins."""
    begun = text.rfind("-----BEGIN ")
    return begun if begun >= 0 and "-----END " not in text[begun:] else None


def _is_no_word(text: str) -> bool:
    """Whether it's neither a word nor part of a program."""
    has_capital_within = any(map(str.isupper, text[1:])) and any(map(str.islower, text))
    return (has_capital_within or any(map(str.isdigit, text))) and re.search(r"[$(){}<>\[\]]", text) is None
