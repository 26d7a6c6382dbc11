"""The settings that a session offers: choose one, then its value. Setting it is the caller's business."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from acp_tui.conversation.facts import BooleanOption, Choice, ConfigOption, SelectOption
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import value_name
from acp_tui.ui.kit.filtered_list import FilteredList, Picker
from acp_tui.ui.kit.frame import Frame, shown_line
from acp_tui.ui.kit.row_list import PickerRow, aligned

MOST_COLUMN_CELLS: Final = 24

Chosen: TypeAlias = tuple[str, str | bool]
"""An option's id and its new value."""


class OptionsDialog(ModalScreen[Chosen | None]):
    """Gives the option and the value to ask the agent for, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", show=False)]

    def __init__(self, options: Sequence[ConfigOption]) -> None:
        super().__init__(classes="dialog")
        self._options = options

    def compose(self) -> ComposeResult:
        """The options with their values, in the agent's order."""
        rows = FilteredList(
            _option_rows(self._options),
            has_search=False,
            empty="This agent offers no settings for the session",
        )
        keys = "↑ ↓ move · Enter change · Esc close"
        yield Frame(shown_line("Settings of the session"), keys, rows)

    def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        """On or off changes at once; a list of values is chosen from."""
        option: ConfigOption = message.row.value
        if isinstance(option, BooleanOption):
            self.dismiss((option.option_id, not option.value))
            return

        def take(value: str | None) -> None:
            if value is not None:
                self.dismiss((option.option_id, value))

        self.app.push_screen(value_picker(option), take)


def value_picker(option: SelectOption) -> Picker[str]:
    """Choose among the values of one option."""
    rows = [_choice_row(choice, option.value) for choice in option.choices]
    return Picker(option.name, rows, search=len(rows) > 8, empty="The agent names no values for it")


def _option_rows(options: Sequence[ConfigOption]) -> list[PickerRow[ConfigOption]]:
    names = aligned([make_visible_line(f"{option.name}:") for option in options], MOST_COLUMN_CELLS)
    values = aligned([make_visible_line(value_name(option)) for option in options], MOST_COLUMN_CELLS)
    return [
        PickerRow(option, f"{name} {value}", option.description or "")
        for option, name, value in zip(options, names, values, strict=True)
    ]


def _choice_row(choice: Choice, current: str) -> PickerRow[str]:
    return PickerRow(
        choice.value,
        choice.name,
        choice.description or "",
        choice.group or "",
        is_current=choice.value == current,
    )
