"""Finds how much of an open block is finished, and the Markdown that lets a parser continue after it. Draws nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from textual.strip import Strip

from acp_tui.ui.rendering.highlight import CodePanel
from acp_tui.ui.rendering.tables import TableLayout, sample_rows
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from markdown_it.token import Token

MAX_DEPTH: Final = 20
"""Deeper levels are parsed with the block around them."""

# A rule fills each reopened quote and item, so that it isn't empty. No list uses this mark.
_STAND_IN: Final = "___\n"
_QUOTE: Final = re.compile(r" {0,3}> ?")
_ITEM: Final = re.compile(r"( {0,3}(?:[-+*]|\d{1,9}[.)]))( {1,4}(?! )|)")
_CONTAINERS: Final = frozenset(("blockquote_open", "bullet_list_open", "ordered_list_open", "list_item_open"))

Leaf: TypeAlias = CodePanel | TableLayout
"""A block that is drawn row by row and can continue."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is open where a text begins. The first block of the text continues it."""

    gap: bool = True
    """Whether an empty line goes before the first block."""
    number: int | None = None
    """The number of the first block, if it's an item of an ordered list."""
    numbers: Mapping[int, int] = field(default_factory=dict)
    """The numbers for nested ordered lists, by the level of their tokens."""
    opening: str = ""
    """Complete lines that reopen the containers. They are parsed before the text and not drawn."""
    prefix: str = ""
    """The prefix of every line inside the containers."""
    leaf: Leaf | None = None
    last_row: Strip | None = None
    """The undrawn last row of a paragraph that the first block continues. A space follows it."""

    @property
    def line_count(self) -> int:
        return self.opening.count("\n")

    def covers(self, token: Token) -> bool:
        """Whether the block that `token` opens began before the text."""
        return bool(token.map) and cast("list[int]", token.map)[0] < self.line_count

    def start_of(self, token: Token) -> int:
        """The number of an ordered list's first item."""
        start = int(token.attrs.get("start", 1))
        return self.numbers.get(token.level, start) if self.covers(token) else start


@dataclass(frozen=True, slots=True)
class BlockCut:
    """Where to cut an open block: everything before is finished."""

    token_count: int
    line: int
    context: Context
    keeps_leaf: bool = False
    """Whether the cut is within a leaf that is drawn row by row."""


@dataclass(frozen=True, slots=True)
class _Level:
    """A container on the path to the open leaf, with the positions of its children."""

    token: Token
    children: Sequence[int]

    @property
    def is_list(self) -> bool:
        return self.token.type in ("bullet_list_open", "ordered_list_open")


@dataclass(frozen=True, slots=True)
class _Opener:
    """The opening mark of a quote or item, without its content."""

    line: int
    text: str
    is_quote: bool

    @property
    def prefix(self) -> str:
        return "> " if self.is_quote else " " * len(self.text)

    def strip(self, line: str, number: int) -> str | None:
        """Return the part of a line inside this container; None if the line isn't inside."""
        if self.is_quote:
            return line[mark.end() :] if (mark := _QUOTE.match(line)) else None
        indent, rest = line[: len(self.text)], line[len(self.text) :]
        return rest if number == self.line or not indent.strip() else None


