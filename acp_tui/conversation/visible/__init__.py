"""Makes agent-supplied text safe and honest to show, on any kind of screen.

A terminal obeys control characters. Readers are misled by characters that are invisible, reorder a line, or look like
others. None of them are removed silently: each becomes a visible stand-in. `confusables` does more, for paths and
commands.
"""

from acp_tui.conversation.visible.text import (
    collapse_blanks,
    collapse_blanks_in_line,
    hidden_characters,
    make_visible,
    make_visible_line,
)

__all__ = ["collapse_blanks", "collapse_blanks_in_line", "hidden_characters", "make_visible", "make_visible_line"]
