"""What a user attaches to a prompt, as content blocks: files named by `@path` in its text, and pasted bytes.

It doesn't know what the agent accepts. `client.sessions` adapts the blocks to that (R-PROMPT-4).
"""

from acp_tui.client.attachments.attach import Attached, Mention, attach, mentions, without_mentions
from acp_tui.client.attachments.files import AttachmentLimits, from_bytes

__all__ = ["Attached", "AttachmentLimits", "Mention", "attach", "from_bytes", "mentions", "without_mentions"]
