"""Starts an agent's process: what we ask the operating system for, and the error if that isn't possible.

The process may start before the event loop and before the screen is loaded, and gets ready during that time. This
module doesn't load an event loop; `process` owns the running process.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentNotFound, AgentNotRunnable, AgentStartFailed
from acp_tui.client.private_files import create_private, make_private
from acp_tui.client.processes import inherited
from acp_tui.client.processes.guard import Guarded, Order, StartFailed, guard
from acp_tui.client.settings.location import cache_folder
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.agents.command import SandboxPlan
    from acp_tui.client.sandbox.sandbox import Sandbox

# Agents rely on their starting folder: some run their commands there, whatever folder a session names.

CLOSE_GRACE_S: Final = 1.0
"""How long an agent has to end with its input."""
TERMINATE_GRACE_S: Final = 1.5
"""How long it then has between SIGTERM and SIGKILL, with all that has come from it."""

_OF_NPX: Final = ("npm_config_script_shell", "ACP_TUI_FOLDER")
"""The variables that lead npx into the folder where the agent works."""
_ENTER: Final = """#!/bin/sh
# What npx runs its package with: on into the folder where the agent works.
cd "$ACP_TUI_FOLDER" || exit
unset npm_config_script_shell ACP_TUI_FOLDER
exec /bin/sh "$@"
"""


@dataclass(frozen=True, slots=True)
class Start:
    args: tuple[str, ...]
    env: Mapping[str, str]
    """The complete environment."""
    folder: Path


def start_of(command: AgentCommand, folder: Path | None) -> Start:
    """How to start it, to work in `folder`.

    If that's None or doesn't exist, use the current one. Raises AgentNotRunnable.
    """
    here = _here()
    folder = folder if folder is not None and folder.is_dir() else here
    env = {**inherited(), **command.env}
    if command.runner == "npx":
        packages = _packages_folder()
        env |= dict(zip(_OF_NPX, (str(packages / "enter"), str(folder)), strict=True))
        return Start(command.argv[1:], env, packages)
    is_typed_here = folder != here and not command.is_elsewhere
    args = _anchored(command.argv[1:], here) if is_typed_here else command.argv[1:]
    return Start(tuple(args), env, folder)


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise AgentNotRunnable(
            "the folder acp-tui was started in is gone", hint="start acp-tui in another one"
        ) from error


def _anchored(words: tuple[str, ...], here: Path) -> Iterator[str]:
    """Make words that name files in the user's folder absolute, as in `node build/agent.js`."""
    for word in words:
        is_file = not word.startswith("-") and os.path.isfile(here / word)  # noqa: PTH113 - a Path raises for a name that is too long
        yield str(here / word) if is_file else word


def _packages_folder() -> Path:
    """The folder where npx starts, which then changes to the folder where the agent works.

    npx would use packages and settings from its starting folder instead of those the user has agreed to.
    """
    folder = cache_folder() / "packages"
    try:
        make_private(folder, is_ours=True)
        _write_enter(folder / "enter")
    except OSError as error:
        raise AgentNotRunnable(
            f"{folder} can't be made: {error.strerror}", hint="packages are started there"
        ) from error
    return folder


def _write_enter(file: Path) -> None:
    if file.is_file() and file.read_text("utf-8") == _ENTER and os.access(file, os.X_OK):
        return
    # Another acp-tui may be running it.
    new = file.with_name(f".enter-{os.getpid()}")
    with create_private(new, mode=0o700) as opened:
        opened.write(_ENTER.encode())
    new.replace(file)


@dataclass(frozen=True, slots=True)
class Started:
    """An agent that the guardian was asked to start, and our ends of its streams."""

    process: Guarded
    sandbox: Sandbox | None
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]

    def close(self) -> None:
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()


def started_early(command: AgentCommand, folder: Path | None, plan: SandboxPlan | None) -> Started | None:
    for early in _early:
        if early[:3] == (command, folder, plan):
            _early.remove(early)
            return early[3]
    return None


_early: Final[list[tuple[AgentCommand, Path | None, SandboxPlan | None, Started]]] = []


