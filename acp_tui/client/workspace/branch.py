"""Which git branch a folder is on, read from the repository's own files: git is not run, and nothing is changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 4096
SHORT_COMMIT: Final = 8
_BRANCH: Final = "ref: refs/heads/"
_ELSEWHERE: Final = "gitdir:"


def branch_of(folder: Path) -> str:
    """The branch, or the first digits of a commit that is checked out without one; "" outside of a repository.

    It blocks. The name is whatever the file says: it is not safe to draw.
    """
    for place in (folder, *folder.parents):
        git = place / ".git"
        written = _first_line(git)
        if written.startswith(_ELSEWHERE):  # a worktree, or a submodule
            git = place / written.removeprefix(_ELSEWHERE).strip()
        head = _first_line(git / "HEAD")
        if head:
            return head.removeprefix(_BRANCH) if head.startswith(_BRANCH) else head[:SHORT_COMMIT]
    return ""


def _first_line(path: Path) -> str:
    """ "" for what is no small text."""
    try:
        # A named pipe would wait for whoever writes.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return ""
            return file.read(MOST_BYTES).decode("utf-8", "replace").partition("\n")[0].strip()
    except (OSError, ValueError):
        return ""
