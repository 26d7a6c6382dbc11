"""Makes agent-supplied text safe and honest to show, on any kind of screen.

A terminal obeys control characters. Readers are misled by characters that are invisible, reorder a line, or look like
others. None of them are removed silently: each becomes a visible stand-in. `confusables` does more, for paths and
commands.

Some invisible characters belong to ordinary writing: joiners in emoji, Persian, and Hindi, selectors after emoji and
ideographs, spaces before French colons. They stay where writing puts them, and nowhere else. Text may come in pieces.
Long runs of blanks, which push text out of view, can be shortened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final, TypeAlias

_Search: TypeAlias = Callable[[str], re.Match[str] | None]


def code_ranges(codes: str) -> Iterator[range]:
    """Yield ranges of code points, written in hexadecimal."""
    for code in codes.split():
        first, _, last = code.partition("-")
        yield range(int(first, 16), int(last or first, 16) + 1)


def character_set(codes: str) -> str:
    """Return the inside of a regular expression's brackets."""
    return "".join(f"{re.escape(chr(part[0]))}-{re.escape(chr(part[-1]))}" for part in code_ranges(codes))


# Never allowed

_CONTROLS: Final = "00-08 0B-1F 7F-9F"
_INVISIBLE: Final = (
    # Soft hyphen, grapheme joiner, Hangul and Khmer fillers, zero-width spaces, line separators, direction marks,
    # invisible operators, interlinear marks.
    "AD 34F 61C 115F-1160 17B4-17B5 180E 200B 200E-200F 2028-202E 2060-206F 3164 FEFF FFA0 FFF9-FFFB"
)
_TAGS: Final = "E0000-E007F"
_HALVES: Final = "D800-DFFF"
_UNNAMED: Final = (
    # Private use or not characters: their look depends on the font, if they have one. Everything above the ideographs
    # is one range, including the tags and selectors, because each range slows down the set there.
    "E000-F8FF FDD0-FDEF FFF0-FFF8 FFFE-FFFF 1FFFE-1FFFF 2FFFE-2FFFF 3FFFE-10FFFF"
)

# Allowed where they belong

