"""Git worktrees for sessions: creates one, lists its changes, copies them back, and removes it.

Git keeps track of the worktrees. This module reads and writes the files, so no filter, hook, or merge driver of the
repository runs. A repository that relies on filters (LFS) therefore gets the stored content. Asks nothing, draws
nothing.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from anyio import to_thread

from acp_tui.client.changes import ChangedMeanwhile, ChangesError, FileState
from acp_tui.client.changes.git import Committed, Git, blob_id
from acp_tui.client.changes.tree import Tree, make_parents, swap
from acp_tui.client.errors import ClientError
from acp_tui.client.private_files import create_private, locked, read_json_state, write_json_state
from acp_tui.client.safe_git import WORKTREES, GitFailed, ask_git
from acp_tui.client.settings.location import state_folder
from acp_tui.values import dataclass

MAX_FILE_BYTES: Final = 256 << 20
MAX_BATCH_BYTES: Final = 32 << 20
BRANCH_PREFIX: Final = "acp-tui/"
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]+")


class WorktreeFailed(ClientError):
    """The worktree couldn't be created, read, or removed. The message says why."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """One worktree that acp-tui created. All paths are absolute."""

    root: str
    folder: str
    """Where the session works, at the same place below `root` as the user's folder below `origin`."""
    origin: str
    """The top of the folder it was created from, to which its changes are copied back."""
    branch: str
    base: str
    """The commit it began with."""

    @property
    def name(self) -> str:
        """The user's name for it."""
        return self.branch.removeprefix(BRANCH_PREFIX)


class ChangedFile(NamedTuple):
    """A file in a worktree that differs from the base commit."""

    path: str
    before: FileState | None
    """None if the base commit has no such file."""
    after: FileState | None
    """None if the file was deleted."""


@dataclass(frozen=True, slots=True)
class CopyBackResult:
    written: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Files with lines that changed in both folders. If there are any, nothing was written.

    There's one exception: if a file changes while others are being written, both fields are set.
    """


def known_worktree(folder: Path) -> Worktree | None:
    """The worktree for a session in this folder, if acp-tui created it. Blocks."""
    resolved = str(folder.resolve())
    for worktree in _read_known():
        if resolved == worktree.root or resolved.startswith(f"{worktree.root}{os.sep}"):
            return worktree
    return None


def commit_of(folder: Path) -> str:
    """The commit from which changes in this folder count: that of its worktree; "" outside of any. Blocks."""
    known = known_worktree(folder)
    return known.base if known is not None else ""


def origin_of(folder: Path) -> Path:
    """The same folder where the worktree came from; the folder itself if it isn't in a known worktree. Blocks."""
    known = known_worktree(folder)
    if known is None:
        return folder.resolve()
    below = Path(known.origin) / folder.resolve().relative_to(known.root)
    return below if below.is_dir() else Path(known.origin)


async def last_commit(cwd: Path) -> str:
    """What a worktree of the repository that contains `cwd` would begin with. Raises: WorktreeFailed."""
    with _failures("Can't create a worktree"):
        return await _head((await _place(cwd))[0])


async def add_worktree(cwd: Path, name: str = "", base: str = "") -> Worktree:
    """Create a worktree of the repository that contains `cwd` on a new branch, from `base` or the last commit.

    It's beside the repository, in `REPOSITORY.worktrees/NAME`, also if `cwd` is in such a worktree. The default names
    are `session-1` and so on.

    Raises: WorktreeFailed.
    """
    with _failures("Can't create a worktree"):
        top, prefix = await _place(cwd)
        base = base or await _head(top)
        wanted = _as_name(name)
        if name and not wanted:
            raise WorktreeFailed(f"A worktree can't be named {name!r}: use letters, digits, - and _")
        worktree = await _add(top, prefix, base, wanted)
        try:
            await _fill(worktree)
            await to_thread.run_sync(_know, worktree, worktree)
        except BaseException:
            await remove_worktree(worktree)
            raise
        return worktree


def why_renamed(worktree: Worktree, wanted: str) -> str:
    """Why it doesn't have the name that the user wanted; "" if it does, or they wanted none."""
    name = _as_name(wanted)
    return f"{name} exists already, so this worktree is {worktree.name}." if name not in ("", worktree.name) else ""


def _as_name(wanted: str) -> str:
    return _NOT_IN_NAMES.sub("-", wanted).strip("-")


async def changes_in(worktree: Worktree) -> list[ChangedFile]:
    """What differs from the base commit, committed or not, in the order of the paths. Raises: WorktreeFailed."""
    with _failures("Can't read the worktree's changes"):
        root = Path(worktree.root)
        git = Git(root)
        base = await git.committed(worktree.base)
        paths = sorted({*base, *await git.not_ignored()})
        tree = Tree(root)
        changed = await to_thread.run_sync(_changed, tree, base, paths)
        blobs: dict[bytes, bytes] = {}
        for batch in _batches(base[path] for path, _ in changed if path in base):
            blobs |= await git.blobs(stored.blob for stored in batch)
        return [ChangedFile(path, _state(base.get(path), blobs), after) for path, after in changed]


