"""What one looks for among past prompts: words in any order. Where the prompts come from is not its matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Query:
    """Each word has to stand in a prompt; a word in small letters stands for capitals too."""

    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What to look for."""
        return tuple(self.text.split())

    def matches(self, text: str) -> bool:
        """Whether all the words stand in it."""
        small = text.lower() if any(_is_small(word) for word in self.words) else ""
        return all(word in (small if _is_small(word) else text) for word in self.words)

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """Finds any of the words, to show where they stand; None where nothing is looked for."""
        longest_first = sorted(self.words, key=len, reverse=True)
        found = (f"(?i:{re.escape(word)})" if _is_small(word) else re.escape(word) for word in longest_first)
        return re.compile("|".join(found)) if self.words else None


def _is_small(word: str) -> bool:
    return word == word.lower()
