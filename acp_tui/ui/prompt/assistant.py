"""What may help with the draft and is asked before a key becomes text: completion, history. It holds no such help."""

from __future__ import annotations

from typing import Protocol

from textual import events


class Assistant(Protocol):
    """Something that looks over the user's shoulder while a prompt is written."""

    def takes_key(self, event: events.Key) -> bool:
        """Whether the key was meant for it; then it has acted, and nothing else is done with the key."""

    def draft_changed(self) -> None:
        """The draft, or where the cursor stands in it, is another one. Cheap: it is called on each key."""
