"""Draws Markdown at one width as it comes in: finished blocks once, the open one again; keeps no source.

The parser is imported when the first text is drawn: the first frame must not pay for it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acp_tui.ui.rendering.fences import OpenFence, find_opening
from acp_tui.ui.rendering.inline import close_open_marks
from acp_tui.ui.rendering.markdown_blocks import MAX_NESTING, Block, BlockPainter, Continuation, split_blocks
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.rows import BLANK, Row, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONG_BLOCK_CHARACTERS: Final = 16_000
"""A longer open block is parsed again only when it has grown by a quarter; until then what is new is plain."""

# A last line of only such marks may yet become a list, a heading's underline, a table or a fence: it waits.
_UNDECIDED: Final = re.compile(r" {0,3}(?:[-=+*_~`#>|:]+|\d{1,9}[.)]?)[ \t]*")

References: TypeAlias = dict[str, Any]
"""The link definitions of a message, as markdown-it keeps them."""


class MarkdownStream:
    """What is drawn of a message at one width and in one palette."""

    def __init__(self, width: int, palette: Palette, references: References) -> None:
        self._width = width
        self._palette = palette
        self.references = references
        """Those given and those found in complete lines."""
        self.rows = Rows()
        self._settled_rows = 0
        self._tail = ""
        self._examined = 0  # how much of the tail was searched for finished blocks
        self._continuation: Continuation | None = None
        self._fence: OpenFence | None = None
        self._drawn_tail = 0
        self._drawn_rows = 0

    def update(self, text: str, *, finished: bool) -> None:
        """Bring `rows` up to date with `text` added at the end; `finished` when no more is to come."""
        self._tail += text
        if finished and self._tail and not self._tail.endswith("\n"):
            self._tail += "\n"
        if not finished and self._is_too_soon():
            self.rows.truncate(self._drawn_rows)
            self.rows.extend(plain_lines(self._tail[self._drawn_tail :], self._width, self._palette.text))
            return
        self.rows.truncate(self._settled_rows)
        self._settle()
        self._settled_rows = len(self.rows)
        self._draw_open(finished)
        self._drawn_tail, self._drawn_rows = len(self._tail), len(self.rows)

    def _is_too_soon(self) -> bool:
        """Whether to spare a parse, so that a very long block costs as much as it is long, and not its square."""
        drawn = self._drawn_tail
        return drawn > LONG_BLOCK_CHARACTERS and drawn <= len(self._tail) < drawn + drawn // 4

    # What is finished

    def _settle(self) -> None:
        """Draw all blocks that can not change any more, and take them off the tail."""
        while True:
            if self._fence is None and (opening := find_opening(self._tail)):
                self._open_fence(opening)
            if self._fence is not None:
                if not self._read_fence(self._fence):
                    return
            elif not self._read_blocks():
                return

    def _open_fence(self, opening: re.Match[str]) -> None:
        self._tail = self._tail[opening.end() :]
        self._fence = OpenFence(opening, self._width, self._palette)
        self._continuation = None
        self._put_gap()
        self.rows.extend(self._fence.header())

    def _read_fence(self, fence: OpenFence) -> bool:
        """Draw the complete lines of the fence; True where it ends with one of them."""
        *complete, rest = self._tail.split("\n")
        for index, line in enumerate(complete):
            rows, closed = fence.read(line)
            self.rows.extend(rows)
            if closed:
                self._fence = None
                self._cut("\n".join([*complete[index + 1 :], rest]))
                return True
        self._cut(rest)
        return False

    def _read_blocks(self) -> bool:
        """Draw all but the last block of the complete lines; True where a fence follows."""
        stable = self._tail[: self._tail.rfind("\n") + 1]
        if len(stable) == self._examined:
            return False
        self._examined = len(stable)
        env = {"references": self.references}
        painter, blocks = self._parse(stable, env)
        self.references = env["references"]
        for block in blocks[:-1]:
            self._put(painter.paint(block), block.gap)
        if blocks:
            self._cut_before_last(blocks)
        return find_opening(self._tail) is not None

    def _cut_before_last(self, blocks: list[Block]) -> None:
        last = blocks[-1]
        self._continuation = Continuation(last.number, last.gap) if last.is_item else None
        # A link definition right above may take in more lines, so it stays with the block that follows.
        starts_for_good = last.is_item or last.tokens[0].type == "fence"
        first_line = last.start if starts_for_good else blocks[-2].stop if len(blocks) > 1 else 0
        examined = self._examined
        tail = self._tail.split("\n", first_line)[first_line]
        examined -= len(self._tail) - len(tail)
        self._cut(tail)
        self._examined = examined

    def _cut(self, tail: str) -> None:
        self._tail = tail
        self._examined = 0

    # What is open

    def _draw_open(self, finished: bool) -> None:
        if self._fence is not None:
            self.rows.extend(self._fence.preview(self._tail))
            return
        text = self._tail
        if not finished and _UNDECIDED.fullmatch(last_line := text[text.rfind("\n") + 1 :]):
            text = text[: len(text) - len(last_line)]
        painter, blocks = self._parse(text, {"references": dict(self.references)})
        if blocks and not finished:
            _close_open_marks(blocks[-1].tokens)
        for block in blocks:
            self._put(painter.paint(block), block.gap)

    def _parse(self, text: str, env: dict[str, Any]) -> tuple[BlockPainter, list[Block]]:
        tokens: list[Token] = []
        parser = markdown_parser()
        parser.block.parse(text, parser, env, tokens)
        lines = text.split("\n")
        blocks = split_blocks(tokens, lines, self._continuation)
        return BlockPainter(parser, env, self._palette, self._width, lines), blocks

    def _put(self, rows: list[Row], gap: bool) -> None:
        if rows:
            if gap:
                self._put_gap()
            self.rows.extend(rows)

    def _put_gap(self) -> None:
        if self.rows:
            self.rows.extend([BLANK])


def _close_open_marks(tokens: Sequence[Token]) -> None:
    """Make what is half written in the last text of a block look as it will."""
    for token in reversed(tokens):
        if token.type == "inline":
            token.content = close_open_marks(token.content)
            return
        if token.type in ("fence", "code_block"):
            return


@cache
def markdown_parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough; HTML is text."""
    from markdown_it import MarkdownIt

    options = {"html": False, "maxNesting": MAX_NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
