"""What an agent's sandbox contains: one access for each place, and the deepest place above a path decides.

The user's profile, the agent's needs, and the session's folders make a box. Engines enforce it, requests for files are
held against it, and the screen lists it, all from the same places.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Final

from acp_tui.client.private_files import create_private
from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.defaults import COVERED, ENVIRONMENT, RUNS_LATER, SCRATCH, SECRETS, SHARED_TMP, TOOLS
from acp_tui.client.sandbox.needs import NEEDS, Needs
from acp_tui.client.settings.location import cache_folder, expand_path, installed_folder, own_folders
from acp_tui.client.settings.settings import SandboxProfile
from acp_tui.client.temporary import TemporaryFolder
from acp_tui.values import dataclass

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
    if top is None:
        return {}
    # Someone else could have made it there; git wouldn't use it either (`safe.directory`).
    if top != root and (top in except_in or top.stat().st_uid not in (os.getuid(), 0)):
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


@dataclass(frozen=True, slots=True)
class Box:
    """What is in one agent's sandbox. Paths are absolute and without links."""

    profile: SandboxProfile
    folders: tuple[Path, ...]
    """Where its sessions may work."""
    places: Mapping[Path, Access]
    environment: Mapping[str, str]
    """Complete."""
    own: TemporaryFolder
    """What is gone with it."""
    note: str = ""
    """What is different for this agent."""
    links: Mapping[Path, Path] = field(default_factory=dict)
    """Other names of places, which what is hidden would hide, too."""
    marks: Marks = field(default_factory=lambda: Marks(()))
    kept: Mapping[Path, int] = field(default_factory=dict)
    """What must not be changed in places that may be written, and which file each was."""

    @property
    def replaced(self) -> list[Path]:
        """What isn't kept anymore. A mount ends when its file is replaced outside, as `git config` does. Blocks."""
        return [path for path, file in self.kept.items() if _file_at(path) not in (0, file)]

    @property
    def tmp(self) -> Path:
        return self.own.path / "tmp"

    def access(self, path: Path) -> Access:
        """What it may do at a path without links."""
        return _above(self.places, path)

    def allows(self, path: Path, *, write: bool) -> bool:
        """Whether this file is the same for what runs in the box, and may be read or written there."""
        access = self.access(path)
        return access is Access.WRITABLE or (access is Access.READABLE and not write)

    def holds(self, folder: Path) -> bool:
        return self.access(Path(os.path.realpath(folder))) in (Access.READABLE, Access.WRITABLE)

    def listed(self, access: Access) -> list[Path]:
        return sorted(path for path, each in self.places.items() if each is access)

    def discard(self) -> None:
        """Remove what only the box has used. Blocks."""
        self.own.remove()
        self.marks.remove()


