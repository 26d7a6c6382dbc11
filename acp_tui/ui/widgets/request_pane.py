"""One permission request and the keys and clicks that answer it, docked or on a screen of its own.

It never answers by itself: keys and clicks count only some time after the request has appeared and the pane has got
the focus, since what was typed before was meant for something else. It decides neither where it stands nor how high.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Final, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip

from acp_tui.conversation.facts import PermissionOption, RequestKey
from acp_tui.ui.drawings import permissions as drawings
from acp_tui.ui.drawings.drawing import Joined
from acp_tui.ui.drawings.permission_subject import Asked, Look, Subject, SubjectDrawing
from acp_tui.ui.rendering.diff import DiffLayout
from acp_tui.ui.rendering.diff_model import CONTEXT_LINES
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import wrap
from acp_tui.ui.themes import palette_for
from acp_tui.ui.widgets.answer_guard import AnswerGuard
from acp_tui.ui.widgets.strip_view import StripView

CANCEL_TO_REFUSE: Final = "to refuse, cancel the turn"
COMPARING_PAUSE_S: Final = 0.002
"""Until a long diff is compared further; keys get their turn."""


class RowCounts(NamedTuple):
    """How high each part of a request is."""

    subject: int
    options: int
    keys: int


class RequestPane(Vertical, can_focus=True):
    """What the agent wants to do, and below it the agent's own options."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "confirm", "Answer with the chosen option", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("r", "toggle_raw", "Show or hide the raw report", show=False),
        Binding("w", "reject_and_say_why", "Reject and say why", show=False),
        *(
            Binding(str(number), f"answer({number})", f"Option {number}", show=False)
            for number in range(1, drawings.MAX_NUMBER + 1)
        ),
    ]

    class Answered(Message, namespace="permission_card"):
        """The user chose an option."""

        def __init__(self, key: RequestKey, option_id: str) -> None:
            super().__init__()
            self.key = key
            self.option_id = option_id

    class RejectedWithReason(Message, namespace="permission_card"):
        """The user rejects, and is about to write why."""

        def __init__(self, key: RequestKey, option_id: str, title: str) -> None:
            super().__init__()
            self.key = key
            self.option_id = option_id
            self.title = title
            """What the call was called, as the agent wrote it."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        drawing: SubjectDrawing | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self.guard = AnswerGuard(clock)
        self._drawing = drawing or SubjectDrawing()
        self._asked: Asked | None = None
        self._state: tuple[object, ...] = ()
        """Of what is shown: while the agent says other things, nothing is drawn again."""
        self._drawn = Subject()
        self._chosen: int | None = None
        self._shows_raw = False
        self._warning = ""
        """What is said in the place of the keys, until the user does something else."""
        self._option_rows: list[range] = []

    def compose(self) -> ComposeResult:
        """What is asked, the answers below it, and what the keys do."""
        yield StripView(id="subject")
        yield StripView(id="options")
        yield StripView(id="keys")

    # What it shows

    def show_request(self, asked: Asked | None) -> None:
        """Show this request; another one than before from its beginning, with nothing chosen."""
        shown, self._asked = self._asked, asked
        state, self._state = self._state, asked.state if asked is not None else ()
        if asked is not None and (shown is None or asked.request.key != shown.request.key):
            self._begin()
        elif self._state != state:
            self.redraw()

    def _begin(self) -> None:
        """Show another request than before."""
        self._chosen, self._shows_raw, self._warning = None, False, ""
        self.guard.arm()
        self.redraw()
        for view in (self._subject, self._options):
            view.scroll_to(y=0, animate=False, force=True)

    @abstractmethod
    def rows_for(self, subject: int, options: int, keys: int) -> RowCounts:
        """How many rows each part gets, which wants so many."""

    @abstractmethod
    def keys(self, *, has_focus: bool, is_cut: bool) -> Sequence[str]:
        """What can be done: keys and what they do; `is_cut` where more of the subject is to be read."""

    def answer_keys(self, others: str) -> str:
        """The keys that answer; `others` lead to options that have no number."""
        count = len(self.options)
        numbers = f"1-{min(count, drawings.MAX_NUMBER)}" if count > 1 else "1"
        return f"{numbers} {others}: answer" if count > drawings.MAX_NUMBER else f"{numbers}: answer"

    @property
    def can_reject(self) -> bool:
        """Whether the agent offers an option that refuses; else one can only cancel the turn."""
        return rejection_among(self.options) is not None

    @property
    def layout_of_diffs(self) -> DiffLayout:
        """In one column or in two."""
        return "unified"

    @property
    def context_of_diffs(self) -> int | None:
        """How many unchanged lines to show around a change, None for the whole file."""
        return CONTEXT_LINES

    @property
    def _subject(self) -> StripView:
        return self.query_one("#subject", StripView)

    @property
    def _options(self) -> StripView:
        return self.query_one("#options", StripView)

    def on_mount(self) -> None:
        """Draw again in other colours, and count nothing that was meant for another screen."""
        self.watch(self.app, "theme", self.redraw, init=False)
        # A screen that lay above is gone: only now one sees again what is asked.
        self.watch(self.screen, "stack_updates", self.guard.arm, init=False)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.redraw()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Keys count a moment after the focus came."""
        super().watch_has_focus(has_focus)
        self.guard.arm()
        self._warning = ""
        self.lay_out()

    def redraw(self) -> None:
        """Draw the request as it is now."""
        if self._asked is None or self._width < 2:
            return
        palette = self._palette
        look = Look(self._width, palette, self.layout_of_diffs, self._shows_raw, self.context_of_diffs)
        subject = self._drawing.draw(self._asked, look)
        if not subject.is_whole:
            self.set_timer(COMPARING_PAUSE_S, self.redraw)
        title = drawings.title_lines(self._asked, palette, self._width)
        hunks = tuple(len(title) + row for row in subject.hunks)
        self._drawn = Subject(Joined(title, subject.lines), hunks)
        self.lay_out()

    def lay_out(self) -> None:
        """Show what is drawn, with the answers and keys as they are now."""
        if self._asked is None or self._width < 2:
            return
        options = drawings.option_lines(self._asked.request.options, self._chosen, self._palette, self._width)
        self._option_rows = _rows_of(options)
        answers = [strip for lines in options for strip in lines]
        # Whatever is said there, it has as many rows: else the options would move under the mouse.
        most_keys = self._keys_lines(has_focus=True, is_cut=True)
        lines = self._drawn.lines
        rows = self.rows_for(len(lines), len(answers), len(most_keys))
        self._subject.show(lines, rows.subject)
        self._options.show(answers, rows.options)
        self._reveal_chosen(rows.options)
        said = self._warning_lines() or self._keys_lines(
            has_focus=self.has_focus, is_cut=rows.subject < len(lines)
        )
        self.query_one("#keys", StripView).show(said[: rows.keys], rows.keys)

    def _keys_lines(self, *, has_focus: bool, is_cut: bool) -> list[Strip]:
        keys = self.keys(has_focus=has_focus, is_cut=is_cut)
        return drawings.keys_lines(keys, self._palette.muted, self._width)

    def _warning_lines(self) -> list[Strip]:
        return wrap([(self._warning, self._palette.warning)], self._width) if self._warning else []

    def _reveal_chosen(self, height: int) -> None:
        if self._chosen is None:
            return
        rows, top = self._option_rows[self._chosen], self._options.scroll_offset.y
        y = min(max(top, rows.stop - height), rows.start)
        self._options.scroll_to(y=y, animate=False, force=True)

    @property
    def _width(self) -> int:
        # The scroll bar's column is kept free, so that the text does not jump when it appears.
        return self.content_size.width - 1

    @property
    def _palette(self) -> Palette:
        return palette_for(self.app.current_theme)

    @property
    def options(self) -> tuple[PermissionOption, ...]:
        """The answers that the agent offers."""
        return self._asked.request.options if self._asked is not None else ()

    # What the user does

    def action_choose(self, step: int) -> None:
        """Move the choice; nothing is chosen until then."""
        if not self.options:
            return
        last = len(self.options) - 1
        start = (-1 if step > 0 else last + 1) if self._chosen is None else self._chosen
        self._chosen = max(0, min(last, start + step))
        self.warn("")

    def action_confirm(self) -> None:
        """Answer with the chosen option; with none chosen, nothing happens."""
        if self._chosen is not None:
            self._answer(self._chosen, "press Enter again")

    def action_answer(self, number: int) -> None:
        """Answer with the option of that number."""
        self._answer(number - 1, f"press {number} again")

    def on_click(self, event: events.Click) -> None:
        """A click on an option answers with it."""
        if event.widget is not self._options:
            return
        row = event.screen_y - self._options.region.y + self._options.scroll_offset.y
        for index, rows in enumerate(self._option_rows):
            if row in rows:
                self._answer(index, "click again")

    def action_reject_and_say_why(self) -> None:
        """Answer with the agent's own rejection, and let the user write the reason."""
        option = rejection_among(self.options)
        if option is not None and self._asked is not None and self._counts("press w again"):
            request, title = self._asked.request, self._asked.call.shown_title
            self.tell(self.RejectedWithReason(request.key, option.option_id, title))

    def _answer(self, index: int, again: str) -> None:
        if self._asked is not None and index < len(self.options) and self._counts(again):
            self.tell(self.Answered(self._asked.request.key, self.options[index].option_id))

    def _counts(self, again: str) -> bool:
        """Whether what the user did can have been meant as an answer; where not, what to do is said."""
        if not self.guard.is_open:
            self.warn(f"Too soon to count: {again} to answer")
            return False
        return True

    def tell(self, message: Message) -> None:
        """Let those know who wait for a decision."""
        self.post_message(message)

    def warn(self, text: str) -> None:
        """Say this in the place of the keys; "" for the keys."""
        self._warning = text
        self.lay_out()

    def action_page(self, direction: int) -> None:
        """Page through a long request."""
        self._subject.page(direction)

    def action_toggle_raw(self) -> None:
        """Show or hide what the agent reported, as it came."""
        self._shows_raw = not self._shows_raw
        self._warning = ""
        self.redraw()


def rejection_among(options: Sequence[PermissionOption]) -> PermissionOption | None:
    """The option that rejects and decides nothing else, else one that rejects for good; None without one."""
    rejections = [option for option in options if option.is_rejection]
    once = [option for option in rejections if option.kind == "reject_once"]
    return next(iter([*once, *rejections]), None)


def _rows_of(lines: Sequence[Sequence[Strip]]) -> list[range]:
    """In which rows each of these stands, below each other."""
    rows, start = [], 0
    for group in lines:
        rows.append(range(start, start + len(group)))
        start += len(group)
    return rows
