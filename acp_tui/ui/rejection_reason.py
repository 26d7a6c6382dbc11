"""Words the prompt in which a user says why a tool call was rejected; when it is sent, others decide."""

from __future__ import annotations

from typing import Final

MAX_TITLE: Final = 120
"""A title may be a whole program; this much of it says which one is meant."""


def reason_prompt(title: str, reason: str) -> str:
    """The prompt that gives `reason` for having rejected the call of this title, labelled as that."""
    line = " ".join(title.split())
    short = line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1] + "…"
    return f'About the rejected "{short}": {reason}'
