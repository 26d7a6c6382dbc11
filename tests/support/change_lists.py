"""What a tracker lists after rescanning the disk."""

from pathlib import Path

from acp_tui.client.changes import FileChange
from acp_tui.client.changes.tracker import ChangeTracker


async def changes(tracker: ChangeTracker) -> dict[str, FileChange]:
    """The changes, by path."""
    await tracker.rescan()
    return dict(tracker.changes)


async def kinds(tracker: ChangeTracker) -> dict[str, str]:
    """The kind of each path's change."""
    return {path: change.kind for path, change in (await changes(tracker)).items()}


def let_the_clock_tick(directory: Path, by_ns: int = 20_000_000) -> None:
    """Wait until a new file is younger than the earlier ones, by more than this."""
    newest = max(path.lstat().st_ctime_ns for path in directory.rglob("*"))
    probe = directory.parent / "probe"
    while True:
        probe.write_bytes(b"x")
        if probe.stat().st_ctime_ns > newest + by_ns:
            return
