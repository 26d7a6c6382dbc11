"""What the user has written: prompts that were sent, and drafts that were not; kept over restarts, drawn elsewhere."""

from acp_tui.client.prompts.history import PastPrompt, PromptHistory, Query
from acp_tui.client.prompts.memory import Place, PromptMemory

__all__ = ["PastPrompt", "Place", "PromptHistory", "PromptMemory", "Query"]
