"""Examines a workspace once, when a session begins, and remembers it as a baseline.

It compares nothing. For each repository in the workspace, and for the files outside repositories:

- With git, the index is the baseline, from the moment it's opened. A file that hasn't been written to since git saw it,
  or that consists of exactly the bytes of its blob, needs no copy. Untracked files are copied, and so are tracked ones
  that differ, including because of a content filter (LFS), another encoding, or `ident`. We never ask git what
  differs, because it would run the filters that the repository configures.
- Without git, it walks the directories and copies every file, shallow ones first, until a limit is reached. It doesn't
  follow links. It leaves out only the stores of git, Mercurial, Subversion, and Jujutsu.

The prompt doesn't wait for it (`Baseline.release`), and it takes its time (`Pace`).
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby, islice
from typing import Final, TypeVar

from anyio import to_thread

from acp_tui.client.changes.baseline import Baseline, below
from acp_tui.client.changes.git import Git
from acp_tui.client.changes.git_index import IndexEntry
from acp_tui.client.changes.pace import Pace
from acp_tui.client.changes.survey import not_in_index
from acp_tui.client.changes.tree import join
from acp_tui.client.safe_git import GitFailed

MAX_REPOSITORIES: Final = 64
"""Repositories inside the workspace that are asked. Others are walked."""
ASKED_AT_ONCE: Final = 10_000
"""Paths whose attributes are asked for at once."""
ATTRIBUTES: Final = ".gitattributes"

T = TypeVar("T")
Note = Callable[[str], None]


async def capture(baseline: Baseline, pace: Pace, note: Note) -> list[str]:
    """Remember the content of the directory, whose root has been opened. The calling task may be cancelled.

    Returns all directories to watch.
    """
    taking = _Capture(baseline, pace, note)
    try:
        return await taking.run()
    finally:
        if baseline.doubt:
            known = len(baseline.entries) + sum(index.count for index in baseline.areas.indexes.values())
            note(f"Of {known:,} files have a known earlier state; {baseline.doubt}.")


async def begin_with(baseline: Baseline, commit: str, note: Note) -> bool:
    """Let the earlier state be that of a commit, whatever was found. Returns whether nothing differs from it."""
    git = baseline.areas.gits[""]
    try:
        if git is None:
            raise GitFailed("git can't be asked")
        return await to_thread.run_sync(baseline.begin_with, await git.committed(commit), abandon_on_cancel=True)
    except GitFailed as failure:
        note(f"Changes from before this session aren't listed: {failure}.")
        return True


async def open_area(baseline: Baseline, area: str, note: Note) -> None:
    """Keep what git knows of a part of the workspace ("" is the root) when its content isn't known yet."""
    baseline.areas.gits[area] = None
    try:
        git = await _git_for(baseline, area)
        if git is not None:
            index = await git.open_index()
            if not baseline.is_from_before(index):
                raise GitFailed("its index changed before it was read")
            baseline.areas.indexes[area] = index
            baseline.areas.gits[area] = git
    except GitFailed as failure:
        _without_git(area, failure, note)


async def _git_for(baseline: Baseline, area: str) -> Git | None:
    tree = baseline.tree
    borders = [below(area, border) for border in tree.borders if not area or border.startswith(f"{area}/")]
    if not area:
        return await Git.at(tree.root, borders)
    if len(baseline.areas.gits) > MAX_REPOSITORIES or tree.status(join(area, ".git")) is None:
        return None
    git = await Git.at(tree.root / area, borders)
    return git if git is not None and not git.prefix else None  # otherwise its own .git isn't a repository


def _without_git(area: str, failure: GitFailed, note: Note) -> None:
    note(f"{area or 'The workspace'} is read without git: {failure}.")


