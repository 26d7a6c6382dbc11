"""A list that narrows as the user types. It doesn't know what the rows mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import Resize
from textual.message import Message
from textual.widgets import Input, Static

from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.table import MOVING, bindings_of
from acp_tui.ui.kit.row_list import NO_ROW, PickerRow, RowList
from acp_tui.ui.rendering.wrapping import SEPARATOR, pack


class FilteredList(Vertical, can_focus=True):
    """Rows, an optional search line above them, and below them the current text if its row cuts it."""

    DEFAULT_CSS = "FilteredList { height: auto; } FilteredList > * { height: auto; }"

    PLACE: Final = "list"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(place=PLACE),
        *bindings_of(*MOVING, has_priority=True),  # before the search line
    ]

    make_search: ClassVar[type[Input]] = Input
    """The widget class of the search line. Subclasses may override it."""

    class Chosen(Message):
        def __init__(self, row: PickerRow[Any]) -> None:
            super().__init__()
            self.row = row

    rare_rows: ClassVar[str] = "all"
    """What a space adds to the list."""
    groups_keep_order: ClassVar[bool] = False
    """Whether a search leaves the groups in their order. Otherwise the one with the best match is first."""

    class Moved(Message):
        """The cursor may be on another row."""

        def __init__(self, *, has_row: bool, is_searching: bool = False) -> None:
            super().__init__()
            self.has_row, self.is_searching = has_row, is_searching

    class EndReached(Message):
        """The user wants to move past the last row."""

    def __init__(
        self, rows: Sequence[PickerRow[Any]] = (), *, has_search: bool = True, empty: str = "Nothing to choose from"
    ) -> None:
        """With `has_search`, the search line is always shown; otherwise `search` shows it."""
        super().__init__()
        self.all = tuple(rows)
        self._empty = empty
        self._words = ""
        """What the rows match."""
        # Kept instead of queried, because a worker's result may arrive while the list is being removed.
        self._search = self.make_search(classes="row-search", compact=True)
        self._search.display = has_search
        self._list = RowList(rows_around=13, rows_around_low=8)
        self._about = Static(classes="row-about", markup=False)

    def compose(self) -> ComposeResult:
        yield self._search
        yield self._list
        yield self._about

    def on_mount(self) -> None:
        rows = matching(self.all, "")
        self._invite()
        self._show(rows, next((index for index, row in enumerate(rows) if row.is_current), 0))
        self.screen.set_focus(self._search if self.has_search else self)

    @property
    def row(self) -> PickerRow[Any] | None:
        self._narrow_anew()
        return self._list.row

    @property
    def has_search(self) -> bool:
        """Whether the search line is shown."""
        return self._search.display

    def show_rows(self, rows: Iterable[PickerRow[Any]], *, empty: str = "") -> None:
        """Replace the rows. The cursor stays on its row, wherever that is now."""
        self.all = tuple(rows)
        self._empty = empty or self._empty
        self._invite()
        self._show_again()

    def go_to(self, value: object) -> None:
        """Move the cursor to the row with this value, if it's there."""
        values = [row.value for row in self._list.rows]
        if value in values:
            self._list.move_to(values.index(value))
            self._show_about()

    def _invite(self) -> None:
        more = f"; a space shows {self.rare_rows}" if any(row.is_rare for row in self.all) else ""
        self._search.placeholder = f"Type to search{more}"

    def search(self, words: str = "") -> None:
        self._search.display = True
        self._search.value = words or self._search.value
        self.screen.set_focus(self._search)  # at once, so that the next key doesn't overtake it

    def action_clear_search(self) -> None:
        """Clear what was typed; with nothing typed, the key closes the dialog."""
        if not self._search.value:
            raise SkipAction
        self._search.value = ""

    @on(Input.Changed)
    def _narrow_anew(self) -> None:
        """Show what matches by now: a key may come before the search line tells the letter before it."""
        if self._words != self._search.value:
            self._words = self._search.value
            self._show(self._matching(), 0)

    def _show_again(self) -> None:
        """Show what there is by now, with the cursor on the same row; if that is gone, on the one in its place."""
        before, rows = self.row, self._matching()
        same = (at for at, row in enumerate(rows) if before is not None and row.value == before.value)
        self._show(rows, next(same, max(self._list.cursor, 0)))

    def _matching(self) -> Sequence[PickerRow[Any]]:
        return matching(self.all, self._search.value, groups_keep_order=self.groups_keep_order)

    def _show(self, rows: Sequence[PickerRow[Any]], cursor: int) -> None:
        """While the user searches, the list keeps its height."""
        is_searching = bool(self._search.value.strip())
        note = f"Nothing matches “{self._search.value}”" if self.all and not rows else ""
        self._list.show(rows, cursor if rows else NO_ROW, note)
        if not is_searching:
            self._list.least_lines = self._list.lines
        self._list.display = bool(rows or note)
        self._fit_about()
        self._show_about()

    def _fit_about(self) -> None:
        """Keep room below the list only if some row has more to tell than its line shows."""
        told = (row for row in self.all if row.description or row.is_disabled_reason)
        has_more = any(not self._list.shows_whole(row) for row in told)
        self._about.set_class(bool(self.all) and not has_more, "-blank")

    def _show_about(self) -> None:
        row = self.row
        self.post_message(self.Moved(has_row=row is not None, is_searching=bool(self._search.value)))
        if row is None:
            self._about.update("" if self.all else self._empty)
            return
        about = "" if self._list.shows_whole(row) else row.is_disabled_reason or row.description
        parts = make_visible_line(about).split(SEPARATOR)
        self._about.update("\n".join(pack(parts, self._about.content_size.width)))

    def on_resize(self, event: Resize) -> None:
        self._fit_about()
        self.call_after_refresh(self._show_about)

    def action_move(self, step: int) -> None:
        self._narrow_anew()
        if not self._list.move(step) and step > 0:
            self.post_message(self.EndReached())
        self._show_about()

    def action_go_to_end(self, direction: int) -> None:
        self.action_move(direction * len(self._list.rows))

    def action_page(self, direction: int) -> None:
        self._narrow_anew()
        if not self._list.move_page(direction) and direction > 0:
            self.post_message(self.EndReached())
        self._show_about()

    @on(Input.Submitted)
    def action_choose(self) -> None:
        """Choose the row, or tell why it can't be chosen."""
        if self.row is None:
            return
        if why := self.why_not(self.row):
            self.notify(make_visible_line(why), severity="warning", markup=False)
        else:
            self.post_message(self.Chosen(self.row))

    def why_not(self, row: PickerRow[Any]) -> str:
        """Why this row can't be chosen, as a sentence, and what to do; "" if it can."""
        return f"{row.label.strip()}: {row.is_disabled_reason}" if row.is_disabled_reason else ""

    @on(RowList.Clicked)
    def _choose_clicked(self, event: RowList.Clicked) -> None:
        event.stop()
        self._show_about()
        self.action_choose()


