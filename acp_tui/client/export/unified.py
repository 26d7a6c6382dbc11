"""Writes the change of a file as a unified diff; which lines differ is found as for the screen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from acp_tui.client.line_comparison import Change, LineComparison
from acp_tui.conversation.visible import make_visible, make_visible_line

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
    for group in _groups(old, new):
        first, last = group[0], group[-1]
        before = min(CONTEXT_LINES, first.old_from)
        after = min(CONTEXT_LINES, len(old) - last.old_to)
        old_range = _range(first.old_from - before, last.old_to + after)
        new_range = _range(first.new_from - before, last.new_to + after)
        yield f"@@ -{old_range} +{new_range} @@"
        at = first.old_from - before
        for change in group:
            yield from _signed(" ", old[at : change.old_from], ends_in_crlf)
            yield from _signed("-", old[change.old_from : change.old_to], ends_in_crlf)
            yield from _signed("+", new[change.new_from : change.new_to], ends_in_crlf)
            at = change.old_to
        yield from _signed(" ", old[at : at + after], ends_in_crlf)


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[list[Change]]:
    """The changes, those together whose unchanged lines around touch."""
    comparison = LineComparison(old, new)
    deque(comparison.steps(), maxlen=0)
    group: list[Change] = []
    for change in comparison.changes:
        if group and change.old_from - group[-1].old_to > 2 * CONTEXT_LINES:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _range(start: int, stop: int) -> str:
    """A hunk's lines as `diff` writes them: an empty range names the line before it."""
    return f"{start + 1 if stop > start else start},{stop - start}"


def _signed(sign: str, lines: Sequence[str], ends_in_crlf: bool) -> Iterator[str]:
    for line in lines:
        # A carriage return is only news where not every line has one.
        yield sign + make_visible(line.removesuffix("\r\n" if ends_in_crlf else "\n"))
        if not line.endswith("\n"):
            yield NO_NEWLINE
