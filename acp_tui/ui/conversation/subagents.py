"""Draws a subagent where it was started: its name, its state, what it said last, and its cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation import buffers, entries, facts, wording
from acp_tui.conversation.conversation import Conversation, SubagentState
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.conversation.drawing import DrawContext, KeptDrawing
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Gutter, cut, width_cells, wrap

GLYPHS: Final = {
    "running": "◐",
    "needs you": "▲",
    "done": "✓",
    "canceled": "⊘",
    "failed": "✗",
    "stopped": "■",
    "idle": "○",
}
RAIL: Final = "    ╰ "
MIN_CELLS: Final = 12
"""The least room for a title, however long the text after it is."""
MAX_TAIL: Final = 400
"""Characters at the end of a message that are searched for its last line."""
_CUT_WORD: Final = re.compile(r"^\S*(?=\s)")


def name_of(subagent: SubagentState) -> str:
    return make_visible_line(subagent.conversation.title or subagent.description or "subagent")


def state_style(state: str, palette: Palette) -> Style:
    styles = {"running": palette.accent, "done": palette.success, "failed": palette.error}
    return styles.get(state, palette.warning if state == "needs you" else palette.muted)


def last_line(conversation: Conversation, width: int, palette: Palette) -> str:
    """The last thing said or done, in one line; "" if there is nothing."""
    entry = conversation.entries[-1] if conversation.entries else None
    match entry:
        case entries.Message():
            return last_line_of(entry, width, palette)
        case entries.ToolCallEntry(call=call):
            return make_visible_line(call.shown_title)
        case entries.Subagent(session_id):
            return name_of(conversation.subagents[facts.SessionId(session_id)])
        case _:
            return ""


def last_line_of(message: entries.Message, width: int, palette: Palette) -> str:
    """The last line of a message, which is read as Markdown, from the beginning of a word."""
    texts = [part for part in message.parts if isinstance(part, buffers.TextBuffer)]
    tail = texts[-1].since(max(texts[-1].length - MAX_TAIL, 0)) if texts else ""
    read = MarkdownRenderer(_CUT_WORD.sub("…", tail, 1) if texts and texts[-1].length > MAX_TAIL else tail)
    read.finish()
    rows = read.lines(width, palette)
    return next(filter(None, (_cells(rows[at].text) for at in reversed(range(len(rows))))), "")


def _cells(row: str) -> str:
    """A row in words: the cells of a table without its lines."""
    return " · ".join(filter(None, map(str.strip, row.split("│"))))


class SubagentDrawing(KeptDrawing):
    """Two lines, however much the subagent says. You open its conversation to read it."""

    def __init__(self, entry: entries.Subagent) -> None:
        super().__init__()
        self._entry = entry

    def _draw(self, context: DrawContext) -> Sequence[Strip]:
        subagent = context.subagents[facts.SessionId(self._entry.session_id)]
        palette, width = context.palette, context.width - len(RAIL) - 2
        said = subagent.conversation
        state = wording.subagent_state(subagent)
        aside = " · ".join(filter(None, (state, _steps(said), wording.spent_words(said))))
        name = cut(name_of(subagent), max(width - width_cells(aside) - 2, MIN_CELLS))
        head = [
            Gutter(f"  {GLYPHS[state]} ", state_style(state, palette)),
            Gutter("↳ ", palette.muted),
            *wrap([(name, palette.strong), (f"  {aside}", palette.muted)], width)[0],
        ]
        below = last_line(said, width, palette) or make_visible_line(subagent.description or "")
        if not below:
            return [Strip(head)]
        return [
            Strip(head),
            Strip([Gutter(RAIL, palette.quote_bar), *wrap([(cut(below, width), palette.muted)], width)[0]]),
        ]

    @property
    def folds(self) -> bool:
        """It is opened instead."""
        return False


def _steps(said: Conversation) -> str:
    count = len(said.tool_call_entries)
    return f"{count} tool call{'s' * (count > 1)}" if count else ""
