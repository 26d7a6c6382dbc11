"""What an agent's sandbox contains: one access for each place, and the deepest place above a path decides.

The user's profile, the agent's needs, and the session's folders make a box. Engines enforce it, requests for files are
held against it, and the screen lists it, all from the same places.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, TypeAlias

from acp_tui.client.sandbox.needs import NEEDS, Needs
from acp_tui.client.settings.location import cache_folder, expand_path, own_folders
from acp_tui.values import dataclass

EngineName: TypeAlias = Literal["auto", "bubblewrap", "landlock", "seatbelt", "srt"]

COVERED: Final = ("/home", "/root", "/Users", "/run", "/media", "/mnt", "/Volumes")
"""Other people's files, other systems' disks, and the sockets of services."""
SCRATCH: Final = ("~/.cache", "~/.npm")
"""Caches of tools, private and empty: without them, builds fail. What is in the user's own stays out of reach."""
_SHARED_TMP: Final = ("/tmp", "/var/tmp")
TOOLS: Final = (
    *(
        "~/.gitconfig",
        "~/.config/git",
        "~/.rustup",
        "~/.nvm",
        "~/.pyenv",
        "~/.rbenv",
        "~/.asdf",
        "~/.sdkman",
        "~/.volta",
    ),
    *("~/.local/bin", "~/.local/lib", "~/.local/share/mise", "~/.local/share/uv", "~/.local/share/pipx"),
    *("~/.local/share/fnm", "~/.local/share/pnpm", "~/.config/mise"),
)
"""Tool chains in the home folder, which agents build and test with, and the user's name for commits."""
SECRETS: Final = (
    *(
        "~/.ssh",
        "~/.gnupg",
        "~/.aws",
        "~/.azure",
        "~/.kube",
        "~/.docker",
        "~/.netrc",
        "~/_netrc",
        "~/.npmrc",
        "~/.pypirc",
    ),
    *("~/.git-credentials", "~/.config/git/credentials", "~/.config/gh", "~/.config/glab-cli", "~/.config/gcloud"),
    *("~/.config/op", "~/.config/rclone", "~/.config/sops", "~/.vault-token", "~/.terraform.d", "~/.databrickscfg"),
    *("~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.m2/settings.xml", "~/.pgpass"),
    *("~/.password-store", "~/.local/share/keyrings", "~/.local/share/kwalletd", "~/Library/Keychains"),
    *("~/.mozilla", "~/.thunderbird", "~/.config/google-chrome", "~/.config/chromium", "~/.config/BraveSoftware"),
    *("~/.config/microsoft-edge", "~/.config/vivaldi", "~/.config/opera", "~/.var/app", "~/snap"),
    *("~/Library/Application Support/Google/Chrome", "~/Library/Application Support/Firefox", "~/Library/Cookies"),
    *("~/.bash_history", "~/.zsh_history", "~/.python_history", "~/.local/share/fish", "~/.Xauthority"),
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"),
    *("/etc/ssl/private", "/etc/krb5.keytab", "/etc/wireguard", "/etc/NetworkManager/system-connections"),
    *("/var/lib/incus", "/var/lib/lxd", "/var/snap"),
    *("/etc/letsencrypt", "/var/lib/docker", "/var/lib/containerd", "/var/spool/cron", "/var/mail", "/var/spool/mail"),
)
"""Keys, tokens, and what the user did elsewhere. Hidden even where the home folder is a session's folder."""
RUNS_LATER: Final = (
    *(".envrc", ".vscode", ".idea", ".zed", ".fleet", ".husky", ".githooks", ".github", ".gitlab-ci.yml", ".circleci"),
    *(".devcontainer", ".pre-commit-config.yaml", "lefthook.yml", ".mcp.json", ".cursor", ".windsurf", ".acp-tui.toml"),
    *(".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".gemini/settings.json"),
    *(
        ".codex/config.toml",
        ".qwen/settings.json",
        ".opencode",
        "opencode.json",
        ".npmrc",
        ".yarnrc.yml",
        ".bunfig.toml",
    ),
    *("mise.toml", ".mise.toml", ".tool-versions", "flake.nix", "shell.nix", ".python-version", ".gitmodules"),
)
"""What editors, shells, git, and other agents read in a folder without being asked. It is read-only where it exists."""
_GIT_PROTECTED: Final = ("config", "config.worktree", "hooks", "info/attributes")
ENVIRONMENT: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR", "TZ"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "EDITOR", "VISUAL", "PAGER"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NVM_*", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_*", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "JAVA_HOME"),
    *("PNPM_HOME", "VOLTA_HOME", "BUN_INSTALL", "DENO_INSTALL", "SDKMAN_DIR", "GIT_AUTHOR_*", "GIT_COMMITTER_*"),
    *("npm_config_script_shell", "ACP_TUI_FOLDER", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"),
)
"""Variables that every agent gets. The others may be keys."""


class Access(Enum):
    HIDDEN = "hidden"
    READABLE = "read"
    WRITABLE = "write"
    SCRATCH = "scratch"
    """Writable, private, and gone with the box."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A sandbox as the user names it."""

    name: str
    writable: tuple[str, ...] = (".",)
    """Paths; `.` stands for the session's folders."""
    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    network: bool = True
    env: tuple[str, ...] = ()
    """Names of variables; `*` stands for any characters."""
    engine: EngineName = "auto"
    hosts: tuple[str, ...] = ()
    """For `srt`: the only hosts that can be reached."""


READ_ONLY: Final = Profile("read-only", writable=())
WORKSPACE: Final = Profile("workspace")
BUILT_IN: Final[Mapping[str, Profile]] = {profile.name: profile for profile in (READ_ONLY, WORKSPACE)}
OFF: Final = "off"


@dataclass(frozen=True, slots=True)
class Box:
    """What is in one agent's sandbox. Paths are absolute and without links."""

    profile: Profile
    folders: tuple[Path, ...]
    """Where its sessions may work."""
    places: Mapping[Path, Access]
    environment: Mapping[str, str]
    """Complete."""
    tmp: Path
    """The folder that is its /tmp, and gone with it."""
    note: str = ""
    """What is different for this agent."""

    def access(self, path: Path) -> Access:
        """What it may do at a path without links."""
        return _above(self.places, path)

    def allows(self, path: Path, *, write: bool) -> bool:
        """Whether this file is the same for what runs in the box, and may be read or written there."""
        access = self.access(path)
        return access is Access.WRITABLE or (access is Access.READABLE and not write)

    def holds(self, folder: Path) -> bool:
        """Whether a session can work in a folder."""
        return self.access(Path(os.path.realpath(folder))) in (Access.READABLE, Access.WRITABLE)

    def listed(self, access: Access) -> list[Path]:
        return sorted(path for path, each in self.places.items() if each is access)

    def discard(self) -> None:
        """Remove what only the box has used. Blocks."""
        shutil.rmtree(self.tmp, ignore_errors=True)


def make_box(
    profile: Profile,
    needs: Needs,
    folders: Sequence[Path],
    program: Sequence[str],
    environ: Mapping[str, str],
    given: Mapping[str, str],
    masks: Iterable[Path] = (),
) -> Box:
    """The box of an agent that runs `program`, absolute, in `folders`. Makes its state folders. Blocks.

    `environ` is the user's environment, of which little gets in; `given` gets in whole. `masks` are hidden whatever
    else is said. Raises OSError, and SettingsError for a variable that isn't set.
    """
    environment = {
        name: value
        for name, value in environ.items()
        if any(fnmatchcase(name, allowed) for allowed in (*ENVIRONMENT, *needs.env, *profile.env))
    }
    paths = _Paths(environ)
    environment |= {name: paths.expanded(value) for name, value in needs.sets.items()}
    environment |= {**given, "TMPDIR": "/tmp"}
    for name in [name for name in environment if name in ("TMP", "TEMP")]:
        environment[name] = "/tmp"
    roots = tuple(Path(os.path.realpath(folder)) for folder in folders)
    places: dict[Path, Access] = {}
    # What comes later replaces the access of the same path.
    for access, covered in ((Access.HIDDEN, (*COVERED, "~")), (Access.SCRATCH, (*SCRATCH, *_SHARED_TMP))):
        places |= {path: access for path in map(paths.real, covered) if path.is_dir() or path.parent == paths.home}
    places[Path("/")] = Access.READABLE
    packages = cache_folder() / "packages"
    readable = (*TOOLS, *needs.readable, str(packages), "/etc/resolv.conf", "/run/current-system", "/run/wrappers")
    for each in (*map(paths.real, readable), *_program_places(program, environment, paths.home)):
        if each.exists():
            places[each] = Access.READABLE
    is_workspace_writable = "." in profile.writable
    for root in roots:
        if root in paths.home.parents:
            raise OSError(0, f"{root} holds your home folder, which a sandbox hides")
        places[root] = Access.WRITABLE if is_workspace_writable else Access.READABLE
        _add_repository(places, root, is_writable=is_workspace_writable)
    # From here on, what is said later holds: nothing that follows is within what an agent could have made.
    others = (path for other in NEEDS.values() if other is not needs for path in other.state)
    for secret in map(paths.real, (*SECRETS, *others, *map(str, own_folders()))):
        _hide(places, secret, but=paths.real(str(packages)))
    for access, named in ((Access.READABLE, profile.readable), (Access.WRITABLE, profile.writable)):
        for each in (paths.real(path) for path in named if path != "."):
            if each.exists():
                places[each] = access
    for path in needs.state:
        for each in _state(paths, path):
            places[each] = Access.WRITABLE
    for path in needs.fixed:
        for each in _fixed(paths, path):
            places[each] = Access.READABLE
    for file in (root / name for root in roots for name in RUNS_LATER):
        if file.exists() and _above(places, file) is Access.WRITABLE:
            places[file] = Access.READABLE
    for service in _listening_sockets():
        if _above(places, service) is Access.READABLE:
            places[service] = Access.HIDDEN
    for mask in (*map(paths.real, profile.hidden), *masks):
        _hide(places, mask)
    return Box(profile, roots, places, environment, Path(tempfile.mkdtemp(prefix="acp-tui-box-")), needs.note)


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
                if stat.S_ISSOCK(path.stat().st_mode):
                    yield path


class _Paths:
    """Spellings of paths in settings."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {"HOME": str(Path.home()), **environ}
        self.home = self.real("~")

    def real(self, path: str) -> Path:
        return Path(os.path.realpath(self.expanded(path)))

    def expanded(self, text: str) -> str:
        # ~ may also stand in the default of a variable.
        return expand_path(expand_path(text, self._environ), self._environ)


def _hide(places: dict[Path, Access], path: Path, but: Path | None = None) -> None:
    """Hide an existing path and all below it, if it can be seen."""
    for inner in [each for each in places if path in each.parents and each != but]:
        del places[inner]
    if places.pop(path, None) in (None, Access.HIDDEN) and _above(places, path) in (Access.HIDDEN, Access.SCRATCH):
        return
    if path.exists():
        places[path] = Access.HIDDEN


def _above(places: Mapping[Path, Access], path: Path) -> Access:
    """The access at a path."""
    return next(places[each] for each in (path, *path.parents) if each in places)


def _state(paths: _Paths, path: str) -> Iterator[Path]:
    """Where a piece of state is, made if it is a folder that is missing. A file that is missing stays so."""
    real = paths.real(path)
    if not real.exists() and not real.suffix:
        with suppress(OSError):
            real.mkdir(mode=0o700, parents=True)
    if real.exists():
        yield real


def _fixed(paths: _Paths, path: str) -> Iterator[Path]:
    """The same for what is read-only in it: a missing one could be made, with anything in it."""
    real = paths.real(path)
    if not real.exists():
        with suppress(OSError):
            if path.endswith("/"):
                real.mkdir(mode=0o700)
            else:
                real.write_text("{}\n" if real.suffix in (".json", ".jsonc") else "", "utf-8")
    if real.exists():
        yield real


def _program_places(program: Sequence[str], environment: Mapping[str, str], home: Path) -> Iterator[Path]:
    """The folders of the agent's program, of the files named in its arguments, and of what is on PATH."""
    words = [word for word in program if word.startswith("/")]
    for word in words:
        for each in {word, os.path.realpath(word)}:
            if Path(each).exists():
                yield from _with_interpreter(_package_of(Path(each), home), home)
    for folder in map(Path, environment.get("PATH", "").split(os.pathsep)):
        if folder.is_absolute() and folder.is_dir():
            for place in {folder, folder.resolve()}:
                yield from _with_interpreter(_prefix_of(place, home), home)


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


def _add_repository(places: dict[Path, Access], root: Path, *, is_writable: bool) -> None:
    """Make git work in a folder: its repository may be above it, or elsewhere if it is a worktree.

    git's settings and hooks are read-only, since git runs what they name. `.git` is a place of its own, so that it
    can't be moved away and made anew.
    """
    top = next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)
    if top is None or not _is_ours(top):
        return
    git = top / ".git"
    if top != root and top not in places:
        places[top] = Access.READABLE
    access = Access.WRITABLE if is_writable else Access.READABLE
    kind = git.lstat().st_mode
    if stat.S_ISREG(kind):
        common = _common_folder(git)
        if common is None:
            return
        places[git] = Access.READABLE
        places[common] = access
        # git looks for the repository's own folder, too
        git = common
    elif stat.S_ISDIR(kind):
        places[git] = access
    else:
        return
    if not is_writable:
        return
    for folder in (git, *(modules for modules in git.glob("modules/*") if (modules / "HEAD").is_file())):
        for name in _GIT_PROTECTED:
            if (folder / name).exists():
                places[folder / name] = Access.READABLE
            elif name == "hooks":
                places[folder / name] = Access.HIDDEN
    for each in git.glob("worktrees/*/config.worktree"):
        places[each] = Access.READABLE


def _is_ours(folder: Path) -> bool:
    """Whether git would use a repository there: not if someone else could have made it (`safe.directory`)."""
    return folder.stat().st_uid in (os.getuid(), 0) or os.getuid() == 0


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
