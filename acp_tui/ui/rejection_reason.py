"""Words the prompt in which a user says why a tool call was rejected; when it is sent, others decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_TITLE: Final = 120
"""A title may be a whole program; this much of it says which one is meant."""


def reason_prompt(titles: Sequence[str], reason: str) -> str:
    """The prompt that gives `reason` for having rejected the calls of these titles, labelled as that."""
    named = " and ".join(f'"{_short(title)}"' for title in titles)
    return f"About the rejected {named}: {reason}"


def _short(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1] + "…"
