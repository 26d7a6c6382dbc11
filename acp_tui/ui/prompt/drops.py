"""Files dropped onto the terminal, which pastes their paths: finds them in a paste, and spells them as mentions."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

MAX_FILES: Final = 64
MAX_CHARACTERS: Final = 8_000
_BEGINNINGS: Final = ("/", "~/", "file://", "'/", '"/', "'file://", '"file://')


def may_be_dropped(text: str) -> bool:
    """Whether it is worth a look at the disk; cheap."""
    return len(text) <= MAX_CHARACTERS and text.lstrip().startswith(_BEGINNINGS)


def mentions_of_dropped(text: str, cwd: Path) -> str | None:
    """What to write for a paste that is nothing but existing paths; None for any other. For a thread."""
    from acp_tui.client.completion.spelling import mention_of

    for paths in _readings(text):
        if 0 < len(paths) <= MAX_FILES and all(_exists(path) for path in paths):
            mentions = [mention_of(_shown(path, cwd)) for path in paths]
            return "".join(f"{mention} " for mention in mentions) if all(mentions) else None
    return None


def _readings(text: str) -> Iterator[list[Path]]:
    """One path with blanks in it, one a line, or some that are separated and quoted as in a shell."""
    lines = [line.strip() for line in text.strip().splitlines()]
    yield [path for line in lines if (path := _path(line)) is not None] if all(map(_path, lines)) else []
    try:
        words = shlex.split(text)
    except ValueError:
        return
    yield [path for word in words if (path := _path(word)) is not None] if all(map(_path, words)) else []


def _path(word: str) -> Path | None:
    """The absolute path that it names; None where it is none."""
    if word.startswith("file://"):
        address = urlsplit(word)
        word = unquote(address.path) if address.netloc in ("", "localhost") else ""
    return Path(word).expanduser() if word.startswith(("/", "~/")) else None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _shown(path: Path, cwd: Path) -> str:
    """Short, where it is in the session's folder; a folder ends with a slash, as when it is completed."""
    shown = str(path.relative_to(cwd)) if path.is_relative_to(cwd) and path != cwd else str(path)
    return f"{shown}/" if path.is_dir() else shown
