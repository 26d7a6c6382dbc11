"""Finds the words in which two lines differ; says nothing where the lines have little in common."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final, TypeAlias

MAX_WORDS: Final = 200
"""Longer lines are not compared."""
MIN_COMMON: Final = 0.4
"""The part of both lines that must be the same, or else marks would only be noise."""

_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")

Ranges: TypeAlias = tuple[tuple[int, int], ...]


def changed_words(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The ranges of characters that only `old` and only `new` has; empty where the lines are too different."""
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    if not old_words or not new_words or max(len(old_words), len(new_words)) > MAX_WORDS:
        return (), ()
    changes = _changes(old_words, new_words)
    old_ranges = _ranges(old_words, [(i1, i2) for i1, i2, _, _ in changes])
    new_ranges = _ranges(new_words, [(j1, j2) for _, _, j1, j2 in changes])
    common = len(old.strip()) - _length(old_ranges) + len(new.strip()) - _length(new_ranges)
    if common < MIN_COMMON * (len(old.strip()) + len(new.strip())):
        return (), ()
    return old_ranges, new_ranges


def _changes(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """The runs of words that differ; the same beginning and end are taken off first, since often that is all."""
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < limit - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_stop, new_stop = len(old) - tail, len(new) - tail
    if start in (old_stop, new_stop):
        return [(start, old_stop, start, new_stop)]
    matcher = SequenceMatcher(None, old[start:old_stop], new[start:new_stop], autojunk=False)
    return [
        (start + i1, start + i2, start + j1, start + j2)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _ranges(words: list[str], runs: Iterable[tuple[int, int]]) -> Ranges:
    """Runs of words as ranges of characters; neighbours and empty ones are joined away."""
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return tuple((offsets[start], offsets[stop]) for start, stop in runs if stop > start)


def _length(ranges: Ranges) -> int:
    return sum(stop - start for start, stop in ranges)
