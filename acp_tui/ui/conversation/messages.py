"""Draws what the user and the agent said, and what the agent thought."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import ContentBlock, Image, Text, TextResource, is_for_user
from acp_tui.conversation.entries import Message
from acp_tui.ui.conversation.blocks import BlockLines, block_label
from acp_tui.ui.conversation.drawing import DrawContext, Drawing, Indented, Joined, KeptDrawing, folded
from acp_tui.ui.rendering.inline import inline_lines
from acp_tui.ui.rendering.markdown import MarkdownRenderer, markdown_parser
from acp_tui.ui.rendering.pictures import MAX_ROWS
from acp_tui.ui.rendering.plain import PlainStream, plain_lines
from acp_tui.ui.rendering.wrapping import BLANK, Gutter

MAX_TEXT_CELLS: Final = 120
"""Longer lines are hard to read."""
INDENT: Final = "  "
SLICE_CHARACTERS: Final = 2_000
"""Drawing this much Markdown takes about 4 ms."""
MAX_TOLD: Final = 400
"""Characters of a folded thought that its tooltip shows."""
MAX_SHOWN_CHARACTERS: Final = 1_000_000
"""Longer texts are cut: drawing this much takes seconds and ten times the text's memory. An export has all."""
CUT_NOTE: Final = f"… Only the first {MAX_SHOWN_CHARACTERS:,} characters are shown. An export has all of them."
SHOWN_LINES: Final = 20
"""Of a prompt of the user's, until it is unfolded."""
PICTURE_ROWS: Final = 6
"""Rows of half blocks that a picture of the user's takes until it is unfolded."""
GAP: Final = (BLANK,)
"""Between text and other content."""


class AgentMessage(Drawing):
    """A message of the agent, as Markdown. Its text is read in pieces."""

    def __init__(self, message: Message, *, skips: bool = False) -> None:
        """With `skips`, what comes faster than it can be read isn't measured until it's seen, or at rest."""
        self._message = message
        self._skips = skips
        self._parts = message.parts
        self._renderers: dict[int, MarkdownRenderer] = {}
        self._read: dict[int, int] = {}
        self._blocks: dict[int, BlockLines] = {}
        self._closed = False
        self._too_long: dict[int, tuple[Sequence[Strip], Joined]] = {}
        """What is shown of texts that are too long to show whole."""
        self._indented: dict[int, tuple[Sequence[Strip], Indented]] = {}

    def refresh(self) -> bool:
        """Read what was appended, but only as much as can be drawn in a few milliseconds."""
        if self._message.parts is not self._parts:  # the message was replaced
            is_closed = self._closed
            AgentMessage.__init__(self, self._message, skips=self._skips)
            self._closed = is_closed
        for index, part in enumerate(self._message.parts):
            if isinstance(part, TextBuffer) and not self._read_part(index, part):
                return False
        if self._closed:
            self.close()
        return True

    def _read_part(self, index: int, part: TextBuffer) -> bool:
        renderer = self._renderers.get(index)
        if renderer is None:
            renderer = self._renderers[index] = MarkdownRenderer(skips=self._skips)
        read, length = self._read.get(index, 0), min(part.length, MAX_SHOWN_CHARACTERS)
        if length > read:
            new = part.since(read, min(SLICE_CHARACTERS, length - read))
            renderer.append(new)
            self._read[index] = read + len(new)
        return self._read.get(index, 0) == length

    def close(self) -> None:
        """Draw what another chunk could still have changed."""
        self._closed = True
        for renderer in self._renderers.values():
            renderer.finish()

    def settle(self, context: DrawContext) -> None:
        """Draw what was read, except for the open end, which may be long and changes with the next piece."""
        for renderer in self._renderers.values():
            renderer.settle(_text_width(context), context.palette)

    @property
    def is_measured(self) -> bool:
        """Whether all text was drawn once, at least to measure it."""
        return all(renderer.rows.is_measured for renderer in self._renderers.values())

    def measure(self, rows: range | None, place: int) -> int:
        """Draw the text in `rows`, or measure a part of it, from the end. Returns where the row `place` is now."""
        if rows is None:
            index = max(index for index, each in self._renderers.items() if not each.rows.is_measured)
            top = self._top(index)
            return self._renderers[index].rows.measure_last(place - top) + top
        for index in sorted(self._renderers, reverse=True):
            top = self._top(index)
            within = range(rows.start - top, rows.stop - top)
            place = self._renderers[index].rows.measure(within, place - top) + top
        return place

    def _top(self, index: int) -> int:
        above = [len(self._indented[at][1]) for at in range(index)]
        return sum(above) + len(GAP) * sum(map(bool, above))

    def lines(self, context: DrawContext) -> Sequence[Strip]:
        width = _text_width(context)
        parts = [self._with_margin(index, width, context) for index in range(len(self._message.parts))]
        if len(parts) == 1:
            return parts[0]
        return Joined(*[run for part in parts if part for run in (GAP, part)][1:])

    def _with_margin(self, index: int, width: int, context: DrawContext) -> Indented:
        lines = self._part(index, self._message.parts[index], width, context)
        kept = self._indented.get(index)
        # A part returns the same object while it doesn't change, so the lines with the margin stay the same too.
        if kept is None or kept[0] is not lines:
            kept = self._indented[index] = (lines, Indented(lines, Gutter(INDENT)))
        return kept[1]

    def _part(self, index: int, part: TextBuffer | ContentBlock, width: int, context: DrawContext) -> Sequence[Strip]:
        if isinstance(part, TextBuffer):
            lines = self._renderers[index].lines(width, context.palette) if index in self._renderers else ()
            return lines if part.length <= MAX_SHOWN_CHARACTERS else self._cut(index, lines, width, context)
        if not is_for_user(part):
            return ()
        return self._blocks.setdefault(index, BlockLines(part, self)).lines(context, width, context.palette.muted)

    def _cut(self, index: int, lines: Sequence[Strip], width: int, context: DrawContext) -> Sequence[Strip]:
        kept = self._too_long.get(index)
        if kept is None or kept[0] is not lines:
            note = plain_lines(CUT_NOTE, width, context.palette.warning)
            kept = self._too_long[index] = (lines, Joined(lines, GAP, note))
        return kept[1]


