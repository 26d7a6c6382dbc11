"""What changed since a moment of a session, such as a prompt, and how to revert to that moment."""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_tui.client.changes import ChangedMeanwhile, ChangeLimits
from acp_tui.client.changes.tracker import ChangeTracker, Moment

Track = Callable[..., AbstractAsyncContextManager[ChangeTracker]]


async def undo_to(tracker: ChangeTracker, moment: Moment) -> None:
    """Revert everything that changed since."""
    for path in await tracker.since(moment):
        await tracker.revert_file(await tracker.review_since(moment, path))


async def test_only_what_changed_later_is_listed_and_taken_back(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        (workspace / "clean").write_text("first turn\n")
        (workspace / "new").write_text("first turn\n")
        await tracker.rescan()
        moment = await tracker.remember()
        (workspace / "clean").write_text("second turn\n")
        (workspace / "sub/clean").unlink()
        (workspace / "newer").write_text("second turn\n")
        await tracker.rescan()
        assert sorted(await tracker.since(moment)) == ["clean", "newer", "sub/clean"]
        await undo_to(tracker, moment)
        assert (workspace / "clean").read_text() == "first turn\n"
        assert (workspace / "new").read_text() == "first turn\n"
        assert (workspace / "sub/clean").read_text() == "sub\n"
        assert not (workspace / "newer").exists()
        assert await tracker.since(moment) == {}


async def test_what_was_taken_back_to_the_start_differs_from_the_moment(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        (workspace / "clean").write_text("first turn\n")
        await tracker.rescan()
        moment = await tracker.remember()
        (workspace / "clean").write_bytes(b"one\ntwo\nthree\n")
        await tracker.rescan()
        assert tracker.changes == {}
        assert list(await tracker.since(moment)) == ["clean"]
        await undo_to(tracker, moment)
        assert (workspace / "clean").read_text() == "first turn\n"


async def test_a_file_that_changed_since_it_was_shown_is_left_alone(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        moment = await tracker.remember()
        (workspace / "clean").write_text("by the agent\n")
        shown = await tracker.review_since(moment, "clean")
        (workspace / "clean").write_text("by the user\n")
        with pytest.raises(ChangedMeanwhile):
            await tracker.revert_file(shown)
        assert (workspace / "clean").read_text() == "by the user\n"


async def test_what_was_too_large_to_keep_cannot_be_taken_back_and_says_so(workspace: Path, track: Track) -> None:
    async with track(workspace, ChangeLimits(max_review_bytes=1000)) as tracker:
        (workspace / "large").write_bytes(b"x" * 2000)
        await tracker.rescan()
        moment = await tracker.remember()
        (workspace / "large").write_bytes(b"y" * 10)
        await tracker.rescan()
        change = (await tracker.since(moment))["large"]
        assert change.before_unknown == "it is larger than 0.000953674 MiB"


NAMES = ("clean", "sub/clean", "a", "b")
edits = st.lists(st.tuples(st.sampled_from(NAMES), st.one_of(st.none(), st.binary(max_size=3))), max_size=4)


def snapshot(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


@settings(
    max_examples=int(os.environ.get("ACP_TUI_UNDONE_TURNS", "15")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(turns=st.lists(edits, min_size=1, max_size=4), data=st.data())
async def test_any_turn_is_known_by_its_changes_and_can_be_undone(
    repository: Path, track: Track, turns: list[list[tuple[str, bytes | None]]], data: st.DataObject
) -> None:
    async with track(repository) as tracker:
        before, moments = [], []
        for turn in turns:
            before.append(snapshot(repository))
            moments.append(await tracker.remember())
            for name, content in turn:
                path = repository / name
                if content is not None:
                    path.write_bytes(content)
                else:
                    path.unlink(missing_ok=True)
            await tracker.rescan()
        for earlier, later, files, then in zip(moments, moments[1:], before, before[1:], strict=False):
            differing = {name for name, _ in files.items() ^ then.items()}
            assert {*await tracker.since(earlier, later)} == differing
        at = data.draw(st.integers(0, len(turns) - 1))
        await undo_to(tracker, moments[at])
        assert snapshot(repository) == before[at]
