"""Whether a path matches one of the user's globs. This module reads all globs: of rules and settings.

Globs work as in a .gitignore file. Without a slash inside, a glob matches that name at any depth of a workspace root.
With one, it begins at the root. `**` matches any number of directories, and everything below a match also matches. `*`,
`?`, and `[…]` match parts of one name, never a slash. Unlike in .gitignore, a glob that begins with `/` or `~` is
absolute, and `{a,b}` matches either.

`ResolvedPaths` reads from the disk where symbolic links lead. `is_spelled_in` only uses the spelling of paths. The
effort is limited by the length of the path times that of the glob.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote

IGNORES_CASE: Final = sys.platform in ("darwin", "win32")
"""Like these systems' disks, unless they were set up differently."""

_MAX_ALTERNATIVES: Final = 256
"""Globs that one glob with braces expands to."""
_BRACES: Final = re.compile(r"\{([^{},]*,[^{}]*)\}")
_FILE_URL: Final = re.compile(r"file:(?://[^/]*(?=/)|(?=/))", re.IGNORECASE)
_MAGIC: Final = re.compile("[*?[]")
_MAX_RESOLVED: Final = 10_000
"""Limit for the paths of one call to look up on the disk, because a command can have any number of words."""
_MAX_PATH: Final = 4096
"""Characters. No longer path can exist."""

_MAX_CHARACTERS: Final = 400_000
"""Limit for all paths of one call. The rest are ignored."""

Names: TypeAlias = tuple[str, ...]
"""The names of a path, from the top."""
Pattern: TypeAlias = tuple[re.Pattern[str] | None, ...]
"""One for each name; None for any number of names."""


class ResolvedPaths:
    """The places that paths name: as they are spelled, and where they lead.

    Creating it reads from the disk, which can block as long as a dead mount does. Use a thread if anything waits for
    it.
    """

    def __init__(self, paths: Sequence[str], roots: Sequence[Path], globs: Iterable[str] = ()) -> None:
        """A relative path counts as below each of the `roots`.

        `globs` are those that will be checked. For any other glob, links are resolved when it's checked.
        """
        ends = accumulate(min(len(path), _MAX_PATH) for path in paths)
        paths = [path for path, end in zip(paths, ends, strict=True) if end <= _MAX_CHARACTERS]
        spelled_roots = dict.fromkeys(map(str, roots))
        self._roots = {names for root in spelled_roots for names in map(_names, _spellings(root))}
        spelled = [place for path in paths for place in _absolute(path, spelled_roots)]
        resolved = [place for path in spelled[:_MAX_RESOLVED] for place in _spellings(path)]
        self._absolute = dict.fromkeys(map(_names, _existable([*map(os.path.normpath, spelled), *resolved])))
        relative = [os.path.normpath(path) for path in paths if not _is_absolute(path)]
        self._below_roots = dict.fromkeys(self._below(map(_names, _existable(relative))))
        self._names_below = {names[at : at + 1] for names in self._below_roots for at in range(max(len(names), 1))}
        self._globs = {one: _glob_spellings(one) for glob in globs for one in alternatives(glob) if _is_absolute(one)}

    def any_match(self, glob: str) -> bool:
        """Whether one of them matches `glob` or is below a match."""
        return any(map(self._is_covered, alternatives(glob)))

    def _is_covered(self, glob: str) -> bool:
        if _is_absolute(glob):
            spellings = self._globs.get(glob) or _glob_spellings(glob)
            return any(_covers(pattern_of(one), names) for one in spellings for names in self._absolute)
        if "/" in glob.rstrip("/"):
            pattern = pattern_of(os.path.normpath(glob))
            return any(_covers(pattern, names) for names in self._below_roots)
        # At any depth: checking each name once is much faster than checking each path.
        return any(_covers(pattern_of(glob), name) for name in self._names_below)

    def _below(self, relative: Iterable[Names]) -> Iterator[Names]:
        yield from (names for names in relative if names[:1] != ("..",))
        for names in self._absolute:
            yield from (names[len(root) :] for root in self._roots if names[: len(root)] == root)


