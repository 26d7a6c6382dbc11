"""Draws answered questions and notes: how a turn ended, failures, compactions, and updates acp-tui doesn't know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Compaction, Failure, Question, TurnEnd
from acp_tui.conversation.updates import ClientRemark, Reconnected, UnknownUpdate
from acp_tui.conversation.value_outline import value_lines
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.visible.cutting import cut_shown
from acp_tui.conversation.web_address import host_of
from acp_tui.conversation.wording import answer_words, facts_words, forked, last_words, stop_words
from acp_tui.ui.conversation.blocks import block_label
from acp_tui.ui.conversation.drawing import DrawContext, Drawing, Indented, Joined, KeptDrawing, folded
from acp_tui.ui.conversation.messages import MAX_TEXT_CELLS
from acp_tui.ui.conversation.tool_calls import RAIL, when
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.wrapping import Gutter, Span, cut, wrap

SIGN: Final = "  ◇ "
END: Final = "    ╰ "


class QuestionDrawing(KeptDrawing):
    def __init__(self, question: Question) -> None:
        super().__init__()
        self._question = question

    def _draw(self, context: DrawContext) -> Sequence[Strip]:
        question, palette = self._question, context.palette
        width = min(context.width - len(RAIL) - 2, MAX_TEXT_CELLS)
        message = plain_lines(cut_shown(question.message.strip()), width, palette.text)
        below = [line for span in self._told(palette) for line in wrap(span, width)]
        runs = [below] if self._is_open else folded(below, context.folds.text_lines, palette)
        styles = {"accept": palette.success, "decline": palette.error, "cancel": palette.muted}
        outcome = wrap([(answer_words(question) + when(question.at), styles[question.action])], width)
        return Joined(
            Indented(message, Gutter(" " * len(SIGN)), first=Gutter(SIGN, palette.muted)),
            *(Indented(run, Gutter(RAIL, palette.quote_bar)) for run in runs),
            Indented(outcome, Gutter(" " * len(END)), first=Gutter(END, palette.quote_bar)),
        )

    def _told(self, palette: Palette) -> list[list[Span]]:
        """The page's host, or what was filled in."""
        if self._question.url is not None:
            host = make_visible_line(host_of(self._question.url) or self._question.url)
            return [[(host, palette.text)]]
        return [
            [(f"{make_visible_line(each.label)} ", palette.muted), (make_visible_line(each.value), palette.text)]
            for each in self._question.values
        ]


Note: TypeAlias = Compaction | Failure | ClientRemark | Reconnected | TurnEnd | UnknownUpdate

NOTE_STATES: Final[dict[type[object], str]] = {
    Failure: "failure",
    TurnEnd: "turn-end",
    Reconnected: "restart",
    ClientRemark: "remark",
    Compaction: "compaction",
    UnknownUpdate: "unknown",
}
"""The CSS state of each kind of note."""

INDENT: Final = "  "

RESTARTED: Final = {
    True: "the agent was restarted and continues this session",
    False: "the agent was restarted; it has no memory of the conversation above",
}
RECONNECTED: Final = {
    True: "reconnected; the agent continues this session",
    False: "reconnected; the agent has no memory of the conversation above",
}
LOADED: Final = "the agent was restarted; the conversation is shown as the agent kept it"
LOADED_AGAIN: Final = "reconnected; the conversation is shown as the agent kept it"


