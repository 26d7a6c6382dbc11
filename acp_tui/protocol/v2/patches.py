"""Reads git patches: for each file, the lines before and after its changes, and their line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import islice
from typing import Final, NamedTuple

from acp_tui.conversation.tool_calls import HunkStart, TextDiff
from acp_tui.conversation.visible.cutting import MAX_ITEMS
from acp_tui.values import dataclass

_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_FILE: Final = "/dev/null"
_SAYS_NO_MORE: Final = re.compile(
    r"index [0-9a-f]+\.\.[0-9a-f]+(?: 100[0-7]{3})?$|new file mode 100644$|deleted file mode 100[0-7]{3}$"
    r"|(?:dis)?similarity index \d{1,3}%$"
)
"""Lines that a diff can omit without losing anything. One with another file mode, such as a link's, doesn't count."""
_NO_END: Final = "\\ No newline at end of file"
_MOVED: Final = re.compile(r"(?:rename|copy) (?:from|to) (.+)")


class PatchedFile(NamedTuple):
    diff: TextDiff
    operation: str
    """add, delete or modify."""


@dataclass(frozen=True, slots=True)
class Patch:
    """The part of a patch that consists of file diffs."""

    files: tuple[PatchedFile, ...]
    """Files with changed lines, in order. A file may appear more than once."""
    moved: frozenset[str]
    """The old and new paths of moved or copied files."""
    is_whole: bool
    """Whether `files` and `moved` show everything in the patch. Otherwise only its text does."""


@dataclass(slots=True)
class _File:
    old_path: str = _NO_FILE
    path: str = _NO_FILE
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    hunks: list[HunkStart] = field(default_factory=list)
    last: tuple[list[str], ...] = ()
    """Where the last line was added."""
    moved: list[str] = field(default_factory=list)
    is_odd: bool = False
    """Whether it has lines that fit none of the other fields."""

    @property
    def operation(self) -> str:
        return "add" if self.old_path == _NO_FILE else "delete" if self.path == _NO_FILE else "modify"

    @property
    def diff(self) -> TextDiff:
        is_new, is_gone = self.old_path == _NO_FILE, self.path == _NO_FILE
        # The patch has all lines of an added or deleted file.
        hunks = () if is_new or is_gone else tuple(self.hunks)
        return TextDiff(
            self.old_path if is_gone else self.path,
            "".join(self.new),
            None if is_new else "".join(self.old),
            hunks=hunks,
        )


def read_git_patch(text: str) -> Patch:
    """Read a git patch. If it isn't whole, showing only its diffs hides something."""
    sections = _sections(text)
    files = [_read(section) for section in islice(sections, MAX_ITEMS)]
    return Patch(
        tuple(PatchedFile(file.diff, file.operation) for file in files if file.hunks),
        frozenset(path for file in files for path in file.moved),
        is_whole=not any(file.is_odd for file in files) and next(sections, None) is None,
    )


def write_git_patch(diff: TextDiff, *, is_gone: bool) -> str:
    """Write what `read_git_patch` reads as this diff, of a file that is deleted with it if `is_gone`."""
    old, new = _lines(diff.old_text or ""), _lines(diff.new_text)
    was, is_now = _NO_FILE if diff.old_text is None else diff.path, _NO_FILE if is_gone else diff.path
    written = [f"diff --git {diff.path} {diff.path}\n--- {was}\n+++ {is_now}\n"]
    starts = diff.hunks or (HunkStart(0, min(len(old), 1), 0, min(len(new), 1)),)
    for start, (old_end, _, new_end, _) in zip(starts, [*starts[1:], (len(old), 0, len(new), 0)], strict=True):
        lines = [("-", line) for line in old[start.old_at : old_end]]
        lines += [("+", line) for line in new[start.new_at : new_end]]
        sides = f"-{start.old_line},{old_end - start.old_at} +{start.new_line},{new_end - start.new_at}"
        written.append(f"@@ {sides} @@\n")
        written += (f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_END}\n" for sign, line in lines)
    return "".join(written)


def _sections(text: str) -> Iterator[Sequence[str]]:
    """Yield the lines of each file, with their line ends."""
    section: list[str] = []
    for line in _lines(text):
        if line.startswith("diff --git ") and section:
            yield section
            section = []
        section.append(line)
    if section:
        yield section


def _lines(text: str) -> list[str]:
    """Split at newlines only; a file's own CR stays with its line."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _read(section: Sequence[str]) -> _File:
    file = _File()
    old_left = new_left = 0
    heads_left = {"--- ", "+++ "}
    for number, line in enumerate(section):
        if old_left > 0 or new_left > 0 or (line.startswith("\\") and file.last):
            taken = _take(file, line, old_left, new_left)
            old_left, new_left = old_left - taken[0], new_left - taken[1]
        elif line[:4] in heads_left and not file.hunks:
            heads_left.remove(line[:4])
            if line[0] == "-":
                file.old_path = _path(line[4:])
            else:
                file.path = _path(line[4:])
        elif (found := _HUNK.match(line)) is not None:
            old_line, old_left, new_line, new_left = (int(part or 1) for part in found.groups("1"))
            file.hunks.append(HunkStart(len(file.old), old_line, len(file.new), new_line))
        elif (moved := _MOVED.match(line)) is not None:
            file.moved.append(_path(moved[1]))
        elif not (number == 0 and line.startswith("diff --git ")) and not _SAYS_NO_MORE.match(line):
            file.is_odd = file.is_odd or bool(line.strip())
    # Without lines or without a head, only the first line names the file.
    is_cut = old_left or new_left or (heads_left if file.hunks else not file.moved)
    file.is_odd = file.is_odd or bool(is_cut)
    return file


def _take(file: _File, line: str, old_left: int, new_left: int) -> tuple[int, int]:
    """Add a line of a hunk. Returns how many lines of the old and new text it was."""
    match line[:1]:
        case "-" if old_left:
            file.last = (file.old,)
        case "+" if new_left:
            file.last = (file.new,)
        case "\\":  # the previous line has no line end
            for lines in file.last:
                lines[-1] = lines[-1].removesuffix("\n")
            return 0, 0
        case _:
            file.is_odd = file.is_odd or not (old_left and new_left and line[:1] in (" ", "\n"))
            file.last = (file.old, file.new)
    for lines in file.last:
        lines.append(line[1:] if line[:1] in ("-", "+", " ") else line)
    is_of = [any(lines is one for one in file.last) for lines in (file.old, file.new)]
    return int(is_of[0]), int(is_of[1])


def _path(said: str) -> str:
    """Return the path as written: absolute, or with git's prefix."""
    path = said.split("\t")[0].rstrip("\r\n")
    if len(path) > 1 and path.startswith('"') and path.endswith('"'):
        path = path[1:-1]
    return path
