"""Where a path leads, by how it is spelled; no file is looked at."""

from __future__ import annotations

import posixpath


def is_outside(path: str, directory: str) -> bool:
    """Whether the path leads out of the directory; links are not followed. Of no directory ("") nothing is."""
    if not directory:
        return False
    root = posixpath.normpath(directory)
    return posixpath.commonpath([root, posixpath.normpath(posixpath.join(root, path))]) != root
