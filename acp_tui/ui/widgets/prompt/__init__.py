"""Where the user writes, and what helps with it."""

from acp_tui.ui.widgets.prompt.frame import PromptFrame
from acp_tui.ui.widgets.prompt.images import PastedImage
from acp_tui.ui.widgets.prompt.input import MAX_LINES, PromptInput

__all__ = ["MAX_LINES", "PastedImage", "PromptFrame", "PromptInput"]
