"""Which repository is answerable for which part of the workspace, and what files and directories there are in it.

It remembers no file; `baseline` does. A part without git, or whose git fails, is walked.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from anyio import to_thread

from acp_tui.client.changes.git import Git
from acp_tui.client.changes.tree import Listing, Tree, join
from acp_tui.client.safe_git import GitFailed


class Areas:
    """The parts of a workspace: the root, and every repository inside; each is known by its path."""

    def __init__(self, tree: Tree, max_walked: int) -> None:
        self._tree = tree
        self._max_walked = max_walked
        self.gits: dict[str, Git | None] = {}
        """By path, "" for the root; None where there is no git."""
        self.shortfall = ""
        """Why what was listed is not quite what it should be; "" where it is."""

    def area_of(self, path: str) -> str:
        """The innermost part that a path belongs to."""
        while path and path not in self.gits:
            path = path.rpartition("/")[0]
        return path

    async def files(self, under: Sequence[str] | None = None) -> list[str]:
        """Files that are not ignored, at or below these paths, or all of them; some may be absent."""
        wanted: dict[str, list[str]] = (
            {area: [] for area in self.gits} if under is None else self._by_area(under)
        )
        return [file for area, paths in wanted.items() for file in await self._files(area, paths)]

    async def directories(self) -> list[str]:
        """Every directory that can be listed and is not ignored."""
        pruned = set(self.gits)
        for area, git in self.gits.items():
            if git is not None:
                pruned |= {join(area, path) for path in await _ignored(git)}
        return await to_thread.run_sync(partial(self._walked_directories, pruned), abandon_on_cancel=True)

    async def without_ignored(self, directories: Sequence[str]) -> list[str]:
        """Those of these directories that are not ignored as a whole."""
        kept: list[str] = []
        for area, paths in self._by_area(directories).items():
            git = self.gits[area]
            ignored = set() if git is None else await _ignored(git, [below(area, path) for path in paths])
            kept += [path for path in paths if below(area, path) not in ignored]
        return kept

    def _by_area(self, paths: Sequence[str]) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for path in paths:
            groups.setdefault(self.area_of(path), []).append(path)
        return groups

    async def _files(self, area: str, under: list[str]) -> list[str]:
        git = self.gits[area]
        if git is None:
            walk = partial(self._walked_files, under or [area])
            return await to_thread.run_sync(walk, abandon_on_cancel=True)
        inside = [] if area in under else [below(area, path) for path in under]
        try:
            listed = await git.not_ignored(inside)
        except GitFailed as failure:
            self.shortfall = f"git does not say what it ignores: {failure}"
            walk = partial(self._walked_files, under or [area])
            return await to_thread.run_sync(walk, abandon_on_cancel=True)
        return await to_thread.run_sync(partial(self._expanded, area, listed), abandon_on_cancel=True)

    def _expanded(self, area: str, listed: list[str]) -> list[str]:
        """What git lists, with the files of repositories that have come since."""
        files: list[str] = []
        for name in listed:
            path = join(area, name.removesuffix("/"))
            if name.endswith("/"):
                files += [] if path in self.gits else self._walked_files([path])
            else:
                files.append(path)
        return files

    def _walked_files(self, under: Sequence[str]) -> list[str]:
        pruned = set(self.gits)
        files = [*under]  # where one is no directory; a directory is no file to whoever reads it
        for start in under:
            for listing in self._walk(start, pruned):
                files += (join(listing.path, name) for name in listing.others)
                if len(files) > self._max_walked:
                    self.shortfall = f"there are more than {self._max_walked:,} files to look at"
                    return files
        return files

    def _walked_directories(self, pruned: set[str]) -> list[str]:
        listings = (listing for area in self.gits for listing in self._walk(area, pruned))
        return [listing.path for listing in islice(listings, self._max_walked) if not listing.unreadable]

    def _walk(self, start: str, pruned: set[str]) -> Iterator[Listing]:
        for listing in self._tree.walk(start):
            listing.directories[:] = [
                name for name in listing.directories if join(listing.path, name) not in pruned
            ]
            yield listing


async def _ignored(git: Git, under: Sequence[str] = ()) -> set[str]:
    """What git ignores; nothing where it does not say, so that too much is watched and not too little."""
    try:
        return await git.ignored([path for path in under if path])
    except GitFailed:
        return set()


def below(area: str, path: str) -> str:
    """A path relative to the area it belongs to."""
    return path.removeprefix(area).removeprefix("/")
