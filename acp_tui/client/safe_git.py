"""The only access to git: every call goes through `ask_git`, and no call runs programs that a repository configures.

A repository can configure programs in countless places: filters, hooks, monitors, pagers, drivers, helpers, aliases. We
don't search for them and remove them, because another process can change `.git/config` between the check and its use.
Instead:

- Only the subcommands and options in `_ALLOWED` are accepted. None of them reads a file through a filter, writes the
  index of a folder in use, fetches, compares, or prints through a pager. No other module may call git (a test checks).
- The few settings that they read are given on the command line, which overrides every file: `_SETTINGS`.
- In the environment, git's own variables are replaced by `_ENVIRONMENT`. Git itself is only searched for in absolute
  folders.

The user's global configuration applies: it says what is ignored everywhere, and which foreign repositories are safe.
Callers decide what to ask and interpret the answers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

import anyio
from anyio import to_thread
from anyio.abc import Process

from acp_tui.client.private_files import read_regular
from acp_tui.values import dataclass

MAX_OUTPUT_BYTES: Final = 256 << 20
LIMIT_S: Final = 15.0
LEAST_PRIORITY: Final = 19

_ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "rev-parse": frozenset(
        {
            *("--is-inside-work-tree", "--show-prefix", "--show-toplevel", "--verify", "--quiet"),
            *("--git-path", "--shared-index-path", "--show-object-format"),
        }
    ),
    "ls-files": frozenset(
        {*("-z", "--cached", "--others", "--ignored", "--directory", "--exclude-standard", "--exclude=")}
    ),
    "check-ignore": frozenset({"-z", "--stdin"}),
    "check-attr": frozenset({"-z", "--stdin"}),
    # Never --filters or --textconv.
    "cat-file": frozenset({"--batch"}),
    "ls-tree": frozenset({"-r", "-l", "-z", "--full-tree"}),
    # For three given files. It doesn't read attributes or the merge drivers they name.
    "merge-file -p": frozenset({"-q"}),
    # Without the checkout, which would run filters. `worktrees` writes the files.
    "worktree add --no-checkout": frozenset({"-b"}),
    "read-tree": frozenset[str](),
    # Without --force, it would look for changes, which runs filters.
    "worktree remove --force": frozenset[str](),
    "update-ref": frozenset({"-d"}),
    # Only the user's own file.
    "config": frozenset({"--global", "--get"}),
}
_SETTINGS: Final = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.virtualFilesystem=",  # a hook of Microsoft's git that runs whenever the index is read
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
)
_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone fetches missing objects with programs that its configuration names.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    # The user's configuration may name trace files.
    **dict.fromkeys(("GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF"), "0"),
}
_KEPT_VARIABLES: Final = (
    *("GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL"),
    *("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"),
)
"""Git's own variables that are kept. The others may point to another repository or configure this one."""


class GitFailed(Exception):
    """Git isn't installed, took too long, or refused. `str()` is git's own reason."""


@dataclass(frozen=True, slots=True)
class GitResult:
    code: int
    output: bytes
    is_cut: bool
    """Whether there was more than requested, in which case git was ended."""
    complaint: str
    """The first line of its stderr."""


async def ask_git(
    directory: Path,
    command: str,
    *words: str,
    question: bytes = b"",
    most_bytes: int = MAX_OUTPUT_BYTES,
    is_urgent: bool = True,
) -> GitResult:
    """Call git in an untrusted directory, with `question` as its input. If it isn't urgent, others come first.

    Raises: GitFailed if it can't run or takes longer than `LIMIT_S`; ValueError for anything not allowed.
    """
    line, environment = _call(command, words)
    try:
        with anyio.fail_after(LIMIT_S), tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as complaint:
            await to_thread.run_sync(_fill, asked, question)
            process = await anyio.open_process(
                line,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=complaint,
                cwd=directory,
                env=environment,
                start_new_session=True,
            )
            async with process:
                if not is_urgent:
                    with suppress(OSError):  # it has ended
                        os.setpriority(os.PRIO_PROCESS, process.pid, LEAST_PRIORITY)
                output, is_cut = await _output(process, most_bytes)
                code = await process.wait()
            return GitResult(code, output, is_cut, _first_line(complaint))
    except TimeoutError:
        raise GitFailed(f"git {command} took longer than {LIMIT_S:g} s") from None
    except OSError as error:
        raise GitFailed(f"git couldn't be run: {error.strerror or error}") from error