async def bring_back(worktree: Worktree, changes: Sequence[ChangedFile]) -> CopyBackResult:
    """Apply these changes to the folder that the worktree was created from, uncommitted.

    Lines that changed there since stay. If both changed the same lines, nothing is written at all.

    Raises: WorktreeFailed.
    """
    with _failures("Can't copy the changes back"):
        tree = Tree(Path(worktree.origin))
        planned: list[tuple[str, FileState | None, FileState | None]] = []
        conflicts: list[str] = []
        for change in changes:
            there = await to_thread.run_sync(tree.read, change.path, MAX_FILE_BYTES)
            if _is_same(there, change.after):
                continue
            if _is_same(there, change.before):
                planned.append((change.path, there, change.after))
            elif (merged := await _merged(there, change)) is not None:
                planned.append((change.path, there, merged))
            else:
                conflicts.append(change.path)
        if conflicts:
            return CopyBackResult(conflicts=tuple(conflicts))
        return await to_thread.run_sync(_write_all, tree, planned)


async def has_commits(worktree: Worktree) -> bool:
    """Whether its branch contains new commits.

    Raises: WorktreeFailed, also if commits are checked out that its branch doesn't lead to: they would be lost with it.
    """
    with _failures("Can't delete the worktree"):
        tip = await _commit(Path(worktree.origin), f"refs/heads/{worktree.branch}")
        checked_out = await _commit(Path(worktree.root), "HEAD")
        if checked_out not in ("", worktree.base, tip):
            raise GitFailed(f"its commits aren't on branch {worktree.branch}; put them on a branch with git first")
        return tip not in ("", worktree.base)


async def remove_worktree(worktree: Worktree, *, keeps_branch: bool = False) -> None:
    """Delete the worktree's folder with everything in it, and its branch unless `keeps_branch`.

    Raises: WorktreeFailed.
    """
    with _failures("Can't remove the worktree"):
        origin = Path(worktree.origin)
        await _git(origin, "worktree remove --force", worktree.root)
        if not keeps_branch:
            await _git(origin, "update-ref", "-d", f"refs/heads/{worktree.branch}")
        await to_thread.run_sync(_know, worktree)
        with suppress(OSError):  # it contains other worktrees
            Path(worktree.root).parent.rmdir()


# Git


async def _git(directory: Path, command: str, *words: str) -> bytes:
    answer = await ask_git(directory, command, *words)
    if answer.code or answer.is_cut:
        raise GitFailed(answer.complaint.removeprefix("fatal: ") or f"git {command} failed")
    return answer.output


async def _place(cwd: Path) -> tuple[Path, str]:
    """The top of the repository, and the path of `cwd` below it; where it came from if `cwd` is in a worktree."""
    told = await _git(await to_thread.run_sync(origin_of, cwd), "rev-parse", "--show-toplevel", "--show-prefix")
    top, prefix, *_ = os.fsdecode(told).split("\n")
    return Path(top), prefix.rstrip("/")


async def _head(top: Path) -> str:
    commit = await _commit(top, "HEAD")
    if not commit:
        raise GitFailed("the repository has no commit yet")
    return commit