_JOINERS: Final = "200C-200D"
_SELECTORS: Final = "180B-180D 180F FE00-FE0F"
_MORE_SELECTORS: Final = "E0100-E01EF"
SPACES: Final = "A0 1680 2000-200A 202F 205F 3000"
"""Non-ASCII spaces."""
_BRAILLE_BLANK: Final = "2800"
_VOWELS: Final = "1161-11A7 D7B0-D7CA"
_FINALS: Final = "11A8-11FF D7CB-D7FF"
"""The second and third part of a Hangul syllable, which have no width of their own."""
_MARKS: Final = (
    "300-36F 483-489 591-5C7 610-61A 64B-65F 670 6D6-6E4 6E7-6ED 711 730-74A 7A6-7B0 7EB-7F3 7FD 816-819 81B-823"
    " 825-827 829-82D 859-85B 897-89F 8CA-903 93A-93C 93E-94F 951-957 962-963 981-983 9BC 9BE-9CD 9D7 9E2-9E3 9FE-A03"
    " A3C-A51 A70-A71 A75-A83 ABC ABE-ACD AE2-AE3 AFA-B03 B3C B3E-B57 B62-B63 B82 BBE-BCD BD7 C00-C04 C3C C3E-C56"
    " C62-C63 C81-C83 CBC CBE-CD6 CE2-CE3 CF3 D00-D03 D3B-D3C D3E-D4D D57 D62-D63 D81-D83 DCA-DDF DF2-DF3 E31 E34-E3A"
    " E47-E4E EB1 EB4-EBC EC8-ECE F18-F19 F35-F39 F3E-F3F F71-F87 F8D-FC6 102B-103E 1056-1059 105E-1060 1062-1064"
    " 1067-106D 1071-1074 1082-108D 108F 109A-109D 135D-135F 1712-1715 1732-1734 1752-1753 1772-1773 17B6-17D3 17DD"
    " 1885-1886 18A9 1920-193B 1A17-1A1B 1A55-1A7F 1AB0-1B04 1B34-1B44 1B6B-1B82 1BA1-1BAD 1BE6-1BF3 1C24-1C37"
    " 1CD0-1CE8 1CED 1CF4 1CF7-1CF9 1DC0-1DFF 20D0-20F0 2CEF-2CF1 2D7F 2DE0-2DFF 302A-302F 3099-309A A66F-A67D"
    " A69E-A69F A6F0-A6F1 A802 A806 A80B A823-A82C A880-A881 A8B4-A8C5 A8E0-A8F1 A8FF A926-A92D A947-A953 A980-A983"
    " A9B3-A9C0 A9E5 AA29-AA36 AA43 AA4C-AA4D AA7B-AA7D AAB0 AAB2-AAB4 AAB7-AAB8 AABE-AABF AAC1 AAEB-AAEF AAF5-AAF6"
    " ABE3-ABED FB1E FE20-FE2F"
)
"""Characters drawn over or under the previous letter."""
_RARE_MARKS: Final = (
    "101FD 102E0 10376-1037A 10A01-10A0F 10A38-10A3F 10AE5-10AE6 10D24-10D27 10D69-10D6D 10EAB-10EAC 10EFA-10EFF"
    " 10F46-10F50 10F82-10F85 11000-11002 11038-11046 11070 11073-11074 11080-11082 110B0-110BA 110C2 11100-11102"
    " 11127-11134 11145-11146 11173 11180-11182 111B3-111C0 111C9-111CC 111CE-111CF 1122C-11237 1123E-11241"
    " 112DF-112EA 11300-11303 1133B-1133C 1133E-1134D 11357 11362-11374 113B8-113D2 113E1-113E2 11435-11446 1145E"
    " 114B0-114C3 115AF-115C0 115DC-115DD 11630-11640 116AB-116B7 1171D-1172B 1182C-1183A 11930-1193E 11940"
    " 11942-11943 119D1-119E0 119E4 11A01-11A0A 11A33-11A39 11A3B-11A3E 11A47 11A51-11A5B 11A8A-11A99 11B60-11B67"
    " 11C2F-11C3F 11C92-11CB6 11D31-11D45 11D47 11D8A-11D97 11EF3-11EF6 11F00-11F03 11F34-11F42 11F5A 1611E-1612F"
    " 16AF0-16AF4 16B30-16B36 16F4F 16F51-16F92 16FF0-16FF1 1BC9D-1BC9E 1CF00-1CF46 1D165-1D169 1D16D-1D172"
    " 1D17B-1D182 1D185-1D18B 1D1AA-1D1AD 1D242-1D244 1DA00-1DA36 1DA3B-1DA6C 1DA75 1DA84 1DA9B-1DAAF 1E000-1E02A"
    " 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E6E3-1E6F5 1E8D0-1E8D6 1E944-1E94A"
)
"""The same in historic scripts and music."""
_RARE_INVISIBLE: Final = "1107F 13430-13455 16FE4 1BCA0-1BCA3 1D159 1D173-1D17A"
"""Fillers, joiners, and format controls there."""
_RARE: Final = "101FD-1D3FF 1D800-1EFFF"
"""Where all of these are, without mathematical letters. Only a text with any of it is searched for them."""
MAX_MARKS: Final = 5
"""The most marks on one letter. No writing needs more, and a pile of them covers neighboring lines."""

# Where they belong

_EMOJI: Final = (
    "A9 AE 203C 2049 2122 2139 2190-21FF 2300-23FF 24C2 25A0-27BF 2900-297F 2B00-2BFF 3030 303D 3297 3299 1F000-1FAFF"
)
_JOINING: Final = "600-61B 61D-8FF 900-DFF 1000-109F 1780-17B3 17B6-17FF FB50-FDCF FDF0-FDFF"
_WITH_VARIANTS: Final = (
    "1000-109F 2200-22FF 2A00-2AFF 3001-303F 3400-9FFF A840-A87F F900-FAFF FF01-FF9F 20000-2FFFD 30000-3FFFD"
)
_FLAGS: Final = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)

