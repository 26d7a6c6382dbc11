"""Reads a recording that is still being written, up to a mark; what it is for, it does not know."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from acp_tui.client.transcript.events import Event, Exited, Resized
from acp_tui.client.transcript.reader import open_recording

WRITTEN_S: Final = 10.0
POLL_S: Final = 0.01
"""The writer is a thread, which tells nobody how far it is."""


def events_until(path: Path, marks: int) -> list[Event]:
    """The events up to so many sizes of the screen, or to the agent's end. Raises TimeoutError."""
    limit = time.monotonic() + WRITTEN_S
    events: list[Event] = []
    with open_recording(path) as recording:
        while time.monotonic() < limit:
            for event in recording:
                events.append(event)
                marks -= isinstance(event, Resized)
                if not marks or isinstance(event, Exited):
                    return events
            time.sleep(POLL_S)
    raise TimeoutError(f"{path} has not been written within {WRITTEN_S:g} s: is the disk full?")
