"""A box as the rules of each engine: bubblewrap's arguments, Landlock's places, seatbelt's profile, srt's settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_tui.client.private_files import replace_file
from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import Box

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
