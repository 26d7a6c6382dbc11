"""Says which addresses a page may link to."""

from __future__ import annotations

import re
from typing import Final

_LINKABLE: Final = re.compile(r"(?:https?://|mailto:|file:)[^\s<>\\]+", re.IGNORECASE | re.ASCII)


def is_linkable(uri: str) -> bool:
    """Whether it leads to a page, a person or a file, and is nothing that a program would run."""
    return _LINKABLE.fullmatch(uri) is not None