_AT_HOME: Final = f"{_JOINERS} {_SELECTORS} {SPACES} {_BRAILLE_BLANK} {_VOWELS} {_FINALS}"
_SUSPICIOUS: Final = character_set(f"{_CONTROLS} {_INVISIBLE} {_HALVES} {_UNNAMED} {_AT_HOME}")
_ALL_SUSPICIOUS: Final = _SUSPICIOUS + character_set(_RARE_INVISIBLE)
_ALL_MARKS: Final = character_set(f"{_MARKS} {_RARE_MARKS}")
_ASCII_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")

_STAND_INS: Final = (
    {code: chr(0x2400 + code) for code in range(0x20)}
    | {0x7F: "␡"}
    | {0x09: "\t", 0x0A: "\n"}
    | {code: f"⟨{code:02X}⟩" for code in range(0x80, 0xA0)}
    # Non-breaking and other spaces get one cell each, so that columns stay aligned.
    | dict.fromkeys((0xA0, 0x2007, 0x202F), "⍽")
    | dict.fromkeys((*range(0x2000, 0x2007), *range(0x2008, 0x200B), 0x205F), "␠")
)


def make_visible(text: str, after: str = "") -> str:
    """Return `text` with control and invisible characters replaced; newlines and tabs stay.

    A CRLF line end becomes a newline. Surrogate pairs split over two chunks are joined again; a lone surrogate
    becomes U+FFFD. Whether a character belongs depends on its neighbors: `after` is the original text before this
    piece; its last few characters are enough.
    """
    if text.isascii():
        return text.replace("\r\n", "\n").translate(_STAND_INS) if _ASCII_CONTROL.search(text) else text
    is_suspicious, is_piled = _searches()
    if not is_suspicious(text) and not is_piled(after[-MAX_MARKS:] + text if after else text):
        return text
    text = join_halves(text.replace("\r\n", "\n"))
    after = join_halves(after)
    return (_replace if len(text) < _LONG else _replace_long)(after + text, len(after))


def make_visible_line(text: str) -> str:
    """Like `make_visible`, for a title or name: newlines and tabs also become stand-ins."""
    return make_visible(text).replace("\n", "␊").replace("\t", "␉")