async def _commit(top: Path, ref: str) -> str:
    """The commit that a ref leads to; "" if there is none."""
    answer = await ask_git(top, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return "" if answer.code else answer.output.decode().strip()


async def _add(top: Path, prefix: str, base: str, wanted: str) -> Worktree:
    """Register a worktree without files, with the first free name."""
    beside = top.parent / f"{top.name}{WORKTREES}"
    beside.mkdir(exist_ok=True)
    found = beside.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise WorktreeFailed(f"{beside} is a symbolic link or isn't yours, so no worktree is made there")
    for name in _names(wanted):
        root, branch = beside / name, f"{BRANCH_PREFIX}{name}"
        taken = await ask_git(top, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")
        if taken.code == 0 or os.path.lexists(root):
            continue
        await _git(top, "worktree add --no-checkout", "-b", branch, str(root), base)
        resolved = str(root.resolve())
        return Worktree(resolved, str(Path(resolved, prefix)), str(top.resolve()), branch, base)
    raise AssertionError("there is always another number")


def _names(wanted: str) -> Iterator[str]:
    if wanted:
        yield wanted
    yield from (f"{wanted or 'session'}-{number}" for number in count(2 if wanted else 1))


def _batches(files: Iterable[Committed]) -> Iterator[list[Committed]]:
    batch: list[Committed] = []
    size = 0
    for stored in files:
        if batch and size + stored.size > MAX_BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(stored)
        size += stored.size
    if batch:
        yield batch


# Files


async def _fill(worktree: Worktree) -> None:
    root = Path(worktree.root)
    await _git(root, "read-tree", worktree.base)
    files = await Git(root).committed(worktree.base)
    by_blob: dict[bytes, list[str]] = {}
    for path, stored in files.items():
        by_blob.setdefault(stored.blob, []).append(path)
    # Links last, so that no file is written through one.
    for are_links in (False, True):
        wanted = {stored.blob: stored for stored in files.values() if stat.S_ISLNK(stored.mode) is are_links}
        for batch in _batches(wanted.values()):
            blobs = await Git(root).blobs(stored.blob for stored in batch)
            paths = [path for blob in blobs for path in by_blob[blob]]
            new = {
                path: state
                for path in paths
                if stat.S_ISLNK(files[path].mode) is are_links and (state := _state(files[path], blobs)) is not None
            }
            await to_thread.run_sync(_create_all, worktree.root, new)
    Path(worktree.folder).mkdir(parents=True, exist_ok=True)


def _create_all(root: str, files: dict[str, FileState]) -> None:
    """Write files that don't exist yet. As in git's own checkout, the umask decides who else may write them.

    A commit can contain a link and a directory with the same name. Nothing is written through a link.
    """
    tree = Tree(Path(root))
    made: set[str] = set()
    for path, state in files.items():
        assert state.data is not None
        directory, _, name = path.rpartition("/")
        if directory not in made:
            make_parents(tree, path)
            made.add(directory)
        with tree.parent_of(path) as parent:
            if state.is_link:
                os.symlink(os.fsdecode(state.data), name, dir_fd=parent)
            else:
                with create_private(Path(name), mode=state.permissions | 0o022, folder=parent) as file:
                    file.write(state.data)


def _state(stored: Committed | None, blobs: dict[bytes, bytes]) -> FileState | None:
    """A file of a commit as it would be on disk. Git keeps no permissions except the one to execute."""
    if stored is None:
        return None
    data = blobs.get(stored.blob)
    mode = stored.mode if stat.S_ISLNK(stored.mode) else stat.S_IFREG | stored.mode & 0o777
    return FileState(mode, stored.size, data, "" if data is not None else "git doesn't have it")


def _changed(tree: Tree, base: dict[str, Committed], paths: Iterable[str]) -> list[tuple[str, FileState | None]]:
    found = ((path, tree.read(path, MAX_FILE_BYTES)) for path in paths)
    return [(path, now) for path, now in found if not _is_stored(now, base.get(path))]


def _is_stored(state: FileState | None, stored: Committed | None) -> bool:
    if state is None or stored is None:
        return state is None and stored is None
    if state.is_link is not stat.S_ISLNK(stored.mode) or state.data is None:
        return False
    is_same_mode = state.is_link or bool(state.mode & 0o100) is bool(stored.mode & 0o100)
    return is_same_mode and state.size == stored.size and blob_id(state.data, len(stored.blob)) == stored.blob


def _is_same(one: FileState | None, other: FileState | None) -> bool:
    """Whether git would treat them as the same file."""
    if one is None or other is None:
        return one is other
    return (
        one.data is not None
        and one.data == other.data
        and one.kind == other.kind
        and one.mode & 0o100 == other.mode & 0o100
    )


async def _merged(there: FileState | None, change: ChangedFile) -> FileState | None:
    """None if both folders changed the same lines, or something that can't be merged."""
    states = (there, change.before, change.after)
    datas = [state.data for state in states if state is not None and state.is_file and state.data is not None]
    if len(datas) < len(states) or any(b"\0" in data for data in datas):
        return None
    with tempfile.TemporaryDirectory(prefix="acp-tui-merge-") as folder:
        names = ("there", "before", "after")
        for name, data in zip(names, datas, strict=True):
            Path(folder, name).write_bytes(data)
        answer = await ask_git(Path(folder), "merge-file -p", "-q", *names)
    if answer.code or answer.is_cut or there is None:
        return None
    return FileState(there.mode, len(answer.output), answer.output)


def _write_all(tree: Tree, planned: Iterable[tuple[str, FileState | None, FileState | None]]) -> CopyBackResult:
    written: list[str] = []
    for path, there, wanted in planned:
        try:
            swap(tree, path, there, wanted)
        except ChangedMeanwhile:
            return CopyBackResult(tuple(written), (path,))
        written.append(path)
    return CopyBackResult(tuple(written))


# Known worktrees


def _file() -> Path:
    return state_folder() / "worktrees.json"


def _read_known() -> list[Worktree]:
    kept = read_json_state(_file())
    try:
        return [Worktree(**each) for each in kept] if isinstance(kept, list) else []
    except TypeError:
        return []


def _know(before: Worktree, *now: Worktree) -> None:
    """Replace what is known of a worktree. Without `now`, forget it."""
    with locked(_file()):
        worktrees = [*(each for each in _read_known() if each.root != before.root), *now]
        write_json_state(_file(), [asdict(each) for each in worktrees])


@contextmanager
def _failures(what: str) -> Iterator[None]:
    """Raise every failure inside as WorktreeFailed."""
    try:
        yield
    except (GitFailed, ChangesError) as error:
        raise WorktreeFailed(f"{what}: {error}") from error
    except OSError as error:
        raise WorktreeFailed(f"{what}: {error.strerror or error}") from error
