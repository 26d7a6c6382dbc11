"""The room's commands by key. `acp_tui.ui.commands.table` takes these rows in, if the room is there.

The names of their places are in `ui.commands.command`, with those of all places.
"""

from __future__ import annotations

from acp_tui.ui.commands.command import Command, own

# One row per command, as in the table of the client.
# fmt: off
INSPECTOR: tuple[Command, ...] = (
    own("inspector", "inspect_filter", "slash", "filter", "Show only some frames",
        'session/prompt -chunk is:error "several words"'),
    own("inspector", "inspect_unanswered", "o", "only('open')", "Only unanswered requests, or everything"),
    own("inspector", "inspect_errors", "e", "only('error')", "Only errors, or everything"),
    own("inspector", "inspect_lint", "l", "only('lint')", "Only broken rules, or everything",
        "the rules that `check` uses"),
    own("inspector", "inspect_all", "x", "show_all", "Show everything"),
    own("inspector", "inspect_partner", "p", "partner", "Go to the answer, or to the request"),
    own("inspector", "copy", "c", "copy", "Copy it", "the frame, as one line"),
    own("inspector", "inspect_other", "tab,shift+tab", "other", "To the list, or to the frame"),
    own("inspector", "inspect_leave", "escape,q", "leave", "Close"),
    own("query", "dialog_close", "escape,ctrl+c", "close", "Close the search", has_priority=True),
    own("frames", "inspect_open", "enter,right", "open", "Into the frame"),
)
# fmt: on
"""In the inspector itself."""
