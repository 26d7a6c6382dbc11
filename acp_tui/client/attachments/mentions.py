"""Finds the `@path` mentions in a prompt's text, by their form alone.

It never looks at the disk: whether a mention names a file, and which of its readings does, `attach` finds out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_OPENING: Final = "([{<\"'“‘„«「『（【《"
_CLOSING: Final = ".,;:!?)]}>'\"”’»」』）】》…。，、；：！？"
_MAX_KEPT_CLOSING: Final = 8  # in a name; "@x......" shall not cost a look at the disk for each dot

# Code comes first, so that a mention within is swallowed with it. A fence that is not closed lasts to the end;
# a backtick without its like in the same paragraph is just a backtick. The bound on what is between keeps a text
# full of those from costing seconds.
_CODE_OR_MENTION: Final = re.compile(
    rf"""
      ^[ \t>]* (?P<fence> `{{3,}}(?=[^`\n]*$) | ~{{3,}} ) .*? (?: ^[ \t>]*(?P=fence)[`~]*[ \t\r]*$ | \Z )
    | (?<!`)(?P<ticks>`+)(?!`) (?:(?!\n[ \t\r]*\n).){{1,1000}}? (?<!`)(?P=ticks)(?!`)
    | (?: \A | (?<=[\s{re.escape(_OPENING)}]) ) @
      (?: "(?P<quoted>[^"\n]+)" (?: :(?P<first>[0-9]{{1,9}}) (?: -(?P<last>[0-9]{{1,9}}) )? )?
        | (?P<word>[^\s`"][^\s`]*) )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_WITH_LINES: Final = re.compile(r"(?P<path>.+):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that names a file, or seems to."""

    start: int
    """Index of the `@`."""
    stop: int
    """Index behind the last character that belongs to it."""
    path_text: str
    """As written, without quotes and lines."""
    first_line: int | None = None
    """1-based; None: the whole file."""
    last_line: int | None = None
    """Inclusive, and not below `first_line`; None exactly where that is None."""


def mentions(text: str) -> list[Mention]:
    """Every mention outside of code, in order, without the punctuation that follows it."""
    return [readings[-1] for readings in each_reading(text)]


def each_reading(text: str) -> Iterator[Sequence[Mention]]:
    """For every mention what it may stand for, the longest name first: `a.py.` and `a.py:3` can be names too."""
    if "@" not in text:
        return
    for piece in _CODE_OR_MENTION.finditer(text):
        if readings := _readings(piece):
            yield readings


def _readings(piece: re.Match[str]) -> list[Mention]:
    """What a piece of the text may stand for; nothing where it is code."""
    if piece["quoted"] is not None:
        return [_mention(piece.start(), piece.end(), piece["quoted"], piece["first"], piece["last"])]
    return list(_readings_of_word(piece.start(), piece["word"] or ""))


def _readings_of_word(start: int, word: str) -> Iterator[Mention]:
    shortest = len(word.rstrip(_CLOSING))
    # `@/` is how many projects spell their own root in an import: it names nothing here.
    if not word[:shortest].strip("/"):
        return
    for length in range(min(len(word), shortest + _MAX_KEPT_CLOSING), shortest - 1, -1):
        stop = start + len("@") + length
        yield Mention(start, stop, word[:length])
        if match := _WITH_LINES.fullmatch(word, 0, length):
            yield _mention(start, stop, match["path"], match["first"], match["last"])


def _mention(start: int, stop: int, path_text: str, first: str | None, last: str | None) -> Mention:
    """Lines in the wrong order are turned round, and 0 means 1 as in the protocol (R-FS-2)."""
    if first is None:
        return Mention(start, stop, path_text)
    low, high = sorted((int(first), int(last or first)))
    return Mention(start, stop, path_text, max(low, 1), max(high, 1))
