"""While another process swaps folders and files for links that lead out, nothing outside is read or written."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import anyio
import pytest

from acp_tui.client.workspace import Workspace, WorkspaceError

TRIES = 500
SECRET = "the secret"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A workspace beside a folder that an agent must not reach."""
    for folder, text in (("work/folder", "inside"), ("work/spare", "inside"), ("outside", SECRET)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "file").write_text(text)
    return tmp_path / "work"


@contextmanager
def swapping(swap: Callable[[], None]) -> Iterator[list[int]]:
    """Do it again and again in another thread; gives how often, in the end."""
    done, count = Event(), [0]

    def run() -> None:
        while not done.is_set():
            with suppress(FileNotFoundError):  # what the other side is just making
                swap()
                count[0] += 1

    thread = Thread(target=run)
    thread.start()
    try:
        yield count
    finally:
        done.set()
        thread.join()


def swap_folder(work: Path) -> None:
    """The folder, then a link in its place, then the folder."""
    folder, aside = work / "folder", work / "aside"
    folder.rename(aside)
    with suppress(FileExistsError):  # a write in between makes the folder that it misses
        folder.symlink_to(work.parent / "outside")
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        aside.rename(folder)
    if aside.exists():
        shutil.rmtree(aside)


def swap_file(work: Path) -> None:
    """The same with the file itself."""
    link = work / "link"
    with suppress(FileExistsError):
        link.symlink_to(work.parent / "outside/file")
    link.replace(work / "folder/file")
    (work / "plain").write_text("inside")
    (work / "plain").replace(work / "folder/file")


@pytest.mark.parametrize("swap", [swap_folder, swap_file])
async def test_no_read_and_no_write_gets_out_whatever_is_swapped_under_it(
    work: Path, swap: Callable[[Path], None]
) -> None:
    workspace = Workspace([work])
    path = str(work / "folder/file")
    read: set[str] = set()
    with anyio.fail_after(60), swapping(lambda: swap(work)) as count:
        tries = 0
        while tries < TRIES or count[0] < 2 * TRIES:  # 1,000 swaps at the least
            tries += 1
            with suppress(WorkspaceError):
                read.add(await workspace.read_text_file(path))
            with suppress(WorkspaceError):
                await workspace.write_text_file(path, "inside")
    assert SECRET not in read
    assert (work.parent / "outside/file").read_text() == SECRET
    assert [entry.name for entry in (work.parent / "outside").iterdir()] == ["file"]