def _call(command: str, words: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment. Raises: ValueError, GitFailed."""
    options = (word for word in words[: words.index("--") if "--" in words else None] if word.startswith("-"))
    allowed = _ALLOWED.get(command, frozenset())
    refused = [
        option for option in options if option not in allowed and "".join(option.partition("=")[:2]) not in allowed
    ]
    if command not in _ALLOWED or refused:
        raise ValueError(f"git must not be called like this: {command} {' '.join(refused)}")
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    # The other commands don't accept the option for literal pathspecs.
    literal = ["--literal-pathspecs"] if command == "ls-files" else []
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES}
    return [_program(), *settings, *literal, *command.split(), *words], own | _ENVIRONMENT


def _program() -> str:
    """Git's absolute path. A relative folder in PATH would be one of the repository's. Raises: GitFailed."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    absolute = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))  # noqa: PTH117 - text
    program = shutil.which("git", path=absolute) if absolute else None
    if program is None:
        raise GitFailed("git couldn't be run: it isn't in PATH")
    return program


def _fill(file: IO[bytes], content: bytes) -> None:
    file.write(content)
    file.seek(0)


async def _output(process: Process, most_bytes: int) -> tuple[bytes, bool]:
    assert process.stdout is not None
    pieces = bytearray()
    async for piece in process.stdout:
        pieces += piece
        if len(pieces) > most_bytes:
            process.kill()
            return bytes(pieces), True
    return bytes(pieces), False


def _first_line(complaint: IO[bytes]) -> str:
    complaint.seek(0)
    return complaint.read(500).decode(errors="replace").strip().partition("\n")[0]


MAX_BYTES: Final = 4096
SHORT_COMMIT: Final = 8
_BRANCH: Final = "ref: refs/heads/"
_ELSEWHERE: Final = "gitdir:"
WORKTREES: Final = ".worktrees"
"""acp-tui's own are in a folder beside the repository, which has its name and this."""


def branch_of(folder: Path) -> str:
    """The branch, or the first digits of a commit checked out without one; "" outside a repository.

    Blocks. The name is whatever the file contains, so it isn't safe to draw.
    """
    found = _repository(folder)
    head = _first_line_of(found[1] / "HEAD") if found is not None else ""
    return head.removeprefix(_BRANCH) if head.startswith(_BRANCH) else head[:SHORT_COMMIT]


def in_same_project(folder: Path) -> Callable[[Path], bool] | None:
    """Tells which folders are this one, or the same place in another worktree of its repository; None without one.

    Worktrees of acp-tui's own count when they are gone, too. Both calls block.
    """
    real = Path(os.path.realpath(folder))
    found = _repository(real)
    if found is None:
        return None
    top, git = found
    below = real.relative_to(top)
    common = Path(os.path.realpath(git / _first_line_of(git / "commondir")))
    tops = {top, common.parent if common.name == ".git" else top}
    beside = [Path(f"{each}{WORKTREES}") for each in tops]
    for kept in common.glob("worktrees/*"):
        tops.add(Path(os.path.realpath(kept / _first_line_of(kept / "gitdir"))).parent)
    places = {each / below for each in tops}

    def belongs(other: Path) -> bool:
        try:
            there = Path(os.path.realpath(other))
        except ValueError:  # no path at all
            return False
        inner = (there.relative_to(each) for each in beside if there.is_relative_to(each))
        return there in places or any(each != Path() and each.parts[1:] == below.parts for each in inner)

    return belongs


def _repository(folder: Path) -> tuple[Path, Path] | None:
    """The top of the worktree that contains the folder, and where git keeps what belongs to it alone."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        written = _first_line_of(git)
        if written.startswith(_ELSEWHERE):  # a worktree or a submodule
            git = place / written.removeprefix(_ELSEWHERE).strip()
        if _first_line_of(git / "HEAD"):
            return place, git
    return None


def _first_line_of(path: Path) -> str:
    return (read_regular(path, MAX_BYTES) or b"").decode("utf-8", "replace").partition("\n")[0].strip()
