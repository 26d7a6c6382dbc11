"""Finds the files that came with another branch, when there are too many to list.

They are what git wrote, and as in a commit from before the session.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from anyio import to_thread

from acp_tui.client.changes.baseline import Baseline, Checkout, below
from acp_tui.client.changes.git import Git
from acp_tui.client.changes.git_index import is_before, paired
from acp_tui.client.changes.pace import Pace
from acp_tui.client.changes.tree import join
from acp_tui.client.safe_git import branch_of

MANY: Final = 1_000
"""Up to so many files are listed one by one."""


async def worth_comparing(baseline: Baseline, area: str, git: Git, found: set[str], pace: Pace) -> set[str]:
    """Those of many files of a repository that git hasn't written itself. Raises: GitFailed."""
    areas = baseline.areas
    areas.forget_checkout(area)
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
