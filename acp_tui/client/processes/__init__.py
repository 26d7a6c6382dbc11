"""The processes that we start, and how they end even if we are killed. Begin with `guard`."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final  # the guardian imports this module, too, without typing

HOST_TOKEN_VARIABLE: Final = "ACP_TUI_HOST_TOKEN"
"""Contains the token for a host that listens on TCP."""


def inherited() -> dict[str, str]:
    """The environment for agents and their commands, without the host token, which would let them answer themselves."""
    return {name: value for name, value in os.environ.items() if name != HOST_TOKEN_VARIABLE}
