"""The command palette: what can be done here and now, the likeliest first. It does nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from acp_tui.ui.commands.command import PLACES, Command, Place
from acp_tui.ui.commands.help import NARROW_CELLS
from acp_tui.ui.commands.keymap import Keymap
from acp_tui.ui.kit.picker import Picker, PickerRow

RECENT = "Used last"


class CommandPicker(Picker[Command]):
    """Gives the command that the user chose, or None."""

    def __init__(
        self,
        commands: Iterable[Command],
        keymap: Keymap,
        *,
        here: Sequence[Place] = (),
        recent: Sequence[str] = (),
        cells: int,
    ) -> None:
        """`here` is where the user is, from the focus outwards; `recent` the ids of what was used, the last first."""
        rows = palette_rows(commands, keymap, here, recent, is_narrow=cells < NARROW_CELLS)
        super().__init__("Commands", list(rows))


def palette_rows(
    commands: Iterable[Command],
    keymap: Keymap,
    here: Sequence[Place],
    recent: Sequence[str],
    *,
    is_narrow: bool = False,
) -> Iterator[PickerRow[Command]]:
    """A row for each: first those used last, then by their places, those of where the user is before the others."""
    known = {command.id: command for command in commands}
    places = [place for place in here if place != "app"]
    order = [*places, *(place for place in PLACES if place not in places)]
    by_place = sorted((one for one in known.values()), key=lambda one: order.index(one.where))
    used = [known[id_] for id_ in recent if id_ in known]
    for command in (*used, *(one for one in by_place if one not in used)):
        keys = keymap.shown(command.id) if is_narrow else keymap.all_shown(command.id)
        group = RECENT if command in used else PLACES[command.where]
        yield PickerRow(command, command.title, command.help, group, aside=keys)
