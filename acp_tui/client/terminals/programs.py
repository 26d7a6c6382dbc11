"""Which programs a command would run, and whether they are still the same files later; it runs none of them.

What the user is asked about is decided now, and may run minutes later: a program, or a script that an interpreter is
given, that was replaced meanwhile is another one. What stands inside of a line for a shell, the caller reads.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename
from typing import Final, TypeAlias

from acp_tui.client.terminals.launcher import identity_of

Words: TypeAlias = tuple[str, ...]
"""A program and its arguments."""
Identity: TypeAlias = tuple[int, ...]
"""As `identity_of` gives it, which compares it once more at the last moment."""

INTERPRETERS: Final = re.compile(
    r"(?:ba|da|a|z|k|mk|fi|tc|c)?sh|source|\.|(?:python|pypy|ruby|perl|php|lua|luajit|tclsh|node|nodejs|deno|bun)[\d.]*"
    r"|Rscript|osascript|pwsh|julia|guile|escript|groovy|java|tsx|ts-node"
)
"""Programs that run the file which their arguments name."""
_MOST_PROGRAMS: Final = 200
_MOST_SCRIPT_WORDS: Final = 8
"""Of an interpreter's arguments: options, then the script."""


@dataclass(frozen=True, slots=True)
class Found:
    """A program or script as it was found; None where there is no such file."""

    name: str
    """As the command has it."""
    path: str = ""
    """Absolute, or relative to the folder of the command."""
    identity: Identity | None = None


def find_program(name: str, search_path: str, folder: int) -> Found:
    """What the system would run for `name` in the folder that is open as `folder`, with this PATH.

    Raises OSError where there is none, or none that can be executed.
    """
    directories = [""] if "/" in name else search_path.split(":")
    reason = errno.ENOENT
    for directory in directories:
        path = f"{directory}/{name}" if directory else name if "/" in name else f"./{name}"
        identity = _identity(path, folder)
        if identity is not None and os.access(path, os.X_OK, dir_fd=folder):
            return Found(name, path, identity)
        if identity is not None:
            reason = errno.EACCES
    raise OSError(reason, os.strerror(reason), name)


def programs_in(commands: Sequence[Words], search_path: str, folder: int) -> tuple[Found, ...]:
    """The programs of these commands, with the scripts that interpreters are given."""
    found: dict[tuple[str, bool], Found] = {}
    for words in commands[:_MOST_PROGRAMS]:
        found.setdefault((words[0], True), _found_or_missing(words[0], search_path, folder))
        for script in _scripts(words):
            found.setdefault((script, False), Found(script, script, _identity(script, folder)))
    return tuple(found.values())


def _found_or_missing(name: str, search_path: str, folder: int) -> Found:
    """One that is missing may be a word of the shell, or appear later: that would be a change as well."""
    try:
        return find_program(name, search_path, folder)
    except OSError:
        return Found(name)


def _scripts(words: Words) -> Iterator[str]:
    if INTERPRETERS.fullmatch(basename(words[0])):
        yield from (word for word in words[1 : 1 + _MOST_SCRIPT_WORDS] if word and not word.startswith("-"))


def _identity(path: str, folder: int) -> Identity | None:
    try:
        status = os.stat(path, dir_fd=folder)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return identity_of(status)
