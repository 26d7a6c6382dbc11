"""A recording that the user asks for on the command line, as a value: the command line loads nothing else for it."""

from __future__ import annotations

from pathlib import Path

from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class RecordTo:
    """A file of its own, beside the recording that is kept anyway."""

    file: Path
    is_raw: bool = False
    """With secrets."""
