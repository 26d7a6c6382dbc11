"""The room's commands by key. `acp_tui.ui.commands.table` takes these rows in, if the room is there.

The names of their places are in `ui.commands.command`, with those of all places.
"""

from __future__ import annotations

from acp_tui.ui.commands.command import Command, own

# One row per command, as in the table of the client.
# fmt: off
INSPECTOR: tuple[Command, ...] = (
    own("inspector", "inspect_find", "slash,ctrl+f", "find", "Find text", "in the frames shown",
        follows="find"),
    own("inspector", "inspect_next", "n", "step(1)", "Next match"),
    own("inspector", "inspect_previous", "N", "step(-1)", "Previous match"),
    own("inspector", "inspect_filter", "f", "filter", "Show only some frames",
        'method:prompt -kind:chunk is:error "words"'),
    own("inspector", "inspect_choose", "F", "choose", "Choose what to show",
        "from its methods, kinds, and sessions"),
    own("inspector", "inspect_alike", "equals_sign", "narrow(False)", "Show only frames like this one"),
    own("inspector", "inspect_unlike", "minus", "narrow(True)", "Hide frames like this one"),
    own("inspector", "inspect_unanswered", "o", "only('open')", "Only unanswered requests, or everything"),
    own("inspector", "inspect_errors", "e", "only('error')", "Only errors, or everything"),
    own("inspector", "inspect_lint", "l", "only('lint')", "Only broken rules, or everything",
        "the rules that `check` uses"),
    own("inspector", "inspect_direction", "d", "direction", "One direction, or both",
        "the agent's, the client's, stderr"),
    own("inspector", "inspect_all", "x", "show_all", "Show everything"),
    own("inspector", "inspect_go_to", "g", "go_to", "Go to a time or a number", "120, 12.5s or 1:05"),
    own("inspector", "inspect_partner", "p", "partner", "Go to the answer, or to the request"),
    own("inspector", "inspect_copy", "c", "copy", "Copy the frame", "as one line"),
    own("inspector", "inspect_copy_pretty", "C", "copy_pretty", "Copy the frame, indented"),
    own("inspector", "inspect_save_all", "W", "save_all", "Write all frames shown to a file",
        "a recording"),
    own("inspector", "inspect_raw", "R", "raw", "Show and keep secrets, or mask them", "in copies and files too"),
    own("inspector", "inspect_other", "tab,shift+tab", "other", "To the list, or to the frame"),
    own("inspector", "inspect_leave", "escape,q", "leave", "Close"),
    own("inspector", "inspect_help", "f1,question_mark", "help", "Help", follows="help"),
    own("query", "inspect_query_close", "escape", "close", "Close the search", has_priority=True),
    own("frames", "inspect_open", "enter,right", "open", "Into the frame"),
    own("frame", "inspect_fold", "left", "fold", "Fold, or go to its parent"),
    own("frame", "inspect_unfold", "right", "unfold", "Unfold"),
    own("frame", "inspect_turn", "enter,space", "turn", "Fold or unfold"),
    own("frame", "inspect_fold_all", "z", "turn_all", "Fold or unfold everything"),
)
# fmt: on
"""In the inspector itself."""
