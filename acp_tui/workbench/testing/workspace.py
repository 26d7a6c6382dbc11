"""The folder that an agent under test works in: filled with files, and compared before and after a turn."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

LEFT_OUT: Final = frozenset({".git", "__pycache__"})
"""Folders in which programs write as they please."""

Contents = dict[str, bytes]
"""By the path from the workspace, with slashes."""


def fill(workspace: Path, files: Mapping[str, str | bytes]) -> None:
    """Write these files. Raises ValueError for a path that leads out of the workspace."""
    workspace.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        file = Path(os.path.normpath(workspace / name))
        if not file.is_relative_to(workspace):
            raise ValueError(f"files: {name!r} does not lie in the workspace; name it by a relative path")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def contents_of(workspace: Path) -> Contents:
    """Every regular file in it, but for those `LEFT_OUT`; links are not followed."""
    contents: Contents = {}
    for folder, folders, names in os.walk(workspace):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        for file in (Path(folder, name) for name in names):
            if file.is_file() and not file.is_symlink():
                contents[file.relative_to(workspace).as_posix()] = file.read_bytes()
    return contents


def changes_between(before: Contents, after: Contents) -> dict[str, str | None]:
    """What has another content now, as text; None: it is gone."""
    changed = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    return {name: after[name].decode("utf-8", "replace") if name in after else None for name in changed}
