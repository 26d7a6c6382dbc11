"""Shortens long runs of blanks, which push what follows out of view; a mark says how long each was."""

from __future__ import annotations

import re
from typing import Final

MOST_BLANK_LINES: Final = 3
MOST_SPACES: Final = 32
"""In one line; code is seldom indented further."""

LF: Final = "\n"
# Spaces, tabs, and what stands for blanks in visible text.
_BLANK: Final = "[^\\S\n]|[\u2420\u237d\u2409\u2800\u3164]"
_LINES: Final = re.compile(rf"^(?:(?:{_BLANK})*\n){{{MOST_BLANK_LINES + 1},}}", re.MULTILINE)
_SPACES: Final = re.compile(rf"(?:{_BLANK}){{{MOST_SPACES + 1},}}")
_LINE_FEEDS: Final = re.compile(rf"(?:{_BLANK}|\u240a){{{MOST_SPACES + 1},}}")


def collapse_blanks(text: str) -> str:
    """`text`, already made visible, with a mark in the place of each run of many blank lines or spaces."""
    text = _LINES.sub(lambda found: f"⋯ {found[0].count(LF):,} blank lines\n", text)
    return _SPACES.sub(lambda found: f" ⋯ {len(found[0]):,} spaces ⋯ ", text)


def collapse_blanks_in_line(text: str) -> str:
    """The same for a text in one line, where line ends have stand-ins."""
    return _LINE_FEEDS.sub(lambda found: f" ⋯ {len(found[0]):,} blanks ⋯ ", text)
