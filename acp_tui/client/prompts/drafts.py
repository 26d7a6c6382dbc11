"""What is written and not sent, for each session and folder. It reads and writes no file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from acp_tui.client.files import encoded, locked, replace_file

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


class Drafts:
    """The drafts of this run and of earlier ones."""

    def __init__(self) -> None:
        self._texts: dict[Place, str] = {}
        """None of them is empty; the one that was changed last is at the end."""
        self._left: set[Place] = set()
        """Those of earlier runs that nobody has gone on with."""
        self._unsaved: dict[Place, str] = {}

    def take_in(self, kept: Mapping[Place, str]) -> None:
        """Know these as well; what was written meanwhile is newer."""
        self._left |= kept.keys() - self._texts.keys()
        self._texts = {**kept, **self._texts}

    def left_in(self, folder: str) -> Place | None:
        """For what the last draft was written that an earlier run has left in this folder; None where there is none."""
        return next(
            (place for place in reversed(self._texts) if place in self._left and place.folder == folder), None
        )

    def is_left(self, place: Place) -> bool:
        """Whether an earlier run has left it, and it is as it was."""
        return place in self._left

    def text(self, place: Place) -> str:
        """The draft; "" where there is none."""
        return self._texts.get(place, "")

    def put(self, place: Place, text: str) -> None:
        """This is the draft now; a blank one is none."""
        text = text if text.strip() else ""
        if text == self.text(place):
            return
        self._texts.pop(place, None)
        self._left.discard(place)
        if text:
            self._texts[place] = text
        self._unsaved[place] = text

    def move(self, source: Place, target: Place) -> None:
        """What was written for the one is for the other now."""
        text = self.text(source)
        self.put(source, "")
        self.put(target, text)

    def take_unsaved(self) -> Mapping[Place, str]:
        """The drafts that have changed, empty where they are no more; they count as saved from now on."""
        unsaved, self._unsaved = self._unsaved, {}
        return unsaved
