"""The prompt, and what helps to write it."""

from acp_tui.ui.prompt.input import MAX_LINES, PromptFrame, PromptInput

__all__ = ["MAX_LINES", "PromptFrame", "PromptInput"]