class NoteDrawing(KeptDrawing):
    """A few lines of acp-tui's own about the session."""

    def __init__(self, note: Note) -> None:
        super().__init__()
        self._note = note

    def _draw(self, context: DrawContext) -> Sequence[Strip]:
        head, *rest = self._spans(context)
        below = [_part(text, style, context, level=2) for text, style in rest]
        return Joined(_part(*head, context, level=1), *below, Indented(self._summary(context), Gutter(2 * INDENT)))

    def _spans(self, context: DrawContext) -> list[tuple[str, Style]]:
        """The heading, with a mark before it, and the details."""
        palette = context.palette
        match self._note:
            case TurnEnd(stop_reason):
                style = palette.muted if stop_reason == "cancelled" else palette.warning
                return [(f"■ {make_visible_line(stop_words(stop_reason))}", style)]
            case Reconnected() as restart:
                return _restart(restart, palette)
            case ClientRemark(text):
                return [(f"! {make_visible_line(text)}", palette.warning)]
            case Failure() as failure:
                return self._failure(failure, context)
            case Compaction(_, status, summary, error):
                mark = ("▾" if self._is_open else "▸") if summary else "↻"
                words = make_visible_line(status.replace("_", " "))
                lines = [(f"{mark} context compaction: {words}", palette.muted)]
                return lines + ([(error, palette.error)] if error else [])
            case UnknownUpdate(kind, raw):
                lines = [(f"? {make_visible_line(kind)}: an update acp-tui doesn't know", palette.muted)]
                if self._is_open:
                    lines.append(("\n".join(value_lines(raw, "")), palette.muted))
                return lines

    def _failure(self, failure: Failure, context: DrawContext) -> list[tuple[str, Style]]:
        spans = [(f"✗ {failure.message}", context.palette.error)]
        if failure.detail:
            spans.append((failure.detail, context.palette.text))
        if failure.said is not None:
            spans += [(line, context.palette.muted) for line in facts_words(failure.said)]
        if again := context.retry_words(failure):
            spans.append((again, context.palette.warning))
        tail = failure.stderr_tail.strip("\r\n").split("\n") if failure.stderr_tail.strip() else []
        shown = tail if self._is_open else [cut(line, context.width - 3 * len(INDENT)) for line in last_words(tail)]
        if shown:
            left_out = len(tail) - len(shown)
            title = f"its last lines, … {left_out} more lines:" if left_out else "its last lines:"
            spans += [(title, context.palette.muted), ("\n".join(shown), context.palette.muted)]
        return spans

    def _summary(self, context: DrawContext) -> Sequence[Strip]:
        """The summary that the agent keeps in place of the conversation so far."""
        blocks = self._note.summary if isinstance(self._note, Compaction) and self._is_open else ()
        if not blocks:
            return ()
        width = min(context.width - 3 * len(INDENT), MAX_TEXT_CELLS)
        text = MarkdownRenderer("".join(block.text for block in blocks if isinstance(block, Text)))
        text.finish()
        labels = [block_label(block) for block in blocks if not isinstance(block, Text)]
        others = [wrap([(label, context.palette.muted)], width) for label in labels]
        return Joined(text.lines(width, context.palette), *others)

    @property
    def folds(self) -> bool:
        """A note is shown whole, or its summary. One of one line doesn't fold."""
        return not isinstance(self._note, TurnEnd | ClientRemark | Reconnected)


def _restart(restart: Reconnected, palette: Palette) -> list[tuple[str, Style]]:
    said = RECONNECTED if restart.is_same else RESTARTED
    words = said[restart.remembers]
    if restart.is_loaded:
        words = LOADED_AGAIN if restart.is_same else LOADED
    if restart.forked_from:
        words = make_visible_line(forked(restart.forked_from))
    spans = [(f"↻ {words}", palette.muted if restart.remembers else palette.warning)]
    return spans + ([(restart.why, palette.text)] if restart.why else [])


def _part(text: str, style: Style, context: DrawContext, *, level: int) -> Sequence[Strip]:
    width = min(context.width - (level + 1) * len(INDENT), MAX_TEXT_CELLS)
    return Indented(plain_lines(cut_shown(text), width, style), Gutter(level * INDENT))


class Undrawable(Drawing):
    """Stands for an entry whose drawing failed. Such a bug of ours must not hide the rest."""

    def lines(self, context: DrawContext) -> Sequence[Strip]:
        return wrap([("  ✗ acp-tui failed to draw this entry", context.palette.error)], context.width)[:1]
