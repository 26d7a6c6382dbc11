"""What a user can do in the inspector by key; a part of the command table (`ui.commands`).

The keys are also the bindings of its screen and its widgets.
"""

from __future__ import annotations

from typing import Final

from acp_tui.ui.commands.command import Command, Place


def _command(where: Place, id_: str, keys: str, title: str, about: str = "", like: str = "") -> Command:
    return Command(f"inspect_{id_}", title, about, keys, where=where, like=like)


INSPECTOR_COMMANDS: Final = (
    _command(
        "inspector", "find", "slash,ctrl+f", "Look for a text", "among the frames that are shown", "find"
    ),
    _command("inspector", "next", "n", "Next match"),
    _command("inspector", "previous", "N", "Previous match"),
    _command(
        "inspector", "filter", "f", "Show only some frames", 'method:prompt -kind:chunk is:error "words"'
    ),
    _command(
        "inspector", "choose", "F", "Choose what to show", "from the methods, kinds and sessions there are"
    ),
    _command("inspector", "alike", "equals_sign", "Show only frames like this one"),
    _command("inspector", "unlike", "minus", "Hide frames like this one"),
    _command("inspector", "unanswered", "o", "Requests without an answer only, or everything"),
    _command("inspector", "errors", "e", "Errors only, or everything"),
    _command(
        "inspector", "lint", "l", "Broken rules only, or everything", "of the protocol, as `check` has them"
    ),
    _command("inspector", "direction", "d", "One direction, or both", "the agent's, the client's, stderr"),
    _command("inspector", "all", "x", "Show everything"),
    _command("inspector", "go_to", "g", "Go to a time or a number", "120, 12.5s or 1:05"),
    _command("inspector", "partner", "p", "Go to the answer, or to the request"),
    _command("inspector", "copy", "c", "Copy the frame", "as one line"),
    _command("inspector", "copy_pretty", "C", "Copy the frame, indented"),
    _command("inspector", "save", "w", "Write the frame to a file"),
    _command("inspector", "save_all", "W", "Write all frames that are shown to a file", "a recording"),
    _command("inspector", "raw", "R", "Show and keep secrets, or mask them", "in copies and files too"),
    _command("inspector", "other", "tab,shift+tab", "To the list, or to the frame"),
    _command("inspector", "leave", "escape,q", "Close"),
    _command("inspector", "help", "f1,question_mark", "Help", like="help"),
    _command("frames", "up", "up,k", "Frame above"),
    _command("frames", "down", "down,j", "Frame below"),
    _command("frames", "page_up", "pageup", "Page up"),
    _command("frames", "page_down", "pagedown,space", "Page down"),
    _command("frames", "top", "home", "To the beginning"),
    _command("frames", "end", "end", "To the end", "and follow it"),
    _command("frames", "open", "enter,right", "Into the frame"),
    _command("frame", "line_up", "up,k", "Line up"),
    _command("frame", "line_down", "down,j", "Line down"),
    _command("frame", "lines_up", "pageup", "Page up"),
    _command("frame", "lines_down", "pagedown", "Page down"),
    _command("frame", "first_line", "home", "To the beginning"),
    _command("frame", "last_line", "end", "To the end"),
    _command("frame", "fold", "left", "Fold, or to what it is in"),
    _command("frame", "unfold", "right", "Unfold"),
    _command("frame", "turn", "enter,space", "Fold or unfold"),
    _command("frame", "fold_all", "z", "Fold or unfold everything"),
)
