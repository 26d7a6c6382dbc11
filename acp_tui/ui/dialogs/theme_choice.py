"""Choosing a theme: the one under the cursor is shown at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from acp_tui.ui.kit.picker import Picker, PickerRow

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
