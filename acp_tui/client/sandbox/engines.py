"""Chooses what enforces a box on this system, and says how to start a program in it. Without one, nothing starts."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from acp_tui.client.errors import AgentNotRunnable
from acp_tui.client.private_files import replace_file
from acp_tui.client.processes import landlock
from acp_tui.client.processes.guard import Confinement
from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import Box
from acp_tui.values import dataclass

_NAMESPACES: Final = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--hostname", "sandbox"),
)
_BINDS: Final = {Access.READABLE: "--ro-bind", Access.WRITABLE: "--bind"}
_NOTHING: Final = "/dev/null"
"""Bound over a file, it can't be opened: devices don't work in a bind."""


def bubblewrap_arguments(box: Box, folder: Path, extra: Mapping[str, str], *, has_disable_userns: bool) -> list[str]:
    """bubblewrap's own arguments, to work in `folder`; `extra` are variables besides the box's.

    Variables are arguments because those that an agent chooses must not change what bubblewrap itself loads.
    """
    words = [*_NAMESPACES, "--clearenv"]
    words += () if box.profile.network else ("--unshare-net",)
    words += ("--disable-userns",) if has_disable_userns else ()
    for name, value in {**box.environment, **extra}.items():
        words += ("--setenv", name, value)
    # To root, bubblewrap leaves the settings of the whole system in /proc/sys writable.
    words += ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")
    return [*words, *_mounts(box), "--chdir", str(folder)]


def _mounts(box: Box) -> Iterator[str]:
    """Those above come first, since each hides what is below it."""
    covers = []
    for path in sorted(box.places, key=lambda path: (len(path.parts), path)):
        access, name = box.places[path], str(path)
        # A service may have ended, or a file may be gone, since the box was made: its commands start later.
        is_gone = access is not Access.SCRATCH and path not in box.folders and not path.exists()
        if name == "/" or is_gone:
            continue
        if access is Access.SCRATCH:
            yield from ("--bind", str(box.tmp), name) if name in ("/tmp", "/var/tmp") else ("--tmpfs", name)
        elif access in _BINDS:
            yield from (_BINDS[access], name, name)
        elif path.is_dir():
            has_more = any(str(each).startswith(f"{path}/") for each in box.places)
            yield from ("--perms", "0755" if has_more else "0000", "--tmpfs", name)
            covers.append(name)
        else:
            yield from ("--ro-bind", _NOTHING, name)
    for link, target in sorted(box.links.items()):
        yield from ("--symlink", str(target), str(link))
    for name in covers:  # when all is mounted that they hold
        yield from ("--remount-ro", name)


_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
_DEVICE_FOLDER: Final = Path("/dev")


def landlock_places(box: Box) -> list[tuple[str, bool]]:
    """The files and folders that Landlock allows, and whether they may be written. Blocks.

    It allows whole folders: what is hidden must not lie in one of them.
    """
    devices = [(f"{_DEVICE_FOLDER}/{name}", True) for name in _DEVICES]
    return [(str(box.tmp), True), *devices, *_allowed_in(box, Path("/"))]


def _allowed_in(box: Box, folder: Path) -> Iterator[tuple[str, bool]]:
    access = box.access(folder)
    if access is Access.WRITABLE:
        yield str(folder), True
        return
    above = str(folder).rstrip("/") + "/"
    inner = [path for path in box.places if path != folder and str(path).startswith(above)]
    hides = any(box.places[path] in (Access.HIDDEN, Access.SCRATCH) for path in inner)
    if access is Access.READABLE and not hides:
        yield str(folder), False
    elif access is Access.READABLE:
        with suppress(OSError):  # it has gone by now, or can't be listed: nothing of it is allowed
            for path in list(folder.iterdir()):
                if path not in box.places and path != _DEVICE_FOLDER and not path.is_symlink():
                    yield from _allowed_in(box, path)
    for path in inner:
        if next((each for each in path.parents if each in box.places), None) == folder:
            yield from _allowed_in(box, path)


# What isn't about files is as in Apple's own profiles: a process sees and signals those of its sandbox only.
_SEATBELT_HEAD: Final = """\
(version 1)
(allow default)
(deny signal)
(allow signal (target same-sandbox))
(deny process-info* (target others))
(deny mach-priv-task-port)
(deny network-outbound (remote unix-socket))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(deny mach-lookup (global-name "com.apple.pasteboard.1") (global-name "com.apple.coreservices.appleevents"))
(deny file-write*)
(allow file-write* (regex #"^/dev/(null|zero|tty|ptmx|ttys[0-9]+|fd/[0-9]+)$"))
"""
_SEATBELT_RULES: Final = {
    Access.HIDDEN: "(deny file-read* file-write* {})",
    Access.READABLE: "(allow file-read* {0})\n(deny file-write* {0})",
    Access.WRITABLE: "(allow file-read* file-write* {})",
    Access.SCRATCH: "(deny file-read* file-write* {})",
}


def seatbelt_profile(box: Box) -> str:
    """A profile of macOS's sandbox, in its own language, where the last rule that matches decides.

    Nothing can be mounted, so the box's /tmp is a folder elsewhere.
    """
    return "\n".join((_SEATBELT_HEAD.rstrip(), *_seatbelt_rules(box), ""))


def _seatbelt_rules(box: Box) -> Iterator[str]:
    if not box.profile.network:
        yield "(deny network*)"
    for path in sorted(box.places, key=lambda path: (len(path.parts), path)):
        if path != Path("/"):
            yield _SEATBELT_RULES[box.places[path]].format(_subpath(path))
    yield _SEATBELT_RULES[Access.WRITABLE].format(_subpath(box.tmp))
    yield "(allow file-read-metadata)"  # programs follow their own path from the root


def _subpath(path: Path) -> str:
    return f"(subpath {json.dumps(str(path), ensure_ascii=False)})"


def srt_settings(box: Box) -> Path:
    """A file with settings of Anthropic's sandbox-runtime, in a folder that goes with the box and isn't in it. Blocks.

    It has what the others lack: a list of hosts to reach.
    """
    file = box.own.path / "srt.json"
    written = {
        "network": {"allowedDomains": [*box.profile.hosts] if box.profile.network else [], "deniedDomains": []},
        "filesystem": {
            "denyRead": _paths(box, Access.HIDDEN),
            "allowRead": [path for path in _paths(box, Access.READABLE, Access.WRITABLE) if path != "/"],
            "allowWrite": [*_paths(box, Access.WRITABLE), str(box.tmp)],
            "denyWrite": [path for path in _paths(box, Access.READABLE) if path != "/"],
        },
    }
    replace_file(file, json.dumps(written, indent=1).encode())
    return file


def _paths(box: Box, *accesses: Access) -> list[str]:
    return [str(path) for access in accesses for path in box.listed(access)]


_PROBE_LIMIT_S: Final = 10.0
_INSTALL: Final = {
    "apt-get": "apt install bubblewrap",
    "dnf": "dnf install bubblewrap",
    "pacman": "pacman -S bubblewrap",
}
_DISABLE_USERNS_SINCE: Final = (0, 8)


class NoEngine(AgentNotRunnable):
    """No sandbox can be made, so the agent doesn't start."""


@dataclass(frozen=True, slots=True)
class Way:
    confinement: Confinement
    environment: Mapping[str, str]
    """For what leads in, complete."""


@dataclass(frozen=True, slots=True)
class Engine:
    name: str
    program: str = ""
    """Its path; "" if processes confine themselves."""
    gaps: tuple[str, ...] = ()
    """What it can't do here, as sentences."""

    @property
    def version(self) -> str:
        """The version of what enforces; "" if that is the system's. Blocks."""
        if self.name == "landlock":
            return f"ABI {landlock.abi()}"
        return ".".join(map(str, _version(self.program))) if self.program else ""

    def way_into(self, box: Box, folder: Path, extra: Mapping[str, str]) -> Way:
        """How to start a program in `folder`, with `extra` variables. Blocks. Raises NoEngine."""
        if self.name == "bubblewrap":
            words = bubblewrap_arguments(
                box, folder, extra, has_disable_userns=_version(self.program) >= _DISABLE_USERNS_SINCE
            )
            data = b"".join(os.fsencode(word) + b"\0" for word in words)
            is_setuid = _is_setuid(self.program) and os.getuid() != 0
            return Way(Confinement((self.program, "--args", "{fd}", "--"), data, None, is_setuid), {})
        environment = {**box.environment, "TMPDIR": str(box.tmp), "XDG_CACHE_HOME": f"{box.tmp}/cache"}
        if self.name == "landlock":
            return Way(Confinement(places=landlock_places(box)), {**environment, **extra})
        # An agent chose the extra variables, and they must not change what leads in.
        setting = ("/usr/bin/env", *(f"{name}={value}" for name, value in extra.items())) if extra else ()
        if self.name == "seatbelt":
            return Way(Confinement((self.program, "-p", seatbelt_profile(box), *setting)), environment)
        return Way(Confinement((self.program, "--settings", str(srt_settings(box)), "--", *setting)), environment)


def engine_for(box: Box) -> Engine:
    """The engine that the box's profile names, or the best one here. Blocks. Raises NoEngine."""
    wanted = box.profile.engine
    if wanted == "auto" and sys.platform == "darwin":
        return Engine("seatbelt", "/usr/bin/sandbox-exec")
    if wanted == "auto":
        engine = _bubblewrap()
        refused = _why_refused(engine.program)
        return _landlock(box, refused) if refused else engine
    if wanted == "landlock":
        return _landlock(box, "")
    if wanted == "bubblewrap":
        return _bubblewrap()
    name = {"seatbelt": "sandbox-exec", "srt": "srt"}[wanted]
    program = shutil.which(name)
    if program is None:
        hint = "it is part of macOS" if wanted == "seatbelt" else "npm install -g @anthropic-ai/sandbox-runtime"
        raise NoEngine(f"the sandbox needs {name}, which isn't on PATH", hint=hint)
    return Engine(wanted, program)


def _bubblewrap() -> Engine:
    program = shutil.which("bwrap")
    if program is None:
        how = next((how for tool, how in _INSTALL.items() if shutil.which(tool)), "install the package bubblewrap")
        raise NoEngine("the sandbox needs bubblewrap, which isn't installed", hint=f"{how}, or --sandbox=off")
    gaps = [] if landlock.abi() >= landlock.SCOPES_ABI else [_ABSTRACT_SOCKETS]
    gaps += [_WSL] if "microsoft" in os.uname().release.lower() else []
    return Engine("bubblewrap", program, tuple(gaps))


_ABSTRACT_SOCKETS: Final = (
    "With the network on, this kernel (before 6.12) lets it connect to abstract sockets, which some desktops have."
)
_WSL: Final = "Windows may run a program that it brings with it, outside the sandbox (WSL interop)."
_LANDLOCK_GAPS: Final = (
    "It can connect to the sockets of services, such as Docker's, if you can.",
    "It sees your other processes and can limit them, but not read their memory, variables, and files.",
    "It can change who may use your files, and when they were changed, but not what is in them.",
    "It can read what you type in your terminals, and write to them.",
    "It shares the memory that other programs share by System V's calls.",
    "It can change what runs later: git's settings and hooks, settings of editors, and its own.",
)


def _landlock(box: Box, why: str) -> Engine:
    if not landlock.abi():
        reason = f"{why}, and " if why else ""
        raise NoEngine(f"{reason}this kernel has no Landlock", hint="use another kernel, or --sandbox=off")
    if hidden := [path for path in box.listed(Access.HIDDEN) if box.access(path.parent) is Access.WRITABLE]:
        raise NoEngine(
            f"Landlock can't hide {hidden[0]} in a folder that may be written", hint=why or "use the engine bubblewrap"
        )
    if not box.profile.network:
        raise NoEngine("Landlock can't turn off the network", hint=why or "use the engine bubblewrap")
    signals = () if landlock.abi() >= landlock.SCOPES_ABI else ("It can signal your other processes.",)
    return Engine("landlock", gaps=(*_LANDLOCK_GAPS, *signals))


def _why_refused(program: str) -> str:
    """Why the system lets bubblewrap make no user namespace; "" if nothing is known to be in the way. Blocks."""
    if os.getuid() == 0 or _is_setuid(program) or not may_be_refused():
        return ""
    probe = (program, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true")
    done = subprocess.run(probe, capture_output=True, text=True, timeout=_PROBE_LIMIT_S, check=False)
    return "" if done.returncode == 0 else f"the system refuses user namespaces ({done.stderr.strip()})"


def may_be_refused() -> bool:
    """Whether the system has a setting by which it refuses user namespaces to some."""
    signs = {"kernel/apparmor_restrict_unprivileged_userns": "1", "kernel/unprivileged_userns_clone": "0"}
    return any(_system(name) == sign for name, sign in {**signs, "user/max_user_namespaces": "0"}.items())


def _system(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text("ascii").strip()
    except OSError:
        return ""


def _is_setuid(program: str) -> bool:
    return bool(Path(program).stat().st_mode & stat.S_ISUID)


@cache
def _version(program: str) -> tuple[int, ...]:
    said = subprocess.run((program, "--version"), capture_output=True, text=True, timeout=_PROBE_LIMIT_S, check=False)
    return tuple(map(int, re.findall(r"\d+", said.stdout)[:3]))
