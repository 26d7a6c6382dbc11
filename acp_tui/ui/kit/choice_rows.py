"""Choices within a form: one of several or any of several; nothing is chosen that the user or a default did not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.message import Message

from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.row_list import GAP, NOWHERE, PickerRow, RowList
from acp_tui.ui.rendering.wrapping import width_cells

MOST_ROWS: Final = 8
MAX_NUMBER: Final = 9
"""Up to here a row is chosen by its number."""


class ChoiceRows(RowList, can_focus=True):
    """Rows to choose from; the cursor stands nowhere until the user moves it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Choice above", show=False),
        Binding("down", "move(1)", "Choice below", show=False),
        Binding("space", "choose", "Choose or not", show=False),
        Binding("enter", "finish", "Choose and go on", show=False),
        Binding("backspace,delete", "clear", "Choose nothing", show=False),
        *(
            Binding(str(number), f"number({number})", f"Choice {number}", show=False)
            for number in range(1, MAX_NUMBER + 1)
        ),
    ]
    mark_cells = 4

    class Moved(Message):
        """The cursor stands somewhere else, or another choice was made."""

    class Finished(Message):
        """The user is done here."""

    def __init__(self, rows: Sequence[PickerRow[str]], chosen: Iterable[str] = (), *, is_multi: bool) -> None:
        super().__init__(most_rows=MOST_ROWS)
        self._choices = rows
        self._is_multi = is_multi
        self._chosen = {row.value for row in rows} & set(chosen)

    def on_mount(self) -> None:
        """Show them, from the first chosen one on."""
        super().on_mount()
        values = [row.value for row in self._choices]
        start = min(map(values.index, self._chosen), default=NOWHERE)
        self.show(
            self._choices, start if self.can_focus else NOWHERE
        )  # a cursor there would be what Enter sends

    def show_whole(self) -> None:
        """Be as high as there are rows, and leave keys to whoever shows it, which scrolls; before it is mounted."""
        self.can_focus = False
        self._rows_around, self._most_rows = -len(self._choices), len(self._choices)

    def choose(self, index: int) -> None:
        """Choose this row, and with `is_multi` no longer where it is chosen already."""
        value = self.rows[index].value
        if self._is_multi:
            self._chosen ^= {value}
        else:
            self._chosen = {value}
        self.move_to(index)
        self._changed()

    @property
    def chosen(self) -> list[str]:
        """The chosen values, in the order of the choices."""
        return [row.value for row in self._choices if row.value in self._chosen]

    @property
    def cut_text(self) -> str:
        """The row under the cursor in full, where it was too long to be shown; else ""."""
        if self.row is None:
            return ""
        parts = [part for part in (self.row.label, self.row.description) if part]
        cells = width_cells(make_visible_line(GAP.join(parts)))
        return "\n".join(parts) if cells > self.scrollable_content_region.width - self.mark_cells else ""

    def mark_of(self, index: int) -> str:
        """Its number; round for one, square for any."""
        on, off = ("■ ", "□ ") if self._is_multi else ("◉ ", "○ ")
        number = f"{index + 1} " if index < MAX_NUMBER else "  "
        return number + (on if self.rows[index].value in self._chosen else off)

    def action_number(self, number: int) -> None:
        """Choose the row with this number, or no longer where any can be chosen; it goes nowhere from here."""
        if number <= len(self.rows):
            self.choose(number - 1)

    def action_move(self, step: int) -> None:
        """Move the cursor; that chooses nothing."""
        self.move(step)
        self.post_message(self.Moved())

    def action_choose(self) -> None:
        """Choose the row under the cursor, or no longer; without a cursor, only bring it."""
        if self.row is None:
            self.action_move(1)
            return
        value = self.row.value
        others = self._chosen - {value} if self._is_multi else set()
        self._chosen = others if value in self._chosen else {*others, value}
        self._changed()

    def action_finish(self) -> None:
        """Where one is to be chosen, it is the one under the cursor."""
        if self.row is not None and not self._is_multi:
            self._chosen = {self.row.value}
            self._changed()
        self.post_message(self.Finished())

    def action_clear(self) -> None:
        """Choose nothing."""
        self._chosen = set()
        self.cursor = NOWHERE
        self._changed()

    def _changed(self) -> None:
        self.refresh()
        self.post_message(self.Moved())

    def on_row_list_clicked(self, event: RowList.Clicked) -> None:
        """As Space does."""
        event.stop()
        self.action_choose()
