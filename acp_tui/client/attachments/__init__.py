"""What a user attaches to a prompt: files named by `@path` in its text, and pasted bytes, as content blocks.

It does not know what the agent takes; `client.sessions` makes the blocks fit that (R-PROMPT-4).
"""

from acp_tui.client.attachments.attach import Attached, Mention, attach, mentions, without_mentions
from acp_tui.client.attachments.files import Limits, from_bytes

__all__ = ["Attached", "Limits", "Mention", "attach", "from_bytes", "mentions", "without_mentions"]
