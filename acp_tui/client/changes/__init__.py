"""What changed in a workspace since its session began: a list, a review of each file, and a way back.

Run a `tracker.ChangeTracker` for each session, and `release` it before a prompt is sent. It never says who changed a
file, and nothing wrong: what it hasn't read in time is unknown.
"""

from acp_tui.client.changes.model import (
    CannotRevert,
    ChangedMeanwhile,
    ChangeKind,
    ChangeLimits,
    ChangesError,
    FileChange,
    FileState,
    Review,
    Swapped,
)

__all__ = [
    "CannotRevert",
    "ChangeKind",
    "ChangeLimits",
    "ChangedMeanwhile",
    "ChangesError",
    "FileChange",
    "FileState",
    "Review",
    "Swapped",
]