def _text_width(context: DrawContext) -> int:
    return min(context.width - 2 * len(INDENT), MAX_TEXT_CELLS)


class UserMessage(KeptDrawing):
    """A user's prompt as it was typed: after a bar, on its own background over the whole width.

    Until it is unfolded, a long text shows its first lines, what was pasted or attached its name, and a picture of half
    blocks is small.
    """

    def __init__(self, message: Message) -> None:
        super().__init__()
        self._message = message
        self._is_long = False

    def _draw(self, context: DrawContext) -> Sequence[Strip]:
        style, width = context.palette.user, _text_width(context)
        runs: list[Sequence[Strip]] = []
        self._is_long = False
        for part in self._message.parts:
            if isinstance(part, TextBuffer):
                text = part.text if len(self._message.parts) == 1 else part.text.strip("\n")
                runs += self._text(plain_lines(text, width, style), context) if text else []
            elif is_for_user(part):
                runs += self._block(part, width, style, context)
        warning = style + context.palette.warning
        runs += [plain_lines(f"! {note}", width, warning) for note in self._message.notes]
        bar = Gutter("▌ ", context.palette.accent + style.background_style)
        return Indented(Joined(*runs), bar, ground=style, width=context.width)

    def _block(self, block: ContentBlock, width: int, style: Style, context: DrawContext) -> Iterator[Sequence[Strip]]:
        muted = style + context.palette.muted
        if not isinstance(block, Text | TextResource):
            lines = BlockLines(block, self).lines(context, width, muted, MAX_ROWS if self._is_open else PICTURE_ROWS)
            self._is_long = self._is_long or (isinstance(block, Image) and len(lines) > PICTURE_ROWS)
            yield lines
            return
        self._is_long = True
        label = block_label(block, context.cwd).removeprefix("[").removesuffix("]")
        yield plain_lines(f"{'▾' if self._is_open else '▸'} {label}", width, style + context.palette.accent)
        if self._is_open:
            yield plain_lines(block.text[:MAX_SHOWN_CHARACTERS].rstrip("\n"), width, muted)

    def _text(self, lines: Sequence[Strip], context: DrawContext) -> list[Sequence[Strip]]:
        runs = folded(lines, SHOWN_LINES, context.palette)
        if len(runs) == 1:
            return runs
        self._is_long = True
        return [lines] if self._is_open else runs

    def whole(self, context: DrawContext) -> Sequence[Strip]:
        lines = self.lines(context)
        return super().whole(context) if self._is_long else lines

    @property
    def is_open(self) -> bool:
        return self._is_open or not self._is_long

    @property
    def folds(self) -> bool:
        """A long prompt is shown whole, or its first lines."""
        return self._is_long


