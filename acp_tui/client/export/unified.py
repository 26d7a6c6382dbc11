"""Writes the change of a file as a unified diff, with an effort that is bounded whatever the texts are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Final

from acp_tui.conversation.visible import make_visible, make_visible_line

MAX_WORK: Final = 5_000_000
"""Pairs of lines to look at, about a second; what is left then counts as replaced."""
CONTEXT_LINES: Final = 3
NO_NEWLINE: Final = "\\ No newline at end of file"


def unified_diff(path: str, old_text: str | None, new_text: str) -> str:
    """The change as `diff -u` writes it, in lines of visible text; `old_text` None: the file is new."""
    name = make_visible_line(path)
    header = [f"--- {'/dev/null' if old_text is None else name}", f"+++ {name}"]
    old, new = _split(old_text or ""), _split(new_text)
    return "\n".join([*header, *_hunks(old, new)])


def told_diff(path: str, old_text: str | None, new_text: str) -> str:
    """The same for somebody who reads it: where nothing changes, that is said."""
    if old_text == new_text:
        return f"{make_visible_line(path)}: no change"
    return unified_diff(path, old_text, new_text)


def _split(text: str) -> list[str]:
    """The lines with their ends; only a newline ends a line, other separators are shown within it."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    ends_in_crlf = all(line.endswith("\r\n") for line in (*old, *new))
    for group in _BoundedMatcher(old, new).get_grouped_opcodes(CONTEXT_LINES):
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        yield f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@"
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from _signed(" ", old[a:b], ends_in_crlf)
            else:
                yield from _signed("-", old[a:b], ends_in_crlf)
                yield from _signed("+", new[c:d], ends_in_crlf)


def _range(start: int, stop: int) -> str:
    """A hunk's lines as `diff` writes them: an empty range names the line before it."""
    return f"{start + 1 if stop > start else start},{stop - start}"


def _signed(sign: str, lines: Sequence[str], ends_in_crlf: bool) -> Iterator[str]:
    for line in lines:
        # A carriage return is only news where not every line has one.
        yield sign + make_visible(line.removesuffix("\r\n" if ends_in_crlf else "\n"))
        if not line.endswith("\n"):
            yield NO_NEWLINE


class _BoundedMatcher(SequenceMatcher[str]):
    """Stops looking for what two texts have in common when that has cost too much."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._work = 0
        counts = Counter(new)
        self._cost = list(accumulate((1 + counts[line] for line in old), initial=0))
        """Of looking at each line of the old text and all before it."""

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        end = len(self._cost) - 1 if ahi is None else ahi
        self._work += self._cost[end] - self._cost[alo]
        if self._work > MAX_WORK:
            return Match(alo, blo, 0)
        return super().find_longest_match(alo, ahi, blo, bhi)
