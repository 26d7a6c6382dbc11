"""The folder of the recordings: their names, permissions, and size limit. Doesn't read their content."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from acp_tui.client.private_files import create_private, make_private

SUFFIX: Final = ".jsonl"
INDEX: Final = "index.sqlite3"
_YEAR: Final = re.compile("[0-9]{4}")
_UNUSUAL: Final = re.compile(r"[^a-z0-9.]+")


class RecordingStore:
    """Recordings in a folder, as YEAR/TIME-AGENT-ID.jsonl. Its methods block.

    The process that writes a recording holds a lock on it, so that no other acp-tui deletes or changes it.
    """

    def __init__(self, folder: Path, *, max_total_bytes: int = 1 << 30) -> None:
        self.folder = folder
        self._max_total_bytes = max_total_bytes

    @property
    def index_file(self) -> Path:
        return self.folder / INDEX

    def new_file(self, agent: str) -> BinaryIO:
        """A new recording, locked, accessible only to its owner. Makes room for it first. Raises OSError."""
        now = datetime.now(UTC)
        folder = self.folder / f"{now:%Y}"
        make_private(self.folder, is_ours=True)
        make_private(folder, is_ours=True)
        self.prune()
        slug = _UNUSUAL.sub("-", agent.lower()).strip("-.")[:40] or "agent"
        return create(folder / f"{now:%Y%m%dT%H%M%S.%f}Z-{slug}-{secrets.token_hex(3)}{SUFFIX}")

    def files(self) -> list[Path]:
        """All recordings, oldest first."""
        return [self.path_of(name) for name in self.sizes()]

    def sizes(self) -> dict[str, int]:
        """The names of all recordings, oldest first, and their sizes in bytes."""
        found: list[tuple[str, int]] = []
        with suppress(OSError), os.scandir(self.folder) as folders:
            for year in folders:
                if _YEAR.fullmatch(year.name):
                    found += _recordings_in(year)
        return dict(sorted(found))

    def path_of(self, name: str) -> Path:
        return Path(self.file_of(name))

    def file_of(self, name: str) -> str:
        """The same as text, which takes a tenth of the time: a list has thousands."""
        return f"{self.folder}/{name[:4]}/{name}"

    def prune(self) -> None:
        """Delete the oldest ones beyond the size limit, except those being written."""
        sizes = self.sizes()
        surplus = sum(sizes.values()) - self._max_total_bytes
        for name, size in sizes.items():
            if surplus <= 0:
                return
            path = self.path_of(name)
            with suppress(BlockingIOError, FileNotFoundError), held(path):
                path.unlink()
                surplus -= size


def create(path: Path) -> BinaryIO:
    """A new file for its owner only, locked until it's closed. Raises OSError, including FileExistsError."""
    file = create_private(path)
    with suppress(OSError):  # some network file systems don't support locks
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def create_beside(path: Path) -> BinaryIO:
    """Like `create`. If the file exists, add a number to the name, because an agent may be started again."""
    for number in range(1, 1_000):
        with suppress(FileExistsError):
            return create(path if number == 1 else path.with_stem(f"{path.stem}-{number}"))
    raise FileExistsError(f"{path} exists, and 1,000 like it")


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep other processes from writing the file.

    Raises BlockingIOError if one is, OSError if the file doesn't exist.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(fd)


def is_being_written(path: Path) -> bool:
    """Whether its recorder is still running, here or in another process."""
    try:
        with held(path):
            return False
    except BlockingIOError:
        return True


def _recordings_in(year: os.DirEntry[str]) -> Iterator[tuple[str, int]]:
    with suppress(OSError), os.scandir(year.path) as files:
        for file in files:
            if file.name.startswith(year.name) and file.name.endswith(SUFFIX):
                with suppress(OSError):  # it was deleted just now
                    yield file.name, file.stat().st_size
