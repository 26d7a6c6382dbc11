"""One Markdown message: its source and its lines.

When text arrives, only the open block at the end is parsed again, so a chunk costs the same in a message of any length:
at one width, finished blocks are drawn once, and the open end again each time.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from acp_tui.conversation.visible import VisibleStream
from acp_tui.ui.rendering.highlight import CodePanel
from acp_tui.ui.rendering.markdown_blocks import IS_OPEN, MAX_NESTING, BlockPainter, MarkdownBlock, split_blocks
from acp_tui.ui.rendering.markdown_context import BlockCut, Context, OpenBlock, is_blank
from acp_tui.ui.rendering.palette import PLAIN, Palette
from acp_tui.ui.rendering.wrapping import BLANK, MIN_WIDTH, Row, Rows, UndrawnSection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from textual.strip import Strip

MAX_OPEN_CHARACTERS: Final = 6_000
"""The maximum length to parse at once. Marks in a longer paragraph, such as of emphasis, end there."""

# Hold back a last line that matches until it's clear what it is: a rule, a list, a heading's underline, the second line
# of a table, a fence, a task, or a link definition.
_UNDECIDED: Final = re.compile(
    r"""(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*
    (?:[-=+*_~`\#>|:]*|\d{1,9}[.)]?|(?:[-*_][ \t]*)+|[|:\- \t]+|\[[^\[\]]{0,80}(?:\](?::.*)?)?)""",
    re.VERBOSE,
)
_HALF_CLOSING: Final = re.compile("[`~]*")
"""The same inside a code block."""
_MAX_UNDECIDED: Final = 200

SKIPPED_CHARACTERS: Final = 1_500
"""More text than this at once scrolls by before it can be read: its sections are drawn when they come into view."""
MAX_CLOSED_UP_CHARACTERS: Final = 300_000
"""Of a block. More of it that scrolls by has a shorter row where it was broken."""
MAX_SECTION_CHARACTERS: Final = 4_000
_SECTION_END: Final = re.compile(r"\n\n(?=[A-Za-z]|#{1,6} )")
"""Below an empty line, such a line begins a block, wherever it is but in a block of code or HTML."""
_NEVER_A_SECTION: Final = re.compile(r"\]:|~~~|````|^[ \t]{0,3}<", re.MULTILINE)
"""What can hide the end of a section, or what a link elsewhere refers to."""
_FENCE: Final = re.compile(r"^```.*", re.MULTILINE)
_HEADER: Final = re.compile(r"[ \t>]*\|")
_DELIMITER: Final = re.compile(r"[ \t>|:-]*")
_MAX_HEADER: Final = 1_000

References: TypeAlias = dict[str, Any]
"""The link definitions of a message, as markdown-it stores them."""


class _Parsed:
    """A part of the message, parsed into blocks."""

    def __init__(self, text: str, context: Context, references: References) -> None:
        self.env = {"references": references}
        self.context = context
        self.lines = (context.opening + text).split("\n")
        tokens: list[Token] = []
        parser = markdown_parser()
        parser.block.parse(context.opening + text, parser, self.env, tokens)
        self.blocks = split_blocks(tokens, self.lines, context)

    def painter(self, palette: Palette, width: int) -> BlockPainter:
        return BlockPainter(markdown_parser(), self.env, palette, width, self.lines, self.context)

    def finished_part(self) -> BlockCut | None:
        """Where to cut the text, within the last block or before it; None if nothing is finished."""
        if not self.blocks:
            return None
        last = self.blocks[-1]
        if cut := OpenBlock(last.tokens, self.lines, self.context).finished_part():
            return replace(cut, context=replace(cut.context, number=last.number))
        return self.before_last()

    def before_last(self) -> BlockCut | None:
        """Where to cut the text before the last block; None if there is only one."""
        if len(self.blocks) < 2:
            return None
        last = self.blocks[-1]
        # A link definition right above may span more lines, so it stays with the block that follows.
        starts_for_good = last.is_item or last.tokens[0].type == "fence"
        line = last.start if starts_for_good else self.blocks[-2].stop
        return BlockCut(0, line, Context(last.gap, last.number))

    def whole(self) -> BlockCut:
        """A cut at the end of the text, as if its last block continued."""
        if not self.blocks:
            return BlockCut(0, len(self.lines) - 1, self.context, keeps_leaf=True)
        last = self.blocks[-1]
        cut = OpenBlock(last.tokens, self.lines, self.context).whole()
        return replace(cut, context=replace(cut.context, number=last.number))


class MarkdownStream:
    """The drawn rows of a message at one width and in one palette."""

    def __init__(self, width: int, palette: Palette, references: References, *, skips: bool = False) -> None:
        """With `skips`, what comes faster than it can be read is drawn when it comes into view."""
        self._width = width
        self._palette = palette
        self.skips = skips
        self.references = references
        """The given link definitions, and those found in complete lines."""
        self.rows = Rows()
        self._open_rows = 0  # at the end, to be drawn again
        self._is_flood = False
        self._context = Context()
        self._tail = ""
        self._examined = 0  # how much of the tail was searched for finished blocks

    def settle(self, text: str, *, finished: bool) -> None:
        """Add `text` at the end and draw what is finished. `finished` means that no more text will come.

        `rows` lacks the open end until `draw_open` is called.
        """
        self._tail += text
        self._is_flood = self.skips and len(text) >= SKIPPED_CHARACTERS
        if finished and self._tail and not self._tail.endswith("\n"):
            self._tail += "\n"
        self.rows.truncate(len(self.rows) - self._open_rows)
        self._open_rows = 0
        while self._skip() or self._settle():
            pass

    # What scrolls by unseen

    def _skip(self) -> bool:
        """Leave the sections that the tail begins with for later; return False if there are none."""
        if not self._is_flood or self._context.opening:
            return False
        start = 0
        for end in _SECTION_END.finditer(self._tail):
            text = self._tail[start : end.end()]
            if _NEVER_A_SECTION.search(text) or len(text) > MAX_SECTION_CHARACTERS:
                break
            if text.strip() and _has_whole_fences(text):
                self._leave(text, Context())
                start = end.end()
        self._tail = self._tail[start:]
        self._examined = max(self._examined - start, 0)
        return start > 0

    def _leave(self, text: str, following: Context) -> None:
        """Leave a section for later; `following` is what is open after it."""
        context, self._context = self._context, following
        gap = [BLANK] if self.rows and (context.gap or is_blank(text.partition("\n")[0])) else []
        references = self.references

        def draw() -> list[Row]:
            stream = MarkdownStream(self._width, self._palette, references)
            stream._context = context
            stream.settle(text, finished=True)
            stream.draw_open(finished=True)
            return gap + stream.rows.undrawn

        self.rows.extend_unseen(
            UndrawnSection(draw, len(gap) + text.strip().count("\n") + len(text) // self._width + 1)
        )

    # Finished blocks

    def _settle(self) -> bool:
        """Draw what can't change anymore and remove it from the tail; return False if there is nothing.

        The result depends only on the tail's first characters, not on how much has arrived after them. So a message
        looks the same however it is split into chunks.
        """
        complete = self._tail.rfind("\n", 0, MAX_OPEN_CHARACTERS) + 1
        if complete > self._examined:
            self._examined = complete
            parsed = self._parse(self._tail[:complete], self.references)
            self.references = parsed.env["references"]
            if cut := parsed.finished_part():
                self._cut(parsed, cut)
                return True
        if len(self._tail) > MAX_OPEN_CHARACTERS:
            self._break()
            return True
        return False

    def _cut(self, parsed: _Parsed, cut: BlockCut) -> None:
        """Draw what is before the cut and remove it from the tail."""
        tail = self._tail.split("\n", lines := cut.line - self._context.line_count)[lines]
        self._examined = max(self._examined - (len(self._tail) - len(tail)), 0)
        self._draw_finished(parsed, cut)
        self._tail = tail

    def _break(self) -> None:
        """Draw the beginning of a very long open block as if it were complete."""
        text = self._tail.lstrip("\n")  # so that it breaks at the same place wherever the block above was cut off
        head, mark, rest = _break_text(text)
        head = "\n" * (len(self._tail) - len(text)) + head
        parsed = self._parse(f"{head}\n", self.references)
        if before := parsed.before_last():
            self._cut(parsed, before)
            return
        cut = parsed.whole()
        is_huge = self._is_flood and len(self._tail) > MAX_CLOSED_UP_CHARACTERS
        if is_huge and not self._context.opening and not cut.keeps_leaf:
            self._leave(f"{head}\n", cut.context)
        else:
            self._draw_finished(parsed, cut)
            is_paragraph = parsed.blocks and parsed.blocks[-1].tokens[0].type == "paragraph_open"
            ends_line = not mark or (mark == "\n" and head.endswith(("  ", "\\")))
            if is_paragraph and not (ends_line or cut.context.gap or cut.context.opening):
                self._context = replace(self._context, last_row=cast("Strip", self.rows.undrawn.pop()))
        self._tail = rest if mark == "\n" else self._context.prefix + rest
        self._examined = 0

    def _draw_finished(self, parsed: _Parsed, cut: BlockCut) -> None:
        painter = parsed.painter(self._palette, self._width)
        for block in parsed.blocks[:-1]:
            self._paint(painter, block)
        if cut.token_count:
            last = parsed.blocks[-1]
            self._paint(painter, replace(last, tokens=last.tokens[: cut.token_count]))
        leaf = painter.leaf or self._context.leaf
        self._context = replace(cut.context, leaf=leaf if cut.keeps_leaf else None, last_row=painter.last_row)

    def _paint(self, painter: BlockPainter, block: MarkdownBlock, *, finished: bool = True) -> None:
        if block.gap or block.tokens[0].type != "paragraph_open":
            self._put_last_row(painter)
        self._put(painter.paint(block, finished=finished), block.gap)

    def _put_last_row(self, painter: BlockPainter) -> None:
        """Draw the last row of the paragraph above, which doesn't go on."""
        if painter.last_row is not None:
            self._put([painter.last_row], gap=False)
            painter.last_row = None

    # The open end

    def draw_open(self, *, finished: bool) -> None:
        """Draw what is still open. Call it once after each `settle` whose result will be visible."""
        undecided = _HALF_CLOSING if isinstance(self._context.leaf, CodePanel) else _UNDECIDED
        text = self._tail if finished else _decided(self._tail, undecided)
        settled = len(self.rows)
        parsed = self._parse(text, dict(self.references))
        painter = parsed.painter(self._palette, self._width)
        if parsed.blocks and not finished:
            last = parsed.blocks[-1]
            parsed.blocks[-1] = replace(last, tokens=_half_written(last.tokens, len(parsed.lines) - 1))
        for block in parsed.blocks:
            self._paint(painter, block, finished=False)
        self._put_last_row(painter)
        self._open_rows = len(self.rows) - settled

    def _parse(self, text: str, references: References) -> _Parsed:
        return _Parsed(text, self._context, references)

    def _put(self, rows: list[Row], gap: bool) -> None:
        if rows and gap and self.rows:
            self.rows.extend([BLANK])
        self.rows.extend(rows)


def _has_whole_fences(text: str) -> bool:
    """Whether every block of code in a text ends there. False if that isn't certain."""
    fences = _FENCE.findall(text)
    is_certain = len(fences) == text.count("```") and len(fences) % 2 == 0
    return is_certain and all(fence.rstrip(" ") == "```" for fence in fences[1::2])


def _break_text(text: str) -> tuple[str, str, str]:
    """Find a good place to break a long text; return what is before it, the whitespace there if any, and the rest."""
    at = max(text.rfind(mark, MAX_OPEN_CHARACTERS // 2, MAX_OPEN_CHARACTERS) for mark in "\n ")
    if at < 0:
        return text[:MAX_OPEN_CHARACTERS], "", text[MAX_OPEN_CHARACTERS:]
    return text[:at], text[at], text[at + 1 :]


def _decided(text: str, undecided: re.Pattern[str]) -> str:
    """`text` without a last line whose meaning isn't clear yet."""
    last_line = text[text.rfind("\n") + 1 :]
    waits = len(last_line) <= _MAX_UNDECIDED and undecided.fullmatch(last_line.strip(" \t>"))
    decided = text[: len(text) - len(last_line)] if waits else text
    return decided if undecided is _HALF_CLOSING else _without_header(decided, text)


def _without_header(decided: str, text: str) -> str:
    """`decided` without a last line that may be the header of a table. Only the line below it, in `text`, can tell."""
    start = decided.rfind("\n", 0, max(len(decided) - 1, 0)) + 1
    above = decided[decided.rfind("\n", 0, max(start - 1, 0)) + 1 : start]
    may_be_header = len(decided) - start <= _MAX_HEADER and _HEADER.match(decided, start)
    if not may_be_header or _HEADER.match(above) or not _DELIMITER.fullmatch(text, len(decided)):
        return decided
    return decided[:start]


def _half_written(tokens: Sequence[Token], last_line: int) -> Sequence[Token]:
    """Mark the last text of an open block as open. An incomplete table row is left out."""
    for at in range(len(tokens) - 1, -1, -1):
        token = tokens[at]
        if token.type == "tr_open" and token.map == [last_line, last_line + 1] and tokens[at - 1].type != "thead_open":
            return tokens[:at]
        if token.type == "inline" and tokens[at - 1].type not in ("th_open", "td_open"):
            token.meta[IS_OPEN] = True
            break
        if token.type in ("fence", "code_block", "html_block", "table_open"):
            break
    return tokens


MAX_MISSING_CELLS: Final = 4_096
"""Missing cells after which a table ends. markdown-it adds up to 65,536, which takes 2.6 s for 8 KB of text."""


@cache
def markdown_parser() -> MarkdownIt:
    """A parser for CommonMark with tables and strikethrough. It recognizes HTML only to show it as written."""
    from markdown_it import MarkdownIt

    table: Any = import_module("markdown_it.rules_block.table")  # the package has a function of this name
    table.MAX_AUTOCOMPLETED_CELLS = MAX_MISSING_CELLS
    return MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])


class MarkdownRenderer:
    """One message, from its first chunk until after its end."""

    def __init__(self, text: str = "", *, skips: bool = False) -> None:
        """With `skips`, what comes faster than it can be read is drawn when it comes into view (`Rows.measure`)."""
        self._skips = skips
        self._chunks: list[str] = []
        self._unread: list[str] = []  # not passed to the stream yet
        self._visible = VisibleStream()
        self._finished = False
        self._changed = False
        self._lacks_end = False
        """Whether the open end of the stream's text isn't drawn yet."""
        self._width = 0
        self._palette = PLAIN
        self._stream: MarkdownStream | None = None
        self.append(text)

    @property
    def source(self) -> str:
        """All text so far, as it's shown: misleading characters are replaced."""
        return "".join(self._chunks)

    def append(self, text: str) -> None:
        """Add text at the end, to be read when lines are requested. Reopens a finished message."""
        if not text:
            return
        if self._finished:
            self._finished = False
            self.release()
        self._add(self._visible.append(text))

    def finish(self) -> None:
        """Mark the message as complete: show what was held back, and resolve links in all of it."""
        if not self._finished:
            self._finished = True
            self._add(self._visible.finish())

    def lines(self, width: int, palette: Palette) -> Rows:
        """Return the message in lines of at most `width` cells, at natural length. Only code blocks fill the width.

        Returns the same object each time, updated in place, unless everything is drawn again: for another width or
        palette, and at `finish` if the message defines links.
        """
        stream = self._settled(width, palette)
        if self._lacks_end:
            self._lacks_end = False
            stream.draw_open(finished=self._finished)
        return stream.rows

    def settle(self, width: int, palette: Palette) -> None:
        """Draw the finished part of what was added. The open end is left to `lines`."""
        self._settled(width, palette)

    def _settled(self, width: int, palette: Palette) -> MarkdownStream:
        width = max(width, MIN_WIDTH)
        if width != self._width or (palette is not self._palette and palette != self._palette):
            self.release()
            # In other colors, what is measured keeps its height.
            skips = self._skips and width != self._width
            self._width, self._palette = width, palette
            self._stream = self._start({}, skips)
        if self._stream is None:
            self._stream = self._start({})
        if self._changed:
            self._stream = self._update(self._stream)
        return self._stream

    @property
    def rows(self) -> Rows:
        """The lines as they were last drawn; none before that."""
        return Rows() if self._stream is None else self._stream.rows

    def line_count(self, width: int) -> int:
        """The number of lines at `width`, drawn in the last palette used."""
        return len(self.lines(width, self._palette))

    def release(self) -> None:
        """Free the memory of everything drawn. The next `lines` draws it again from the source."""
        self._stream = None

    def _add(self, visible: str) -> None:
        self._chunks.append(visible)
        self._unread.append(visible)
        self._changed = True

    def _start(self, references: References, skips: bool = False) -> MarkdownStream:
        """Start a stream that still has the whole source to read."""
        self._chunks = [self.source]
        self._unread = [*self._chunks]
        self._changed = True
        return MarkdownStream(self._width, self._palette, references, skips=skips)

    def _update(self, stream: MarkdownStream) -> MarkdownStream:
        """Pass the unread text to the stream. A complete message with link definitions is read twice."""
        self._feed(stream)
        if self._finished and stream.references:
            stream = self._start(stream.references)
            self._feed(stream)
        return stream

    def _feed(self, stream: MarkdownStream) -> None:
        stream.settle("".join(self._unread), finished=self._finished)
        stream.skips = self._skips
        self._unread.clear()
        self._changed, self._lacks_end = False, True
