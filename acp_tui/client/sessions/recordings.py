"""What of a run is recorded, and where, as the settings and the command line say; how, is `client.transcript`'s."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.tree import RecordingSettings
from acp_tui.client.transcript.plan import RecordingPlan
from acp_tui.client.transcript.record_to import RecordTo
from acp_tui.client.transcript.store import RecordingStore


def recording_store(settings: RecordingSettings) -> RecordingStore:
    """Where recordings are kept, whether any are or not."""
    return RecordingStore(state_folder() / "recordings", max_total_bytes=settings.max_total_bytes)


def recording_plan(
    settings: RecordingSettings,
    cwd: Path,
    on_trouble: Callable[[str], None],
    *,
    to: RecordTo | None = None,
    screen: tuple[int, int] | None = None,
) -> RecordingPlan | None:
    """How to record an agent that works in `cwd`; None: not at all."""
    if not settings.keep and to is None:
        return None
    return RecordingPlan(
        cwd,
        store=recording_store(settings) if settings.keep else None,
        max_file_bytes=settings.max_file_bytes,
        file=to.file if to is not None else None,
        is_raw=settings.raw,
        is_file_raw=to is not None and to.is_raw,
        screen=screen,
        on_trouble=on_trouble,
    )
