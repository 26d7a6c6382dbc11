"""Draws a form or a page that the agent asked for, and what became of it; it asks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.entries import Question
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.web_address import host_of
from acp_tui.conversation.wording import answer_words
from acp_tui.ui.drawings.drawing import Indented, Joined, KeptDrawing, Scene
from acp_tui.ui.drawings.folds import folded
from acp_tui.ui.drawings.tool_calls import when
from acp_tui.ui.rendering.marks import Gutter
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.wrapping import Span, wrap

SIGN: Final = "  ◇ "
RAIL: Final = "    │ "
END: Final = "    ╰ "


class QuestionDrawing(KeptDrawing):
    """One that was answered, or is not any more to be."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self._question = question

    def _draw(self, scene: Scene) -> Sequence[Strip]:
        question, palette = self._question, scene.palette
        width = scene.width - len(RAIL) - 2
        message = plain_lines(question.message.strip(), width, palette.text)
        below = [line for span in self._told(palette) for line in wrap(span, width)]
        runs = [below] if self._is_open else folded(below, scene.folds.text_lines, palette)
        outcome = wrap([_outcome(question, palette)], width)
        return Joined(
            Indented(message, Gutter(" " * len(SIGN)), first=Gutter(SIGN, palette.muted)),
            *(Indented(run, Gutter(RAIL, palette.quote_bar)) for run in runs),
            Indented(outcome, Gutter(" " * len(END)), first=Gutter(END, palette.quote_bar)),
        )

    def _told(self, palette: Palette) -> list[list[Span]]:
        """Where the page is, or what was filled in."""
        if self._question.url is not None:
            host = make_visible_line(host_of(self._question.url) or self._question.url)
            return [[(host, palette.text)]]
        return [
            [
                (f"{make_visible_line(each.name)}: ", palette.muted),
                (make_visible_line(each.value), palette.text),
            ]
            for each in self._question.values
        ]


def _outcome(question: Question, palette: Palette) -> tuple[str, Style]:
    styles = {"accept": palette.success, "decline": palette.error, "cancel": palette.muted}
    return answer_words(question) + when(question.at), styles[question.action]
