"""Selecting lines of diffs and commenting on them. What becomes of the comments is decided by who shows the lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.actions import SkipAction
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Input

from acp_tui.client.line_comments import Comment, Version, comment_on, write_comment
from acp_tui.client.line_comparison import PlacedLine
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.desktop import copy
from acp_tui.ui.kit.dialog import Dialog
from acp_tui.ui.kit.line_view import StripView
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.diff import LineSign
from acp_tui.ui.rendering.wrapping import cut, width_cells

MARK: Final = "●"
"""After the sign of a line with a comment."""
MIN_NOTE_CELLS: Final = 8
"""With fewer cells behind a commented line, the comment isn't shown there."""
SELECTED: Final = Style(reverse=True, dim=False)


def counted(comments: Sequence[Comment]) -> str:
    return f"{len(comments)} comment{'s' * (len(comments) > 1)}"


class CommentView(StripView):
    """Lines, among them those of diffs, which the user can select and comment on."""

    class Moved(Message):
        """Something else is selected, or there are other comments."""

    def __init__(self, comments: list[Comment], *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._comments = comments
        self._cursor: int | None = None
        self._anchor = 0
        """The row where the selection began."""

    def show(self, strips: Sequence[Strip], height: int) -> None:
        if len(strips) != len(self._strips):
            self._cursor = None  # the row is another line now
        if self._cursor is not None and self._selection:
            self.call_after_refresh(self.reveal, range(self._cursor, self._cursor + 1))  # there may be fewer rows now
        super().show(strips, height)

    def draw_line(self, line: int, width: int) -> Strip:
        strip = super().draw_line(line, width)
        comment = next(filter(None, (comment_on([placed], self._comments) for placed in self._placed(line))), None)
        if comment is not None:
            strip = Strip(
                LineSign(f"{each.text[0]}{MARK}", each.style) if isinstance(each, LineSign) else each for each in strip
            )
            used = width_cells(strip.text.rstrip())
            is_last = comment.lines[-1] in set(self._placed(line)).difference(self._placed(line + 1))
            if is_last and width - used >= MIN_NOTE_CELLS:
                note = cut(f"  {make_visible_line(comment.text)}", width - used)
                muted = Strip([Segment(note, palette_for(self.app.current_theme).muted)])
                strip = Strip.join([strip.crop(0, used), muted, strip.crop(used + muted.cell_length)])
        return self._selected(strip.adjust_cell_length(width)) if line in self._selection else strip

    def _selected(self, strip: Strip) -> Strip:
        """The row on the selection's background, with the signs on the colors of what was added and removed."""
        palette = palette_for(self.app.current_theme)
        colors = {"+": palette.success, "-": palette.error}
        plain = ((each, (each.style or Style.null()).without_color) for each in strip)
        return Strip(
            Segment(
                each.text, style + (colors.get(each.text[0], style) if isinstance(each, LineSign) else style) + SELECTED
            )
            for each, style in plain
        )

    @property
    def keys(self) -> Sequence[str]:
        selecting = ["{select_up} {select_down} select", "{comment} comment"]
        return [
            *(selecting if self._selection else ["{comment} select a line"]),
            *[f"{counted(self._comments)} for your next prompt"] * bool(self._comments),
        ]

    # The selection

    @property
    def _in_view(self) -> range:
        top = self.scroll_offset.y
        return range(top, min(top + self.scrollable_content_region.height, len(self._strips)))

    @property
    def _selection(self) -> range:
        """The selected rows. There are none if the cursor is out of view."""
        if self._cursor is None or self._cursor not in self._in_view:
            return range(0)
        return range(min(self._cursor, self._anchor), max(self._cursor, self._anchor) + 1)

    def _placed(self, row: int) -> list[PlacedLine]:
        """The lines of diffs in this row: two if they are side by side."""
        strips = self._strips[row : row + 1]
        return [each.placed for strip in strips for each in strip if isinstance(each, LineSign)]

    @property
    def selected_text(self) -> str:
        """The selected lines without their signs."""
        lines = (line for row in self._selection for line in self._placed(row))
        return "\n".join(line.text for line in dict.fromkeys(lines))  # a long line has several rows

    def copy_selected(self) -> None:
        if not self.selected_text:
            raise SkipAction
        self.run_worker(copy(self.screen, self.selected_text))

    def select(self, row: int | None, *, extends: bool = False) -> None:
        """Select this row alone, or all from where the selection began to it; None selects nothing."""
        self._cursor = row
        if row is not None:
            self._anchor = self._anchor if extends else row
            self.reveal(range(row, row + 1))
        self.refresh()
        self.post_message(self.Moved())

    def begins_in(self, rows: range) -> range:
        """Of the rows in view, those where a selection may begin."""
        return rows

    def _begin(self) -> None:
        rows = [row for row in self.begins_in(self._in_view) if self._placed(row)]
        changed = (row for row in rows if any(line.sign != " " for line in self._placed(row)))
        self.select(next(changed, rows[0] if rows else None))

    def end(self) -> None:
        """Select nothing."""
        if self._cursor is not None:
            self.select(None)

    def step(self, step: int, *, extends: bool = False) -> bool:
        """Select the next line for 1, the one before for -1. Returns False if nothing is selected or there is none."""
        if extends and not self._selection:
            self._begin()
            return True
        if self._cursor is None or not self._selection:
            return False
        ahead = range(self._cursor + step, len(self._strips) if step > 0 else -1, step)
        row = next((row for row in ahead if self._placed(row)), None)
        if row is not None:
            self.select(row, extends=extends)
        return row is not None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._point(event, extends=False)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button and self._selection:
            self._point(event, extends=True)

    def _point(self, event: events.MouseEvent, *, extends: bool) -> None:
        place = event.get_content_offset(self)
        row = -1 if place is None else self.scroll_offset.y + place.y
        if row != self._cursor and 0 <= row < len(self._strips) and self._placed(row):
            self.select(row, extends=extends)

    # The comments

    def comment(self, folder: Path, version_of: Callable[[Path], Version | None]) -> None:
        """Let the user write on what is selected, or select something first. Paths are relative to `folder`."""
        if self._cursor is None or not self._selection:
            self._begin()
            return
        path = self._placed(self._cursor)[0].path
        lines = [line for row in self._selection for line in self._placed(row) if line.path == path]
        file = folder / path
        before = comment_on(lines, self._comments)
        comment = before or Comment(tuple(dict.fromkeys(lines)), file, version_of(file), "")

        def keep(text: str | None) -> None:
            if text is not None:
                write_comment(comment._replace(text=text), self._comments)
                self.refresh()
                self.post_message(self.Moved())

        self.app.push_screen(CommentDialog(comment), keep)


class CommentDialog(Dialog[str | None]):
    """Returns the text for a comment; None if it stays as it is."""

    def __init__(self, comment: Comment) -> None:
        keys = f"Enter keep{', or remove if empty' * bool(comment.text)} · {{dialog_close}} leave it"
        super().__init__(f"Comment on {comment.place}", keys, Input(comment.text, select_on_focus=False))

    @on(Input.Submitted)
    def _take_comment(self, event: Input.Submitted) -> None:
        event.stop()  # the app may be someone else's, with an input of its own
        self.dismiss(event.value)
