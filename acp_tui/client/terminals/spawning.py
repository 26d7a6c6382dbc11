"""Decides what a command runs, as it is now, and starts exactly that in its own session on a PTY. Reads no output."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from anyio import to_thread

from acp_tui.client.errors import ClientError
from acp_tui.client.processes.guard import Guarded, Order, StartFailed, guard
from acp_tui.client.processes.launcher import identity_of
from acp_tui.client.terminals.pty import TerminalSpawnFailed
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


if TYPE_CHECKING:
    from acp_tui.client.sandbox.sandbox import Sandbox

KILL_GRACE_S: Final = 0.5
"""How long a command has between SIGTERM and SIGKILL."""

_SHELL_SYNTAX: Final = re.compile(r"""[\s|&;<>()$`\\"'*?\[\]#~=%{}!]""")

_DEFAULT_ENV: Final = {
    "TERM": "xterm-256color",  # the emulator's type, not that of the terminal we run in
    "PAGER": "cat",  # there's no one to quit a pager
    "GIT_PAGER": "cat",
}
_OUR_SIZE: Final = frozenset({"COLUMNS", "LINES"})  # of the terminal we run in; the PTY has its own


@dataclass(frozen=True, slots=True)
class SpawnPlan:
    """What to run, in a folder that is open. `with_programs` fixes what that is."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    """The path of `folder`, for messages."""
    folder: int
    """The open directory to run in. The code that opened it closes it."""
    runs: tuple[tuple[FoundProgram, tuple[str, ...]], ...] = ()
    """What to try to execute, in order: a program and its arguments."""
    others: tuple[FoundProgram, ...] = ()
    """The other programs and scripts that are named in these."""
    why_not: str = ""
    """Why there's nothing to execute; "" if there is."""
    sandbox: Sandbox | None = None
    """What to run in."""

    def with_programs(self) -> SpawnPlan:
        """The same for the programs that exist now. Blocks."""
        search_path = self.env.get("PATH", os.defpath)
        runs, why_not = [], ""
        for words in self._command_lines:
            try:
                runs.append((find_program(words[0], search_path, self.folder), tuple(words)))
            except OSError as error:
                why_not = error.strerror or str(error)
        others = programs_in([words for _, words in runs], search_path, self.folder)
        return replace(self, runs=tuple(runs), others=others, why_not="" if runs else why_not)

    def change(self) -> str:
        """The name of a program or script that has changed since, "" if there isn't one. Blocks."""
        plans = (self, self.with_programs())
        before, now = (dict.fromkeys([*(one for one, _ in plan.runs), *plan.others]) for plan in plans)
        return next((found.name for found in (*before, *now) if found not in before or found not in now), "")

    @property
    def _command_lines(self) -> list[list[str]]:
        """The possible meanings, in order (R-TERM-3).

        A command without arguments may be a whole shell command line. That's what it is if it contains shell syntax and
        no program has exactly that name. A plain word that isn't a program is an error, as it is with arguments.
        """
        direct = [self.command, *self.args]
        if self.args or not _SHELL_SYNTAX.search(self.command):
            return [direct]
        shells = dict.fromkeys([self.env.get("SHELL") or "/bin/sh", "/bin/sh"])
        return [direct, *([shell, "-c", self.command] for shell in shells)]


def environment(base: Mapping[str, str], extra: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The environment of a command: `base`, the values for our terminals, then the agent's own (R-TERM-2)."""
    inherited = {name: value for name, value in base.items() if name not in _OUR_SIZE}
    return inherited | _DEFAULT_ENV | dict(extra)


def changed_since(name: str) -> str:
    """Why a command doesn't run if `name` has changed."""
    return f"{name!r} has changed since the request: ask again"


async def spawn(plan: SpawnPlan, terminal_fd: int) -> Guarded:
    """Start `order` with `terminal_fd` as its controlling terminal. Returns when the command itself runs.

    Raises TerminalSpawnFailed. Neither a failure nor a cancellation leaves a process behind.
    """
    if not plan.runs:
        raise TerminalSpawnFailed(plan.command, plan.why_not)
    runs = [(program.path, program.identity, words) for program, words in plan.runs]
    environment, confinement = plan.env, None
    if plan.sandbox is not None:
        given = plan.sandbox.box.environment.items()
        extra = dict(plan.env.items() - given)
        try:
            way = await to_thread.run_sync(plan.sandbox.way_into, plan.cwd, extra)
        except (ClientError, OSError) as error:
            raise TerminalSpawnFailed(plan.command, str(error)) from error
        environment, confinement = way.environment, way.confinement
    what = Order(runs, environment, 0.0, KILL_GRACE_S, is_on_terminal=True, confinement=confinement)
    try:
        child = guard.start(what, plan.folder, (terminal_fd, terminal_fd, terminal_fd))
    except UnicodeEncodeError as error:
        raise TerminalSpawnFailed(plan.command, str(error)) from error
    except OSError as error:
        raise TerminalSpawnFailed(plan.command, f"no process for it: {error.strerror or error}") from error
    try:
        await child.follow(asyncio.get_running_loop())
    except StartFailed as error:
        raise TerminalSpawnFailed(plan.command, _reason(error, plan)) from error
    return child


def _reason(error: StartFailed, plan: SpawnPlan) -> str:
    match error.what:
        case "directory":
            return f"working directory {str(plan.cwd)!r}: {error}"
        case "changed":
            return changed_since(error.reason)
        case "terminal":
            return f"controlling terminal: {error}"
        case "process":
            return f"no process for it: {error}"
        case _:
            return error.reason
