"""The help: every command with the keys in force, those for where the user is first; searchable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from acp_tui.ui.commands.command import PLACES, Command, Place
from acp_tui.ui.commands.key_names import TERMINALS_OWN, needs_kitty, shown_key
from acp_tui.ui.commands.keymap import AS_BUILT, Keymap
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import COMMANDS
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.frame import Frame
from acp_tui.ui.kit.row_list import PickerRow

NARROW_CELLS: Final = 60


class HelpScreen(ModalScreen[str | None]):
    """Gives the action of the command that the user chose, None where they have only read."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1", "dismiss(None)", "Close", show=False)]

    KEYS: ClassVar[str] = "↑ ↓ PgUp PgDn read · Enter does it · Esc close"

    def __init__(self, here: Sequence[Place] = (), *, is_all: bool = True) -> None:
        """`here` is where the user is, from the focus outwards; not `is_all`: nothing is to be said of other places."""
        super().__init__(classes="dialog")
        self._here = here
        self._is_all = is_all

    def compose(self) -> ComposeResult:
        """A list that is searched by typing."""
        is_narrow = self.app.size.width < NARROW_CELLS
        rows = help_rows(keys_in_force(self), self._here, is_narrow=is_narrow)
        shown = [row for row in rows if self._is_shown(row.value.where)]
        yield Frame(Content("Help"), self.KEYS, FilteredList(shown))

    def _is_shown(self, place: Place) -> bool:
        return place in self._here or (self._is_all and place != "replay")

    def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        """Do it, where it does not need the focus to be elsewhere."""
        if message.row.value.action:
            self.dismiss(message.row.value.action)


def help_rows(
    keymap: Keymap, here: Sequence[Place] = (), *, is_narrow: bool = False
) -> Iterator[PickerRow[Command]]:
    """A row for each command, under the headings of their places; those where the user is come first.

    Where there is little room, only the first of a command's keys is shown.
    """
    for place in (*here, *(place for place in PLACES if place not in here)):
        for command in COMMANDS:
            if command.where == place:
                keys = (
                    (keymap.shown(command.id) or command.typed) if is_narrow else keymap.all_shown(command.id)
                )
                about = "; ".join(filter(None, (command.help, _slash(command), *key_notes(command, keymap))))
                yield PickerRow(command, command.title, about, PLACES[place], aside=keys)


def _slash(command: Command) -> str:
    return f"/{command.slash} in the prompt" if command.slash else ""


def key_notes(command: Command, keymap: Keymap) -> Iterator[str]:
    """What a key needs to arrive at all, and that it is not the usual one."""
    keys = keymap.keys[command.id]
    usual = AS_BUILT.keys[command.id]
    if keys != usual:
        yield f"usually {' '.join(map(shown_key, usual)) or 'without a key'}"
    wanting = " and ".join(shown_key(key) for key in keys if needs_kitty(key))
    if wanting:
        yield f"{wanting} only with Kitty's keyboard protocol (in tmux: set -s extended-keys always)"
    for key in keys:
        if key in TERMINALS_OWN:
            yield f"{shown_key(key)}: {TERMINALS_OWN[key]}"
