"""Lays out one permission request in the rows it gets: title, subject, keys, and options. Answers nothing."""

from __future__ import annotations

import posixpath
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.errors import NoWidget
from textual.events import MouseEvent
from textual.geometry import Region
from textual.strip import Strip

from acp_tui.client.line_comparison import CONTEXT_LINES
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import PermissionRequest, RequestKey
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.kit.answer_guard import PAUSE, AnswerGuard
from acp_tui.ui.kit.dialog import key_lines
from acp_tui.ui.kit.line_view import StripView
from acp_tui.ui.kit.notice_lines import AskingChanged
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.permission import request_drawing as drawings
from acp_tui.ui.permission.request_drawing import DrawnSubject, FileRow, SubjectDrawing, SubjectStyle, changed_file
from acp_tui.ui.rendering.diff import DiffLayout
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import pack, wrap

Part: TypeAlias = Literal["title", "subject", "keys", "options", "gap"]

ALL: Final = 1 << 30
ENOUGH_TITLE_ROWS: Final = 2
ENOUGH_OPTION_ROWS: Final = 6
"""The minimum number of option rows in view; more may scroll."""
ENOUGH_SUBJECT_ROWS: Final = 8
"""With this many, other parts get more room."""

_ORDER: Final[tuple[tuple[Part, int], ...]] = (
    # Nobody may answer what isn't in view, so every part gets something first.
    ("subject", 2),
    ("options", 1),
    ("keys", 1),
    ("title", ENOUGH_TITLE_ROWS),
    ("options", ENOUGH_OPTION_ROWS),
    ("title", 4),
    ("subject", 4),
    ("keys", ALL),
    ("subject", ENOUGH_SUBJECT_ROWS),
    ("options", ALL),
    ("subject", ENOUGH_SUBJECT_ROWS + 4),
    ("gap", 1),
    ("subject", ALL),
    ("title", ALL),
)
"""Distributes rows: each step raises one part to a number of rows."""


class RowCounts(NamedTuple):
    """The height of each part of a request, from top to bottom."""

    title: int = 0
    subject: int = 0
    gap: int = 0
    """Free rows above the keys."""
    keys: int = 0
    options: int = 0


def share_out(wanted: RowCounts, room: int) -> RowCounts:
    """Distribute `room` rows, with at most `wanted` for each part."""
    rows = RowCounts()
    for part, most in _ORDER:
        missing = min(most, getattr(wanted, part)) - getattr(rows, part)
        more = max(0, min(missing, room - sum(rows)))
        rows = rows._replace(**{part: getattr(rows, part) + more})
    return rows


def is_enough(rows: RowCounts, wanted: RowCounts) -> bool:
    """Whether users see what they would answer: the title, the beginning of the subject, and the options."""
    return (
        rows.title >= min(wanted.title, ENOUGH_TITLE_ROWS)
        and rows.keys > 0
        and rows.subject >= min(wanted.subject, 2)
        and rows.options >= min(wanted.options, ENOUGH_OPTION_ROWS)
    )


class Place:
    """Where a request is shown: how many rows it gets there, and how its diffs are laid out."""

    def __init__(self, card: Vertical) -> None:
        """The `card` is the frame around the request."""
        self.card = card
        self.contexts: Sequence[int | None] = (CONTEXT_LINES,)
        """How many unchanged lines to show around each change, the first number that needs no scrolling, or the last.

        None for the whole file.
        """

    @abstractmethod
    def rows_for(self, wanted: RowCounts) -> RowCounts | None:
        """The rows for each part, at most `wanted`; None if they are too few to answer."""

    def rows_too_small(self, title: int) -> RowCounts:
        """The rows for the title, which needs `title` of them, and for the keys, if answering isn't possible."""
        return RowCounts(title=title, keys=1)

    def fit(self, rows: int, beside: int, said: int) -> bool:
        """Take at most `rows` rows in total. What is next to it would like `beside`, what is above `said`.

        Returns whether that's new.
        """
        return False

    def frame(self, rows: RowCounts | None) -> None:
        """Frame the request, which gets these rows, as far as there is room."""

    @property
    def layout_of_diffs(self) -> DiffLayout:
        return "unified"