def make_box(
    profile: SandboxProfile,
    needs: Needs,
    folders: Sequence[Path],
    program: Sequence[str],
    environ: Mapping[str, str],
    given: Mapping[str, str],
    masks: Iterable[tuple[Path, Access]] = (),
) -> Box:
    """The box of an agent that runs `program`, absolute, in `folders`. Makes its state folders. Blocks.

    `environ` is the user's environment, of which little gets in; `given` gets in whole. `masks` say what is left of
    the access to a path, whatever else is said. Raises OSError, and SettingsError for a variable that isn't set.
    """
    environment = {
        name: value
        for name, value in environ.items()
        if any(_is_named(name, allowed) for allowed in (*ENVIRONMENT, *needs.env, *profile.env))
    }
    paths = _Paths(environ)
    environment |= {name: paths.expanded(value) for name, value in needs.sets.items()}
    environment |= {**given, "TMPDIR": "/tmp"}
    for name in [name for name in environment if name in ("TMP", "TEMP")]:
        environment[name] = "/tmp"
    roots = tuple(Path(os.path.realpath(folder)) for folder in folders)
    readable_too, writable, hidden = (
        [each for path in named if path != "." for each in _in_folders(paths.expanded(path), folders)]
        for named in (profile.readable, profile.writable, profile.hidden)
    )
    named_by_user = (*map(str, folders[1:]), *readable_too, *writable, *hidden)
    for path in (*named_by_user, *needs.state):
        _refuse_links_within(paths.spelled(path), roots)
    places: dict[Path, Access] = {}
    # What comes later replaces the access of the same path.
    for access, covered in ((Access.HIDDEN, (*COVERED, "~")), (Access.SCRATCH, (*SCRATCH, *SHARED_TMP))):
        places |= {path: access for path in map(paths.real, covered) if path.is_dir() or path.parent == paths.home}
    places[Path("/")] = Access.READABLE
    fetched = {paths.real(str(folder)) for folder in (cache_folder() / "packages", installed_folder())}
    readable = (*TOOLS, *map(str, fetched), "/etc/resolv.conf", "/run/current-system", "/run/wrappers")
    for each in (*map(paths.real, readable), *_program_places(program, environment, paths.home, roots)):
        if each.exists():
            places.setdefault(each, Access.READABLE)  # PATH may name the home folder itself
    access = Access.WRITABLE if "." in profile.writable else Access.READABLE
    for root in roots:
        if root in paths.home.parents:
            raise OSError(0, f"{root} holds your home folder, which a sandbox hides")
        places[root] = access
    for root in roots:
        places |= repository_of(root, access, except_in=places.keys())
    named = {paths.real(path): Access.READABLE for path in readable_too}
    named |= {paths.real(path): Access.WRITABLE for path in writable}
    places |= {path: access for path, access in named.items() if path.exists()}
    others = (path for other in NEEDS.values() if other is not needs for path in other.state)
    secrets = frozenset(map(paths.real, (*SECRETS, *others, *map(str, own_folders()))))
    for secret in secrets:
        _hide(places, secret, but={*fetched, *named})
    for path in needs.state:
        for each in _state(paths, path, makes_it=not needs.is_guessed):
            if not (needs.is_guessed and _touches(each, secrets)):
                places[each] = Access.WRITABLE
    for path in needs.fixed:
        for each in _fixed(paths, path):
            places[each] = Access.READABLE
    for file in (root / name for root in roots for name in RUNS_LATER):
        # What a link leads to may be anything.
        if file.exists() and Path(os.path.realpath(file)) == file and _above(places, file) is Access.WRITABLE:
            places[file] = Access.READABLE
    for service in _listening_sockets():
        if service not in places and _above(places, service) is Access.READABLE:
            places[service] = Access.HIDDEN
    for mask, left in {**dict.fromkeys(map(paths.real, hidden), Access.HIDDEN), **dict(masks)}.items():
        if left is Access.HIDDEN:
            _hide(places, mask)
        elif _above(places, mask) is Access.WRITABLE:
            places[mask] = left
    spelled = ("~", *TOOLS, str(installed_folder()), *needs.state, *readable_too, *writable)
    links = dict(_links(paths, spelled, places))
    inner = (path for path, access in places.items() if access in (Access.READABLE, Access.HIDDEN))
    kept = {path: _file_at(path) for path in inner if _above(places, path.parent) is Access.WRITABLE}
    own, marks = TemporaryFolder("acp-tui-box-"), Marks(places)
    box = Box(profile, roots, places, environment, own, needs.note, links, marks, kept)
    box.tmp.mkdir(mode=0o700)
    return box


def _listening_sockets() -> Iterator[Path]:
    """The sockets of services, which a read-only mount protects from nothing: whoever sees one can connect to it."""
    try:
        table = Path("/proc/net/unix").read_text("utf-8", "surrogateescape")
    except OSError:
        return
    for line in table.splitlines()[1:]:
        # Num, RefCount, Protocol, Flags, Type, St, Inode, and the path, which may have spaces
        words = line.split(None, 7)
        if len(words) == 8 and words[7].startswith("/"):
            path = Path(os.path.realpath(words[7]))
            with suppress(OSError):
                if stat.S_ISSOCK(path.stat().st_mode) and all(map(_is_open_to_us, path.parents)):
                    yield path


def _is_open_to_us(folder: Path) -> bool:
    """Whether what is in a folder can be reached without the rights of root, which nothing has in a sandbox.

    bubblewrap hasn't them either: it can't even mount over what is there. Raises OSError.
    """
    status = folder.stat()
    is_of_group = status.st_gid in (os.getegid(), *os.getgroups())
    needed = stat.S_IXUSR if status.st_uid == os.geteuid() else stat.S_IXGRP if is_of_group else stat.S_IXOTH
    return bool(status.st_mode & needed)


def _in_folders(path: str, folders: Sequence[Path]) -> list[str]:
    """The path, or what it is in each of the session's folders if it is relative."""
    return [path] if path.startswith("/") else [str(folder / path) for folder in folders]


def _is_named(name: str, pattern: str) -> bool:
    """Whether a variable is meant by a name in which `*` stands for any characters."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name) is not None


class _Paths:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {"HOME": str(Path.home()), **environ}
        self.home = self.real("~")

    def expanded(self, text: str) -> str:
        # ~ may also stand in the default of a variable.
        return expand_path(expand_path(text, self._environ), self._environ)

    def spelled(self, path: str) -> Path:
        return Path(os.path.normpath(self.expanded(path)))

    def real(self, path: str) -> Path:
        return Path(os.path.realpath(self.expanded(path)))


def _refuse_links_within(path: Path, roots: Sequence[Path]) -> None:
    """Raise OSError if a link on the way is in a session's folder: an agent could lead it anywhere."""
    for each in (path, *path.parents):
        if each.is_symlink() and any(root in each.parents for root in roots):
            raise OSError(0, f"{each} is a link that the agent may have made; name the place it leads to")


