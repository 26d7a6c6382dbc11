"""What is on the disk after a revert, or after a refused one."""

import os
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from acp_tui.client.changes import CannotRevert, ChangedMeanwhile, ChangeLimits
from acp_tui.client.changes.tracker import ChangeTracker

Track = Callable[..., AbstractAsyncContextManager[ChangeTracker]]


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every path with its mode and content."""
    found = {}
    for path in root.rglob("*"):
        if ".git" not in path.relative_to(root).parts:
            content = (
                os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            )
            found[str(path.relative_to(root))] = (path.lstat().st_mode, content)
    return found


def edit(root: Path) -> None:
    (root / "clean").write_bytes(b"zero\none\n2\nthree\nfour")


def add(root: Path) -> None:
    (root / "new").write_bytes(b"new\n")
    (root / "new").chmod(0o755)


def delete(root: Path) -> None:
    (root / "sub/clean").unlink()


def change_mode(root: Path) -> None:
    (root / "clean").chmod(0o700)


def turn_into_a_link(root: Path) -> None:
    (root / "clean").unlink()
    (root / "clean").symlink_to("sub/clean")


def point_elsewhere(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("nowhere")


def empty(root: Path) -> None:
    (root / "clean").write_bytes(b"")


def make_binary(root: Path) -> None:
    (root / "clean").write_bytes(b"\0")


EDITS = [edit, add, delete, change_mode, turn_into_a_link, point_elsewhere, empty, make_binary]


@pytest.mark.parametrize("change", EDITS)
async def test_a_reverted_file_is_what_it_was_and_an_undone_revert_what_it_became(
    workspace: Path, track: Track, change: Callable[[Path], None]
) -> None:
    (workspace / "link").symlink_to("clean")
    (workspace / "sub/clean").chmod(0o640)
    async with track(workspace) as tracker:
        before = snapshot(workspace)
        change(workspace)
        after = snapshot(workspace)
        await tracker.rescan()
        (path,) = tracker.changes

        swapped = await tracker.revert_file(await tracker.review(path))
        assert snapshot(workspace) == before
        assert tracker.changes == {}

        again = await tracker.undo(swapped)
        assert snapshot(workspace) == after
        assert set(tracker.changes) == {path}

        await tracker.undo(again)
        assert snapshot(workspace) == before


@pytest.mark.parametrize("change", EDITS)
async def test_a_file_that_changed_since_it_was_shown_is_left_alone(
    workspace: Path, track: Track, change: Callable[[Path], None]
) -> None:
    (workspace / "link").symlink_to("clean")
    async with track(workspace) as tracker:
        change(workspace)
        await tracker.rescan()
        (path,) = tracker.changes
        shown = await tracker.review(path)
        (workspace / path).unlink(missing_ok=True)
        (workspace / path).write_bytes(b"meanwhile\n")

        with pytest.raises(ChangedMeanwhile) as refusal:
            await tracker.revert_file(shown)
        assert refusal.value.shown == shown.after
        assert refusal.value.now is not None
        assert refusal.value.now.data == b"meanwhile\n"
        assert (workspace / path).read_bytes() == b"meanwhile\n"


async def test_an_undo_is_refused_once_the_file_has_changed(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        add(workspace)
        swapped = await tracker.revert_file(await tracker.review("new"))
        (workspace / "new").write_bytes(b"mine\n")

        with pytest.raises(ChangedMeanwhile):
            await tracker.undo(swapped)
        assert (workspace / "new").read_bytes() == b"mine\n"


async def test_hunks_are_taken_back_one_at_a_time(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        edit(workspace)
        review = await tracker.review("clean")
        assert len(review.hunks) == 3

        await tracker.revert_hunk(review, review.hunks[1])
        assert (workspace / "clean").read_bytes() == b"zero\none\ntwo\nthree\nfour"
        with pytest.raises(ChangedMeanwhile):
            await tracker.revert_hunk(review, review.hunks[0])

        for _ in range(2):
            review = await tracker.review("clean")
            last = await tracker.revert_hunk(review, review.hunks[-1])
        assert tracker.changes == {}

        await tracker.undo(last)
        assert (workspace / "clean").read_bytes() == b"zero\none\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\nc", b"a\nb\r\nc\n"),
        (b"a\nb", b"x\na\nb\n"),
        (b"a\n\nb\n", b"a\r\n\nb"),
        (b"\xff\xfea\n", b"\xff\xfeb\n"),
        (b"one\rtwo\n", b"one\rthree\n"),
    ],
)
async def test_reverting_every_hunk_gives_the_file_back_byte_for_byte(
    root: Path, track: Track, before: bytes, after: bytes
) -> None:
    (root / "file").write_bytes(before)
    async with track(root) as tracker:
        (root / "file").write_bytes(after)
        while (review := await tracker.review("file")).hunks:
            await tracker.revert_hunk(review, review.hunks[0])

        assert (root / "file").read_bytes() == before


async def test_the_only_hunk_of_a_new_or_deleted_file_is_the_file(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        before = snapshot(workspace)
        add(workspace)
        delete(workspace)
        for path in ("new", "sub/clean"):
            review = await tracker.review(path)
            await tracker.revert_hunk(review, review.hunks[0])

        assert snapshot(workspace) == before


async def test_a_deleted_directory_comes_back_with_its_file(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        delete(workspace)
        (workspace / "sub").rmdir()
        await tracker.revert_file(await tracker.review("sub/clean"))

        assert (workspace / "sub/clean").read_bytes() == b"sub\n"


async def test_a_directory_in_the_way_is_not_removed(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        (workspace / "clean").unlink()
        (workspace / "clean").mkdir()

        with pytest.raises(ChangedMeanwhile):
            await tracker.revert_file(await tracker.review("clean"))
        assert (workspace / "clean").is_dir()
        assert not [path for path in workspace.iterdir() if path.name.endswith(".tmp")]


async def test_nothing_is_written_through_a_link(workspace: Path, track: Track, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    async with track(workspace) as tracker:
        delete(workspace)
        shown = await tracker.review("sub/clean")
        (workspace / "sub").rmdir()
        (workspace / "sub").symlink_to(outside)

        with pytest.raises(CannotRevert):
            await tracker.revert_file(shown)
        assert list(outside.iterdir()) == []


async def test_what_is_not_known_cannot_be_reverted(root: Path, track: Track) -> None:
    (root / "large").write_bytes(b"x" * 20)
    (root / "grows").write_bytes(b"x")
    async with track(root, ChangeLimits(max_file_bytes=10, max_review_bytes=100)) as tracker:
        (root / "large").write_bytes(b"y")
        (root / "grows").write_bytes(b"y" * 200)
        for path in ("large", "grows"):
            review = await tracker.review(path)
            with pytest.raises(CannotRevert, match="larger than"):
                await tracker.revert_file(review)
        assert (root / "large").read_bytes() == b"y"


async def test_a_failed_revert_leaves_no_temporary_file(
    workspace: Path, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with track(workspace) as tracker:
        edit(workspace)
        after = snapshot(workspace)
        shown = await tracker.review("clean")

        def refuse(*arguments: object, **options: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", refuse)
        with pytest.raises(CannotRevert, match="No space left"):
            await tracker.revert_file(shown)
        assert snapshot(workspace) == after


NUMBERED = b"".join(b"%d\n" % number for number in range(40))


async def test_an_undo_puts_lines_back_into_a_file_that_has_changed_elsewhere(root: Path, track: Track) -> None:
    (root / "file").write_bytes(NUMBERED)
    async with track(root) as tracker:
        (root / "file").write_bytes(NUMBERED.replace(b"\n20\n", b"\ntwenty\nand more\n"))
        shown = await tracker.review("file")
        swapped = await tracker.revert_hunk(shown, shown.hunks[0])
        (root / "file").write_bytes(b"above\n" + NUMBERED.replace(b"\n35\n", b"\n"))

        again = await tracker.undo(swapped)
        merged = NUMBERED.replace(b"\n20\n", b"\ntwenty\nand more\n").replace(b"\n35\n", b"\n")
        assert (root / "file").read_bytes() == b"above\n" + merged

        await tracker.undo(again)
        assert (root / "file").read_bytes() == b"above\n" + NUMBERED.replace(b"\n35\n", b"\n")


@pytest.mark.parametrize("number", [17, 20, 23])
async def test_an_undo_is_refused_near_changed_lines_and_tells_what_was_reverted(
    root: Path, track: Track, number: int
) -> None:
    (root / "file").write_bytes(NUMBERED)
    async with track(root) as tracker:
        (root / "file").write_bytes(NUMBERED.replace(b"\n20\n", b"\ntwenty\n"))
        swapped = await tracker.revert_file(await tracker.review("file"))
        changed = NUMBERED.replace(b"\n%d\n" % number, b"\nchanged\n")
        (root / "file").write_bytes(changed)

        with pytest.raises(ChangedMeanwhile) as refusal:
            await tracker.undo(swapped)
        assert (root / "file").read_bytes() == changed
        assert refusal.value.reverted is not None
        assert refusal.value.reverted.after == swapped.found


SEEDS = int(os.environ.get("ACP_TUI_EXAMPLES", "25"))


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_whatever_is_reverted_is_back_or_shown_in_any_order(root: Path, track: Track, seed: int) -> None:
    """Each line that the user had is in the file, or among those that a refused undo shows."""
    chance = random.Random(seed)
    (root / "file").write_bytes(NUMBERED)
    async with track(root) as tracker:
        lines = NUMBERED.splitlines(keepends=True)
        mine = [b"mine %d\n" % number for number in range(5)]
        for at, line in zip(sorted(chance.sample(range(40), 5), reverse=True), mine, strict=True):
            lines[at : at + chance.randrange(2)] = [line]
        (root / "file").write_bytes(b"".join(lines))
        reverts, elsewhere = [], []
        for step in range(12):
            now = (root / "file").read_bytes().splitlines(keepends=True)
            shown = await tracker.review("file")
            match chance.choice(["revert", "undo", "edit"]):
                case "revert" if shown.hunks:
                    reverts.append(await tracker.revert_hunk(shown, chance.choice(shown.hunks)))
                case "undo" if reverts:
                    swapped = reverts.pop(chance.randrange(len(reverts)))
                    try:
                        await tracker.undo(swapped)
                    except ChangedMeanwhile:
                        reverts.insert(0, swapped)
                case _:
                    elsewhere.append(b"theirs %d\n" % step)
                    now.insert(chance.randrange(len(now) + 1), elsewhere[-1])
                    (root / "file").write_bytes(b"".join(now))

            there = {*(root / "file").read_bytes().splitlines(keepends=True)}
            reachable = {line for each in reverts for line in (each.found.data if each.found else b"").splitlines(True)}
            assert {*mine} <= there | reachable
            assert {*elsewhere} <= there | reachable
