"""What whoever redacts a recording wants, and what is said to them afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from acp_tui.workbench.redact.stand_ins import Secret


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is to be replaced beyond what is found by itself."""

    secrets: Sequence[str] = ()
    drop_contents: Sequence[str] = ()
    keep_contents: Sequence[str] | None = None
    """Where given, the contents of all other files are left out."""
    drops_media: bool = False

    @property
    def leaves_contents_out(self) -> bool:
        """Whether those of some files are."""
        return bool(self.drop_contents) or self.keep_contents is not None


@dataclass(slots=True)
class Report:
    """What was done, without any secret."""

    replaced: Sequence[Secret] = ()
    files_left_out: int = 0
    media_left_out: int = 0
    media_kept: int = 0
    """Images and sounds that nobody has looked into."""
    blobs_kept: int = 0
    """Bytes that are no text: only what stands in them as text was found."""
    bad_lines: int = 0
    """Lines that are no event; they were looked at as text."""
