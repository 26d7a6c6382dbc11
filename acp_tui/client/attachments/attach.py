"""Turns what a user wrote into the blocks of a prompt: the text as it stands, then what it mentions.

It does not read the files; `files` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acp_tui.client.attachments.files import Limits, Named, block_for
from acp_tui.client.attachments.mentions import Mention, each_reading
from acp_tui.client.attachments.reading import LineRange
from acp_tui.conversation.content import ContentBlock, Text

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
            missing.append(f"there is no file {readings[-1].path_text}: it is sent as text")
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
