"""What the user has written: sent prompts and unsent drafts, kept over restarts. Draws nothing."""

from acp_tui.client.prompts.history import PastPrompt, PromptHistory, Query
from acp_tui.client.prompts.memory import DraftKey, PromptMemory

__all__ = ["DraftKey", "PastPrompt", "PromptHistory", "PromptMemory", "Query"]
