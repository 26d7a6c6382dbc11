"""A box as arguments of bubblewrap, which makes it of the kernel's namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from acp_tui.client.sandbox.access import Access
from acp_tui.client.sandbox.box import Box

PROGRAM: Final = "bwrap"
_NAMESPACES: Final = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--hostname", "sandbox"),
)
_BINDS: Final = {Access.READABLE: "--ro-bind", Access.WRITABLE: "--bind"}
_NOTHING: Final = "/dev/null"
"""Bound over a file, it can't be opened: devices don't work in a bind."""


def arguments(box: Box, folder: Path, extra: Mapping[str, str], *, has_disable_userns: bool) -> list[str]:
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
