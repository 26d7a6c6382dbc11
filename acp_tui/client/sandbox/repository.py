"""What git needs in a sandbox, and what of it an agent must not change, since git runs what it names."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_tui.client.sandbox import Access

_MARK: Final = "commondir"
_RUN: Final = ("config", "hooks", _MARK)
"""git runs what they name, so they are always there, and read-only."""
_APPLIED: Final = ("config.worktree", "info/attributes")
"""The same, where they exist: nothing applies them before the config says so."""
_OF_WORKTREES: Final = (_MARK, "gitdir", "config.worktree")
_HERE: Final = ".\n"
"""What `commondir` says in a repository that has its settings in the same folder. Without that file, an agent could
make one, and git would take settings and hooks from wherever that leads."""


def repository_of(root: Path, access: Access, except_in: Collection[Path]) -> dict[Path, Access]:
    """The places of a session's folder that git needs: its repository may be above it, or elsewhere for a worktree.

    `.git` is a place of its own, so that it can't be moved away and made anew. Nothing above a place in `except_in` but
    the folder itself is opened for it. Raises OSError if the agent couldn't be kept from changing what git runs.
    """
    top = next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)
    if top is None or (top != root and (top in except_in or not _is_safe(top))):
        return {}
    above = {} if top == root else {top: Access.READABLE}
    git = top / ".git"
    kind = git.lstat().st_mode
    if stat.S_ISDIR(kind):
        return {**above, git: access, **dict.fromkeys(_kept(git, access), Access.READABLE)}
    common = _common_folder(git) if stat.S_ISREG(kind) else None
    if common is None:
        return {}
    return {**above, git: Access.READABLE, common: access, **dict.fromkeys(_kept(common, access), Access.READABLE)}


class Marks:
    """The `commondir` files that we have made in repositories: programs other than git may stumble over them.

    Boxes share them, and the last one removes them; if it was killed, the last one after it.
    """

    def __init__(self, places: Iterable[Path]) -> None:
        self._opened: list[tuple[Path, int]] = []
        for path in places:
            with suppress(OSError, ValueError):
                if path.name == _MARK and path.read_text("ascii") == _HERE:
                    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                    self._opened.append((path, opened))
                    fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove those that nobody else shares. May be called twice."""
        while self._opened:
            path, opened = self._opened.pop()
            with suppress(OSError):  # another box has it, or it is gone
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(path.lstat(), os.fstat(opened)):
                    path.unlink()
            os.close(opened)


def _kept(git: Path, access: Access) -> Iterator[Path]:
    """What stays as it is in a repository that may be written."""
    if access is not Access.WRITABLE:
        return
    modules = (head.parent for head in git.glob("modules/**/HEAD") if (head.parent / "objects").is_dir())
    for folder in (git, *(module for module in modules if not _leads_elsewhere(module))):
        with suppress(FileExistsError):
            (folder / "hooks").mkdir()
        with suppress(FileExistsError), (folder / _MARK).open("x", encoding="ascii") as made:
            made.write(_HERE)
        if "worktreeconfig" in (folder / "config").read_text("utf-8", "replace").lower():
            for each in (folder, *(link.parent for link in folder.glob("worktrees/*/commondir"))):
                (each / "config.worktree").touch()
        for file in (folder / name for name in _RUN):
            if _leads_elsewhere(file):
                raise OSError(0, f"{file} is a link, which an agent could replace; put the file itself there")
            yield file
        yield from (file for name in _APPLIED if (file := folder / name).exists() and not _leads_elsewhere(file))
    files = (file for name in _OF_WORKTREES for file in git.glob(f"worktrees/*/{name}"))
    yield from (file for file in files if not _leads_elsewhere(file))


def _leads_elsewhere(path: Path) -> bool:
    return os.path.realpath(path) != str(path)


def _is_safe(folder: Path) -> bool:
    """Whether no one else could have made a repository there, as git asks before it uses one (`safe.directory`)."""
    return folder.stat().st_uid in (os.getuid(), 0)


def _common_folder(pointer: Path) -> Path | None:
    """The repository of a worktree with this `.git` file, if that knows the worktree; None otherwise.

    The file is in the agent's reach: it could name any folder.
    """
    try:
        text = pointer.read_text("utf-8")
        git = Path(os.path.realpath(pointer.parent / text.removeprefix("gitdir:").strip()))
        back = Path((git / "gitdir").read_text("utf-8").strip())
        common = Path(os.path.realpath(git / (git / "commondir").read_text("utf-8").strip()))
    except (OSError, ValueError):
        return None
    is_known = os.path.realpath(back) == os.path.realpath(pointer)
    is_repository = (common / "HEAD").is_file() and (common / "objects").is_dir()
    return common if is_known and is_repository and common in git.parents else None
