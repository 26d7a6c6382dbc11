"""The file of the drafts: what was written for a session, or in a folder, and not sent.

It keeps nothing in memory. All of it blocks, and is for threads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from acp_tui.client.files import replace_file
from acp_tui.client.prompts.private_file import encoded, locked

MAX_DRAFTS: Final = 100
MAX_DRAFT_BYTES: Final = 1 << 20
"""A longer one is not kept."""
MAX_BYTES: Final = 8 << 20


class Place(NamedTuple):
    """What a draft is written for."""

    folder: str
    session: str
    """Its id; "" while there is no session yet."""


class DraftFile:
    """One file of drafts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[Place, str]:
        """The drafts, the one that was written last at the end; a file that holds none is none. Raises OSError."""
        try:
            content = json.loads(self.path.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        return dict(_drafts(content))

    def change(self, changes: Mapping[Place, str]) -> None:
        """Keep these, and drop those that are empty; what another acp-tui has kept stays. Raises OSError."""
        with locked(self.path):
            drafts = self.read()
            for place, text in changes.items():
                drafts.pop(place, None)
                drafts[place] = text
            replace_file(self.path, _content(drafts))


def _drafts(content: Any) -> Iterator[tuple[Place, str]]:
    records = content.get("drafts") if isinstance(content, dict) else None
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict):
            folder, session, text = (record.get(name) for name in ("folder", "session", "text"))
            if isinstance(folder, str) and isinstance(session, str) and isinstance(text, str):
                yield Place(folder, session), text


def _content(drafts: dict[Place, str]) -> bytes:
    """The latest drafts, as many as there is room for."""
    room = MAX_BYTES
    kept: list[bytes] = []
    for place, text in reversed(drafts.items()):
        record = encoded({**place._asdict(), "text": text})
        if text and len(record) <= MAX_DRAFT_BYTES and len(record) <= room and len(kept) < MAX_DRAFTS:
            room -= len(record)
            kept.append(record)
    return b'{"drafts": [\n' + b",\n".join(reversed(kept)) + b"\n]}\n"
