"""What a git patch says of each file: the lines before and after its changes, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final

from acp_tui.conversation.tool_calls import HunkStart, TextDiff
from acp_tui.values import dataclass

_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_FILE: Final = "/dev/null"


@dataclass(slots=True)
class _File:
    old_path: str = _NO_FILE
    path: str = _NO_FILE
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    hunks: list[HunkStart] = field(default_factory=list)
    last: tuple[list[str], ...] = ()
    """Where the last line was added."""

    @property
    def diff(self) -> TextDiff:
        is_new, is_gone = self.old_path == _NO_FILE, self.path == _NO_FILE
        # All lines of a file that comes or goes are in the patch.
        hunks = () if is_new or is_gone else tuple(self.hunks)
        return TextDiff(
            self.old_path if is_gone else self.path,
            "".join(self.new),
            None if is_new else "".join(self.old),
            hunks=hunks,
        )


def read_git_patch(text: str) -> dict[str, TextDiff]:
    """The diff of each file by its path, the new one where it has moved; files without lines are left out.

    What is not of the form of a patch is skipped: whoever shows a change without its text says so.
    """
    files = (_read(section) for section in _sections(text))
    return {file.diff.path: file.diff for file in files if file.hunks}


def _sections(text: str) -> Iterator[Sequence[str]]:
    """The lines of each file, with their ends."""
    section: list[str] = []
    for line in _lines(text):
        if line.startswith("diff --git ") and section:
            yield section
            section = []
        section.append(line)
    if section:
        yield section


def _lines(text: str) -> list[str]:
    """Only a newline ends a line; a file's own CR stays with its line."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _read(section: Sequence[str]) -> _File:
    file = _File()
    old_left = new_left = 0
    for line in section:
        if old_left > 0 or new_left > 0 or line.startswith("\\"):
            taken = _take(file, line, old_left, new_left)
            old_left, new_left = old_left - taken[0], new_left - taken[1]
        elif line.startswith("--- "):
            file.old_path = _path(line[4:])
        elif line.startswith("+++ "):
            file.path = _path(line[4:])
        elif (found := _HUNK.match(line)) is not None:
            old_line, old_left, new_line, new_left = (int(part or 1) for part in found.groups("1"))
            file.hunks.append(HunkStart(len(file.old), old_line, len(file.new), new_line))
    return file


def _take(file: _File, line: str, old_left: int, new_left: int) -> tuple[int, int]:
    """Add a line of a hunk; gives how many lines of the old text and of the new one that was."""
    match line[:1]:
        case "-" if old_left:
            file.last = (file.old,)
        case "+" if new_left:
            file.last = (file.new,)
        case "\\":  # the line before has no end
            for lines in file.last:
                lines[-1] = lines[-1].removesuffix("\n")
            return 0, 0
        case _:
            file.last = (file.old, file.new)
    for lines in file.last:
        lines.append(line[1:] if line[:1] in ("-", "+", " ") else line)
    is_of = [any(lines is one for one in file.last) for lines in (file.old, file.new)]
    return int(is_of[0]), int(is_of[1])


def _path(said: str) -> str:
    """As it stands there: absolute, or with the prefix of git."""
    path = said.split("\t")[0].rstrip("\r\n")
    if len(path) > 1 and path.startswith('"') and path.endswith('"'):
        path = path[1:-1]
    return path
