"""Finds the words in which two lines differ; says nothing where the lines have little in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, TypeAlias

MAX_WORDS: Final = 200
"""With more words between the same beginning and the same end, all that is between them counts as changed."""
MAX_CHARACTERS: Final = 2_000
"""The same for longer lines, which are not even taken apart."""
MAX_EQUAL_PAIRS: Final = 2_000
"""The same where so many pairs of equal words would have to be weighed: tables of commas and zeros."""
MIN_COMMON: Final = 0.4
"""The part of both lines that must be the same, or else marks would only be noise."""

_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")

Ranges: TypeAlias = tuple[tuple[int, int], ...]


@lru_cache(maxsize=256)  # either line asks
def changed_words(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The ranges of characters that only `old` and only `new` has; empty where the lines are too different."""
    if max(len(old), len(new)) > MAX_CHARACTERS:
        old_ranges, new_ranges = _changed_middle(old, new)
    else:
        old_ranges, new_ranges = _changed_runs(_WORD.findall(old), _WORD.findall(new))
    common = len(old.strip()) - _length(old_ranges) + len(new.strip()) - _length(new_ranges)
    if common < MIN_COMMON * (len(old.strip()) + len(new.strip())):
        return (), ()
    return old_ranges, new_ranges


def _changed_middle(old: str, new: str) -> tuple[Ranges, Ranges]:
    """What is between the same beginning and the same end."""
    start = _same_characters(old, new)
    tail = _same_characters(old[start:][::-1], new[start:][::-1])
    return _range(start, len(old) - tail), _range(start, len(new) - tail)


def _same_characters(old: str, new: str) -> int:
    """How many characters are the same at the beginning; by halves, since strings are compared quickly."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _range(start: int, stop: int) -> Ranges:
    return ((start, stop),) if stop > start else ()


def _changed_runs(old: list[str], new: list[str]) -> tuple[Ranges, Ranges]:
    changes = _changes(old, new)
    return (
        _ranges(old, [(old_from, old_to) for old_from, old_to, _, _ in changes]),
        _ranges(new, [(new_from, new_to) for _, _, new_from, new_to in changes]),
    )


def _changes(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """The runs of words that differ; the same beginning and end are taken off first, since often that is all."""
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < limit - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_stop, new_stop = len(old) - tail, len(new) - tail
    old_words, new_words = old[start:old_stop], new[start:new_stop]
    if not old_words or not new_words or _is_costly(old_words, new_words):
        return [(start, old_stop, start, new_stop)]
    # Spaces belong to the words around them: on their own they would match everywhere.
    matcher = SequenceMatcher(str.isspace, old_words, new_words, autojunk=False)
    return [
        (start + i1, start + i2, start + j1, start + j2)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _is_costly(old: list[str], new: list[str]) -> bool:
    if max(len(old), len(new)) > MAX_WORDS:
        return True
    counts = Counter(new)
    return sum([counts[word] for word in old if not word.isspace()]) > MAX_EQUAL_PAIRS


def _ranges(words: list[str], runs: Iterable[tuple[int, int]]) -> Ranges:
    """Runs of words as ranges of characters; empty ones are left out."""
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return tuple((offsets[start], offsets[stop]) for start, stop in runs if stop > start)


def _length(ranges: Ranges) -> int:
    return sum(stop - start for start, stop in ranges)