class Thought(KeptDrawing):
    """A thought: one dim line until it is unfolded, or the whole thought if the settings show thoughts open."""

    def __init__(self, message: Message) -> None:
        super().__init__()
        self._message = message
        self._is_shut = False
        self._is_whole = False
        self._whole: WholeThought | None = None
        self._is_closed = False

    @property
    def is_open(self) -> bool:
        return self._is_whole

    def close(self) -> None:
        self._is_closed = True
        self.refresh()

    def toggle(self) -> bool:
        """Switch between one line and the whole thought."""
        is_whole = self._is_whole
        self.set_open(not is_whole)
        self._is_shut = is_whole
        return True

    def set_open(self, is_open: bool) -> None:
        """Show the whole thought, or as much as the settings say."""
        super().set_open(is_open)
        self._is_shut = False

    def _draw(self, context: DrawContext) -> Sequence[Strip]:
        self._is_whole = self._is_open or (context.folds.thoughts == "open" and not self._is_shut)
        self.cut_text = ""
        if not self._is_whole:
            self._whole = None
            return self._first_line(context)
        whole = self._whole
        if whole is None or whole.context is not context or whole.parts is not self._message.parts:
            whole = self._whole = WholeThought(self._message, context)
        return whole.lines(is_closed=self._is_closed)

    def whole(self, context: DrawContext) -> Sequence[Strip]:
        lines = self.lines(context)
        return lines if self._is_whole else WholeThought(self._message, context).lines(is_closed=True)

    def _first_line(self, context: DrawContext) -> list[Strip]:
        width, style = thought_width(context), context.palette.thought
        text = self._message.text.strip()
        # Read only the beginning when only the first line is shown: thoughts can be long.
        first = text[: width * 4].partition("\n")[0]
        [spans, *_] = inline_lines(markdown_parser(), first, {}, context.palette, style, is_open=True)
        lines = plain_lines("".join(words for words, _ in spans) or first, width, style)
        if len(lines) > 1 or len(text) > len(first):
            self.cut_text = text[:MAX_TOLD]
            lines = [Strip([*lines[0].crop(0, width - 2), Segment(" …", style)])]
        marker = Gutter(f"{INDENT}▸ ", context.palette.muted)
        return [Strip([marker, *line]) for line in lines]


class WholeThought:
    """A whole thought in one context. Only the text that came last is drawn again."""

    def __init__(self, message: Message, context: DrawContext) -> None:
        self.context = context
        self.parts = message.parts
        self._read: dict[int, int] = {}
        self._stream = PlainStream(thought_width(context), context.palette.thought)
        marker = Gutter(f"{INDENT}▾ ", context.palette.muted)
        self._lines = Indented(self._stream.rows, Gutter(INDENT + "  "), first=marker)

    def lines(self, *, is_closed: bool) -> Sequence[Strip]:
        """The lines as they are now, always as the same object. `is_closed` means that no more text will come."""
        for index, part in enumerate(self.parts):
            if isinstance(part, TextBuffer):
                read = self._read.get(index, 0)
                self._stream.append(part.since(read, max(MAX_SHOWN_CHARACTERS - read, 0)))
                self._read[index] = part.length
        if is_closed:
            self._stream.finish()
        return self._lines


def thought_width(context: DrawContext) -> int:
    """How many cells the text of a thought may take."""
    return max(min(context.width - 2 * len(INDENT) - 2, MAX_TEXT_CELLS), 2)
