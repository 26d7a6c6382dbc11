"""One frame in full: its time, related frames, the rules it breaks, and its JSON, folded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.binding import BindingType
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
from acp_tui.workbench.inspect import Detail
from acp_tui.workbench.inspect.index import MessageKind
from acp_tui.workbench.inspect.outline import Node, OutlineLine, Role
from acp_tui.workbench.inspector.rows import began_at, duration, margin, size

INDENT: Final = 2
MARK_CELLS: Final = 2
MAX_INDENT_SHARE: Final = 3
"""The maximum indent is the width divided by this, so that text fits at any depth."""


def drawn(line: OutlineLine, width: int, palette: Palette) -> list[Strip]:
    """The rows of a line. Rows after the first are indented further."""
    indent = min(line.depth * INDENT, width // MAX_INDENT_SHARE)
    styles = _styles(palette)
    spans = [(make_visible_line(text), styles[role]) for text, role in line.pieces]
    mark = Segment(_mark(line), palette.muted)
    return [
        Strip([Segment(" " * indent), mark if first else Segment(" " * MARK_CELLS), *segments])
        for first, segments in _folded(spans, max(width - indent - MARK_CELLS, 2))
    ]


def _folded(spans: list[Span], width: int) -> Iterator[tuple[bool, list[Segment]]]:
    ranges = fold("".join(text for text, _ in spans), width)
    for at, segments in enumerate(cut_spans(spans, ranges)):
        yield at == 0, segments


def _mark(line: OutlineLine) -> str:
    if line.is_end or not line.node.is_foldable:
        return " " * MARK_CELLS
    return "▾ " if line.node.is_open else "▸ "


def _styles(palette: Palette) -> dict[Role, Style]:
    return {
        Role.KEY: palette.syntax_tag,
        Role.TEXT: palette.syntax_string,
        Role.NUMBER: palette.syntax_number,
        Role.WORD: palette.syntax_keyword,
        Role.SIGN: palette.syntax_operator,
        Role.ASIDE: palette.muted,
    }


MAX_LINES: Final = 3_000
"""The maximum number of lines to unfold together."""
WAYS: Final = {
    LineKind.IN: "from the agent",
    LineKind.OUT: "to the agent",
    LineKind.STDERR: "on stderr",
    LineKind.NOTE: "",
}


class FrameView(LineView, can_focus=True):
    ALLOW_SELECT = False
    PLACE: ClassVar[Place] = "frame"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(*MOVING, place=PLACE)

    def __init__(self) -> None:
        super().__init__(id="frame")
        self._detail: Detail | None = None
        self._started_at = ""
        self._rows: list[tuple[Strip, OutlineLine | None]] = []
        self._cursor = 0

    def show(self, detail: Detail | None, started_at: str) -> None:
        """Show this frame. If it's the same as before, folds stay."""
        before = self._detail
        is_same = before is not None and detail is not None and before.row.position == detail.row.position
        if is_same and before is not None and detail is not None and before.line == detail.line:
            detail = replace(detail, outline=before.outline)
        self._detail, self._started_at = detail, started_at
        if not is_same:
            self._cursor = 0
            self.go_to_line(0)
        self.redraw()

    # What to draw

    @on(events.Resize)
    def redraw(self) -> None:
        width, palette = self.scrollable_content_region.width - 1, palette_for(self.app.current_theme)
        self._rows = list(self._drawn(self._detail, width, palette)) if self._detail and width > 4 else []
        self._cursor = max(0, min(self._cursor, len(self._rows) - 1))
        self.count_lines(len(self._rows))

    def _drawn(self, detail: Detail, width: int, palette: Palette) -> Iterator[tuple[Strip, OutlineLine | None]]:
        for text, style in self._about(detail, palette):
            yield from ((strip, None) for strip in wrap([(text, style)], width))
        if detail.outline is None:
            text = make_visible(detail.line.data[: 1 << 20].decode("utf-8", "replace"))
            for line in text.split("\n")[:MAX_LINES]:
                yield from ((Strip(segments), None) for _, segments in _folded([(line, palette.text)], width))
            return
        for outlined in detail.outline.lines():
            yield from ((strip, outlined) for strip in drawn(outlined, width, palette))

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
        strip, theme = self._rows[line][0], self.app.current_theme
        if theme.ansi and self.is_at_cursor(line):
            strip = Strip([Segment(strip.text)])  # what is readable in the terminal's own colors isn't known
        return Strip([margin(palette_for(theme), is_at_cursor=line == self._cursor), *strip])

    def is_at_cursor(self, line: int) -> bool:
        return self.has_focus and line == self._cursor

    def on_click(self, event: events.Click) -> None:
        line = self.clicked_line(event)
        if line == self._cursor:
            self.action_turn()
        elif line is not None:
            self._put_cursor(line)

    # The cursor

    def _put_cursor(self, line: int) -> None:
        self._cursor = max(0, min(line, len(self._rows) - 1))
        self.reveal(range(self._cursor, self._cursor + 1))
        self.refresh()

    def action_move(self, step: int) -> None:
        self._put_cursor(self._cursor + step)

    def action_page(self, direction: int) -> None:
        self._put_cursor(self._cursor + direction * self.page_lines)

    def action_go_to_end(self, direction: int) -> None:
        self._put_cursor(direction * len(self._rows))

    # Folding

    @property
    def _line(self) -> OutlineLine | None:
        return self._rows[self._cursor][1] if self._rows else None

    def action_turn(self) -> None:
        line = self._line
        if line is not None and line.node.is_foldable:
            self._set_open(line.node, is_open=not line.node.is_open)

    def action_unfold(self) -> None:
        line = self._line
        if line is not None and line.node.is_foldable:
            self._set_open(line.node, is_open=True)

    def action_fold(self) -> None:
        """Fold. If there is nothing to fold, go to the enclosing line."""
        line = self._line
        if line is None:
            return
        if line.node.is_foldable and line.node.is_open:
            self._set_open(line.node, is_open=False)
            return
        for at in range(self._cursor - 1, -1, -1):
            above = self._rows[at][1]
            if above is not None and above.depth < line.depth:
                self._put_cursor(at)
                return

    def action_turn_all(self) -> None:
        """Fold all but the outermost level, or unfold as much as can be drawn."""
        outline = self._detail.outline if self._detail is not None else None
        if outline is None:
            return
        if any(child.is_open for child in outline.root.children):
            outline.fold()
        else:
            outline.unfold(MAX_LINES)
        self.redraw()
        self.reveal(range(self._cursor, self._cursor + 1))

    def _set_open(self, node: Node, *, is_open: bool) -> None:
        node.is_open = is_open
        self.redraw()
        at = next((at for at, (_, line) in enumerate(self._rows) if line is not None and line.node is node), 0)
        self._put_cursor(at)


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
