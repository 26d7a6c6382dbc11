"""Examines a workspace once, before the agent starts, and remembers it as a baseline.

It compares nothing. For each repository in the workspace, and for the files outside repositories:

- With git, it asks for the index, the untracked files, and the ignored files at the same time. A file that hasn't been
  written to since git saw it, or that consists of exactly the bytes of its blob, needs no copy. Untracked files are
  copied, and so are tracked ones that differ, including because of a content filter (LFS), another encoding, or
  `ident`. We never ask git what differs, because it would run the filters that the repository configures.
- Without git, it walks the directories and copies every file, shallow ones first, until a limit is reached. It doesn't
  follow links. It leaves out only the stores of git, Mercurial, Subversion, and Jujutsu.
"""

import time
from collections.abc import Callable, Container, Iterable
from dataclasses import field
from pathlib import Path
from threading import Event
from typing import Final, TypeVar

import anyio
from anyio import to_thread

from acp_tui.client.changes.baseline import Areas, Baseline
from acp_tui.client.changes.git import Git, IndexEntry
from acp_tui.client.changes.model import ChangeLimits
from acp_tui.client.changes.tree import Tree, join
from acp_tui.client.safe_git import GitFailed
from acp_tui.values import dataclass

MAX_REPOSITORIES: Final = 64
"""Repositories inside the workspace that are asked. Others are walked."""

T = TypeVar("T")


async def capture(root: Path, limits: ChangeLimits, note: Callable[[str], None]) -> Baseline:
    """Remember the content of a directory. The calling task may be cancelled. The caller closes the result."""
    tree = Tree(root)
    baseline = Baseline(tree, Areas(tree, 2 * limits.max_files), limits)
    try:
        await _Capture(baseline, note).run()
    except BaseException:
        baseline.close()
        raise
    return baseline


@dataclass(slots=True)
class _Answers:
    """What git says about a repository, each question asked at the same time as the others."""

    index: list[IndexEntry] = field(default_factory=list)
    converted: set[str] = field(default_factory=set)
    """Tracked paths whose content on disk differs from their blob even if no one wrote to them."""
    untracked: list[str] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)

    async def ask(self, git: Git) -> None:
        """Ask everything. Raises: GitFailed."""
        try:
            async with anyio.create_task_group() as questions:
                for question in (self._index, self._untracked, self._ignored):
                    questions.start_soon(question, git)
        except ExceptionGroup as failures:
            # A task group wraps even a single failure. Callers expect a bare GitFailed.
            refused, others = failures.split(GitFailed)
            if refused is None or others is not None:
                raise
            raise _first(refused) from failures

    async def _index(self, git: Git) -> None:
        self.index = await git.index()
        self.converted = await git.converted(entry.path for entry in self.index)

    async def _untracked(self, git: Git) -> None:
        self.untracked = await git.untracked()

    async def _ignored(self, git: Git) -> None:
        self.ignored = await git.ignored()


def _first(failures: ExceptionGroup[GitFailed]) -> GitFailed:
    first = failures.exceptions[0]
    return first if isinstance(first, GitFailed) else _first(first)


class _Capture:
    def __init__(self, baseline: Baseline, note: Callable[[str], None]) -> None:
        self._baseline = baseline
        self._note = note
        self._deadline = time.monotonic() + baseline.limits.max_capture_s
        self._stopped = Event()

    async def run(self) -> None:
        areas = self._baseline.areas
        waiting = [""]
        try:
            while waiting:
                area = waiting.pop(0)
                areas.gits[area] = None
                waiting += [found for found in await self._area(area) if found not in areas.gits]
            await self._in_thread(self._baseline.complete)
        finally:
            self._stopped.set()
        if self._baseline.doubt:
            self._note(f"Of {len(self._baseline.entries):,} files have a known earlier state; {self._baseline.doubt}.")

    async def _area(self, area: str) -> list[str]:
        """Remember one part of the workspace. Returns the repositories found inside it."""
        try:
            git = await self._git_for(area)
            if git is not None:
                return await self._repository(area, git)
        except GitFailed as failure:
            self._note(f"{area or 'The workspace'} is read without git: {failure}.")
        return await self._in_thread(self._walk, area)

    async def _git_for(self, area: str) -> Git | None:
        tree = self._baseline.tree
        if not area:
            return await Git.at(tree.root)
        if len(self._baseline.areas.gits) > MAX_REPOSITORIES or tree.status(join(area, ".git")) is None:
            return None
        git = await Git.at(tree.root / area)
        return git if git is not None and git.is_top else None  # otherwise its own .git isn't a repository

    async def _repository(self, area: str, git: Git) -> list[str]:
        answers = _Answers()
        await answers.ask(git)
        self._baseline.areas.gits[area] = git
        return await self._in_thread(self._remember_repository, area, answers)

    def _remember_repository(self, area: str, answers: _Answers) -> list[str]:
        """Remember git's answers. Files that have no other copy come first, while there is room."""
        self._baseline.ignored.update(join(area, path) for path in answers.ignored)
        inside = [entry.path for entry in answers.index if entry.is_repository]
        inside += [path.removesuffix("/") for path in answers.untracked if path.endswith("/")]
        files = [entry for entry in answers.index if not entry.is_repository]
        sure, doubtful = self._told_apart(area, files, answers.converted)
        untracked = (path for path in answers.untracked if not path.endswith("/"))
        only_here = {**{entry.path: entry.blob for entry in doubtful}, **dict.fromkeys(untracked)}
        self._remember(((join(area, path), only_here[path]) for path in sorted(only_here)), is_sure=False)
        self._remember(((join(area, entry.path), entry.blob) for entry in sure), is_sure=True)
        return [join(area, path) for path in inside]

    def _told_apart(
        self, area: str, files: Iterable[IndexEntry], converted: Container[str]
    ) -> tuple[list[IndexEntry], list[IndexEntry]]:
        """Files whose content on disk is certainly their blob's, apart from line endings; and the others."""
        sure: list[IndexEntry] = []
        doubtful: list[IndexEntry] = []
        for entry in files:
            status = self._baseline.tree.status(join(area, entry.path))
            is_sure = (
                status is not None
                and entry.is_plain
                and entry.seen is not None
                and entry.seen.is_still(status)
                and entry.path not in converted
            )
            (sure if is_sure else doubtful).append(entry)
        return sure, doubtful

    def _walk(self, area: str) -> list[str]:
        inside: list[str] = []
        for listing in self._baseline.tree.walk(area):
            if listing.holds_repository and listing.path != area:
                listing.directories.clear()
                inside.append(listing.path)
                continue
            others = ((join(listing.path, name), None) for name in listing.others)
            if not self._remember(others, is_sure=False):
                break
        return inside

    def _remember(self, files: Iterable[tuple[str, bytes | None]], *, is_sure: bool) -> bool:
        """Remember files as long as there is time. False once there is no time or no room."""
        for path, blob in files:
            if time.monotonic() > self._deadline:
                self._baseline.doubt = "there was no time to read more files before the session began"
            if self._baseline.doubt or self._stopped.is_set():
                return False
            self._baseline.remember(path, blob, is_sure=is_sure)
        return True

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """Run `work` in a thread. Cancelling abandons the thread, which notices at the next file."""
        return await to_thread.run_sync(work, *arguments, abandon_on_cancel=True)