def matching(
    rows: Sequence[PickerRow[Any]], query: str, *, groups_keep_order: bool = False
) -> Sequence[PickerRow[Any]]:
    """The rows that match each word of `query`, the best first.

    Best are labels that begin with it (or whose name after a dot does) and names that are it, then labels that contain
    it and names that begin with it, then names that contain it and words that begin with it in what else is said of a
    row. Groups stay together, and disabled rows come last. Without a query, rare rows are left out; a space brings
    them in.
    """
    words = query.lower().split()
    if not words:
        return rows if query else [row for row in rows if not row.is_rare]
    scored = [(row, score) for row in rows if (score := _score(row, words)) is not None]
    found = [((bool(row.is_disabled_reason), score), row) for row, score in scored]
    order = dict.fromkeys(row.group for _, row in found)
    if not groups_keep_order:
        best_of = {group: min(rank for rank, row in found if row.group == group) for group in order}
        order = dict.fromkeys(sorted(order, key=lambda group: best_of[group]))
    at = {group: index for index, group in enumerate(order)}
    found.sort(key=lambda item: (at[item[1].group], item[0]))
    return [row for _, row in found]


def _score(row: PickerRow[Any], words: Sequence[str]) -> int | None:
    """The score of a row, lower is better; None for no match."""
    label, names, about = (
        text.lower() for text in (row.label, f" {row.names} ", f"{row.description} {row.other_words}")
    )
    total = 0
    for word in words:
        at = label.find(word)
        if at == 0 or label[at - 1 : at] == "." or f" {word} " in names:
            total += 0
        elif at > 0 or f" {word}" in names:
            total += 1
        elif word in names or re.search(rf"(?<![a-z0-9]){re.escape(word)}", about):
            total += 2
        else:
            return None
    return total
