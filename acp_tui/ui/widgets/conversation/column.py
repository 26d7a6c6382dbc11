"""The entries of a conversation as one column of lines: drawn anew where they changed, by slices of time.

It knows nothing of a window, a scroll position or a mouse.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from textual.strip import Strip

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import EntryId
from acp_tui.conversation.facts import Turn
from acp_tui.ui.drawings.drawing import Drawing, Scene
from acp_tui.ui.drawings.entries import drawing_of
from acp_tui.ui.drawings.notes import Undrawable
from acp_tui.ui.widgets.conversation.heights import Heights

log = logging.getLogger(__name__)


class Column:
    """Drawings and their heights; `scene` gives what to draw with now, `on_height` hears of an entry that grew."""

    def __init__(self, scene: Callable[[], Scene], on_height: Callable[[int, int], None]) -> None:
        """`on_height` gets an entry and by how many lines all below it moved."""
        self._scene = scene
        self._on_height = on_height
        self._conversation = Conversation()
        self._is_all_open = False
        self.drawings: list[Drawing] = []
        self.heights = Heights()
        self.dirty: set[EntryId] = set()
        """What is to be drawn again."""

    def show(self, conversation: Conversation) -> None:
        """Hold this conversation from now on; all of it is to be drawn."""
        self._conversation = conversation
        self.drawings = []
        self.heights = Heights()
        self.dirty = set(map(EntryId, range(len(conversation.entries))))

    def mark(self, entries: Iterable[EntryId]) -> None:
        """These have changed."""
        self.dirty.update(entries)

    def mark_drawing(self, drawing: Drawing) -> EntryId | None:
        """What a drawing shows has changed, its entry has not; None where another conversation is shown by now."""
        if drawing not in self.drawings:
            return None
        entry_id = EntryId(self.drawings.index(drawing))
        self.dirty.add(entry_id)
        return entry_id

    def read_dirty(self, is_time_up: Callable[[], bool]) -> bool:
        """Draw the entries that changed, oldest first; False where the time was not enough."""
        for entry_id in sorted(self.dirty):
            while entry_id >= len(self.drawings):
                self._open(len(self.drawings))
            while not self._read(entry_id):
                if is_time_up():
                    return False
            self.dirty.discard(entry_id)
            if self.dirty and is_time_up():
                return False
        if self._conversation.turn is Turn.IDLE and self.drawings:
            self._close(len(self.drawings) - 1)
        return True

    def _read(self, index: int) -> bool:
        is_done = self.drawings[index].refresh()
        total = self.heights.total
        self.measure(index)
        if self.heights.total != total:
            self._on_height(index, self.heights.total - total)
        return is_done

    def measure(self, index: int) -> None:
        """How many lines the entry takes now."""
        self.heights.set(index, len(self.lines(index)))

    def measure_all(self) -> None:
        """Everything may look different."""
        for index in range(len(self.drawings)):
            self.measure(index)

    def lines(self, index: int) -> Sequence[Strip]:
        """The entry's lines."""
        try:
            return self.drawings[index].lines(self._scene())
        except Exception:
            # What an agent sent must not take the screen down; the rest of the conversation stays readable.
            log.exception("entry %d cannot be drawn", index)
            self.drawings[index] = Undrawable()
            return self.drawings[index].lines(self._scene())

    def _open(self, index: int) -> None:
        if index:
            self._close(index - 1)
        drawing = drawing_of(self._conversation.entries[index])
        drawing.set_open(self._is_all_open)
        self.drawings.append(drawing)
        self.heights.append(0)
        # Read with the next slices: it may be long.
        self.dirty.add(EntryId(index))

    def _close(self, index: int) -> None:
        if EntryId(index) in self.dirty and not self._read(index):
            return
        self.drawings[index].close()
        self.measure(index)

    # Folds

    def toggle(self, index: int) -> bool:
        """Fold or unfold an entry; False for one that does not fold."""
        if not self.drawings[index].toggle():
            return False
        self.measure(index)
        return True

    def open(self, index: int) -> None:
        """Unfold an entry."""
        self.drawings[index].set_open(True)
        self.measure(index)

    def toggle_all(self) -> None:
        """Unfold everything, or fold everything again."""
        self._is_all_open = not self._is_all_open
        for drawing in self.drawings:
            drawing.set_open(self._is_all_open)
        self.measure_all()
