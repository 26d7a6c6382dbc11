"""Worktrees of real repositories: created without running anything they configure, copied back, and removed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from acp_tui.client.safe_git import in_same_project
from acp_tui.client.worktrees import (
    Worktree,
    WorktreeFailed,
    add_worktree,
    bring_back,
    changes_in,
    has_commits,
    known_worktree,
    remove_worktree,
    why_renamed,
)

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed"),
]


class Repository:
    """A repository with one commit, in its own folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "src").mkdir(parents=True)
        (root / "src/one.py").write_text("a\nb\nc\nd\ne\n")
        (root / "run.sh").write_text("#!/bin/sh\n")
        (root / "run.sh").chmod(0o755)
        (root / "link").symlink_to("src/one.py")
        (root / "gone.txt").write_text("gone\n")
        self.git("init", "-q")
        self.commit("first")

    def git(self, *words: str) -> str:
        """What git prints; a failure raises."""
        given = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e", *words],
            cwd=self.root,
            env={**os.environ, **given},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def commit(self, message: str) -> None:
        """Everything in the folder."""
        self.git("add", "-A")
        self.git("commit", "-qm", message)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "project")


async def test_a_worktree_of_a_folder_in_a_worktree_is_beside_it_at_the_same_folder(repository: Repository) -> None:
    first = await add_worktree(repository.root, "first")
    second = await add_worktree(Path(first.root, "src"), "second")
    assert Path(second.folder) == repository.root.parent / "project.worktrees/second/src"
    assert second.origin == first.origin


async def test_the_same_folder_in_all_worktrees_of_a_repository_is_one_project(
    repository: Repository, tmp_path: Path
) -> None:
    kept, gone = [await add_worktree(repository.root / "src", name) for name in ("kept", "gone")]
    await remove_worktree(gone)
    repository.git("worktree", "add", "-q", "-b", "own", str(tmp_path / "by hand"))
    Repository(tmp_path / "other")
    (tmp_path / "link").symlink_to(repository.root)
    same = [repository.root, Path(kept.root), Path(gone.root), tmp_path / "by hand", tmp_path / "link"]
    others = [tmp_path, tmp_path / "other", tmp_path / "project.worktrees", Path("/a\x00b")]
    for folder in set(same) - {Path(gone.root)}:
        belongs, inner = in_same_project(folder), in_same_project(folder / "src")
        assert belongs is not None
        assert inner is not None
        assert [belongs(each) for each in (*same, *others)] == [True] * 5 + [False] * 4
        assert [inner(each / "src") for each in (*same, *others)] == [True] * 5 + [False] * 4
        assert not any(inner(each) for each in same)
    assert in_same_project(tmp_path) is None


async def test_a_worktree_has_the_files_of_the_last_commit_on_a_branch_of_its_own(
    repository: Repository,
) -> None:
    (repository.root / "src/one.py").write_text("not committed\n")
    worktree = await add_worktree(repository.root / "src", "try it!")
    root = Path(worktree.root)
    assert root == repository.root.parent / "project.worktrees/try-it"
    assert worktree.folder == str(root / "src")
    assert worktree.branch == "acp-tui/try-it"
    assert (root / "src/one.py").read_text() == "a\nb\nc\nd\ne\n"
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) & 0o100
    assert (root / "link").readlink() == Path("src/one.py")
    inside = Repository.__new__(Repository)
    inside.root = root
    assert inside.git("status", "--porcelain") == ""
    assert inside.git("branch", "--show-current").strip() == "acp-tui/try-it"


async def test_worktrees_without_a_name_are_numbered(repository: Repository) -> None:
    made = [await add_worktree(repository.root) for _ in range(3)]
    assert [worktree.name for worktree in made] == ["session-1", "session-2", "session-3"]
    assert [(await add_worktree(repository.root, "x")).name for _ in range(2)] == ["x", "x-2"]
    assert why_renamed(await add_worktree(repository.root, "x"), "x") == "x exists already, so this worktree is x-3."
    assert why_renamed(await add_worktree(repository.root, "y!"), "y!") == ""


