"""The pictures that go along with drafts, as files: a draft names them in its last lines, as it mentions any file.

So a draft is a text everywhere it is kept. All of it blocks, and is for threads, but for `split`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from acp_tui.client.files import make_private, replace_file

MAX_BYTES: Final = 16 << 20
"""A larger picture is not kept."""
UNNAMED_S: Final = 86_400.0
"""So long a file stays that no draft names: another acp-tui may be about to write the draft."""


class DraftPictures:
    """One folder of pictures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, pictures: Iterable[tuple[str, bytes]]) -> list[str]:
        """The lines for a draft with these pictures, given by name and content. Raises OSError."""
        lines = []
        for name, content in pictures:
            if len(content) <= MAX_BYTES:
                plain_name = re.sub(r"[^\w.-]", "_", name)
                file = self._folder / f"{sha256(content).hexdigest()[:16]}-{plain_name}"
                make_private(self._folder, is_ours=True)
                if file.exists():
                    os.utime(file)
                else:
                    replace_file(file, content)
                lines.append(f"@{file}")
        return lines

    def split(self, draft: str) -> tuple[str, Sequence[Path]]:
        """The words of a draft, and the files of its pictures."""
        lines = draft.split("\n")
        files: list[Path] = []
        while lines and lines[-1].startswith(f"@{self._folder}/") and ".." not in lines[-1]:
            files.insert(0, Path(lines.pop()[1:]))
        return "\n".join(lines), files

    def read(self, files: Iterable[Path]) -> list[tuple[str, bytes]]:
        """Name and content of each that is there still. Raises OSError for one that cannot be read."""
        return [(file.name.partition("-")[2], file.read_bytes()) for file in files if file.exists()]

    def tidy(self, drafts: Iterable[str]) -> None:
        """Remove those that no draft names any more. Raises OSError."""
        named = {file for draft in drafts for file in self.split(draft)[1]}
        for file in self._folder.glob("*"):
            if file not in named and time.time() - file.stat().st_mtime > UNNAMED_S:
                file.unlink(missing_ok=True)
