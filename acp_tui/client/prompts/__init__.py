"""What the user has written: prompts that were sent, and drafts that were not; kept over restarts, drawn elsewhere."""

from acp_tui.client.prompts.drafts import Place
from acp_tui.client.prompts.history import PastPrompt, PromptHistory, Query
from acp_tui.client.prompts.memory import PromptMemory

__all__ = ["PastPrompt", "Place", "PromptHistory", "PromptMemory", "Query"]
