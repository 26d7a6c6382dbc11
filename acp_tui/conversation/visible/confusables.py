"""Finds characters in paths and commands that look like ASCII but aren't. In prose they do no harm.

The look-alikes are Unicode's table, other forms of ASCII and of those, and a few more. A letter of another script is
suspicious in a word that also has ASCII letters, and in a word that could pass for ASCII if nothing else in the text is
in that script. So a Greek, Russian, or Chinese word isn't marked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from acp_tui.conversation.visible import (
    SPACES,
    character_set,
    code_ranges,
    join_halves,
    make_visible,
    make_visible_line,
)
from acp_tui.conversation.visible.look_alikes import ANYWHERE, IN_WORDS
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Confusable:
    """A character that isn't what it looks like."""

    start: int
    stop: int
    looks_like: str
    """The ASCII it resembles."""


_LETTERS: Final = dict(zip("кԚκηωχτյԼꓲӀ", "kQknwxtjLII", strict=True))
"""Look-alikes in common fonts that Unicode doesn't list or lists under another letter."""
_LATIN: Final = "ıþƒ"
"""Letters of living alphabets. In a word with other accented Latin letters, they are ordinary."""
_SIGNS: Final = {
    sign: ascii_sign
    for ascii_sign, signs in {
        "-": "‐‑‒–—―−⁃˗➖",
        "/": "∕⁄⧸╱⟋",
        "\\": "∖⧵⧹",
        ".": "․。",
        "..": "‥",
        "...": "…",
        ":": "∶꞉ː",
        ";": "\u037e",
        ",": "‚",
        "'": "‘’‛′‵ʹʻʼʽ",
        '"': "“”„‟″ʺ〝〞",
        "`": "ˋ",
        "|": "∣ǀ❘",
        "^": "ˆ",
        "~": "∼˜",
        "*": "∗⁎٭",
        "<": "‹˂",
        ">": "›˃",
        "!": "ǃ",
        "=": "꞊",
    }.items()
    for sign in signs
}
"""Signs like `_LETTERS`; they count anywhere in the text."""
_SMALL_OR_WIDE: Final = (*range(0xFE50, 0xFE6C), *range(0xFF01, 0xFF5F))
_LIGATURES: Final = "\ufb00-\ufb06"
_ALPHABETS: Final = (
    # Long s, mathematical and full-width letters, Roman numerals.
    "\u017f\u2102-\u2115\u2119-\u211d\u2124\u2128\u212a-\u2139\u2145-\u2149\u2160-\u217f\uff10-\uff19\uff21-\uff3a"
    "\uff41-\uff5a\U0001d400-\U0001d7ff\U0001fbf0-\U0001fbf9"
)
_WIDE_SIGNS: Final = re.compile("[。\uff01-\uff5e]")


def confusables(text: str) -> tuple[Confusable, ...]:
    """Find what looks like ASCII but isn't in a path or command, from left to right."""
    return () if text.isascii() else tuple(_find(text))


def make_visible_path(text: str) -> str:
    """Like `make_visible_line`, but also marks look-alikes: `p⟨U+0430≈a⟩ypal`."""
    return make_visible_line(_marked(text))


def make_visible_command(text: str) -> str:
    """Like `make_visible`, but also marks look-alikes: `rm ⟨U+2013≈-⟩rf`."""
    return make_visible(_marked(text))


def _marked(text: str) -> str:
    if text.isascii():
        return text
    text = join_halves(text)
    pieces: list[str] = []
    at = 0
    for found in confusables(text):
        look = "␠" if found.looks_like == " " else found.looks_like
        pieces += text[at : found.start], f"⟨U+{ord(text[found.start]):04X}≈{look}⟩"
        at = found.stop
    return "".join(pieces) + text[at:]


@cache
def letters() -> dict[str, str]:
    """What passes for ASCII within a word."""
    return _read(IN_WORDS) | _LETTERS


@cache
def signs() -> dict[str, str]:
    """What passes for ASCII anywhere."""
    forms = {char: unicodedata.normalize("NFKC", char) for char in map(chr, _SMALL_OR_WIDE)}
    ours = {char: form for char, form in forms.items() if form.isascii() and not form.isalnum()}
    return _read(ANYWHERE) | ours | _SIGNS


def _read(table: Mapping[str, str]) -> dict[str, str]:
    return {chr(code): look for look, codes in table.items() for part in code_ranges(codes) for code in part}


@cache
def _item() -> re.Pattern[str]:
    """Match a word, or a sign or space that is suspicious anywhere.

    A word consists of letters and digits of any script, their marks, and look-alikes of them.
    """
    suspicious = re.escape("".join(signs())) + character_set(SPACES) + "\u2800"
    others = re.escape("".join(char for char in letters() if not char.isalnum()))
    # Signs come first, because Unicode classifies some of them as letters.
    return re.compile(rf"(?P<sign>[{suspicious}])|(?:(?![{suspicious}])(?:[^\W_]|[{others}])[\u0300-\u036f]*)+")


@cache
def _forms() -> re.Pattern[str]:
    """Match another form of a letter or digit, according to Unicode."""
    return re.compile(f"[{_ALPHABETS}{_LIGATURES}]")


def plain_form(char: str) -> str:
    """What a character is another form of; itself if of none."""
    return unicodedata.normalize("NFKC", char) if _forms().match(char) else char


def _find(text: str) -> Iterator[Confusable]:
    others = (letter for letter in text if letter.isalpha() and not letter.isascii())
    is_ascii_else = all(letter in letters() or _forms().match(letter) for letter in others)
    for item in _item().finditer(text):
        if item["sign"] is None:
            yield from _in_word(item[0], item.start(), is_ascii_else)
        elif not _is_chinese(item[0], text[item.start() - 1 : item.start()], text[item.end() : item.end() + 1]):
            yield Confusable(item.start(), item.end(), signs().get(item[0], " "))


def _is_chinese(sign: str, before: str, after: str) -> bool:
    """Whether a full-width sign stands next to Chinese, Japanese, or Korean, where it's ordinary."""
    return bool(_WIDE_SIGNS.match(sign)) and (_is_wide(before) or _is_wide(after))


def _is_wide(char: str) -> bool:
    """Whether a character is a Chinese, Japanese, or Korean letter."""
    return char.isalpha() and unicodedata.east_asian_width(char) == "W"


def _in_word(word: str, start: int, is_ascii_else: bool) -> Iterator[Confusable]:
    """Find the look-alikes in `word`. With `is_ascii_else`, all letters of the text pass for ASCII."""
    if word.isascii():
        return
    has_ascii = bool(re.search("[A-Za-z]", word))
    has_wide = any(map(_is_wide, word))
    is_latin = any(_is_accented(char) for char in word)
    could_be_ascii = has_ascii or (is_ascii_else and word.isalpha())
    for at, char in enumerate(word, start):
        width = unicodedata.east_asian_width(char)
        plain = plain_form(char)
        is_ordinary = width == "F" and has_wide and not has_ascii
        look = plain if plain != char and plain.isascii() and not is_ordinary else None
        if look is None and could_be_ascii and not (has_wide and width in "WF"):
            look = None if is_latin and char in _LATIN else letters().get(plain)
        if look:
            yield Confusable(at, at + 1, look)


def _is_accented(char: str) -> bool:
    """Whether a character is a non-ASCII Latin letter that resembles no ASCII letter."""
    return "\u00c0" <= char <= "\u024f" and char not in letters() and plain_form(char) == char