def join_halves(text: str) -> str:
    """Return `text` with each high surrogate joined to the low surrogate after it."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _replace(text: str, start: int) -> str:
    pieces: list[str] = []
    at = start
    for found in _found().finditer(text, start):
        pieces += text[at : found.start()], _stand_in(found)
        at = found.end()
    return "".join(pieces) + text[at:]


_LONG: Final = 4_096
_replace_long: Final = lru_cache(maxsize=4)(_replace)
"""A long text is drawn a few times in a row: for a card and an entry, at the widths that are tried."""


def _stand_in(found: re.Match[str]) -> str:
    char = found[0]
    if found.lastgroup or (char in _at_home() and _belonging().match(found.string, found.start())):
        return char
    return _stand_in_of(char)


@lru_cache(maxsize=4096)
def _stand_in_of(char: str) -> str:
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    return _STAND_INS.get(ord(char)) or f"⟨U+{ord(char):04X}⟩"


@cache
def _at_home() -> frozenset[str]:
    """The suspicious characters that writing puts somewhere."""
    codes = code_ranges(f"{_AT_HOME} {_MORE_SELECTORS}")
    return frozenset(chr(code) for part in codes for code in part)


# These take some milliseconds to build, and many sessions never need them.


@cache
def hidden_characters() -> frozenset[str]:
    """Characters that never occur in visible text, except tags in flags. Private-use ones are too many to list."""
    kinds = (_CONTROLS, _INVISIBLE, _RARE_INVISIBLE, _TAGS, _HALVES)
    return frozenset(chr(code) for codes in kinds for part in code_ranges(codes) for code in part)


@cache
def _searches() -> tuple[_Search, _Search]:
    """Return searches for a suspicious character and for a pile of marks; almost no text has either.

    Each starts with a set, because `re` searches that five times as fast as an alternation of the two.
    """
    marks = character_set(_MARKS)
    piled = f"[{marks}][{marks}]{{{MAX_MARKS}}}|[{character_set(_RARE)}]"
    return re.compile(f"[{_SUSPICIOUS}]").search, re.compile(piled).search


@cache
def _found() -> re.Pattern[str]:
    """Match a suspicious character, an excess mark, or a whole flag."""
    marks = f"[{_ALL_MARKS}]"
    return re.compile(f"(?P<flag>{_FLAGS})|[{_ALL_SUSPICIOUS}]|(?<={marks}{{{MAX_MARKS}}}){marks}")


@cache
def _belonging() -> re.Pattern[str]:
    """Match a suspicious character where writing puts it; at the end of a text, where it may still belong."""
    emoji, joining, spaces = character_set(_EMOJI), character_set(_JOINING), character_set(SPACES)
    vowels = character_set(_VOWELS)
    too_many_marks = f"[{_ALL_MARKS}]{{{MAX_MARKS + 1}}}"
    return re.compile(
        "|".join(
            [
                # Families, professions; Arabic and Indian letters.
                rf"(?:(?<=[{emoji}])|(?<=[{emoji}]\ufe0f))\u200d(?=[{emoji}]|\Z)",
                rf"(?<=[{joining}])(?<!{too_many_marks})[{character_set(_JOINERS)}](?=[{joining}]|\Z)",
                # Emoji and keycaps; ideographs; Mongolian.
                rf"(?<=[{emoji}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3|\Z)",
                rf"(?<=[{character_set(_WITH_VARIANTS)}])[\ufe00-\ufe0d\U000e0100-\U000e01ef]",
                r"(?<=[\u1820-\u18a8])[\u180b-\u180d\u180f]",
                # Next to digits and non-ASCII, before French punctuation; in Braille pictures.
                rf"(?<=[^\x00-/:-\x7f{spaces}])[{spaces}]|[{spaces}](?=[0-9!%:;?]|[^\x00-\x7f{spaces}])",
                r"(?<![0-9A-Za-z_])\u2800(?![0-9A-Za-z_])",
                # In a syllable that is written in parts, as in names of files on a Mac.
                rf"(?<=[\u1100-\u115e\ua960-\ua97c])[{vowels}]|(?<=[{vowels}\uac00-\ud7a3])[{character_set(_FINALS)}]",
            ]
        )
    )


MAX_BLANK_LINES: Final = 3
MAX_SPACES: Final = 32
"""In one line; code is seldom indented further."""

LF: Final = "\n"
# Spaces, tabs, and the stand-ins for blanks in visible text.
_BLANK: Final = "[^\\S\n]|[\u2420\u237d\u2409\u2800\u3164]"
_LINES: Final = re.compile(rf"^(?:(?:{_BLANK})*\n){{{MAX_BLANK_LINES + 1},}}", re.MULTILINE)
_SPACES: Final = re.compile(rf"(?:{_BLANK}){{{MAX_SPACES + 1},}}")
_LINE_FEEDS: Final = re.compile(rf"(?:{_BLANK}|\u240a){{{MAX_SPACES + 1},}}")


def collapse_blanks(text: str) -> str:
    """Replace each long run of blank lines or spaces with a mark. `text` must already be visible."""
    text = _LINES.sub(lambda found: f"⋯ {found[0].count(LF):,} blank lines\n", text)
    return _SPACES.sub(lambda found: f" ⋯ {len(found[0]):,} spaces ⋯ ", text)


def collapse_blanks_in_line(text: str) -> str:
    """The same for a text in one line, whose line ends have stand-ins."""
    return _LINE_FEEDS.sub(lambda found: f" ⋯ {len(found[0]):,} blanks ⋯ ", text)


_HALF: Final = re.compile("[\r\u200d\ud800-\udbff]\\Z")
"""Half of a line end, character, or joined pair, whose other half may be in the next piece."""
_CONTEXT: Final = 16
"""How many characters before a piece decide whether its beginning belongs there."""


class VisibleStream:
    """Makes one text visible piece by piece."""

    def __init__(self) -> None:
        self._held = ""
        self._before = ""

    def append(self, text: str) -> str:
        """Return what to show for one more piece. Holds back an incomplete character until the rest comes."""
        text = self._held + text
        half = _HALF.search(text)
        self._held = half.group() if half else ""
        return self._visible(text[: len(text) - len(self._held)])

    def finish(self) -> str:
        """Return what was held back, because the text has ended."""
        held, self._held = self._held, ""
        return self._visible(held)

    def _visible(self, text: str) -> str:
        visible = make_visible(text, self._before)
        self._before = (self._before + text)[-_CONTEXT:]
        return visible
