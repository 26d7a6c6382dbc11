"""Draws parsed Markdown blocks as rows, with their margins. When to parse is decided elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar, cast

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible
from acp_tui.ui.rendering.highlight import CodePanel
from acp_tui.ui.rendering.inline import Lines, inline_lines
from acp_tui.ui.rendering.markdown_context import Context, Leaf, is_blank
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import TAB_CELLS, plain_lines
from acp_tui.ui.rendering.tables import Alignment, Table, TableLayout
from acp_tui.ui.rendering.wrapping import BLANK, Gutter, Joint, Row, width_cells, wrap
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.utils import EnvType


MIN_TEXT_CELLS: Final = 8
"""If the text would have fewer cells than this, deeper levels aren't indented."""
BAR: Final = "│ "


@dataclass(slots=True)
class _Level:
    """An open quote or list item."""

    indent: tuple[Segment, ...]
    marker: tuple[Segment, ...] | None
    """Drawn instead of `indent` in the next row. None once it's drawn, and for a quote."""
    cells: int
    is_quote: bool
    empty: bool = True


class Margin:
    """The open quotes and list items, outermost first."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._levels: list[_Level] = []
        self._indent: tuple[Segment, ...] = ()
        self.cells = 0
        self._marker_due = False

    @property
    def room(self) -> int:
        return max(self._width - self.cells, 1)

    @property
    def in_quote(self) -> bool:
        return any(level.is_quote for level in self._levels)

    @property
    def wants_task_marker(self) -> bool:
        """Whether the next text is the first one of a list item."""
        return bool(self._levels) and self._levels[-1].marker is not None

    def begin_block(self) -> bool:
        """Record that a block begins; return True if it follows another in the same quote or list item."""
        follows = bool(self._levels) and not self._levels[-1].empty
        for level in reversed(self._levels):
            if not level.empty:
                break
            level.empty = False
        return follows

    def open_quote(self, style: Style) -> None:
        self._open(_Level((Gutter(BAR, style),), None, len(BAR), is_quote=True))

    def open_item(self, marker: str, style: Style) -> None:
        cells = width_cells(marker)
        self._open(_Level((Gutter(" " * cells),), (Segment(marker, style),), cells, is_quote=False))

    def replace_marker(self, marker: str, style: Style) -> None:
        """Replace the innermost item's marker with another of the same width."""
        self._levels[-1].marker = (Segment(marker, style),)

    @property
    def is_unseen(self) -> bool:
        """Whether the innermost level is a quote or item for which nothing has been drawn."""
        return self._levels[-1].empty and (self._levels[-1].is_quote or self._levels[-1].marker is not None)

    def close(self) -> None:
        self._levels.pop()
        self._settle()

    def take(self) -> tuple[Segment, ...]:
        """Return what goes to the left of the next row. A list marker is returned only once."""
        if not self._marker_due:
            return self._indent
        taken = tuple(segment for level in self._levels for segment in level.marker or level.indent)
        for level in self._levels:
            level.marker = None
        self._marker_due = False
        return taken

    def _open(self, level: _Level) -> None:
        if self.room - level.cells < min(MIN_TEXT_CELLS, self._width // 2):
            level.indent, level.marker, level.cells = (), None, 0
        self._levels.append(level)
        self._settle()

    def _settle(self) -> None:
        self._indent = tuple(segment for level in self._levels for segment in level.indent)
        self.cells = sum(level.cells for level in self._levels)
        self._marker_due = any(level.marker for level in self._levels)


MAX_NESTING: Final = 60
"""The parser drops anything nested deeper, so such a block is shown as its source."""
_BLOCK_BEGINNINGS: Final = frozenset(
    (
        *("paragraph_open", "heading_open", "fence", "code_block", "table_open", "hr"),
        *("html_block", "blockquote_open", "list_item_open"),
    )
)
IS_OPEN: Final = "is_open"
"""Key in a text token's `meta`: whether the end of the text is still being written."""
_BULLETS: Final = "•◦▪"
_TASK: Final = re.compile(r"\[([ xX])\][ \t]+(?=\S)")

_LeafT = TypeVar("_LeafT", CodePanel, TableLayout)


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A top-level block or one item of a top-level list: a unit that can be finished while more text arrives."""

    tokens: Sequence[Token]
    start: int
    """Its first line in the parsed text."""
    stop: int
    gap: bool
    """Whether an empty line goes before it."""
    number: int | None = None
    """The item's number in an ordered list."""
    is_item: bool = False


@dataclass(slots=True)
class _List:
    next_number: int | None
    """None for a bullet list."""
    bullet: str

    def take_marker(self) -> str:
        if self.next_number is None:
            return f" {self.bullet} "
        self.next_number += 1
        return f"{self.next_number - 1:>2}. "


class BlockPainter:
    """Paints the blocks of one parsed text at one width."""

    def __init__(
        self, md: MarkdownIt, env: EnvType, palette: Palette, width: int, lines: Sequence[str], context: Context
    ) -> None:
        """`lines` are the lines of the parsed text. Blank lines inside lists and quotes are shown as written."""
        self.leaf: Leaf | None = None
        """The code block or table that was painted last, to be continued later."""
        self.last_row = context.last_row
        """That of `context`, until a block continues it."""
        self._context = context
        self._md = md
        self._env = env
        self._palette = palette
        self._width = width
        self._lines = lines
        self._margin = Margin(width)
        self._lists: list[_List] = []
        self._rows: list[Row] = []
        self._heading: Style | None = None
        self._is_finished = True

    def paint(self, block: MarkdownBlock, *, finished: bool = True) -> list[Row]:
        """Return the rows of `block`, without the gap before it.

        The end of an unfinished block will be painted again.
        """
        self._is_finished = finished
        if any(token.level >= MAX_NESTING - 1 for token in block.tokens):
            source = "\n".join(self._lines[max(block.start, self._context.line_count) : block.stop]).rstrip()
            return list(plain_lines(source, self._width, self._palette.text))
        self._rows = []
        self._lists = [_List(block.number, _BULLETS[0])] if block.is_item else []
        tokens = iter(block.tokens)
        for token in tokens:
            self._paint_token(token, tokens)
        return self._rows

    def _paint_token(self, token: Token, following: Iterator[Token]) -> None:
        if token.type in _BLOCK_BEGINNINGS:
            # Begin a block. Inside a quote or list, an empty line goes before it if the source has one.
            follows = self._margin.begin_block()
            if follows and token.map and is_blank(self._lines[token.map[0] - 1]):
                self._put(BLANK)
        match token.type:
            case "inline":
                self._paint_text(token)
            case "heading_open":
                styles = {"h1": self._palette.heading_1, "h2": self._palette.heading_2}
                self._heading = styles.get(token.tag, self._palette.heading)
            case "heading_close":
                self._heading = None
            case "fence" | "code_block":
                self._paint_code(token)
            case "table_open":
                self._paint_table(token, following)
            case "html_block":
                for line in token.content.rstrip("\n").split("\n"):
                    for strip in wrap([(line.expandtabs(TAB_CELLS), self._base)], self._margin.room):
                        self._put(strip)
            case "hr" if self._context.covers(token):
                self._margin.take()
            case "hr":
                self._put(Strip([Segment("─" * self._margin.room, self._palette.rule)], self._margin.room))
            case _:
                self._paint_container(token)

    def _paint_container(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(_List(None, _BULLETS[len(self._lists) % len(_BULLETS)]))
            case "ordered_list_open":
                self._lists.append(_List(self._context.start_of(token), ""))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._margin.open_item(self._lists[-1].take_marker(), self._palette.list_marker)
            case "blockquote_open":
                self._margin.open_quote(self._palette.quote_bar)
            case "list_item_close" | "blockquote_close":
                if self._margin.is_unseen:
                    self._put(BLANK)
                self._margin.close()

    def _put(self, strip: Strip) -> None:
        indent = self._margin.take()
        self._rows.append(Strip([*indent, *strip], self._margin.cells + strip.cell_length) if indent else strip)

    @property
    def _base(self) -> Style:
        return self._palette.text + self._palette.quote if self._margin.in_quote else self._palette.text

    def _paint_text(self, token: Token) -> None:
        source = token.content
        if self._heading is None and self._margin.wants_task_marker and (task := _TASK.match(source)):
            source = self._take_task(task) + source[task.end() :]
        base = self._base if self._heading is None else self._base + self._heading
        lines = self._inline(source, base, token.meta.get(IS_OPEN, False))
        above, self.last_row = self.last_row, None
        joints = [] if above is None else [segment for segment in above if isinstance(segment, Joint)]
        if above is not None:
            spans = [(text, style or base) for text, style, _ in above if text]
            lines = [[*spans, (" ", base), *lines[0]], *lines[1:]]
        for line in lines:
            for strip in wrap(line, self._margin.room):
                self._put(Strip([*joints, *strip], strip.cell_length) if joints else strip)
                joints = []

    def _take_task(self, task: re.Match[str]) -> str:
        """Replace the item's marker with the task's checkbox.

        An ordered item keeps its number, so the box becomes text.
        """
        done = task[1] != " "
        box = "☑ " if done else "☐ "
        if self._lists[-1].next_number is not None:
            return box
        style = self._palette.task_done if done else self._palette.task_open
        self._margin.replace_marker(f" {box}", style)
        return ""

    def _inline(self, source: str, base: Style, is_open: bool) -> Lines:
        return inline_lines(self._md, source, self._env, self._palette, base, is_open=is_open)

    def _paint_code(self, token: Token) -> None:
        lines = token.content.removesuffix("\n").split("\n")
        if self._context.covers(token):
            panel = self._leaf_of(CodePanel)
            lines = lines if token.content else []
        else:
            info = make_visible(" ".join(self._md.utils.unescapeAll(token.info).split()))
            panel = CodePanel(info, self._margin.room, self._palette, self._margin.take)
            self._rows += panel.header()
        self.leaf = panel
        # Only the line being written follows the lines of an existing panel without being finished.
        draw = panel.append if self._is_finished or not self._context.covers(token) else panel.preview
        for line in lines:
            self._rows += draw(line)

    def _paint_table(self, token: Token, following: Iterator[Token]) -> None:
        table = self._read_table(following)
        follows = self._context.covers(token)
        layout = self._leaf_of(TableLayout) if follows else TableLayout(table, self._margin.room, self._palette)
        self.leaf = layout
        for strip in layout.strips(table.rows[1:], follows=follows):
            self._put(strip)

    def _leaf_of(self, kind: type[_LeafT]) -> _LeafT:
        """The code block or table that was open before the text began."""
        assert isinstance(self._context.leaf, kind)
        return self._context.leaf

    def _read_table(self, following: Iterator[Token]) -> Table:
        rows: list[list[Lines]] = []
        alignments: list[Alignment] = []
        base = self._base
        for token in following:
            match token.type:
                case "table_close":
                    break
                case "tr_open":
                    rows.append([])
                case "th_open":
                    base = self._base + self._palette.table_header
                    alignments.append(_alignment(token))
                case "td_open":
                    base = self._base
                case "inline":
                    rows[-1].append(self._inline(token.content, base, token.meta.get(IS_OPEN, False)))
        return Table(tuple(alignments), tuple(map(tuple, rows)))


def split_blocks(tokens: Sequence[Token], lines: Sequence[str], context: Context) -> list[MarkdownBlock]:
    """Split into top-level blocks, and lists into their items. The first block continues `context`."""
    blocks: list[MarkdownBlock] = []
    start = 0
    if not context.opening and is_blank(lines[0]):
        context = replace(context, gap=True)
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            blocks.extend(_blocks_of(tokens[start : index + 1], lines, Context() if start else context))
            start = index + 1
    return blocks


def _blocks_of(tokens: Sequence[Token], lines: Sequence[str], context: Context) -> Iterator[MarkdownBlock]:
    """The items of a list, or the block itself if it isn't a list."""
    match tokens[0].type:
        case "ordered_list_open":
            number = int(tokens[0].attrs.get("start", 1)) if context.number is None else context.number
            yield from _items(tokens, lines, number, context.gap)
        case "bullet_list_open":
            yield from _items(tokens, lines, None, context.gap)
        case _:
            start, stop = cast("list[int]", tokens[0].map)
            yield MarkdownBlock(tokens, start, stop, context.gap)


def _items(tokens: Sequence[Token], lines: Sequence[str], number: int | None, gap: bool) -> Iterator[MarkdownBlock]:
    """The items of a list, with a gap between two of them if the author left one."""
    opened = 1
    for index, token in enumerate(tokens):
        if token.type == "list_item_close" and token.level == 1:
            start, stop = cast("list[int]", tokens[opened].map)
            yield MarkdownBlock(tokens[opened : index + 1], start, stop, gap, number, is_item=True)
            number = None if number is None else number + 1
            gap, opened = is_blank(lines[stop - 1]), index + 1


def _alignment(token: Token) -> Alignment:
    value = str(token.attrs.get("style", "")).removeprefix("text-align:")
    return cast("Alignment", value) if value in ("center", "right") else "left"
