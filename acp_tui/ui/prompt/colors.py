"""Colors Markdown, mentions, and commands in a draft, for visible lines only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

MAX_LINE: Final = 2_000
"""A longer line isn't colored."""
MAX_LINES: Final = 20_000
"""Lines of a draft below this aren't colored."""

Place: TypeAlias = Literal["first", "prose", "code", "fence", "shell"]
"""The kind of line: the draft's first, any other, inside a code block, a fence, or part of a shell command."""


class StyledSpan(NamedTuple):
    """A styled range of characters in a line."""

    start: int
    stop: int
    style: str


class LineKinds:
    """The kind of each line in a draft. Caches the requested ones above the last edit."""

    def __init__(self) -> None:
        self._open_fences = [""]
        """For each line, the fence it is inside; "" for none."""

    def edited(self, row: int) -> None:
        """Forget everything below this line."""
        del self._open_fences[row + 1 :]

    def place(self, lines: Sequence[str], row: int) -> Place | None:
        """The kind of this line; None if it's too far down to be colored."""
        if row >= MAX_LINES:
            return None
        if lines[0].startswith("!"):
            return "shell"
        for index in range(len(self._open_fences) - 1, row + 1):
            line = lines[index] if index < len(lines) else ""
            self._open_fences.append(_fence_after(line, self._open_fences[index]))
        before, after = self._open_fences[row : row + 2]
        if before != after:
            return "fence"
        return "code" if before else "prose" if row else "first"


@lru_cache(maxsize=256)
def spans(line: str, place: Place) -> tuple[StyledSpan, ...]:
    """The styled parts of a line. Later ones apply over earlier ones."""
    if not line or len(line) > MAX_LINE:
        return ()
    match place:
        case "fence":
            return (StyledSpan(0, len(line), "code_label"),)
        case "code":
            return (StyledSpan(0, len(line), "code"),)
        case "shell":
            return (StyledSpan(0, 1, "warning"),) if line.startswith("!") else ()
        case _:
            return (*_command(line, place), *_block(line), *_inline(line), *_mentions(line))


_FENCE: Final = re.compile(r"[ \t>]*(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_CLOSING_FENCE: Final = re.compile(r"[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*$")
_COMMAND: Final = re.compile(r"/[^\s/]+(?=\s|$)")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_QUOTE: Final = re.compile(r" {0,3}>")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_LIST: Final = re.compile(r"[\s>]*([-+*]|\d{1,9}[.)])(?:[ \t]+(?:(\[[ ]\])|(\[[xX]\]))?(?=\s|$)|[ \t]+|$)")
# The limits keep a line full of opening marks from taking more than a few milliseconds.
_INLINE: Final = re.compile(
    r"""
      (?P<escaped> \\[!-/:-@\[-`{-~] )
    | (?P<code> (?<!`)(?P<ticks>`+)(?!`) .{1,400}? (?<!`)(?P=ticks)(?!`) )
    | (?P<link> !?\[[^\]]{0,200}\]\([^)\s]{0,400}\) | \bhttps?://[^\s<>"'`)\]]+ )
    | (?P<strong> (?P<stars>\*\*|(?<!\w)__)(?=\S) .{1,400}? (?<=\S)(?P=stars) )
    | (?P<strikethrough> ~~(?=\S) .{1,400}? (?<=\S)~~ )
    | (?P<emphasis> \*(?=[^\s*]) [^*]{1,400}? (?<=\S)\*(?!\*) | (?<!\w)_(?=[^\s_]) .{1,400}? (?<=\S)_(?!\w) )
    """,
    re.VERBOSE,
)


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after this line, if `fence` is open before it."""
    if not fence:
        opened = _FENCE.match(line)
        return opened["fence"] if opened else ""
    closing = _CLOSING_FENCE.match(line)
    return "" if closing and closing["fence"].startswith(fence) else fence


def _command(line: str, place: Place) -> Iterator[StyledSpan]:
    if place == "first" and (found := _COMMAND.match(line)):
        yield StyledSpan(*found.span(), "syntax_keyword")


def _block(line: str) -> Iterator[StyledSpan]:
    if heading := _HEADING.match(line):
        level = len(heading[1])
        yield StyledSpan(0, len(line), f"heading_{level}" if level <= 2 else "heading")
    elif _RULE.match(line):
        yield StyledSpan(0, len(line), "rule")
    else:
        if _QUOTE.match(line):
            yield StyledSpan(0, len(line), "quote")
        if item := _LIST.match(line):
            styles = ("list_marker", "task_open", "task_done")
            yield from (StyledSpan(*item.span(group), style) for group, style in enumerate(styles, 1) if item[group])


def _inline(line: str, start: int = 0, stop: int | None = None) -> Iterator[StyledSpan]:
    """The marks within a sentence, and within emphasized text."""
    for found in _INLINE.finditer(line, start, len(line) if stop is None else stop):
        style = found.lastgroup
        if style not in ("escaped", None):
            yield StyledSpan(*found.span(), style or "")
        if style in ("strong", "emphasis", "strikethrough"):
            margin = 1 if style == "emphasis" else 2
            yield from _inline(line, found.start() + margin, found.end() - margin)


def _mentions(line: str) -> Iterator[StyledSpan]:
    if "@" not in line:
        return
    from acp_tui.client.attachments.attach import mentions  # not needed for the first frame

    for mention in mentions(line):
        yield StyledSpan(mention.start, mention.stop, "link")