def start_early(command: AgentCommand, folder: Path | None, plan: SandboxPlan | None = None) -> None:
    """Start the process now. An error is reported by a later start, since this one leaves nothing behind.

    An agent that may need the user's consent isn't started early.
    """
    if command.address is None and command.package is None:
        with suppress(AgentStartFailed):
            _early.append((command, folder, plan, start(command, folder, sandboxed(command, folder, plan))))


def end_early() -> None:
    """End processes that were started early but aren't needed."""
    while _early:
        *_, early = _early.pop()
        early.close()
        early.process.end_unfollowed()
        if early.sandbox is not None:
            early.sandbox.box.discard()


def sandboxed(command: AgentCommand, folder: Path | None, plan: SandboxPlan | None) -> Sandbox | None:
    """Make the sandbox that is planned for the agent. Blocks. Raises AgentNotFound and AgentNotRunnable."""
    if plan is None:
        return None
    from acp_tui.client.sandbox.sandbox import make_sandbox  # most agents run in none

    start = start_of(command, folder)
    given = {name: start.env[name] for name in (*command.env, *_OF_NPX) if name in start.env}
    argv = (find_program(command, start.env.get("PATH")), *start.args)
    # No session gets one that is missing, and bubblewrap wouldn't start for it.
    folders = (folder or start.folder, *filter(Path.is_dir, plan.directories))
    return make_sandbox(plan.profile, command.name, command.runner, folders, plan.refuse, argv, given)


def start(command: AgentCommand, folder: Path | None, sandbox: Sandbox | None) -> Started:
    """Start the agent, which leads its own session, in its sandbox, which is discarded if that fails.

    Raises AgentNotFound and AgentNotRunnable, also for what is known without waiting for the guardian.
    """
    try:
        return _spawn(command, folder, sandbox)
    except BaseException:
        if sandbox is not None:
            sandbox.box.discard()
        raise


def _spawn(command: AgentCommand, folder: Path | None, sandbox: Sandbox | None) -> Started:
    start = start_of(command, folder)
    program = find_program(command, start.env.get("PATH"))
    way = None if sandbox is None else sandbox.way_into(start.folder)
    order = Order(
        [(program, None, (program, *start.args))],
        start.env if way is None else way.environment,
        patience_s=CLOSE_GRACE_S,
        grace_s=TERMINATE_GRACE_S,
        spares_browsers=sandbox is None,
        confinement=None if way is None else way.confinement,
    )
    ours: list[IO[bytes]] = []
    try:
        with ExitStack() as theirs:
            where = os.open(start.folder, os.O_RDONLY | os.O_DIRECTORY)
            theirs.callback(os.close, where)
            stdin, from_us = os.pipe()
            theirs.callback(os.close, stdin)
            ours.append(os.fdopen(from_us, "wb", 0))
            outputs = []
            for _ in range(2):
                to_us, output = os.pipe()
                theirs.callback(os.close, output)
                ours.append(os.fdopen(to_us, "rb", 0))
                outputs.append(output)
            return Started(guard.start(order, where, [stdin, *outputs]), sandbox, *ours)
    except (OSError, UnicodeEncodeError) as error:
        for pipe in ours:
            pipe.close()
        raise not_runnable(command, error) from error


def not_runnable(command: AgentCommand, error: OSError | UnicodeEncodeError | StartFailed) -> AgentNotRunnable:
    number = error.number if isinstance(error, StartFailed) else getattr(error, "errno", 0)
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return AgentNotRunnable(
        f"{command.argv[0]} can't be run: {reason}",
        hint="its first line (#!) may name an interpreter that isn't installed"
        if number in (errno.ENOENT, errno.ENOEXEC)
        else "",
    )


def find_program(command: AgentCommand, path: str | None) -> str:
    program = command.argv[0]
    found = shutil.which(program, path=path)
    if found is not None:
        return str(Path(found).absolute())  # it may start in a folder other than ours
    if "/" in program and Path(program).exists():
        raise AgentNotRunnable(f"{program} isn't an executable file", hint=f"chmod +x {program}")
    raise AgentNotFound(
        f"the command {program} wasn't found",
        hint=f"install it: {command.install_hint}" if command.install_hint else "is it installed, and on PATH?",
    )
