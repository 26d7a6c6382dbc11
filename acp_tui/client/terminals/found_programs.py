"""The programs and scripts that a command names, as they are now, so that a later change is noticed. Starts nothing."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final, TypeAlias

from acp_tui.client.processes.launcher import identity_of
from acp_tui.values import dataclass

# What the user is asked about is decided now but may run minutes later. If a program, or a script for an interpreter,
# is replaced in between, it isn't the same one anymore. Lines aren't parsed: every word may be a program.

Words: TypeAlias = tuple[str, ...]
"""A program and its arguments."""
Identity: TypeAlias = tuple[int, ...]
"""The result of `identity_of`, which is compared again just before the exec."""

INTERPRETERS: Final = re.compile(
    r"(?:ba|da|a|z|k|mk|fi|tc|c)?sh|source|\.|(?:python|pypy|ruby|perl|php|lua|luajit|tclsh|node|nodejs|deno|bun)[\d.]*"
    r"|Rscript|osascript|pwsh|julia|guile|escript|groovy|java|tsx|ts-node"
)
"""Programs that run the file named in their arguments."""
_RUNS_SCRIPT: Final = re.compile(rf"(?<![\w.-])(?:{INTERPRETERS.pattern})[ \t]+(?!-\w*c(?!\S))")
"""With `-c`, a shell runs its argument. That is a line, and its words are there to be found."""
_BETWEEN_WORDS: Final = re.compile(r"[\s;&|<>(){}`$=,:]+")
_QUOTES: Final = re.compile(r"['\"\\]")
_MAX_PROGRAMS: Final = 200


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """A program or script as it was found; its identity is None if there's no such file."""

    name: str
    """The name in the command."""
    path: str = ""
    """Absolute, or relative to the command's folder."""
    identity: Identity | None = None


def find_program(name: str, search_path: str, folder: int) -> FoundProgram:
    """What the system would run for `name` with this PATH, in the folder open as `folder`.

    Raises OSError if there is none, or none that can be executed.
    """
    directories = [""] if "/" in name else search_path.split(":")
    reason = errno.ENOENT
    for directory in directories:
        path = f"{directory}/{name}" if directory else name if "/" in name else f"./{name}"
        identity = _identity(path, folder)
        if identity is not None and os.access(path, os.X_OK, dir_fd=folder):
            return FoundProgram(name, path, identity)
        if identity is not None:
            reason = errno.EACCES
    raise OSError(reason, os.strerror(reason), name)


def programs_in(runs: Sequence[Words], search_path: str, folder: int) -> tuple[FoundProgram, ...]:
    """What the words of these commands name: programs, and if there's an interpreter, the files it may run."""
    found: dict[tuple[str, bool], FoundProgram] = {}
    for words in runs:
        has_script = _RUNS_SCRIPT.search(_QUOTES.sub("", " ".join(words))) is not None
        for name in islice(_names_in(words), _MAX_PROGRAMS):
            found.setdefault((name, True), _found_or_missing(name, search_path, folder))
            if has_script:
                found.setdefault((name, False), FoundProgram(name, name, _identity(name, folder)))
    return tuple(found.values())


def _names_in(words: Words) -> Iterator[str]:
    """Each word, and each part of it that a shell may see as one, however it's quoted."""
    for word in words:
        parts = chain(_BETWEEN_WORDS.split(_QUOTES.sub("", word)), _BETWEEN_WORDS.split(_QUOTES.sub(" ", word)))
        yield from dict.fromkeys(filter(None, chain([word], parts)))


def _found_or_missing(name: str, search_path: str, folder: int) -> FoundProgram:
    """The program, or a record that it's missing: it may be a shell word, or appear later, which would be a change."""
    try:
        return find_program(name, search_path, folder)
    except OSError:
        return FoundProgram(name)


def _identity(path: str, folder: int) -> Identity | None:
    try:
        status = os.stat(path, dir_fd=folder)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return identity_of(status)
