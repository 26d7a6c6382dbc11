"""The room's commands by key. `acp_tui.ui.commands.table` takes these rows in, if the room is there.

The names of their places are in `ui.commands.command`, with those of all places.
"""

from __future__ import annotations

from acp_tui.ui.commands.command import Command, Place


def _row(
    where: Place, id_: str, keys: str, widget_action: str, title: str, about: str = "", *, follows: str = ""
) -> Command:
    return Command(id_, title, about, keys, widget_action=widget_action, where=where, follows=follows)


# One row per command, as in the table of the client.
# fmt: off
INSPECTOR: tuple[Command, ...] = (
    _row("inspector", "inspect_find", "slash,ctrl+f", "find", "Find text", "in the frames shown",
         follows="find"),
    _row("inspector", "inspect_next", "n", "step(1)", "Next match"),
    _row("inspector", "inspect_previous", "N", "step(-1)", "Previous match"),
    _row("inspector", "inspect_filter", "f", "filter", "Show only some frames",
         'method:prompt -kind:chunk is:error "words"'),
    _row("inspector", "inspect_choose", "F", "choose", "Choose what to show",
         "from its methods, kinds, and sessions"),
    _row("inspector", "inspect_alike", "equals_sign", "narrow(False)", "Show only frames like this one"),
    _row("inspector", "inspect_unlike", "minus", "narrow(True)", "Hide frames like this one"),
    _row("inspector", "inspect_unanswered", "o", "only('open')", "Only unanswered requests, or everything"),
    _row("inspector", "inspect_errors", "e", "only('error')", "Only errors, or everything"),
    _row("inspector", "inspect_lint", "l", "only('lint')", "Only broken rules, or everything",
         "the rules that `check` uses"),
    _row("inspector", "inspect_direction", "d", "direction", "One direction, or both",
         "the agent's, the client's, stderr"),
    _row("inspector", "inspect_all", "x", "show_all", "Show everything"),
    _row("inspector", "inspect_go_to", "g", "go_to", "Go to a time or a number", "120, 12.5s or 1:05"),
    _row("inspector", "inspect_partner", "p", "partner", "Go to the answer, or to the request"),
    _row("inspector", "inspect_copy", "c", "copy", "Copy the frame", "as one line"),
    _row("inspector", "inspect_copy_pretty", "C", "copy_pretty", "Copy the frame, indented"),
    _row("inspector", "inspect_save", "w", "save", "Write the frame to a file"),
    _row("inspector", "inspect_save_all", "W", "save_all", "Write all frames shown to a file",
         "a recording"),
    _row("inspector", "inspect_raw", "R", "raw", "Show and keep secrets, or mask them", "in copies and files too"),
    _row("inspector", "inspect_other", "tab,shift+tab", "other", "To the list, or to the frame"),
    _row("inspector", "inspect_leave", "escape,q", "leave", "Close"),
    _row("inspector", "inspect_help", "f1,question_mark", "help", "Help", follows="help"),
    _row("frames", "inspect_up", "up,k", "move(-1)", "Frame above"),
    _row("frames", "inspect_down", "down,j", "move(1)", "Frame below"),
    _row("frames", "inspect_page_up", "pageup", "page(-1)", "Page up"),
    _row("frames", "inspect_page_down", "pagedown,space", "page(1)", "Page down"),
    _row("frames", "inspect_top", "home", "to_top", "To the beginning"),
    _row("frames", "inspect_end", "end", "to_end", "To the end", "and follow it"),
    _row("frames", "inspect_open", "enter,right", "open", "Into the frame"),
    _row("frame", "inspect_line_up", "up,k", "move(-1)", "Line up"),
    _row("frame", "inspect_line_down", "down,j", "move(1)", "Line down"),
    _row("frame", "inspect_lines_up", "pageup", "page(-1)", "Page up"),
    _row("frame", "inspect_lines_down", "pagedown", "page(1)", "Page down"),
    _row("frame", "inspect_first_line", "home", "move(-1000000)", "To the beginning"),
    _row("frame", "inspect_last_line", "end", "move(1000000)", "To the end"),
    _row("frame", "inspect_fold", "left", "fold", "Fold, or go to its parent"),
    _row("frame", "inspect_unfold", "right", "unfold", "Unfold"),
    _row("frame", "inspect_turn", "enter,space", "turn", "Fold or unfold"),
    _row("frame", "inspect_fold_all", "z", "turn_all", "Fold or unfold everything"),
)
# fmt: on
"""In the inspector itself."""
