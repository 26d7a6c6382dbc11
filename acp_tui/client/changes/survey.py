"""Finds the files of a workspace that may differ from its baseline, without reading any.

The result is small unless much has changed: what is certainly unchanged is left out while walking.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from anyio import to_thread

from acp_tui.client.changes.baseline import Areas, Baseline, Checkout, below
from acp_tui.client.changes.git import Git
from acp_tui.client.changes.git_index import GitIndex, is_before, paired
from acp_tui.client.changes.pace import Pace
from acp_tui.client.changes.records import NOTHING
from acp_tui.client.changes.tree import join, signature
from acp_tui.client.safe_git import GitFailed, branch_of

MANY: Final = 1_000
"""Up to so many files are listed one by one."""


async def worth_comparing(baseline: Baseline, area: str, git: Git, found: set[str], pace: Pace) -> set[str]:
    """Those of many files of a repository that git hasn't written itself. Raises: GitFailed."""
    areas = baseline.areas
    if area in areas.checkouts:
        areas.checkouts.pop(area).index.close()
    if len(found) <= MANY:
        return found
    own = {path for path in found if areas.area_of(path) == area and baseline.is_left_to_git(path)}
    index = await git.open_index()
    committed = await git.listed_before(baseline.began_ns)
    checkout = Checkout(index)
    split = partial(_split, baseline, area, checkout, committed, own, pace)
    same, brought = await to_thread.run_sync(split, abandon_on_cancel=True)
    if len(brought) <= MANY:
        index.close()
        return found - same
    branch = await to_thread.run_sync(branch_of, git.directory, abandon_on_cancel=True)
    checkout.sentence = (
        f"The branch is now {branch}{f' in {area}' if area else ''}: {len(brought):,} files came with it,"
        " and aren't listed."
    )
    areas.checkouts[area] = checkout
    return found - same - brought


def _split(
    baseline: Baseline,
    area: str,
    checkout: Checkout,
    committed: Iterable[tuple[str, bytes]],
    found: set[str],
    pace: Pace,
) -> tuple[set[str], set[str]]:
    """The files that are as at the start after all, and those that came with the commit.

    Notes in the checkout where its index differs from what was committed. Both are in the same order.
    """
    is_known = area in baseline.areas.examined
    same: set[str] = set()
    brought: set[str] = set()
    rest = iter(committed)
    path, blob = next(rest, ("", b""))
    for known, entry in pace.spread(paired(baseline.areas.indexes[area], checkout.index)):
        while path and is_before(path, entry.path):
            checkout.others.add(path)
            path, blob = next(rest, ("", b""))
        if is_other := (path, blob) != (entry.path, entry.blob):
            checkout.others.add(entry.path)
        if path == entry.path:
            path, blob = next(rest, ("", b""))
        file = join(area, entry.path)
        if file not in found:
            continue
        found.discard(file)
        status = baseline.tree.status(file)
        if status is None or not baseline.is_as_written(file, status, entry):
            continue
        is_same = known is not None and (known.mode, known.blob, known.size) == (entry.mode, entry.blob, entry.size)
        if is_known and is_same and baseline.note_mode(entry, status):
            same.add(file)
        elif not is_other:
            brought.add(file)
    checkout.others.update(left for left, _ in ((path, blob), *rest) if left)
    gone = (path for path in pace.spread(found) if below(area, path) not in checkout.others)
    brought.update(path for path in gone if baseline.tree.status(path) is None)
    return same, brought


TRIES: Final = 5
"""How often git is asked again because its index has changed meanwhile."""


async def possibly_changed(baseline: Baseline, pace: Pace) -> set[str]:
    """The paths at which something may have changed, including where something is new or gone."""
    areas = baseline.areas
    found = await to_thread.run_sync(_remembered, baseline, pace, abandon_on_cancel=True)
    for area, git in list(areas.gits.items()):
        if git is not None:
            found |= await to_thread.run_sync(_tracked, baseline, area, pace, abandon_on_cancel=True)
            found |= await _new_in_repository(areas, area, git, pace)
            found = await worth_comparing(baseline, area, git, found, pace)
        else:
            found |= await to_thread.run_sync(_new_in, baseline, area, pace, abandon_on_cancel=True)
    return found


def _remembered(baseline: Baseline, pace: Pace) -> set[str]:
    found: set[str] = set()
    for folder in pace.spread(baseline.entries.folders()):
        for name, entry in baseline.entries.in_folder(folder).items():
            path = join(folder, name)
            status = baseline.tree.status(path)
            is_same = entry == NOTHING if status is None else signature(status) == entry.signature != 0
            if not is_same:
                found.add(path)
    return found


def _tracked(baseline: Baseline, area: str, pace: Pace) -> set[str]:
    """Those that have none, because they were as git's index says."""
    found: set[str] = set()
    for entry in pace.spread(baseline.areas.indexes[area].entries()):
        path = join(area, entry.path)
        status = baseline.tree.status(path)
        is_same = entry.is_skipped if status is None else entry.is_still(status) and baseline.note_mode(entry, status)
        if not is_same and not entry.is_repository and path not in baseline.entries:
            found.add(path)
    return found


async def _new_in_repository(areas: Areas, area: str, git: Git, pace: Pace) -> set[str]:
    """What git knew nothing of when the session began. Some may have been ignored."""
    try:
        return set(await areas.expanded(area, await not_in_index(areas.indexes[area], git, pace)))
    except GitFailed as failure:
        areas.shortfall = f"can't read git's files: {failure}"
        return set(await areas.walked_files(area))


async def not_in_index(index: GitIndex, git: Git, pace: Pace) -> list[str]:
    """The paths that git tracks or doesn't ignore now, but that an earlier index doesn't have.

    A repository inside ends with a slash. Raises: GitFailed.
    """
    for _ in range(TRIES):
        now = await git.open_index()
        try:
            listed = await git.untracked()
            if index.is_current(git.index_file):
                return listed
            if now.is_current(git.index_file):  # otherwise, `listed` may lack what git tracks since then
                return listed + await to_thread.run_sync(_added, index, now, pace, abandon_on_cancel=True)
        finally:
            now.close()
    raise GitFailed("its index changes all the time")


def _added(before: GitIndex, now: GitIndex, pace: Pace) -> list[str]:
    """The paths that another index has in addition."""
    return [
        f"{entry.path}/" if entry.is_repository else entry.path
        for known, entry in pace.spread(paired(before, now))
        if known is None
    ]


def _new_in(baseline: Baseline, area: str, pace: Pace) -> set[str]:
    found: set[str] = set()
    for listing in pace.spread(baseline.areas.walked(area)):
        known = baseline.entries.in_folder(listing.path)
        new = (join(listing.path, name) for name in listing.others if name not in known)
        found.update(path for path in new if not baseline.is_untouched(path))
    return found
