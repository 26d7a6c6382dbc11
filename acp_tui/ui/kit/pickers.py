"""Dialogs that show rows to choose one from, or a text to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final, Generic, TypeVar

from textual import on
from textual.containers import VerticalScroll
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Static

from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.keymap import places_of
from acp_tui.ui.commands.keys import is_unbound_text, keys_in_force, keys_of
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.dialog import Dialog, shown
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.notice_lines import is_asked_on
from acp_tui.ui.kit.row_list import PickerRow

V = TypeVar("V")

LEADING: Final = ("leave_prompt", "choose_session", "next_needing")
"""The commands whose keys lead to a question."""
FUNCTION_KEYS: Final = [f"f{number}" for number in range(1, 13)]
WRITTEN: Final = "What you typed is in your draft, so Enter did nothing here"
PICKER_KEYS: Final = "{move_up} {move_down} move · {list_choose} choose · {dialog_close} close"


class ListDialog(Dialog[V], Generic[V]):
    """A dialog, with a list or a text, whose only field for text is its search line, if it has one."""

    gives_way_to: ClassVar[Sequence[str]] = ()
    """The commands of the session below whose keys close it, besides function keys."""
    _is_writing = False

    def _gives_way(self, command: Command, key: str) -> bool:
        """Whether the key does something in the session below, and nothing here."""
        here = keys_in_force(self).command_at(places_of(self.focused or self), key)
        return here is None and command.action != "" and (key in FUNCTION_KEYS or command.id in self.gives_way_to)

    def before_key(self, event: Key) -> bool:
        """Pass on what is meant for the session below: text for its draft, and what leads to its question.

        What follows the first letter that is no key here is text, too, and the Enter after it chooses nothing.
        """
        prompt = self.prompt_below
        if prompt is None:
            return False
        command = keys_in_force(self).command_at(("prompt", "session"), event.key)
        leads = command is not None and command.id in LEADING and is_asked_on(prompt.screen)
        if leads:
            self.dismiss(None)
            prompt.screen.set_focus(prompt)
        elif command is not None and self.app.screen_stack[-2] is prompt.screen and self._gives_way(command, event.key):
            self.dismiss(None)
            self.app.call_later(self.app.run_action, command.action_by(event.key), prompt.screen)
            return True
        search = next((rows for rows in self.query(FilteredList) if rows.has_search), None)
        if search is not None and is_unbound_text(self.focused, event):
            search.search()
            return False
        was_writing = self._is_writing
        self._is_writing = (was_writing or is_unbound_text(self.focused, event)) and self.write_key(event)
        ends_text = was_writing and event.key == "enter" and not self._is_writing
        if ends_text and (keys := keys_of(self)) is not None:
            keys.warn_on(self, WRITTEN)
        return self._is_writing or ends_text


class Picker(ListDialog[V | None], Generic[V]):
    """A dialog that returns the value of the chosen row, or None."""

    def __init__(
        self, title: str, rows: Sequence[PickerRow[V]], *, search: bool = True, empty: str = "Nothing to choose from"
    ) -> None:
        """`empty` is shown if there are no rows."""
        self.rows = FilteredList(rows, has_search=search, empty=empty)
        super().__init__(title, PICKER_KEYS, self.rows)

    @on(FilteredList.Chosen)
    def _take_row(self, message: FilteredList.Chosen) -> None:
        self.dismiss(message.row.value)


FITTING = "match the terminal"


class ThemePicker(Picker[str]):
    """A dialog that returns the name of a theme, "" for one that matches the terminal, or None."""

    def __init__(self, names: Iterable[str], chosen: str, show: Callable[[str], None], words: str) -> None:
        """The user can change the `words` that are searched for."""
        rows = [PickerRow(name, name or FITTING, is_current=name == chosen) for name in ("", *names)]
        super().__init__("Theme", rows)
        self._show_theme = show
        self._words = words

    def on_mount(self) -> None:
        self.rows.search(self._words)

    @on(FilteredList.Moved)
    def _try_theme(self) -> None:
        row = self.rows.row
        if row is not None:
            self._show_theme(row.value)


class ReadingScreen(ListDialog[None]):
    """A dialog with text, which scrolls if it doesn't fit."""

    PLACE: Final = "page"
    BINDINGS = bindings_of(place=PLACE)

    def __init__(self, title: str, text: str | Widget) -> None:
        self.text = text
        page = Static(shown(text), markup=False) if isinstance(text, str) else text
        self._body = VerticalScroll(page, classes="dialog-body")
        super().__init__(title, "↑ ↓ PgUp PgDn scroll · {dialog_close} close", self._body)

    def on_mount(self) -> None:
        self.set_focus(self._body)
