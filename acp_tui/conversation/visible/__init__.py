"""Makes agent-supplied text safe and honest to show; knows nothing of where it is shown.

A terminal obeys control characters, and a reader is misled by characters that are invisible, that reorder a line or
that look like others. None is removed in silence: each is replaced by a stand-in that can be seen.
"""

from acp_tui.conversation.visible.confusables import (
    Confusable,
    confusables,
    make_visible_command,
    make_visible_path,
)
from acp_tui.conversation.visible.text import (
    HIDDEN,
    collapse_blanks,
    collapse_blanks_in_line,
    make_visible,
    make_visible_line,
)

__all__ = [
    "HIDDEN",
    "Confusable",
    "collapse_blanks",
    "collapse_blanks_in_line",
    "confusables",
    "make_visible",
    "make_visible_command",
    "make_visible_line",
    "make_visible_path",
]
