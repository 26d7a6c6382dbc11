"""Agents in a sandbox of the operating system: what one may read, write, and reach, enforced by the kernel.

`box` decides what an agent's box contains, from a profile of the user's and the agent's own needs (`needs`). An engine
makes a way into it: bubblewrap, Landlock, macOS's seatbelt, or srt; `engines` chooses one. `processes` starts what runs
there.
"""

from __future__ import annotations

from enum import Enum


class Access(Enum):
    """What may be done at a place."""

    HIDDEN = "hidden"
    READABLE = "read"
    WRITABLE = "write"
    SCRATCH = "scratch"
    """Writable, private, and gone with the box."""
