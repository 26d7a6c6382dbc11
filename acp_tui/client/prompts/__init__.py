"""What the user has written: prompts that were sent, and drafts that were not; kept over restarts, drawn elsewhere."""

from acp_tui.client.prompts.draft_file import Place
from acp_tui.client.prompts.history import PromptHistory
from acp_tui.client.prompts.memory import PromptMemory
from acp_tui.client.prompts.past_prompt import PastPrompt
from acp_tui.client.prompts.query import Query

__all__ = ["PastPrompt", "Place", "PromptHistory", "PromptMemory", "Query"]
