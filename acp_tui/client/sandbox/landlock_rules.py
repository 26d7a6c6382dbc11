"""A box as the files that Landlock allows. It allows whole folders: what is hidden must not lie in one of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_tui.client.sandbox.access import Access
from acp_tui.client.sandbox.box import Box

_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
_DEVICE_FOLDER: Final = Path("/dev")


def places(box: Box) -> list[tuple[str, bool]]:
    """The files and folders that are allowed, and whether they may be written. Blocks."""
    devices = [(f"{_DEVICE_FOLDER}/{name}", True) for name in _DEVICES]
    return [(str(box.tmp), True), *devices, *_below(box, Path("/"))]


def _below(box: Box, folder: Path) -> Iterator[tuple[str, bool]]:
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
                    yield from _below(box, path)
    for path in inner:
        if next((each for each in path.parents if each in box.places), None) == folder:
            yield from _below(box, path)