def _file_at(path: Path) -> int:
    """The number of the file; 0 if there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _hide(places: dict[Path, Access], path: Path, but: Collection[Path] = ()) -> None:
    """Hide an existing path and all below it, if it can be seen."""
    if path in but or not path.exists():
        return
    above = f"{path}/"  # ten times as fast as the parents of each
    for inner in [each for each in places if str(each).startswith(above) and each not in but]:
        del places[inner]
    if places.pop(path, None) in (None, Access.HIDDEN) and _above(places, path) in (Access.HIDDEN, Access.SCRATCH):
        return
    places[path] = Access.HIDDEN


def _above(places: Mapping[Path, Access], path: Path) -> Access:
    return next(places[each] for each in (path, *path.parents) if each in places)


def _touches(path: Path, others: frozenset[Path]) -> bool:
    """Whether a path is one of the others, in one, or above one."""
    return not others.isdisjoint((path, *path.parents)) or any(path in other.parents for other in others)


def _state(paths: _Paths, path: str, *, makes_it: bool) -> Iterator[Path]:
    """Where a piece of state is, made if it is a folder that is missing. A file that is missing stays so."""
    real = paths.real(path)
    if makes_it and not real.exists() and not real.suffix:
        with suppress(OSError):
            real.mkdir(mode=0o700, parents=True)
    if real.exists():
        yield real


def _links(paths: _Paths, spelled: Iterable[str], places: Mapping[Path, Access]) -> Iterator[tuple[Path, Path]]:
    """What leads by another name to a place, if that name would be hidden: a folder of settings kept elsewhere."""
    found = set[Path]()
    for path in spelled:
        link, real = paths.spelled(path), paths.real(path)
        if link == real or real not in places or not link.is_absolute() or not found.isdisjoint((link, *link.parents)):
            continue
        if _above(places, link.parent) not in (Access.HIDDEN, Access.SCRATCH):
            continue
        found.add(link)
        yield link, real


def _fixed(paths: _Paths, path: str) -> Iterator[Path]:
    """The same for what is read-only in it: a missing one could be made, with anything in it."""
    if paths.spelled(path).is_symlink():
        raise OSError(0, f"{paths.spelled(path)} is a link, which an agent could replace; put the file itself there")
    real = paths.real(path)
    if not real.exists():
        with suppress(OSError):
            if path.endswith("/"):
                real.mkdir(mode=0o700)
            else:
                with create_private(real) as made:
                    made.write(b"{}\n" if real.suffix in (".json", ".jsonc") else b"")
    if real.exists():
        yield real


def _program_places(
    program: Sequence[str], environment: Mapping[str, str], home: Path, roots: Sequence[Path]
) -> Iterator[Path]:
    """The folders of the agent's program, of the files named in its arguments, and of what is on PATH.

    What is in a session's folder is there anyway, and a link there may lead anywhere.
    """

    def spellings(path: Path) -> set[Path]:
        is_within = any(root in (path, *path.parents) for root in roots)
        return set() if is_within or not path.is_absolute() else {path, Path(os.path.realpath(path))}

    for word in program:
        for each in spellings(Path(word)):
            if each.exists():
                yield from _with_interpreter(_package_of(each, home), home)
    for entry in environment.get("PATH", "").split(os.pathsep):
        for each in spellings(Path(entry)):
            if os.path.isdir(each):  # noqa: PTH112 - Path raises for what is in another user's folder
                yield from _with_interpreter(_prefix_of(each, home), home)


def _with_interpreter(prefix: Path, home: Path) -> Iterator[Path]:
    """An installation, and for a virtual environment the one of its Python."""
    yield prefix
    if (prefix / "pyvenv.cfg").is_file() and (python := prefix / "bin/python").exists():
        yield _prefix_of(python.resolve().parent, home)


def _prefix_of(folder: Path, home: Path) -> Path:
    """The installation that a folder of programs belongs to: `X` for `X/bin`, but never the home folder."""
    prefix = folder.parent if folder.name in ("bin", "sbin", "shims", "Scripts", ".bin") else folder
    return folder if prefix in (home, home / ".local", *home.parents) else prefix


def _package_of(file: Path, home: Path) -> Path:
    """The package that a program's file belongs to: the topmost `node_modules`, or what holds its project file."""
    if file.is_dir():
        return file
    above = [folder for folder in file.parents if folder != home and folder not in home.parents]
    for folder in reversed(above):
        if folder.name == "node_modules":
            return folder
    for folder in above:
        if any((folder / name).is_file() for name in ("package.json", "pyproject.toml", "pyvenv.cfg", "Cargo.toml")):
            return folder
    prefix = _prefix_of(file.parent, home)
    return file if prefix in (home, *home.parents) or prefix == home / ".local" / "bin" else prefix
