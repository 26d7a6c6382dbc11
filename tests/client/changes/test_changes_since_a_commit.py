"""What changed since a commit, as in a worktree that an earlier session began, and how to revert to it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from acp_tui.client.changes.tracker import ChangeTracker

Track = Callable[..., AbstractAsyncContextManager[ChangeTracker]]


def work(repository: Path, git: Callable[..., str]) -> str:
    """Change files, some of them in a commit; return the commit before that."""
    (repository / "sub/unchanged").write_text("unchanged\n")
    (repository / "sub/gone").write_text("gone\n")
    (repository / "run").write_text("run\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    commit = git(repository, "rev-parse", "HEAD").strip()
    (repository / "clean").write_text("one\n2\nthree\n")
    git(repository, "rm", "-q", "sub/gone")
    (repository / "committed").write_text("new\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "third")
    (repository / "sub/clean").write_text("SUB\n")
    (repository / "run").chmod(0o755)
    (repository / "loose").write_text("new\n")
    return commit


async def test_earlier_changes_are_listed_committed_or_not(
    repository: Path, git: Callable[..., str], track: Track
) -> None:
    commit = work(repository, git)
    async with track(repository, commit=commit) as tracker:
        await tracker.rescan()
        assert {path: change.kind for path, change in tracker.changes.items()} == {
            "clean": "modified",
            "committed": "added",
            "loose": "added",
            "run": "mode",
            "sub/clean": "modified",
            "sub/gone": "deleted",
        }


async def test_a_folder_in_the_repository_lists_its_own(
    repository: Path, git: Callable[..., str], track: Track
) -> None:
    commit = work(repository, git)
    async with track(repository / "sub", commit=commit) as tracker:
        await tracker.rescan()
        assert sorted(tracker.changes) == ["clean", "gone"]


async def test_reverting_leads_to_the_commit(repository: Path, git: Callable[..., str], track: Track) -> None:
    commit = work(repository, git)
    async with track(repository, commit=commit) as tracker:
        await tracker.rescan()
        for path in tuple(tracker.changes):
            await tracker.revert_file(await tracker.review(path))
        assert not tracker.changes
    git(repository, "add", "-A")
    assert git(repository, "diff", "--cached", commit) == ""


async def test_a_prompt_changes_only_what_it_changed(repository: Path, git: Callable[..., str], track: Track) -> None:
    commit = work(repository, git)
    async with track(repository, commit=commit) as tracker:
        await tracker.rescan()
        moment = await tracker.remember()
        (repository / "clean").write_text("later\n")
        await tracker.rescan()
        assert list(await tracker.since(moment)) == ["clean"]
        await tracker.revert_file(await tracker.review_since(moment, "clean"))
        assert (repository / "clean").read_text() == "one\n2\nthree\n"


async def test_a_commit_that_is_gone_is_said(repository: Path, track: Track) -> None:
    (repository / "clean").write_text("changed\n")
    async with track(repository, commit="1" * 40) as tracker:
        await tracker.rescan()
        assert not tracker.changes
        assert any(note.startswith("Changes from before this session aren't listed") for note in tracker.notes)
