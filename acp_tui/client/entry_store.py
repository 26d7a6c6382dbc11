"""Where the early entries of a long conversation are kept: on disk, for as long as the conversation is there."""

from __future__ import annotations

from typing import Final

from acp_tui.client.copies import Copied, Copies
from acp_tui.conversation.conversation import Conversation, EntryList

MAX_BYTES: Final = 4 << 30
"""Of one conversation; what is more stays in memory."""


class EntryStore:
    """A file without a name, made when the first entry is packed: nothing of it is left behind."""

    def __init__(self) -> None:
        self._copies = Copies(MAX_BYTES)

    def put(self, data: bytes) -> int:
        """Keep them; gives their place. Raises OSError; ValueError where there is no room."""
        return self._copies.put(data).offset

    def get(self, place: int, size: int) -> bytes:
        """What is there. Raises OSError."""
        return self._copies.get(Copied(place, size))


def new_conversation() -> Conversation:
    """One that takes little memory, however long it becomes."""
    return Conversation(EntryList(store=EntryStore()))
