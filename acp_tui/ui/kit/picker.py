"""One picker for everything that is one of many; what is done with the choice is its caller's business."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.frame import Frame, shown, shown_line
from acp_tui.ui.kit.row_list import PickerRow

__all__ = ["Picker", "PickerRow"]

V = TypeVar("V")


class Picker(ModalScreen[V | None], Generic[V]):
    """Gives the value of the chosen row, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", show=False)]

    def __init__(
        self,
        title: str,
        rows: Sequence[PickerRow[V]],
        *,
        search: bool = True,
        empty: str = "Nothing to choose from",
    ) -> None:
        """`empty` is said where there are no rows."""
        super().__init__(classes="dialog")
        self._heading = title
        self.rows = FilteredList(rows, has_search=search, empty=empty)
        """What there is to choose from."""

    def compose(self) -> ComposeResult:
        """The rows in a frame."""
        yield Frame(shown_line(self._heading), "↑ ↓ move · Enter choose · Esc close", self.rows)

    def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        """That is the answer."""
        self.dismiss(message.row.value)


FITTING = "as it fits the terminal"


class ThemePicker(Picker[str]):
    """Gives the name of a theme, "" for the one that fits the terminal, or None."""

    def __init__(self, names: Iterable[str], chosen: str, show: Callable[[str], None]) -> None:
        """`show` puts on a theme by its name."""
        rows = [PickerRow(name, name or FITTING, is_current=name == chosen) for name in ("", *names)]
        super().__init__("Theme", rows)
        self._show_theme = show

    def on_filtered_list_moved(self) -> None:
        """Put it on."""
        row = self.rows.row
        if row is not None:
            self._show_theme(row.value)


class ReadingScreen(ModalScreen[None]):
    """Scrolls where there is no room for all."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", show=False)]

    def __init__(self, title: str, text: str) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._text = text

    def compose(self) -> ComposeResult:
        """The text."""
        body = VerticalScroll(Static(shown(self._text), markup=False), classes="dialog-body")
        yield Frame(shown_line(self._heading), "↑ ↓ PgUp PgDn read · Esc close", body)

    def on_mount(self) -> None:
        """Ready to be scrolled."""
        self.query_one(VerticalScroll).focus()
