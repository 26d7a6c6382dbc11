"""What is written and not sent, for each session and folder. It reads and writes no file."""

from __future__ import annotations

from collections.abc import Mapping

from acp_tui.client.prompts.draft_file import Place


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
