"""The kinds of tool calls that ACP v1 knows, in a module of their own: settings need them before the first frame."""

from __future__ import annotations

from typing import Final

# An open enum: an agent may send others, which are kept as they came.
KINDS: Final = (
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
)
QUIET_KINDS: Final = ("read", "search", "fetch", "think")
"""Their content is for the agent: it is folded away where nothing else is wished for."""
