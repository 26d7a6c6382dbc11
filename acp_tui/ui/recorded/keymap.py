"""Which keys are in force in a replay, and what the others of a session would have been for."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding

from acp_tui.ui.commands.keymap import BY_ID, Keymap
from acp_tui.ui.commands.replay_table import REPLAY_COMMANDS

NEEDS_A_SESSION: Final = {
    "f2": "the settings of a session",
    "f3": "the agent's sessions",
    "f4": "the agent",
    "f5": "changed files",
    "f6": "a running command",
    "f7": "a running command",
    "f8": "a running command",
}
"""Keys of a session, and what there is none of in a replay."""

_ALIVE: Final = frozenset(command.like for command in REPLAY_COMMANDS) - {"interrupt"}
_PLACES: Final = ("app", "find", "replay")


def replay_keymap(chosen: Keymap) -> Keymap:
    """The keys of the user without those that do nothing here: where a widget names one, it leaves the name out."""
    return Keymap(
        {
            id_: keys if id_ in _ALIVE or BY_ID[id_].where in _PLACES else ()
            for id_, keys in chosen.keys.items()
        }
    )


def bindings() -> list[Binding]:
    """Those of the replay's screen."""
    return [
        *(Binding(each.keys, each.action, each.title, show=False) for each in REPLAY_COMMANDS),
        *(
            Binding(key, f"refuse({what!r})", "Not in a replay", show=False)
            for key, what in NEEDS_A_SESSION.items()
        ),
    ]
