"""Turns a draft into the blocks of a prompt: its text, then what it mentions. `files` reads those."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from acp_tui.client.attachments.files import Limits, LineRange, Named, block_for
from acp_tui.conversation.content import ContentBlock, Text
from acp_tui.values import dataclass

_OPENING: Final = "([{<\"'“‘„«「『（【《"
_CLOSING: Final = ".,;:!?)]}>'\"”’»」』）】》…。，、；：！？"
MOST_NESTED: Final = 10
"""Mentions in mentions."""
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


def without_mentions(text: str) -> str:
    """The same for a reader of Markdown, in which nothing is mentioned: for text that is not the user's own."""
    for _ in range(MOST_NESTED):
        found = mentions(text)
        if not found:
            return text
        for mention in reversed(found):  # another may stand within, as in `@"a @b"`
            text = f"{text[: mention.start]}\\{text[mention.start :]}"
    return text.replace("@", "\\@")


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


_DEFAULT_LIMITS: Final = Limits()
MAX_SUFFIX: Final = 5
"""A name with a longer one is probably no file's."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A prompt with its attachments."""

    blocks: tuple[ContentBlock, ...]
    """The text, then one block for each file or folder, in the order of the mentions."""
    problems: tuple[str, ...]
    """Sentences for the user: what could not be attached as asked, and what was done instead."""


def attach(text: str, cwd: Path, *, limits: Limits = _DEFAULT_LIMITS) -> Attached:
    """The prompt for this text; a mention of no existing file is just text.

    It reads the disk, so run it in a thread. `cwd` is absolute; paths may lead anywhere, because the user names them.
    """
    found: list[Named] = []
    missing: list[str] = []
    for readings in each_reading(text):
        named = _find(readings, cwd)
        if named is not None:
            found.append(named)
        elif _looks_like_a_file(readings[-1].path_text):
            missing.append(f"no such file: {readings[-1].path_text}: it is sent as text")
    outcomes = [block_for(named, limits) for named in dict.fromkeys(found)]
    # Different wishes can end in the same block, such as a link to the file instead of lines that it has not.
    blocks = dict.fromkeys(block for block, _ in outcomes if block is not None)
    problems = (problem for _, problem in outcomes if problem is not None)
    return Attached((Text(text), *blocks), (*problems, *dict.fromkeys(missing)))


def _find(readings: Iterable[Mention], cwd: Path) -> Named | None:
    """What the first reading that names something names."""
    for mention in readings:
        path = _existing(mention.path_text, cwd)
        if path is not None:
            return Named(path, _lines(mention), mention.path_text)
    return None


def _looks_like_a_file(path_text: str) -> bool:
    """Whether it was probably meant as one; `@property` and `@someone` were not."""
    stem, dot, suffix = path_text.rpartition(".")
    has_suffix = bool(stem) and bool(dot) and suffix.isalnum() and len(suffix) <= MAX_SUFFIX
    return has_suffix or path_text.startswith(("./", "../", "/", "~/"))


def _existing(path_text: str, cwd: Path) -> Path | None:
    try:
        path = cwd / Path(path_text).expanduser() if _is_in_home(path_text) else cwd / path_text
        path.stat()
        # Whoever reads a URI may strike `..` out by its letters, which is wrong behind a symbolic link.
        return path.resolve() if ".." in path.parts else path
    except PermissionError:
        return path  # something is there, or may be: reading it will tell what is wrong
    except (OSError, ValueError, RuntimeError):  # no such file, not a possible name, no home
        return None


def _is_in_home(path_text: str) -> bool:
    """Only the user's own home: to ask for another's can mean to ask a server."""
    return path_text == "~" or path_text.startswith("~/")


def _lines(mention: Mention) -> LineRange | None:
    if mention.first_line is None or mention.last_line is None:
        return None
    return LineRange(mention.first_line, mention.last_line)
