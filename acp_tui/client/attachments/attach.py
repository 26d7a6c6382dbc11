"""Turns a draft into the blocks of a prompt: its text, then the files it mentions, which `files` reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from acp_tui.client.attachments.files import AttachmentLimits, MentionedLines, NamedPath, block_for
from acp_tui.conversation.content import ContentBlock, Text
from acp_tui.values import dataclass

_OPENING: Final = "([{<\"'“‘„«「『（【《"
_CLOSING: Final = ".,;:!?)]}>'\"”’»」』）】》…。，、；：！？"
MAX_NESTED: Final = 10
_MAX_KEPT_CLOSING: Final = 8  # in a name; "@x......" must not cause a disk access for each dot

# Code comes first, so that it includes the mentions in it. An unclosed fence continues to the end. A backtick without a
# match in the same paragraph is just a backtick. The length limit keeps a text full of them from taking seconds.
_CODE_OR_MENTION: Final = re.compile(
    rf"""
      ^[ \t>]* (?P<fence> `{{3,}}(?=[^`\n]*$) | ~{{3,}} ) .*? (?: ^[ \t>]*(?P=fence)[`~]*[ \t\r]*$ | \Z )
    | (?<!`)(?P<ticks>`+)(?!`) (?:(?!\n[ \t\r]*\n).){{1,1000}}? (?<!`)(?P=ticks)(?!`)
    | (?: \A | (?<=[\s{re.escape(_OPENING)}]) ) @
      (?: "(?P<quoted>[^"\n]+)" (?P<lines> :[0-9]{{1,9}} (?: -[0-9]{{1,9}} )? )?
        | (?P<word>[^\s`"][^\s`]*) )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_WITH_LINES: Final = re.compile(r"(?P<path>.+):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")

_OTHER_LINES: Final = re.compile("[:#]")
"""What begins lines that aren't read as such: `a.py:3:7`, `a.py#L3`."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that names a file, or seems to."""

    start: int
    stop: int
    path_text: str
    """As written, without quotes and lines."""
    lines: MentionedLines | None = None
    """None for the whole file."""


def mentions(text: str) -> list[Mention]:
    """Every mention outside code, in order, without the punctuation after it."""
    return [readings[-1] for readings in each_reading(text)]


def without_mentions(text: str) -> str:
    """Markdown that reads the same but contains no mentions, for text that isn't the user's own."""
    for _ in range(MAX_NESTED):
        found = mentions(text)
        if not found:
            return text
        for mention in reversed(found):  # another may be inside, as in `@"a @b"`
            text = f"{text[: mention.start]}\\{text[mention.start :]}"
    return text.replace("@", "\\@")


def each_reading(text: str) -> Iterator[Sequence[Mention]]:
    """The possible readings of every mention, longest name first: `a.py.` and `a.py:3` may be names, too."""
    if "@" not in text:
        return
    for piece in _CODE_OR_MENTION.finditer(text):
        if readings := _readings(piece):
            yield readings


def _readings(piece: re.Match[str]) -> list[Mention]:
    """The possible readings of a piece of the text; empty if it's code."""
    if piece["quoted"] is not None:  # the lines may be in the quotes, too
        return list(_readings_of_name(piece.start(), piece.end(), piece["quoted"] + (piece["lines"] or "")))
    return list(_readings_of_word(piece.start(), piece["word"] or ""))


def _readings_of_word(start: int, word: str) -> Iterator[Mention]:
    shortest = len(word.rstrip(_CLOSING))
    # In many projects, imports use `@/` for the project's root. Here it names nothing.
    if not word[:shortest].strip("/"):
        return
    for length in range(min(len(word), shortest + _MAX_KEPT_CLOSING), shortest - 1, -1):
        yield from _readings_of_name(start, start + len("@") + length, word[:length])


def _readings_of_name(start: int, stop: int, name: str) -> Iterator[Mention]:
    """Swaps lines in the wrong order. Line 0 means 1, as in the protocol (R-FS-2)."""
    yield Mention(start, stop, name)
    if match := _WITH_LINES.fullmatch(name):
        low, high = sorted((int(match["first"]), int(match["last"] or match["first"])))
        yield Mention(start, stop, match["path"], MentionedLines(max(low, 1), max(high, 1)))


_DEFAULT_LIMITS: Final = AttachmentLimits()
MAX_SUFFIX: Final = 5
"""A longer suffix is probably not a file's."""


@dataclass(frozen=True, slots=True)
class Attached:
    blocks: tuple[ContentBlock, ...]
    """The text, then one block for each file or folder, in the order of the mentions."""
    problems: tuple[str, ...]
    """Sentences for the user: what couldn't be attached as requested, and what was done instead."""


def attach(text: str, cwd: Path, *, limits: AttachmentLimits = _DEFAULT_LIMITS) -> Attached:
    """The prompt for this text. A mention of a file that doesn't exist is just text.

    Reads from the disk, so run it in a thread. `cwd` is absolute. Paths may lead anywhere, because the user names them.
    """
    found: list[NamedPath] = []
    missing: list[str] = []
    for readings in each_reading(text):
        named = _find(readings, cwd)
        if named is not None:
            found.append(named)
        elif _is_meant_as_a_file(readings[-1], cwd):
            written = text[readings[-1].start + len("@") : readings[-1].stop]
            missing.append(f"no such file: {written}: it is sent as text")
    outcomes = [block_for(named, limits) for named in dict.fromkeys(found)]
    # Different mentions can result in the same block, such as a link to the file instead of lines it doesn't have.
    blocks = dict.fromkeys(block for block, _ in outcomes if block is not None)
    problems = (problem for _, problem in outcomes if problem is not None)
    return Attached((Text(text), *blocks), (*problems, *dict.fromkeys(missing)))


def missing_in(text: str, cwd: Path) -> frozenset[str]:
    """The mentions, as they are written, that name no file. Reads from the disk."""
    every = [(readings[-1], _find(readings, cwd)) for readings in each_reading(text)]
    return frozenset(text[mention.start : mention.stop] for mention, found in every if found is None)


def _find(readings: Iterable[Mention], cwd: Path) -> NamedPath | None:
    """The file or folder of the first reading that has one."""
    for mention in readings:
        path = _existing(mention.path_text, cwd)
        if path is not None:
            return NamedPath(path, mention.lines, mention.path_text)
    return None


def _is_meant_as_a_file(mention: Mention, cwd: Path) -> bool:
    """Whether it was probably meant as a file, unlike `@property` and `@someone`."""
    path_text = mention.path_text
    stem, dot, suffix = path_text.rpartition(".")
    has_suffix = bool(stem) and bool(dot) and suffix.isalnum() and len(suffix) <= MAX_SUFFIX
    if has_suffix or path_text.startswith(("./", "../", "/", "~/")):
        return True
    name = _OTHER_LINES.split(path_text, maxsplit=1)[0]
    return mention.lines is not None if name == path_text else bool(name and _existing(name, cwd))


def _existing(path_text: str, cwd: Path) -> Path | None:
    try:
        # Only the user's own home, because looking up another user's may query a server.
        is_in_home = path_text == "~" or path_text.startswith("~/")
        path = cwd / Path(path_text).expanduser() if is_in_home else cwd / path_text
        path.stat()
        # Readers of a URI may remove `..` textually, which is incorrect after a symbolic link.
        return path.resolve() if ".." in path.parts else path
    except PermissionError:
        return path  # it exists or may exist; reading it reports any problem
    except (OSError, ValueError, RuntimeError):  # no such file, an impossible name, or no home
        return None
