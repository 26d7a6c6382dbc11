"""Contents of files: which are left out, and the text that stands for them, line by line as long; which text is
one, is `places`' to know.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count
from typing import Final

from acp_tui.client.path_globs import is_spelled_in

_LETTERS: Final = "xwvz"
_WIDE_LETTERS: Final = "ｘｗｖｚ"
_FILLED: Final = re.compile(rf"[{_LETTERS}{_WIDE_LETTERS}\s]*")


@dataclass(slots=True)
class Contents:
    """Whose contents are left out, and of how many files that was so.

    Lines that were equal stay so, and others differ, so that a diff keeps its shape; what they were cannot be had from
    what stands for them, since that depends on a number that nobody keeps.
    """

    drop: Sequence[str] = ()
    """Globs: of these files."""
    keep: Sequence[str] | None = None
    """Globs: of all files but these."""
    dropped: set[str] = field(default_factory=set)
    """The files, as they were called."""
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def drops(self, path: str, roots: Sequence[str]) -> bool:
        """Whether this file's contents are to be left out.

        `roots` are the folders of sessions. What is kept lies where a glob says, seen from one of them; what is left
        out, from any folder: in doubt a file is left out.
        """
        path = path.replace("\\", "/")
        if self.keep is not None:
            return not any(is_spelled_in(path, glob, roots) for glob in self.keep)
        return any(is_spelled_in(path, _at_any_depth(glob), (*roots, "/")) for glob in self.drop)

    def filler(self, path: str, text: str) -> str:
        """What stands for the file's text."""
        filled = "".join(map(self._fill, text.splitlines(keepends=True)))
        if filled != text:
            self.dropped.add(path)
        return filled

    def _fill(self, line: str) -> str:
        if _FILLED.fullmatch(line):
            return line
        digits = _digits(line.strip(), self._key)
        return "".join(_letter(char, digit) for char, digit in zip(line, digits, strict=False))


def _digits(line: str, key: bytes) -> Iterator[int]:
    """Numbers from 0 to 3 without end, which the line and nothing less gives."""
    data = line.encode("utf-8", "surrogatepass")
    for number in count():
        for byte in blake2b(data, key=key, salt=number.to_bytes(8, "big")).digest():
            yield from ((byte >> shift) & 3 for shift in (0, 2, 4, 6))


def _letter(char: str, digit: int) -> str:
    if char.isspace() or unicodedata.category(char)[0] in "MC":
        return char
    return (_WIDE_LETTERS if unicodedata.east_asian_width(char) in "WF" else _LETTERS)[digit]


def _at_any_depth(glob: str) -> str:
    return glob if glob.startswith(("/", "~")) else f"**/{glob.removeprefix('./')}"