class OpenBlock:
    """The last block of a parsed text, from the outermost container down to the leaf being written."""

    def __init__(self, tokens: Sequence[Token], lines: Sequence[str], context: Context) -> None:
        self._lines = lines
        self._context = context
        self._levels: list[_Level] = []
        self._start, self._stop = 0, len(tokens)
        while tokens[self._start].type in _CONTAINERS:
            children = self._children(tokens)
            self._levels.append(_Level(tokens[self._start], children))
            if not children:
                break
            self._start, self._stop = children[-1], self._stop - 1
        self._tokens = tokens
        self._leaf = tokens[self._start]

    def _children(self, tokens: Sequence[Token]) -> list[int]:
        level = tokens[self._start].level + 1
        return [
            at
            for at in range(self._start + 1, self._stop - 1)
            if (token := tokens[at]).level == level
            and token.nesting >= 0
            and not (token.type == "hr" and self._context.covers(token))
        ]

    # Where to cut

    def finished_part(self) -> BlockCut | None:
        """Return the cut before everything that may still change; None if nothing new is finished."""
        if len(self._levels) > MAX_DEPTH:
            return None
        cut = self._behind_leaf_rows() or self._before_last_child()
        return cut if cut and cut.line > self._context.line_count else None

    def whole(self) -> BlockCut:
        """Return a cut at the end of the block, as if more of the same followed, unless an empty line has ended it."""
        stop = len(self._lines) - 1
        if not self._levels and self._leaf.type == "paragraph_open" and cast("list[int]", self._leaf.map)[1] < stop:
            return BlockCut(len(self._tokens), stop, Context())
        given_up = BlockCut(len(self._tokens), stop, Context(gap=False))
        return given_up if len(self._levels) > MAX_DEPTH else self._behind_leaf(stop) or given_up

    def _behind_leaf_rows(self) -> BlockCut | None:
        """Cut after the rows of a code block or long table that can't change anymore."""
        start, stop = cast("list[int]", self._leaf.map or [0, 0])
        if self._leaf.type == "fence" and self._leaf.content:
            return self._behind_leaf(start + 1 + self._leaf.content.count("\n"))
        return self._behind_leaf(stop) if self._is_long_table() else None

    def _is_long_table(self) -> bool:
        if self._leaf.type != "table_open" or self._context.covers(self._leaf):
            return self._leaf.type == "table_open"
        start, stop = cast("list[int]", self._leaf.map)
        columns = sum(1 for token in self._tokens[self._start : self._stop] if token.type == "th_open")
        return stop - start - 2 >= sample_rows(columns)

    def _behind_leaf(self, line: int) -> BlockCut | None:
        if (openers := self._openers(self._levels)) is None:
            return None
        context = self._reopened(openers, self._levels)
        if (inner := self._leaf_opening(openers)) is None:
            return None
        opening = "".join(f"{context.prefix}{text}\n" for text in inner)
        return BlockCut(self._stop, line, replace(context, opening=context.opening + opening), bool(inner))

    def _leaf_opening(self, openers: Sequence[_Opener]) -> list[str] | None:
        """The lines that begin a code block or long table, as they appear inside the containers."""
        start = cast("list[int]", self._leaf.map or [0])[0]
        count = 1 if self._leaf.type == "fence" else 2 if self._is_long_table() else 0
        lines = [_inside(self._lines[at], at, openers) for at in range(start, start + count)]
        inner = [line for line in lines if line is not None]
        if len(inner) < count:
            return None
        if self._leaf.type == "fence":
            # Without its language, which could look like the header of a table.
            return [inner[0].partition(self._leaf.markup)[0] + self._leaf.markup]
        return inner

    def _before_last_child(self) -> BlockCut | None:
        """Cut between the last two children of the innermost container that has two."""
        levels = self._levels
        while levels and len(levels[-1].children) < 2:
            levels = levels[:-1]
        if not levels:
            return None
        at = levels[-1].children[-1]
        before, last = self._tokens[levels[-1].children[-2]], self._tokens[at]
        if levels[-1].is_list:
            # The previous item stays open, so that the last one isn't parsed as the first of its list.
            levels = [*levels[:-1], replace(levels[-1], children=levels[-1].children[:-1]), _Level(before, ())]
        if (openers := self._openers(levels)) is None:
            return None
        # A link definition between the two may span more lines, so it stays with the block that follows.
        line = min(cast("list[int]", last.map)[0], cast("list[int]", before.map)[1])
        while line > self._context.line_count and is_blank(self._lines[line - 1]):
            line -= 1
        return BlockCut(at, line, self._reopened(openers, levels))

    # How to let the parser continue there

    def _openers(self, levels: Sequence[_Level]) -> list[_Opener] | None:
        """The openers of these containers; None if one is written in an unsupported way."""
        openers: list[_Opener] = []
        for level in levels:
            if level.is_list:
                continue
            number = cast("list[int]", level.token.map)[0]
            text = _inside(self._lines[number], number, openers)
            is_quote = level.token.type == "blockquote_open"
            if text is None or "\t" in self._lines[number] or not (opener := _opener(text, is_quote)):
                return None
            openers.append(_Opener(number, opener, is_quote))
        return openers

    def _reopened(self, openers: Sequence[_Opener], levels: Sequence[_Level]) -> Context:
        opening = prefix = ""
        for opener in openers:
            opening += prefix + opener.text + _STAND_IN
            prefix += opener.prefix
        numbers = {
            level.token.level: self._context.start_of(level.token) + len(level.children) - 1
            for level in levels
            if level.token.type == "ordered_list_open"
        }
        return Context(gap=False, numbers=numbers, opening=opening, prefix=prefix)


def is_blank(line: str) -> bool:
    """Whether a line is empty except for quote marks."""
    return not line.strip(" \t>")


def _inside(line: str, number: int, openers: Sequence[_Opener]) -> str | None:
    """The part of a line inside all `openers`; None if the line isn't inside."""
    text: str | None = line
    for opener in openers:
        text = None if text is None else opener.strip(text, number)
    return text


def _opener(text: str, is_quote: bool) -> str | None:
    """Return the quote or item mark that `text` begins with, and its space."""
    if is_quote:
        return mark.group() if (mark := _QUOTE.match(text)) else None
    if (mark := _ITEM.match(text)) is None:
        return None
    is_empty = not text[mark.end() :]
    return mark[1] + (" " if is_empty else mark[2] or " ")
