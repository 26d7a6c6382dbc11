"""The list in the sessions' dialog: narrows by titles at once, and shows below what was found in what was said.

Where that is looked for is the dialog's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from acp_tui.ui.kit.filtered_list import FilteredList, matching
from acp_tui.ui.kit.frame import shown_line
from acp_tui.ui.kit.row_list import PickerRow

FOUND: Final = "In what was said"


class SessionList(FilteredList):
    """Sessions; the values of its rows are their keys."""

    class Sought(Message):
        """The user looks for other words."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    class Resized(Message):
        """There is another number of cells for a row."""

    def __init__(self, *, empty: str) -> None:
        super().__init__(has_search=False, empty=empty)
        self._found: Sequence[PickerRow[str]] = ()
        self._lines: Mapping[str, str] = {}

    @property
    def words(self) -> str:
        """What is looked for."""
        return self._search.value.strip() if self.is_mounted else ""

    def on_resize(self, event: events.Resize) -> None:
        """The columns may be others."""
        self.post_message(self.Resized())

    def show_rows(self, rows: Iterable[PickerRow[Any]], *, empty: str = "") -> None:
        """Show these from now on; a cursor that was moved stays on its session, wherever that is now."""
        before = self.row if self._list.cursor > 0 else None
        super().show_rows(rows, empty=empty)
        places = [row.value for row in self._list.rows]
        if before is not None and before.value in places:
            self._list.move_to(places.index(before.value))
            self._show_about()

    def show_found(self, rows: Sequence[PickerRow[str]]) -> None:
        """Show these too, as long as the same is looked for."""
        self._found = rows
        self._narrow(max(self._list.cursor, 0))

    def show_lines(self, lines: Mapping[str, str]) -> None:
        """Show these lines of what was said for the sessions of these keys."""
        self._lines = lines
        self._show_about()

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was found for other words counts no more."""
        self._found = ()
        self._lines = {}
        self.post_message(self.Sought(event.value.strip()))

    def _narrow(self, cursor: int) -> None:
        by_title = matching(self._all, self._search.value)
        shown = {row.value for row in by_title}
        self._show([*by_title, *(row for row in self._found if row.value not in shown)], cursor)

    def _show_about(self) -> None:
        super()._show_about()
        line = self._lines.get(self.row.value) if self.row is not None else None
        if self.row is not None and line:
            self._about.update(Content("\n").join([shown_line(line), shown_line(self.row.description)]))
