"""A word to the user on stderr; made visible, since much of it comes from files, agents and registries."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.client.errors import ClientError


def say(text: str) -> None:
    """Say it; it may have several lines."""
    from acp_tui.conversation.visible import make_visible  # most runs have nothing to say

    sys.stderr.write(f"acp-tui: {make_visible(text)}\n")


def say_error(error: ClientError) -> None:
    """What went wrong, and what to do."""
    say("\n  ".join(filter(None, (str(error), error.hint))))
