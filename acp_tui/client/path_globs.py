"""Whether a path lies where a glob of the user's says. All globs are read here: of rules, settings and redaction.

A glob is read as in a .gitignore: without a slash inside, it stands for that name at any depth of a workspace root;
with one, it begins at the root; `**` stands for any number of directories; and whatever lies below a match matches
too. `*`, `?` and `[…]` stand for parts of one name, never for a slash. Otherwise than there, one that begins with `/`
or `~` is absolute, and `{a,b}` stands for either.

`Places` asks the disk where symbolic links lead; `is_spelled_in` only looks at how paths are spelled. The effort grows
with the length of the path times that of the glob, whatever they are.
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
"""As the disks of these systems do, unless they were set up otherwise."""

_MAX_ALTERNATIVES: Final = 256
"""Globs that one glob with braces stands for."""
_BRACES: Final = re.compile(r"\{([^{},]*,[^{}]*)\}")
_MAGIC: Final = re.compile("[*?[]")
_MAX_RESOLVED: Final = 200
"""Paths of one call that are looked up on the disk; a command can have any number of words."""
_MAX_PATH: Final = 4096
"""Characters; no longer path can exist."""

_MAX_CHARACTERS: Final = 50_000
"""Of all paths of one call; those behind are not looked at."""

Names: TypeAlias = tuple[str, ...]
"""The names of a path, from the top."""
Pattern: TypeAlias = tuple[re.Pattern[str] | None, ...]
"""One for each name; None for any number of names."""


class Places:
    """The places that paths name: as they are spelled, and where they lead.

    The disk is asked when they are made, which can take as long as a dead mount likes: in a thread, if anybody waits.
    """

    def __init__(self, paths: Sequence[str], roots: Sequence[Path], globs: Iterable[str] = ()) -> None:
        """A path that is not absolute is taken to lie below each of the `roots`.

        `globs` are those that will be asked about; of any other it is found out then where its links lead.
        """
        paths = _not_too_many(paths)
        spelled_roots = dict.fromkeys(map(str, roots))
        self._roots = {names for root in spelled_roots for names in map(_names, _spellings(root))}
        spelled = [place for path in paths for place in _absolute(path, spelled_roots)]
        resolved = [place for path in spelled[:_MAX_RESOLVED] for place in _spellings(path)]
        self._absolute = dict.fromkeys(map(_names, _existable([*map(os.path.normpath, spelled), *resolved])))
        relative = [os.path.normpath(path) for path in paths if not _is_absolute(path)]
        self._below_roots = dict.fromkeys(self._below(map(_names, _existable(relative))))
        self._names_below = {
            names[at : at + 1] for names in self._below_roots for at in range(max(len(names), 1))
        }
        self._globs = {
            one: _glob_spellings(one) for glob in globs for one in _alternatives(glob) if _is_absolute(one)
        }

    def any_match(self, glob: str) -> bool:
        """Whether one of them is where `glob` says, or below."""
        return any(map(self._is_covered, _alternatives(glob)))

    def _is_covered(self, glob: str) -> bool:
        if _is_absolute(glob):
            spellings = self._globs.get(glob) or _glob_spellings(glob)
            return any(_covers(_pattern(one), names) for one in spellings for names in self._absolute)
        if "/" in glob.rstrip("/"):
            pattern = _pattern(os.path.normpath(glob))
            return any(_covers(pattern, names) for names in self._below_roots)
        # At any depth: to look at each name once is much faster than at each path.
        return any(_covers(_pattern(glob), name) for name in self._names_below)

    def _below(self, relative: Iterable[Names]) -> Iterator[Names]:
        yield from (names for names in relative if names[:1] != ("..",))
        for names in self._absolute:
            yield from (names[len(root) :] for root in self._roots if names[: len(root)] == root)


def is_spelled_in(path: str, glob: str, roots: Iterable[str]) -> bool:
    """Whether `path` lies where `glob` says, or below, as far as can be told from how both are spelled.

    A path that is not absolute is taken to lie below each of the `roots`. Outside of all of them, a name is looked for
    at any depth.
    """
    spelled_roots = tuple(dict.fromkeys(roots))
    paths = [_names(os.path.normpath(one)) for one in _absolute(path, spelled_roots or ("/",))]
    below = [
        names[len(root) :]
        for root in map(_names, spelled_roots)
        for names in paths
        if names[: len(root)] == root
    ]
    for one in _alternatives(glob):
        if _is_absolute(one):
            found = any(_covers(_pattern(os.path.normpath(_absolute(one, ())[0])), names) for names in paths)
        elif "/" in one.rstrip("/"):
            found = any(_covers(_pattern(os.path.normpath(one)), names) for names in below)
        else:
            found = any(_covers(_pattern(f"**/{one}"), names) for names in below or paths)
        if found:
            return True
    return False


def _not_too_many(paths: Sequence[str]) -> list[str]:
    ends = accumulate(min(len(path), _MAX_PATH) for path in paths)
    return [path for path, end in zip(paths, ends, strict=True) if end <= _MAX_CHARACTERS]


def _existable(paths: Iterable[str]) -> Iterator[str]:
    return (path for path in paths if len(path) <= _MAX_PATH)


@lru_cache(maxsize=256)
def _alternatives(glob: str) -> tuple[str, ...]:
    """The globs that one with `{a,b}` stands for, also as it is: files may be named so."""
    globs = [glob]
    for one in globs:  # grows on the way
        braces = _BRACES.search(one)
        if braces and len(globs) < _MAX_ALTERNATIVES:
            globs += [one[: braces.start()] + each + one[braces.end() :] for each in braces[1].split(",")]
    return tuple(globs)


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~", "file://"))


def _absolute(path: str, roots: Iterable[str]) -> list[str]:
    """The places that `path` may mean, links and `..` in it not followed."""
    if path.startswith("file://"):
        path = "/" + unquote(path.removeprefix("file://").removeprefix("localhost")).lstrip("/")
    if not _is_absolute(path):
        return [f"{root}/{path}" for root in roots]
    try:
        return [os.path.expanduser(path)]  # noqa: PTH111 - a Path would lose how it is spelled
    except ValueError:  # a user of no possible name
        return [path]


def _spellings(path: str) -> list[str]:
    """The path without `..`, and where links lead."""
    plain = os.path.normpath(path)
    if len(path) > _MAX_PATH:
        return [plain]
    try:
        return [plain, os.path.realpath(path)]
    except (OSError, ValueError):  # no path at all: it has a NUL or half a character
        return [plain]


def _glob_spellings(glob: str) -> list[str]:
    """An absolute glob, and with the links followed that lead to its first wildcard."""
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
def _pattern(glob: str) -> Pattern:
    names = [name for before, name in pairwise(("", *_names(glob))) if not before == name == "**"]
    return tuple(None if name == "**" else re.compile(translate(name)) for name in names)


def _covers(pattern: Pattern, names: Names) -> bool:
    """Whether `pattern` matches `names` or the beginning of it."""
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
    """`states`, and those that are reached where a `**` stands for nothing."""
    reached = set(states)
    for state in states:
        while state < len(pattern) and pattern[state] is None:
            state += 1
            reached.add(state)
    return reached
