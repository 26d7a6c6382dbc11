"""What isn't a file of the workspace: other file systems, and pipes where git expects files."""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from acp_tui.client.changes.tracker import ChangeTracker
from acp_tui.client.changes.tree import Tree
from support.changes import kinds

Track = Callable[..., AbstractAsyncContextManager[ChangeTracker]]


def test_another_file_system_is_not_entered() -> None:
    if not Path("/proc/self/mountinfo").exists():
        pytest.skip("there is no /proc")
    tree = Tree(Path("/"))
    assert "proc" in tree.borders
    top = next(tree.walk())
    assert "proc" not in top.directories
    assert "usr" in top.directories


@pytest.mark.parametrize("name", [".git/HEAD", ".gitignore", ".git/info/exclude", ".git/index"])
async def test_a_pipe_where_git_expects_a_file_holds_nothing_up(
    repository: Path, monkeypatch: pytest.MonkeyPatch, name: str, track: Track
) -> None:
    """Git waits for its other end, so nothing else may wait for git."""
    monkeypatch.setattr("acp_tui.client.safe_git.LIMIT_S", 0.3)
    (repository / name).unlink()
    os.mkfifo(repository / name)
    async with track(repository) as tracker:
        (repository / "clean").write_bytes(b"x\n")

        assert (await kinds(tracker))["clean"] == "modified"
        assert any("git" in note for note in tracker.notes)
