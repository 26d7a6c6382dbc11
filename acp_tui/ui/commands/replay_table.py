"""What a user can do in a replay by key; a part of the command table (`ui.commands`).

What a replay is, and what the keys of a session do in it, is its screen's matter.
"""

from __future__ import annotations

from typing import Final

from acp_tui.ui.commands.command import Command


def _command(id_: str, keys: str, action: str, title: str, about: str = "", like: str = "") -> Command:
    return Command(f"replay_{id_}", title, about, keys, action, where="replay", like=like)


REPLAY_COMMANDS: Final = (
    _command("play", "space", "toggle_playing", "Play or pause"),
    _command("next", "right,full_stop", "step(1)", "To the next event", "that changes something"),
    _command("previous", "left,comma", "step(-1)", "To the event before", "that changed something"),
    _command("prompt_below", "n", "to_prompt(1)", "To the next prompt", "of the user"),
    _command("prompt_above", "p", "to_prompt(-1)", "To the prompt before"),
    _command("faster", "plus,equals_sign", "change_speed(1)", "Faster"),
    _command("slower", "minus", "change_speed(-1)", "Slower"),
    _command("start", "home", "to_start", "To the beginning"),
    _command("end", "end", "to_end", "To the end"),
    _command("next_session", "tab", "next_session(1)", "The next session", "of the recording"),
    _command("previous_session", "shift+tab", "next_session(-1)", "The session before"),
    _command(
        "find",
        "slash,f9,ctrl+shift+f",
        "find",
        "Find in the conversation",
        "as far as it is replayed",
        like="find",
    ),
    _command("page_up", "pageup", "page(-1)", "Page up"),
    _command("page_down", "pagedown", "page(1)", "Page down"),
    _command(
        "follow",
        "ctrl+end",
        "follow",
        "To the end of the conversation",
        "and follow it",
        like="follow",
    ),
    _command(
        "toggle_all",
        "ctrl+o",
        "toggle_all",
        "Unfold or fold everything",
        "one entry: Enter, or a click",
        like="toggle_all",
    ),
    _command("toggle_plan", "ctrl+t", "toggle_plan", "Unfold or fold the plan", like="toggle_plan"),
    _command("copy", "ctrl+c", "copy", "Copy the selection", like="interrupt"),
    _command("about", "i", "tell_about", "About the recording", "what it is of, and what is wrong in it"),
    _command("help", "f1,question_mark", "help", "Help", like="help"),
    _command("leave", "q,escape", "app.quit", "Quit"),
)
