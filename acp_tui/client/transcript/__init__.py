"""Recordings of what an agent and acp-tui said: written, read, replayed, stored, searched.

README.md describes the format.
"""

from __future__ import annotations

from pathlib import Path

from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class RecordTo:
    """A separate file, in addition to the recording that is kept anyway. Here, so that naming it loads nothing else."""

    file: Path
    is_raw: bool = False
    """With secrets."""
