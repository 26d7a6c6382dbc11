"""What can be done in a replay by key: bindings, palette and help are made from this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.binding import Binding

from acp_tui.ui.commands import COMMANDS
from acp_tui.ui.keymap import AS_BUILT, BY_ID, Keymap


@dataclass(frozen=True, slots=True)
class ReplayKey:
    """One thing that can be done."""

    keys: str
    """As Textual spells them, separated by commas."""
    shown: str
    action: str
    title: str
    about: str = ""


REPLAY_KEYS: Final = (
    ReplayKey("space", "Space", "toggle_playing", "Play or pause"),
    ReplayKey("right,full_stop", "→ .", "step(1)", "To the next event", "that changes something"),
    ReplayKey("left,comma", "← ,", "step(-1)", "To the event before", "that changed something"),
    ReplayKey("n", "n", "to_prompt(1)", "To the next prompt", "of the user"),
    ReplayKey("p", "p", "to_prompt(-1)", "To the prompt before"),
    ReplayKey("plus,equals_sign", "+", "change_speed(1)", "Faster"),
    ReplayKey("minus", "-", "change_speed(-1)", "Slower"),
    ReplayKey("home", "Home", "to_start", "To the beginning"),
    ReplayKey("end", "End", "to_end", "To the end"),
    ReplayKey("tab", "Tab", "next_session(1)", "The next session", "of the recording"),
    ReplayKey("shift+tab", "Shift+Tab", "next_session(-1)", "The session before"),
    ReplayKey(
        "slash,f9,ctrl+shift+f", "/ F9", "find", "Find in the conversation", "as far as it is replayed"
    ),
    ReplayKey("pageup", "PgUp", "page(-1)", "Page up"),
    ReplayKey("pagedown", "PgDn", "page(1)", "Page down"),
    ReplayKey("ctrl+end", "Ctrl+End", "follow", "To the end of the conversation", "and follow it"),
    ReplayKey("ctrl+o", "Ctrl+O", "toggle_all", "Unfold or fold everything", "one entry: Enter, or a click"),
    ReplayKey("ctrl+t", "Ctrl+T", "toggle_plan", "Unfold or fold the plan"),
    ReplayKey("ctrl+c", "Ctrl+C", "copy", "Copy the selection"),
    ReplayKey("i", "i", "tell_about", "About the recording", "what it is of, and what is wrong in it"),
    ReplayKey("f1,question_mark", "F1 ?", "help", "Help"),
    ReplayKey("q,escape", "q Esc", "app.quit", "Quit"),
)

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

_ALIVE: Final = {"help", "follow", "toggle_plan", "toggle_all", "find"}
KEYMAP: Final = Keymap(
    {
        command.id: AS_BUILT.keys[command.id]
        if command.id in _ALIVE or BY_ID[command.id].where in ("app", "find")
        else ()
        for command in COMMANDS
    }
)
"""Where a widget names a key of the session that does nothing here, it leaves the name out."""


def bindings() -> list[Binding]:
    """Those of the replay's screen."""
    return [
        *(Binding(key.keys, key.action, key.title, show=False) for key in REPLAY_KEYS),
        *(
            Binding(key, f"refuse({what!r})", "Not in a replay", show=False)
            for key, what in NEEDS_A_SESSION.items()
        ),
    ]