class Host(Protocol):
    """The card around a body."""

    @property
    def guard(self) -> AnswerGuard:
        """Armed whenever the request reads differently: no key counts until that was on the terminal's screen."""

    @property
    def chosen(self) -> int | None:
        """The option to mark; None for none."""

    has_focus: bool
    """Whether it gets the keys."""

    def keys(self, *, is_cut: bool) -> Sequence[str]:
        """What to say below the options, such as the keys. `is_cut` is True if the subject goes on below."""

    @property
    def warning(self) -> str:
        """Shown in place of the keys as long as it holds; "" for none."""

    def note_request(self, asked: ShownRequest | None, *, is_other: bool) -> None:
        """Note what is shown from now on, before it's drawn. `is_other`: it isn't the request that was shown."""


WENT_BY: Final = "Pages went by too fast or were skipped"
MOST_SCREENS: Final = 2
"""Of more lines, fewer unchanged ones would hardly leave as few as are in view."""
COMPARING_PAUSE_S: Final = 0.002
"""Pause before a long diff is compared further, so that keys are handled."""


class RequestBody(Vertical):
    """What the agent wants to do, and below it the agent's own options.

    The options come last, so that they stay in place under the mouse, whatever the keys above them show.
    """

    DEFAULT_CSS = "RequestBody { height: auto; }"

    def __init__(self, host: Host, place: Place, *, raw_hint: str = "", source: RequestBody | None = None) -> None:
        """`raw_hint` says how to see the raw report of the agent; `source` whose request this shows."""
        super().__init__()
        self.card = place.card
        self._host, self._place, self._raw_hint = host, place, raw_hint
        self.drawing: SubjectDrawing = source.drawing if source is not None else SubjectDrawing()
        self.asked: ShownRequest | None = None
        self.mirrors: set[Callable[[ShownRequest | None], None]] = set()
        """They show the same request on other screens."""
        self.source: RequestBody = source.source if source is not None else self
        """Whose request this shows; itself if it has requests of its own."""
        self.turned_to: RequestKey | None = None
        """The request that the user wants to see, while it waits, in place of the oldest one."""
        self._waiting: tuple[Sequence[PermissionRequest], Conversation, str] | None = None
        """What `show` was called with last."""
        self._state: tuple[object, ...] = ()
        """The state of what is shown, so that other updates from the agent redraw nothing."""
        self.context: int | None = CONTEXT_LINES
        """The number of unchanged lines around each change; None for the whole file."""
        self._whole = DrawnSubject()
        self.drawn = DrawnSubject()
        """The part that is scrolled. It includes the title if that is cut above."""
        self.rows: RowCounts | None = None
        """None if there isn't enough room to answer here."""
        self._start = 0
        """The line of the subject to show first."""
        self._begins_at: int | None = None
        """On the full screen, the top or the first row not seen elsewhere, once that is known."""
        self._pending: int | None = None
        """The line to scroll to once the layout is ready; None if that is done."""
        self._reads: tuple[object, ...] = ()
        self._pages: dict[range, object] = {}
        """What the guard calls the rows in view, and others that the terminal has yet to show, reading like that."""
        self._next_row = 0
        """The next row that wasn't seen and doesn't wait for the terminal; if there is none, the number of rows."""
        self._went_back = False
        """Whether the last answer led to rows above those in view: the user left them too soon, or skipped them."""
        self._shows_raw = False
        self.warning = ""
        """Shown in place of the keys until the user does something else."""
        self._options_at = Region()
        """Where the options are on the screen."""
        self._option_rows: list[range] = []
        self._title_lines: list[Strip] = []
        self._title = StripView(id="title")
        self.subject = StripView(id="subject")
        self._keys = StripView(id="keys")
        self._options = StripView(id="options")

    def compose(self) -> ComposeResult:
        yield from (self._title, self.subject, self._options, self._keys)

    def show(self, requests: Sequence[PermissionRequest], conversation: Conversation, cwd: str) -> None:
        """Show the first of these requests of a conversation, or the one that the user has turned to; hide without one.

        After that one comes the next. `cwd` is the session's.
        """
        self._waiting = (requests, conversation, cwd)
        before, asked = self.asked, None
        if requests:
            keys = [each.key for each in requests]
            wanted = (self.turned_to, before.request.key if before is not None else None)
            last = min(before.number if before is not None else 1, len(keys)) - 1
            at = next((keys.index(key) for key in wanted if key in keys), last)
            call = conversation.tool_call(requests[at].tool_call_id).call
            asked = ShownRequest(requests[at], call, cwd, len(requests), at + 1, conversation.terminals)
        self.put_up(asked)

    def turn(self, step: int) -> None:
        """Show the next of the requests that wait for 1, the one before for -1. After the last comes the first."""
        source = self.source
        if source._waiting is not None and source.asked is not None:
            requests = source._waiting[0]
            source.turned_to = requests[(source.asked.number - 1 + step) % len(requests)].key
            source.show(*source._waiting)

    def put_up(self, asked: ShownRequest | None) -> None:
        """Show this request; None to hide."""
        is_new = (asked is not None) != self.card.display
        self.card.display = asked is not None
        if is_new:
            AskingChanged.tell(self.card)
        self.show_request(asked)
        self._place.frame(self.rows)
        for put_up in tuple(self.mirrors):
            put_up(asked)

    def fit(self, rows: int, beside: int = 0, said: int = ALL) -> None:
        """Take at most `rows` rows in total. What is next to it would like `beside` of them, what is above `said`."""
        if self._place.fit(rows, beside, said):
            self.redraw()

    def show_request(self, asked: ShownRequest | None) -> None:
        """Show this request. A different one than before starts at its beginning, with nothing chosen."""
        is_other = asked is not None and (self.asked is None or asked.request.key != self.asked.request.key)
        self._host.note_request(asked, is_other=is_other)
        self.asked = asked
        state, self._state = self._state, asked.state if asked is not None else ()
        if is_other:
            self._shows_raw = self._went_back = False
            self.warning, self._begins_at = "", None
            self._pending = self._start
        if is_other or self._state != state:
            self.redraw()
            self._host.guard.note_news()  # only after it is drawn
        if is_other:
            self._options.go_to_line(0)

    def show_changes(self) -> None:
        """Show the request as it is now, because the call changes in place."""
        if self.asked is not None:
            self.show_request(self.asked)

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self.redraw, init=False)
        # The request is visible again only once the screens above it are gone. At first, its screen is new itself.
        guard = self._host.guard
        self.watch(self.screen, "stack_updates", lambda times: guard.note_move(is_other=times > 1), init=False)
        self.watch(self.subject, "scroll_y", self._tell_view, init=False)
        self.screen.screen_layout_refresh_signal.subscribe(self, self._check_moves)

    def _on_prune(self) -> None:
        """Ask nothing from now on: it's about to leave the screen, and its parts go first."""
        self.asked = None
        for put_up in tuple(self.mirrors):
            put_up(None)

    def _check_moves(self, _: object) -> None:
        """Tell the guard if the options moved, as they do when it says that it holds a key and that takes more rows."""
        if self.asked is not None and self._options.region != self._options_at:
            self._options_at = self._options.region
            self._host.guard.note_move()

    def on_resize(self) -> None:
        self.redraw()
        self._host.guard.note_move()

    def redraw(self) -> None:
        if self.asked is None or self.width < 2:
            return
        was_whole, raw_hint = self._whole.is_whole, keys_in_force(self).hint(self._raw_hint)
        look = SubjectStyle(self.width, self._palette, self._place.layout_of_diffs, self._shows_raw, raw_hint=raw_hint)
        for context in self._place.contexts:
            self.context, self._whole = context, self.drawing.draw(self.asked, replace(look, context=context))
            self._arrange("", (), len(self._answers))
            is_in_view = self.rows is not None and self.rows.subject >= self.drawn.needed
            if is_in_view or not self._whole.is_whole or len(self._whole.lines) > MOST_SCREENS * self.app.size.height:
                break
        if not self._whole.is_whole:
            self.set_timer(COMPARING_PAUSE_S, self.redraw)
        elif not was_whole:
            self._host.guard.note_news()  # readable only now
        self.lay_out()

    @property
    def _answers(self) -> list[Strip]:
        """The lines of the options."""
        assert self.asked is not None
        options = drawings.option_lines(self.asked.request.answers, self._host.chosen, self._palette, self.width)
        ends = accumulate(map(len, options))
        self._option_rows = [range(end - len(lines), end) for lines, end in zip(options, ends, strict=True)]
        return [strip for lines in options for strip in lines]

    def lay_out(self) -> None:
        """Show what was drawn, with the current answers and keys."""
        if self.asked is None or self.width < 2:
            return
        was_at_start = self.at_row == self._start
        answers = self._answers
        title = self._arrange("", (), len(answers))
        if self._start_row > 0:
            # The lines above scroll out of view, and the file name with them, so the title names the file. A warning
            # among them stays in view with one row.
            title = self._arrange(changed_file(self.asked), self._whole.warning, len(answers))
        self._start = self._start_row
        self._show_parts(title, answers)
        if was_at_start:
            self.go_to(self._start)
        self._tell_view()
        self._place.frame(self.rows)

    def _arrange(self, file: str, warning: Sequence[Strip], answers: int) -> list[Strip]:
        """Distribute the rows, and return the title's lines. A title that is cut appears in full above the subject."""
        assert self.asked is not None
        title = drawings.title_lines(self.asked, self._palette, self.width, file=file)
        if file and len(title) > 1:
            title = drawings.title_lines(self.asked, self._palette, self.width, file=posixpath.basename(file))
        self.drawn = self._whole
        rows = len(title) + len(warning) + bool(self._whole.files)
        self.rows = self._share_out(rows, answers)
        if self.rows is not None and self.rows.title < rows:
            self.drawn = self._whole.below(title)
            self.rows = self._share_out(rows, answers)
        return [*title, *warning]

    def _share_out(self, title: int, answers: int) -> RowCounts | None:
        """The rows for each part, including the keys that are shown then."""
        subject = len(self.drawn.lines)
        for is_cut in (False, True):
            rows = self._place.rows_for(RowCounts(title, subject, 1, len(self._keys_lines(is_cut=is_cut)), answers))
            if rows is None or rows.subject >= subject:
                break
        if rows is not None and not rows.gap and ENOUGH_SUBJECT_ROWS < rows.subject < self.drawn.needed:
            return rows._replace(subject=rows.subject - 1, gap=1)  # an option looks like a line of what is cut there
        return rows

    @property
    def _start_row(self) -> int:
        """The line to show first: the head if a change or command is in view from there, or else just above that.

        On the full screen, it's the top, or the file that the card shows; if an answer on the card led there, the first
        row that wasn't in view on it.
        """
        drawn = self.drawn
        if self.rows is None:
            return 0
        if self.source is not self:
            if self._begins_at is None and drawn.is_whole:
                seen, card = self.drawing.seen, self.source
                file = bisect_right(card.drawn.files, card.at_row, key=lambda file: file.row) - 1
                at_file = drawn.files[file].row if file > 0 else 0
                self._begins_at = self._next_unseen(0) if seen.wanted and not seen.is_all_seen else at_file
            return min(self._begins_at or 0, len(drawn.lines) - self.rows.subject)
        if drawn.files or (self._whole.command is None and not self._whole.hunks):
            return 0
        height, change = self.rows.subject, drawn.command if drawn.command is not None else drawn.first_changed(0)
        return 0 if change < height else max(min(change - (height > 2), len(drawn.lines) - height), 0)

    def _show_parts(self, title: list[Strip], answers: list[Strip]) -> None:
        rows = self.rows or self._place.rows_too_small(len(title))
        self._options.styles.margin = (rows.gap, 0, 0, 0)
        self._title_lines = title
        self.subject.show(self.drawn.lines, rows.subject)
        self._options.show(answers, rows.options)
        self._reveal_chosen(rows.options)
        self._show_place()

    def _show_place(self) -> None:
        """Show the title, which of several files is in view, and the keys: one of them leads on, if there is more."""
        rows = self.rows or self._place.rows_too_small(len(self._title_lines))
        goes_on = self.at_row + rows.subject < len(self.drawn.lines)
        self._keys.show(self._keys_lines(is_cut=goes_on)[: rows.keys], rows.keys)
        # The title of a file's change, right below, says the rest.
        words = [each.words[: 1 if 0 < each.row == self.at_row else None] for each in self._files_at(self.at_row)[:1]]
        file = [drawings.one_row(each, self.width) for each in words]
        title = drawings.shortened([*self._title_lines, *file], rows.title, self.width)
        if self.rows is not None and (goes_on or self.at_row):
            place = f"{self.at_row + 1:,}-{self.at_row + rows.subject:,} of {len(self.drawn.lines):,}"
            title[:1] = [drawings.with_place(row, place, self._palette.muted, self.width) for row in title[:1]]
        self._title.show(title, rows.title)

    def _files_at(self, row: int) -> Sequence[FileRow]:
        files = self.drawn.files
        return files[max(bisect_right(files, row, key=lambda file: file.row) - 1, 0) :]

    def _keys_lines(self, *, is_cut: bool) -> list[Strip]:
        """The lines below the answers: the keys, or a warning and those that fit, so that the answers don't move.

        The full screen has at most two lines of them.
        """
        keys, muted = [*self._host.keys(is_cut=is_cut)], self._palette.muted
        told = key_lines(keys, self.width, self.app.size.height if self.source is self else 0)
        lines = drawings.keys_lines(told, muted, self.width)
        if not (warning := self.warning or self._host.warning or self._why_once_more):
            return lines
        while keys and len(pack([warning, *keys], self.width)) > len(lines):
            del keys[max(len(keys) - 2, 0)]
        first, *others = pack([warning, *keys], self.width)
        said = wrap([(warning, self._palette.warning), (first[len(warning) :], muted)], self.width)
        said += drawings.keys_lines(others, muted, self.width)
        return [*said, *[Strip.blank(self.width)] * (len(lines) - len(said))]

    def warn(self, text: str) -> None:
        """Show this in place of the keys; "" shows the keys again."""
        self.warning = text
        self.lay_out()

    @property
    def width(self) -> int:
        # Keep the scroll bar's column free, so that the text doesn't jump when it appears.
        return self.content_size.width - 1

    @property
    def _palette(self) -> Palette:
        return palette_for(self.app.current_theme)

    # The scroll position

    @property
    def at_row(self) -> int:
        """The first line of the subject in view, or about to be."""
        return self.subject.scroll_offset.y if self._pending is None else self._pending

    def go_to(self, row: int) -> None:
        """Scroll to this line of the subject, as far as possible, once the layout is ready."""
        self._pending = row
        self.call_after_refresh(self._arrive)

    def _arrive(self) -> None:
        if self._pending is None or self.asked is None:
            return
        self.subject.scroll_to(y=self._pending, animate=False, force=True, immediate=True)
        # The start can always be reached. If it isn't, the layout isn't ready yet.
        if self._pending != self._start or self.subject.scroll_offset.y == self._start:
            self._pending = None
        self._tell_view()

    def _reveal_chosen(self, height: int) -> None:
        chosen = self._host.chosen
        if chosen is None:
            return
        rows, top = self._option_rows[chosen], self._options.scroll_offset.y
        self._options.go_to_line(min(max(top, rows.stop - height), rows.start))

    # What was in view

    @property
    def _way(self) -> tuple[object, ...]:
        """Everything that decides which row a line is in."""
        above = len(self.drawn.lines) - len(self._whole.lines)
        return self.width, self._place.layout_of_diffs, self.context, above, self.drawn.needed

    def _tell_view(self) -> None:
        """Tell what is in view, and record it, once it's painted, and shown by the terminal."""
        self._show_place()
        self.call_after_refresh(self._record_rows)

    def _record_rows(self) -> None:
        """Record the rows in view as seen, once the terminal has shown them, also if others are in view by then."""
        if (rows := self._rows_in_view) is None:
            return
        state, way, guard = self._state, self._way, self._host.guard
        if self._reads != (state, way):
            self._reads, self._pages = (state, way), {}
        page = self._pages.pop(rows, object())
        for left in self._pages.values():
            guard.leave(left)
        self._pages = {rows: page} | {at: left for at, left in self._pages.items() if guard.is_awaited(left)}
        guard.when_shown(page, lambda _: self._note_seen(state, way, rows), is_same=True)
        before, self._next_row = self._next_row, self._next_unseen(self.at_row)
        if self.drawing.seen.wanted and before != self._next_row:
            self.lay_out()  # what is said of an answer depends on it

    @property
    def _rows_in_view(self) -> range | None:
        """The rows of the subject on the screen; None while another screen covers them, or they aren't final."""
        if self.rows is None or self.asked is None or self._pending is not None or not self.drawn.is_whole:
            return None
        if self.screen not in self.app.screen_stack[-1:]:
            return None
        try:
            height = self.screen.find_widget(self.subject).visible_region.height
        except NoWidget:
            return None
        top = self.subject.scroll_offset.y
        return range(top, min(top + height, self.drawn.needed))

    def _note_seen(self, state: tuple[object, ...], way: tuple[object, ...], rows: range) -> None:
        if (state, way) != (self._state, self._way):
            return  # it reads differently by now
        seen = self.drawing.seen
        was_all_seen = seen.is_all_seen
        seen.note(way, rows, self.drawn.lines[: self.drawn.needed])
        if seen.wanted and seen.is_all_seen and not was_all_seen:
            self.lay_out()  # the warning says what is left to see

    def _next_unseen(self, at: int) -> int:
        pages = self._pages if self._reads == (self._state, self._way) else {}
        awaited = {row for rows, page in pages.items() if self._host.guard.is_awaited(page) for row in rows}
        return self.drawing.seen.next_unseen(self._way, self.drawn.lines[: self.drawn.needed], at, but=awaited)

    @property
    def _ends_in_view(self) -> bool:
        """Whether only the terminal has to show more: all rows not seen yet are in view, or were."""
        return self._next_row >= self.drawn.needed

    @property
    def has_more(self) -> bool:
        """Whether to allow it only leads to what wasn't in view yet."""
        return not (self.drawing.seen.is_all_seen or self._ends_in_view)

    def may_allow(self, option_id: str, again: str) -> bool:
        """Whether everything was in view. If part of it can't be shown, the user has to repeat the choice, too."""
        self._record_rows()
        seen = self.drawing.seen
        if seen.is_all_seen and (seen.wanted == option_id or not self.drawn.left_out):
            return True
        seen.wanted, seen.again = option_id, again
        self.warn("")
        return False

    def go_to_unseen(self) -> None:
        """Scroll on to the next row not seen yet, but from none that would have to be shown again."""
        if (rows := next((rows for rows in self._pages if rows.start == self.at_row), None)) is None:
            return  # not painted yet
        lines = self.drawn.lines[: self.drawn.needed]
        is_seen = self.drawing.seen.next_unseen(self._way, lines, rows.start, but=()) not in rows
        if not is_seen and not self._host.guard.was_glanced_at(self._pages[rows]):
            return
        if (row := self._next_unseen(self.at_row)) < self.drawn.needed:
            self._went_back = row < self.at_row
            self.go_to(row)

    @property
    def _why_once_more(self) -> str:
        """Shown in place of the keys after an answer that was held back; "" if none was."""
        seen = self.drawing.seen
        left_out, again = self.drawn.left_out, seen.again
        if not seen.wanted or self.rows is None or not self._host.has_focus:
            return ""
        if not seen.is_all_seen and self._ends_in_view:
            return WENT_BY * self._went_back
        if not seen.is_all_seen:
            went_by = self._went_back or self._next_row < self.at_row
            unseen = f"Not all seen yet: {again} to read on"
            return f"{WENT_BY}: {again} to read on" if went_by else unseen
        if left_out:
            return f"{left_out:,} characters can't be shown: {again} to allow it anyway"
        # The card says its keys again.
        pause = PAUSE.format(wait_s=self._host.guard.wait_s(), again=again)
        return "" if self.source is self else f"All seen now: {pause} to allow it"

    def option_at(self, event: MouseEvent) -> int | None:
        if not self._options.region.contains(*event.screen_offset):
            return None
        row = event.screen_y - self._options.region.y + self._options.scroll_offset.y
        return next((index for index, rows in enumerate(self._option_rows) if row in rows), None)

    def go_to_file(self, step: int) -> None:
        """Go to the next file for 1, to the one before for -1; from there to another request. Without one, say so."""
        at = self.at_row
        if step > 0:
            rows = [] if at >= self.subject.max_scroll_y else [file.row for file in self._files_at(at)[1:2]]
        else:
            rows = [file.row for file in self.drawn.files if file.row < at][-1:]
        if not rows and self.asked is not None and self.asked.waiting > 1:
            self.turn(step)
        elif self.drawn.files:
            self.warn("" if rows else f"This is the {'last' if step > 0 else 'first'} file")
        for row in rows:
            self.go_to(row)

    def page(self, direction: int) -> None:
        self._pending = None
        self.subject.action_page(direction)

    def toggle_raw(self) -> None:
        """Show the agent's report as it came, or hide it and return to the beginning."""
        self._shows_raw = not self._shows_raw
        self.warning = ""
        self.redraw()
        self.go_to(self._start if self.drawn.raw is None else self.drawn.raw)