class _Capture:
    def __init__(self, baseline: Baseline, pace: Pace, note: Note) -> None:
        self._baseline = baseline
        self._areas = baseline.areas
        self._pace = pace
        self._note = note

    async def run(self) -> list[str]:
        waiting = [""]
        while waiting:
            area = waiting.pop(0)
            if area not in self._areas.gits:
                await open_area(self._baseline, area, self._note)
            waiting += [found for found in await self._area(area) if found not in self._areas.gits]
        directories = await self._areas.directories(self._pace)
        await self._in_thread(self._baseline.note_unsure, directories)
        self._baseline.is_complete = True
        if unsure := len(self._baseline.unsure):
            folders = "A folder" if unsure == 1 else f"{unsure:,} folders"
            self._note(f"{folders} changed before all files were read, so what was deleted there may be missing.")
        return directories

    async def _area(self, area: str) -> list[str]:
        """Remember one part of the workspace. Returns the repositories found inside it."""
        git = self._areas.gits[area]
        if git is not None:
            try:
                return await self._repository(area, git)
            except GitFailed as failure:
                self._areas.forget_git(area)
                _without_git(area, failure, self._note)
        return await self._in_thread(self._walk, area)

    async def _repository(self, area: str, git: Git) -> list[str]:
        """Files that have no other copy come first, while there is room."""
        inside, attributes = await self._in_thread(self._compare, area)
        untracked = await not_in_index(self._areas.indexes[area], git, self._pace)
        ignored = await git.ignored()
        self._baseline.ignored.update(join(area, path) for path in ignored)
        loose = [path for path in untracked if not path.endswith("/")]
        await self._in_thread(self._remember, area, loose)
        attributes += (path for path in (*loose, *ignored) if path.rpartition("/")[2] == ATTRIBUTES)
        if await git.may_convert(attributes):
            await self._remember_converted(area, git)
        self._areas.examined.add(area)
        inside += (path.removesuffix("/") for path in untracked if path.endswith("/"))
        return [join(area, path) for path in inside]

    def _compare(self, area: str) -> tuple[list[str], list[str]]:
        """Remember what isn't as the index says. Returns the submodules and the files with attributes."""
        inside: list[str] = []
        attributes: list[str] = []
        entries = self._pace.spread(self._areas.indexes[area].entries())
        for folder, listed in groupby(entries, lambda entry: join(area, entry.path).rpartition("/")[0]):
            still: list[IndexEntry] = []
            for entry in listed:
                if entry.is_repository:
                    inside.append(entry.path)
                    continue
                if entry.path.endswith(ATTRIBUTES):
                    attributes.append(entry.path)
                status = self._baseline.tree.status(join(area, entry.path))
                if status is None or not entry.is_still(status) or not self._baseline.note_mode(entry, status):
                    self._baseline.remember(join(area, entry.path), entry)
                else:
                    still.append(entry)
            if self._baseline.may_have_moved(folder):  # back to where git knew it, say
                for entry in still:
                    self._baseline.remember(join(area, entry.path), entry)
        return inside, attributes

    def _remember(self, area: str, paths: Iterable[str]) -> None:
        for path in self._pace.spread(paths):
            if self._baseline.doubt:
                return
            self._baseline.remember(join(area, path))

    async def _remember_converted(self, area: str, git: Git) -> None:
        """Copy the files whose content on disk differs from their blob even if no one wrote to them."""
        entries = self._areas.indexes[area].entries()
        while batch := await self._in_thread(lambda: [*islice(self._pace.spread(entries), ASKED_AT_ONCE)]):
            converted = await git.converted(entry.path for entry in batch)
            for entry in batch:
                if entry.path in converted:
                    path = join(area, entry.path)
                    await self._in_thread(self._baseline.remember, path, entry._replace(is_plain=False))

    def _walk(self, area: str) -> list[str]:
        inside: list[str] = []
        for listing in self._pace.spread(self._areas.walk(area, ())):
            if listing.holds_repository and listing.path != area:
                listing.directories.clear()
                inside.append(listing.path)
                continue
            for name in self._pace.spread(listing.others):
                self._baseline.remember(join(listing.path, name))
            if not self._baseline.is_listing_settled(listing.path):
                self._baseline.unsure.add(listing.path)
            if self._baseline.doubt:
                break
        return inside

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """Run `work` in a thread. Cancelling abandons the thread, which notices when the pace is stopped."""
        return await to_thread.run_sync(partial(work, *arguments), abandon_on_cancel=True)
