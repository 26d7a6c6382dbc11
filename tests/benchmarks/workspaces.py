"""Makes the folders that `goals.py workspaces` measures: the same files and sizes each time, in a temporary folder.

    python tests/benchmarks/workspaces.py FOLDER [NAME ...]     make them in FOLDER, and keep them

Contents repeat, because only the number and size of the files matter. Without permission to mount, there's no folder
with a mounted `/proc`, and none is kept: whoever removed it with the mount in it would reach the system's processes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

FILES_A_FOLDER: Final = 20
FOLDERS_A_FOLDER: Final = 50
MOUNTED: Final = "proc"
HOME_FOLDERS: Final = (
    ".cache",
    ".local/share",
    ".config",
    "Downloads",
    "Documents",
    "src/one",
    "src/two",
    ".npm/_cacache",
)


def fill(folder: Path, files: int) -> None:
    """Write this many small files, in a tree that's a few levels deep."""
    for number in range(-(-files // FILES_A_FOLDER)):
        name, places = "", number
        while places or not name:
            places, at = divmod(places, FOLDERS_A_FOLDER)
            name = f"part{at:02}/{name}"
        inner = folder / name
        inner.mkdir(parents=True, exist_ok=True)
        for at in range(min(FILES_A_FOLDER, files - number * FILES_A_FOLDER)):
            size = 200 + (number * 37 + at * 101) % 2_000
            (inner / f"module_{at:02}.py").write_bytes(b"value = 1  # %06d\n" % (number % 997) * (size // 20))


def _git(folder: Path, files: int) -> None:
    fill(folder, files)
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "first")):
        run_git(folder, *words)


def run_git(folder: Path, *words: str) -> None:
    """Run git there."""
    who = ("-c", "user.name=n", "-c", "user.email=e", "-c", "gc.auto=0")
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


def _two_branches(folder: Path, files: int) -> None:
    """A repository whose branch `other` has other content in about half of the files."""
    _git(folder, files)
    run_git(folder, "checkout", "-qb", "other")
    for file in sorted(folder.rglob("*.py"))[: files // 2]:
        file.write_bytes(file.read_bytes() + b"# other\n")
    run_git(folder, "commit", "-qam", "second")
    run_git(folder, "checkout", "-q", "main")


def _home(folder: Path, files: int) -> None:
    """Caches, downloads, and two repositories, as in a home folder."""
    for at, name in enumerate(HOME_FOLDERS):
        inner = folder / name
        inner.mkdir(parents=True)
        make = _git if name.startswith("src/") else fill
        make(inner, files // len(HOME_FOLDERS))
        with (inner / "large.bin").open("wb") as large:
            large.truncate((at + 1) << 28)  # sparse, so it takes no room


def _with_proc(folder: Path, files: int) -> None:
    fill(folder, files)
    place = folder / "chroot/proc"
    place.mkdir(parents=True)
    subprocess.run(["mount", "-t", "proc", "proc", str(place)], check=True, capture_output=True)


WORKSPACES: Final[dict[str, tuple[Callable[[Path, int], None], int]]] = {
    "empty": (fill, 0),
    "git": (_git, 106_000),
    "no git": (fill, 98_000),
    "home": (_home, 160_000),
    MOUNTED: (_with_proc, 1_000),
    "million": (fill, 1_000_000),
}
"""By name, how to fill a folder, and with how many files."""
OTHERS: Final[dict[str, tuple[Callable[[Path, int], None], int]]] = {"two branches": (_two_branches, 106_000)}
"""Folders for other works."""


def make(folder: Path, name: str) -> Path:
    """Make this workspace in a folder. Raises: CalledProcessError if it can't be made here."""
    place = folder / name.replace(" ", "-")
    place.mkdir(parents=True)
    fill_it, files = (WORKSPACES | OTHERS)[name]
    fill_it(place, files)
    return place


@contextmanager
def made(name: str) -> Iterator[Path]:
    """A workspace that's removed afterward."""
    with tempfile.TemporaryDirectory(prefix="acp-tui-workspace-") as folder:
        try:
            yield make(Path(folder), name)
        finally:
            for mounted in Path(folder).glob("*/chroot/proc"):
                # Lazily: a mount in use would stay, and be removed with the folder.
                subprocess.run(["umount", "--lazy", str(mounted)], check=False, capture_output=True)


if __name__ == "__main__":
    kept = [name for name in (*WORKSPACES, *OTHERS) if name != MOUNTED]
    for wanted in sys.argv[2:] or kept:
        if wanted not in kept:
            sys.exit(f"{wanted}: not one of {', '.join(kept)}")
        print(make(Path(sys.argv[1]), wanted))
