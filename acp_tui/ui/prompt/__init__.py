"""Where the user writes, and what helps with it."""

from acp_tui.ui.prompt.frame import PromptFrame
from acp_tui.ui.prompt.images import PastedImage
from acp_tui.ui.prompt.input import MAX_LINES, PromptInput

__all__ = ["MAX_LINES", "PastedImage", "PromptFrame", "PromptInput"]
