"""What the user folded and unfolded in each session, kept for when it is resumed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_tui.client.agents.remembered import read_json_object, write_json_state
from acp_tui.client.settings.location import state_folder

MAX_SESSIONS: Final = 200
"""The sessions whose folds changed first are dropped first."""
MAX_FOLDS: Final = 100
"""Of one session; the last ones."""
MAX_NAME: Final = 200
"""Characters of an entry's name. An agent chooses the IDs of calls."""


class KeptFolds:
    """The folds of one session, by names of entries. Its methods read and write a small file."""

    def __init__(self, key: str, file: Path | None = None) -> None:
        """`key` distinguishes the session from others (`marks.key_of`)."""
        self._key = key
        self._file = file or state_folder() / "session-folds.json"

    def load(self) -> dict[str, bool]:
        """Whether each entry was left open. What can't be read counts as untouched."""
        folds = read_json_object(self._file).get(self._key)
        found = folds.items() if isinstance(folds, dict) else ()
        return {name: is_open for name, is_open in found if isinstance(is_open, bool)}

    def save(self, folds: Mapping[str, bool]) -> None:
        """Keep these instead. If the file can't be written, they are lost, which harms nothing."""
        kept = read_json_object(self._file)
        before = kept.pop(self._key, None)
        short = [(name, is_open) for name, is_open in folds.items() if len(name) <= MAX_NAME]
        if before is None and not short:
            return
        if short:
            kept[self._key] = dict(short[-MAX_FOLDS:])
        with suppress(OSError):
            write_json_state(self._file, dict(list(kept.items())[-MAX_SESSIONS:]))