def is_spelled_in(path: str, glob: str, roots: Iterable[str]) -> bool:
    """Whether `path` matches `glob` or is below a match, judging only by spelling.

    A relative path counts as below each of the `roots`. Outside all of them, a name matches at any depth.
    """
    spelled_roots = tuple(dict.fromkeys(roots))
    paths = [_names(os.path.normpath(one)) for one in _absolute(path, spelled_roots or ("/",))]
    below = [names[len(root) :] for root in map(_names, spelled_roots) for names in paths if names[: len(root)] == root]
    for one in alternatives(glob):
        if _is_absolute(one):
            found = any(_covers(pattern_of(os.path.normpath(_absolute(one, ())[0])), names) for names in paths)
        elif "/" in one.rstrip("/"):
            found = any(_covers(pattern_of(os.path.normpath(one)), names) for names in below)
        else:
            found = any(_covers(pattern_of(f"**/{one}"), names) for names in below or paths)
        if found:
            return True
    return False


def _existable(paths: Iterable[str]) -> Iterator[str]:
    return (path for path in paths if len(path) <= _MAX_PATH)


@lru_cache(maxsize=256)
def alternatives(glob: str) -> tuple[str, ...]:
    """The globs that one with `{a,b}` expands to, including itself, because file names may contain braces."""
    globs = [glob]
    for one in globs:  # grows during the loop
        braces = _BRACES.search(one)
        if braces and len(globs) < _MAX_ALTERNATIVES:
            globs += [one[: braces.start()] + each + one[braces.end() :] for each in braces[1].split(",")]
    return tuple(globs)


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or is_file_url(path)


def is_file_url(text: str) -> bool:
    """Whether it's the address of a file on this machine, in any spelling: `FILE:/x`, `file://LOCALHOST/x`."""
    return _FILE_URL.match(text) is not None


def _absolute(path: str, roots: Iterable[str]) -> list[str]:
    """The places that `path` may mean, without resolving links and `..`."""
    if is_file_url(path):
        path = "/" + unquote(_FILE_URL.sub("", path, count=1)).lstrip("/")
    if not _is_absolute(path):
        return [f"{root}/{path}" for root in roots]
    try:
        return [os.path.expanduser(path)]  # noqa: PTH111 - a Path would lose its spelling
    except ValueError:  # an impossible user name
        return [path]


def _spellings(path: str) -> list[str]:
    plain = os.path.normpath(path)
    if len(path) > _MAX_PATH:
        return [plain]
    try:
        return [plain, os.path.realpath(path)]
    except (OSError, ValueError):  # not a path: it contains a NUL or a lone surrogate
        return [plain]


def _glob_spellings(glob: str) -> list[str]:
    """An absolute glob, and the same with the links before its first wildcard resolved."""
    glob = _absolute(glob, ())[0]
    magic = _MAGIC.search(glob)
    head, slash, tail = glob[: magic.start() if magic else None].rpartition("/")
    if magic is None:
        return _spellings(glob)
    rest = slash + tail + glob[magic.start() :]
    return [one.rstrip("/") + rest for one in _spellings(head or "/")]


def _names(path: str) -> Names:
    path = unicodedata.normalize("NFC", path.casefold() if IGNORES_CASE else path)
    return tuple(name for name in path.split("/") if name not in ("", "."))


@lru_cache(maxsize=256)
def pattern_of(glob: str) -> Pattern:
    names = [name for before, name in pairwise(("", *_names(glob))) if not before == name == "**"]
    return tuple(None if name == "**" else re.compile(translate(name)) for name in names)


def _covers(pattern: Pattern, names: Names) -> bool:
    states = _with_skips(pattern, {0})
    for name in names:
        if len(pattern) in states:
            return True
        after = set()
        for state in states:
            part = pattern[state]
            if part is None:
                after.add(state)
            elif part.match(name):
                after.add(state + 1)
        states = _with_skips(pattern, after)
    return len(pattern) in states


def _with_skips(pattern: Pattern, states: set[int]) -> set[int]:
    """`states`, and those reached if a `**` matches nothing."""
    reached = set(states)
    for state in states:
        while state < len(pattern) and pattern[state] is None:
            state += 1
            reached.add(state)
    return reached
