"""One frame in full: its time, related frames, the rules it breaks, and its JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import ClassVar, Final

from rich.segment import Segment
from textual import events, on
from textual.strip import Strip

from acp_tui.client.transcript.frame_log import LineKind
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import MOVING, bindings_of
from acp_tui.ui.kit.line_view import LineView
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, cut_spans, fold, wrap
from acp_tui.workbench.conformance import Finding, Severity
from acp_tui.workbench.inspect.index import MessageKind
from acp_tui.workbench.inspect.inspection import Detail
from acp_tui.workbench.inspect.outline import MAX_LINES, OutlineLine, Role
from acp_tui.workbench.inspector.rows import began_at, duration, size

INDENT: Final = 2
MAX_INDENT_SHARE: Final = 3
"""The maximum indent is the width divided by this, so that text fits at any depth."""


def drawn(line: OutlineLine, width: int, palette: Palette) -> list[Strip]:
    """The rows of a line. Rows after the first are indented further."""
    indent = min(line.depth * INDENT, width // MAX_INDENT_SHARE)
    styles = {
        Role.KEY: palette.syntax_tag,
        Role.TEXT: palette.syntax_string,
        Role.NUMBER: palette.syntax_number,
        Role.WORD: palette.syntax_keyword,
        Role.SIGN: palette.syntax_operator,
        Role.ASIDE: palette.muted,
    }
    spans = [(make_visible_line(text), styles[role]) for text, role in line.pieces]
    return [
        Strip([Segment(" " * (indent if first else indent + INDENT)), *segments])
        for first, segments in _folded(spans, max(width - indent - INDENT, 2))
    ]


def _folded(spans: list[Span], width: int) -> Iterator[tuple[bool, list[Segment]]]:
    ranges = fold("".join(text for text, _ in spans), width)
    for at, segments in enumerate(cut_spans(spans, ranges)):
        yield at == 0, segments


WAYS: Final = {
    LineKind.IN: "from the agent",
    LineKind.OUT: "to the agent",
    LineKind.STDERR: "on stderr",
    LineKind.NOTE: "",
}


class FrameView(LineView, can_focus=True):
    ALLOW_SELECT = False
    ALSO: ClassVar[tuple[Place, ...]] = ("reading",)
    BINDINGS = bindings_of("read_on", *MOVING)

    def __init__(self) -> None:
        super().__init__(id="frame")
        self._detail: Detail | None = None
        self._started_at = ""
        self._rows: list[Strip] = []

    def show(self, detail: Detail | None, started_at: str) -> None:
        before = self._detail
        self._detail, self._started_at = detail, started_at
        if before is None or detail is None or before.row.position != detail.row.position:
            self.go_to_line(0)
        self.redraw()

    @on(events.Resize)
    def redraw(self) -> None:
        width, palette = self.scrollable_content_region.width - 1, palette_for(self.app.current_theme)
        self._rows = list(self._drawn(self._detail, width, palette)) if self._detail and width > 4 else []
        self.count_lines(len(self._rows))

    def _drawn(self, detail: Detail, width: int, palette: Palette) -> Iterator[Strip]:
        for text, style in self._about(detail, palette):
            yield from wrap([(text, style)], width)
        if detail.outline is None:
            text = make_visible(detail.line.data[: 1 << 20].decode("utf-8", "replace"))
            for line in text.split("\n")[:MAX_LINES]:
                yield from (Strip(segments) for _, segments in _folded([(line, palette.text)], width))
            return
        for outlined in detail.outline:
            yield from drawn(outlined, width, palette)

    def _about(self, detail: Detail, palette: Palette) -> Iterator[Span]:
        row = detail.row
        what = "" if row.form is MessageKind.TEXT else "no message" if row.form is MessageKind.JUNK else row.form.value
        parts = (f"#{row.position}", f"{row.at_s:.3f} s", clock_at(self._started_at, row.at_s), WAYS[row.kind], what)
        yield " · ".join(filter(None, (*parts, size(row.size)))), palette.muted
        yield from self._about_partner(detail, palette)
        for note in detail.notes:
            yield from _about_rule(note, palette)
        yield "", palette.text

    def _about_partner(self, detail: Detail, palette: Palette) -> Iterator[Span]:
        row = detail.row
        key = keys_in_force(self).shown("inspect_partner")
        method = make_visible_line(row.label.method)
        if row.form is MessageKind.REQUEST and row.partner is None:
            yield f"{method} {'has no answer' if detail.is_over else 'waits for its answer'}", palette.warning
        elif row.form is MessageKind.REQUEST and row.took_s is not None:
            yield (f"{method}, answered in {duration(row.took_s)} by #{row.partner} ({key} goes there)", palette.text)
        elif row.form is MessageKind.RESPONSE and row.partner is None:
            yield "it answers no request", palette.warning
        elif row.form is MessageKind.RESPONSE and row.took_s is not None:
            yield (f"response to {method}, #{row.partner}, in {duration(row.took_s)} ({key} goes there)", palette.text)

    def draw_line(self, line: int, width: int) -> Strip:
        return Strip([Segment(" "), *self._rows[line]])

    def action_move(self, step: int) -> None:
        self.go_to_line(self.scroll_offset.y + step)

    def action_go_to_end(self, direction: int) -> None:
        self.go_to_line(0 if direction < 0 else len(self._rows))


def _about_rule(note: Finding, palette: Palette) -> Iterator[Span]:
    rule, (*earlier, _) = note.rule, note.frames
    style = {Severity.ERROR: palette.error, Severity.WARNING: palette.warning}.get(rule.severity, palette.text)
    since = f" (since #{earlier[0]})" if earlier else ""
    yield f"{rule.severity.value} {rule.rule_id}: {make_visible_line(note.text)}{since}", style
    yield f"  {rule.advice} {rule.reference}", palette.muted


def clock_at(started_at: str, at_s: float) -> str:
    """The local time of an event; "" if unknown."""
    began = began_at(started_at)
    try:
        return f"{began + timedelta(seconds=at_s):%H:%M:%S}" if began else ""
    except OverflowError:
        return ""
