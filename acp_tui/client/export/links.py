"""Says which addresses a page may link to."""

from __future__ import annotations

import re
from typing import Final

WEB_OR_MAIL: Final = r"(?i:https?://|mailto:)"
"""A regular expression for how an address begins that a page may link to; all others are shown as text."""
_LINKABLE: Final = re.compile(rf"{WEB_OR_MAIL}[^\s<>\\]+", re.ASCII)


def is_linkable(uri: str) -> bool:
    """Whether it leads to a page or a person: nothing of the reader's machine, and nothing that runs."""
    return _LINKABLE.fullmatch(uri) is not None
