"""A workspace with or without git, and a tracker that has scanned it."""

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from acp_tui.client.changes import ChangeLimits
from acp_tui.client.changes.tracker import ChangeTracker
from support.waiting import LIMIT_S

Track = Callable[..., AbstractAsyncContextManager[ChangeTracker]]


def run_git(directory: Path, *words: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e", "-c", "protocol.file.allow=always")
    done = subprocess.run(["git", *identity, *words], cwd=directory, capture_output=True, check=True, timeout=LIMIT_S)
    return done.stdout.decode()


@pytest.fixture
def git() -> Callable[..., str]:
    """Run git in a directory."""
    if shutil.which("git") is None:
        pytest.skip("git isn't installed")
    return run_git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def repository(root: Path, git: Callable[..., str]) -> Path:
    """A repository with clean files, and an ignored one."""
    git(root, "init", "-q")
    (root / "sub").mkdir()
    (root / "clean").write_bytes(b"one\ntwo\nthree\n")
    (root / "sub/clean").write_bytes(b"sub\n")
    (root / ".gitignore").write_bytes(b"ignored\nbuild/\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "ignored").write_bytes(b"secret\n")
    return root


@pytest.fixture(params=["git", "no git"])
def workspace(request: pytest.FixtureRequest, root: Path) -> Path:
    """The same files, in a repository and outside any."""
    if request.param == "git":
        request.getfixturevalue("repository")
    else:
        (root / "sub").mkdir()
        (root / "clean").write_bytes(b"one\ntwo\nthree\n")
        (root / "sub/clean").write_bytes(b"sub\n")
    return root


@pytest.fixture
def track() -> Track:
    """Follow a folder within a block, starting from its current state, or from a commit."""

    @asynccontextmanager
    async def track(root: Path, limits: ChangeLimits | None = None, commit: str = "") -> AsyncIterator[ChangeTracker]:
        tracker = ChangeTracker(root, limits=limits or ChangeLimits())
        with anyio.fail_after(LIMIT_S):
            async with anyio.create_task_group() as tasks:
                await tasks.start(tracker.run, commit)
                await tracker.captured.wait()
                yield tracker
                tasks.cancel_scope.cancel()

    return track
