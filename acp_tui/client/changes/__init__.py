"""What changed in a workspace since its session began: a list, a review of each file, and a way back.

It does not know agents or sessions, and never says who changed a file. Whoever opens a session runs a
`ChangeTracker` beside it, and starts the agent once it has started:

    await tasks.start(tracker.run)
"""

from acp_tui.client.changes.tracker import ChangeTracker
from acp_tui.client.changes.values import (
    CannotRevert,
    ChangedMeanwhile,
    ChangeKind,
    ChangesError,
    FileChange,
    FileState,
    Hunk,
    Limits,
    Review,
    Swapped,
)

__all__ = [
    "CannotRevert",
    "ChangeKind",
    "ChangeTracker",
    "ChangedMeanwhile",
    "ChangesError",
    "FileChange",
    "FileState",
    "Hunk",
    "Limits",
    "Review",
    "Swapped",
]
