"""A recording requested on the command line, as a value, so that the command line need not load anything else."""

from __future__ import annotations

from pathlib import Path

from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class RecordTo:
    """A separate file, in addition to the recording that is kept anyway."""

    file: Path
    is_raw: bool = False
    """With secrets."""