async def test_nothing_that_the_repository_configures_runs(repository: Repository, tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    (repository.root / ".gitattributes").write_text("* filter=evil merge=evil diff=evil\n")
    repository.commit("attributes")
    for kind in ("smudge", "clean", "process"):
        repository.git("config", f"filter.evil.{kind}", f"touch {sprung}; cat")
    repository.git("config", "merge.evil.driver", f"touch {sprung}")
    repository.git("config", "core.fsmonitor", f"touch {sprung}")
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        path = repository.root / ".git/hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch {sprung}\n")
        path.chmod(0o755)
    worktree = await add_worktree(repository.root)
    (Path(worktree.root) / "src/one.py").write_text("a\nb\nc\nd\nE\n")
    (repository.root / "src/one.py").write_text("A\nb\nc\nd\ne\n")
    brought = await bring_back(worktree, await changes_in(worktree))
    await remove_worktree(worktree)
    assert brought.written == ("src/one.py",)
    assert not sprung.exists()


async def test_a_commit_cannot_write_outside_or_into_git(repository: Repository, tmp_path: Path) -> None:
    blob = repository.git("hash-object", "-w", "run.sh").strip()
    entry = f"100755 blob {blob}\tpost-checkout\n"
    tree = subprocess.run(
        ["git", "mktree"], cwd=repository.root, input=entry, text=True, capture_output=True, check=True
    ).stdout.strip()
    rows = f"040000 tree {tree}\t..\n040000 tree {tree}\t.git\n"
    made = subprocess.run(
        ["git", "mktree"], cwd=repository.root, input=rows, text=True, capture_output=True, check=False
    )
    commit = repository.git("commit-tree", "-m", "evil", made.stdout.strip() or tree).strip()
    repository.git("update-ref", "HEAD", commit)
    try:
        worktree = await add_worktree(repository.root, "evil")
    except WorktreeFailed:
        assert not (repository.root.parent / "project.worktrees").exists()
    else:
        assert not (Path(worktree.root).parent / "post-checkout").exists()
        assert (Path(worktree.root) / ".git").is_file()


@pytest.mark.parametrize("inner_mode", ["120000", "100644"])
async def test_a_commit_with_a_link_and_a_folder_of_one_name_writes_nothing_outside(
    repository: Repository, tmp_path: Path, inner_mode: str
) -> None:
    """Git doesn't create such a commit, but accepts one from a server."""
    outside = tmp_path / "outside"
    outside.mkdir()

    def write(kind: str, content: bytes) -> bytes:
        command = ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
        written = subprocess.run(command, cwd=repository.root, input=content, capture_output=True, check=True)
        return bytes.fromhex(written.stdout.decode().strip())

    target, content = write("blob", os.fsencode(outside)), write("blob", b"/etc/passwd")
    inner = write("tree", f"{inner_mode} evil\0".encode() + content)
    tree = write("tree", b"120000 a\0" + target + b"40000 a\0" + inner)
    commit = repository.git("commit-tree", "-m", "evil", tree.hex()).strip()
    repository.git("update-ref", "HEAD", commit)
    with pytest.raises(WorktreeFailed):
        await add_worktree(repository.root)
    assert list(outside.iterdir()) == []


async def test_changes_are_copied_back_whether_committed_or_not(repository: Repository) -> None:
    worktree = await add_worktree(repository.root)
    inside = Repository.__new__(Repository)
    inside.root = Path(worktree.root)
    (inside.root / "src/one.py").write_text("a\nb\nc\nd\ne\nf\n")
    inside.commit("by the agent")
    (inside.root / "new.txt").write_text("new\n")
    (inside.root / "gone.txt").unlink()
    (inside.root / "run.sh").chmod(0o644)
    changes = await changes_in(worktree)
    assert [change.path for change in changes] == ["gone.txt", "new.txt", "run.sh", "src/one.py"]
    brought = await bring_back(worktree, changes)
    assert brought.written == ("gone.txt", "new.txt", "run.sh", "src/one.py")
    assert not (repository.root / "gone.txt").exists()
    assert (repository.root / "new.txt").read_text() == "new\n"
    assert not (repository.root / "run.sh").stat().st_mode & 0o100
    assert (repository.root / "src/one.py").read_text().endswith("f\n")
    assert await bring_back(worktree, await changes_in(worktree)) == type(brought)()


