"""What changed in a workspace since its session began: a list, a review of each file, and a way back.

Run a `tracker.ChangeTracker` for each session, and send no prompt before it has started. It never says who changed a
file.
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
