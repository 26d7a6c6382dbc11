"""What may be done at a place of a sandbox."""

from __future__ import annotations

from enum import Enum


class Access(Enum):
    HIDDEN = "hidden"
    READABLE = "read"
    WRITABLE = "write"
    SCRATCH = "scratch"
    """Writable, private, and gone with the box."""