async def test_lines_that_changed_in_both_folders_are_merged(repository: Repository) -> None:
    worktree = await add_worktree(repository.root)
    (Path(worktree.root) / "src/one.py").write_text("a\nb\nc\nd\nE\n")
    (repository.root / "src/one.py").write_text("A\nb\nc\nd\ne\n")
    await bring_back(worktree, await changes_in(worktree))
    assert (repository.root / "src/one.py").read_text() == "A\nb\nc\nd\nE\n"


async def test_with_a_conflict_nothing_is_written(repository: Repository) -> None:
    worktree = await add_worktree(repository.root)
    (Path(worktree.root) / "new.txt").write_text("new\n")
    (Path(worktree.root) / "src/one.py").write_text("a\nb\nX\nd\ne\n")
    (repository.root / "src/one.py").write_text("a\nb\nY\nd\ne\n")
    brought = await bring_back(worktree, await changes_in(worktree))
    assert brought.conflicts == ("src/one.py",)
    assert brought.written == ()
    assert not (repository.root / "new.txt").exists()


async def test_a_link_in_the_folder_is_never_written_through(repository: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    worktree = await add_worktree(repository.root)
    (Path(worktree.root) / "sub").mkdir()
    (Path(worktree.root) / "sub/new.txt").write_text("new\n")
    (repository.root / "sub").symlink_to(outside)
    with pytest.raises(WorktreeFailed):
        await bring_back(worktree, await changes_in(worktree))
    assert list(outside.iterdir()) == []


async def test_a_worktree_is_known_until_it_is_removed(repository: Repository) -> None:
    worktree = await add_worktree(repository.root, "mine")
    assert known_worktree(Path(worktree.folder)) == worktree
    assert known_worktree(Path(worktree.root) / "src") == worktree
    assert known_worktree(repository.root) is None
    await remove_worktree(worktree)
    assert known_worktree(Path(worktree.root)) is None
    assert not Path(worktree.root).parent.exists()
    assert "acp-tui/mine" not in repository.git("branch", "--list")
    assert repository.git("worktree", "list").count("\n") == 1


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [(None, "not a git repository"), ("init", "has no commit yet")],
)
async def test_where_there_can_be_no_worktree_the_reason_is_given(
    tmp_path: Path, prepare: str | None, reason: str
) -> None:
    if prepare:
        subprocess.run(["git", prepare, "-q"], cwd=tmp_path, check=True)
    with pytest.raises(WorktreeFailed, match=reason):
        await add_worktree(tmp_path)


async def test_a_folder_for_worktrees_that_leads_elsewhere_is_not_followed(
    repository: Repository, tmp_path: Path
) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (tmp_path / "project.worktrees").symlink_to(elsewhere)
    with pytest.raises(WorktreeFailed, match="symbolic link"):
        await add_worktree(repository.root)
    assert not [*elsewhere.iterdir()]
    assert repository.git("branch", "--list", "acp-tui/*") == ""


def _inside(worktree: Worktree) -> Repository:
    inside = Repository.__new__(Repository)
    inside.root = Path(worktree.root)
    return inside


async def test_commits_keep_the_branch_even_if_something_else_is_checked_out(repository: Repository) -> None:
    worktree = await add_worktree(repository.root)
    assert not await has_commits(worktree)
    inside = _inside(worktree)
    (inside.root / "new.txt").write_text("new\n")
    inside.commit("by the agent")
    assert await has_commits(worktree)
    inside.git("checkout", "-q", "--detach", worktree.base)
    assert await has_commits(worktree)


async def test_a_worktree_with_commits_on_no_branch_is_not_deleted(repository: Repository) -> None:
    worktree = await add_worktree(repository.root)
    inside = _inside(worktree)
    inside.git("checkout", "-q", "--detach")
    (inside.root / "new.txt").write_text("new\n")
    inside.commit("by the agent")
    with pytest.raises(WorktreeFailed, match="its commits aren't on branch"):
        await has_commits(worktree)


async def test_a_worktree_whose_branch_was_deleted_can_be_removed(repository: Repository) -> None:
    worktree = await add_worktree(repository.root)
    repository.git("update-ref", "-d", f"refs/heads/{worktree.branch}")
    assert not await has_commits(worktree)
    await remove_worktree(worktree)
    assert not Path(worktree.root).exists()
