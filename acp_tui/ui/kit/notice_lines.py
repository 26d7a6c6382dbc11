"""Shows notices in lines that cover nothing: above the prompt or a dialog's keys, or at the top of a dialog that asks.

Between a card and the prompt, only the free row is there: the latest notice is in it, cut if need be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final
from weakref import WeakSet

from textual.app import App
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.notifications import Notification
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

from acp_tui.conversation.wording import sentences

ASKING: Final = "-asking"
"""The class of a screen or widget that waits for the user's answer to an agent."""
MAX_NOTICES: Final = 2
"""Shown at a time: the latest."""
MAX_ROWS: Final = 8
"""Of all of them: the latest is cut last."""
ROWS_SHARE: Final = 3
"""They have at most one in so many rows of the screen."""
MARK: Final = "▪ "
STYLES: Final = {"information": "$text-success", "warning": "$text-warning", "error": "$text-error"}


class AskingChanged(Message):
    """A question appeared or disappeared: what covers or moves it has to give way, or may come back."""

    @classmethod
    def tell(cls, card: Widget) -> None:
        """Post it from the card's own queue: what is posted while a parent is at work doesn't bubble beyond that."""
        card.call_later(lambda: card.post_message(cls()))


class NoticeLines(Widget):
    DEFAULT_CSS = """
    NoticeLines { height: auto; background: $background; color: $foreground; }
    NoticeLines.-in-gap { overlay: screen; offset-y: -1; }
    """
    IN_GAP: ClassVar = "-in-gap"
    """The class of those in the free row above their place."""
    ALLOW_SELECT = False

    notices: reactive[Sequence[Notification]] = reactive((), layout=True)

    @property
    def is_cut(self) -> bool:
        """Whether a card leaves only one row for more of them."""
        wanted = (line for notice in self.notices for line in _lines_of(notice, self.content_size.width, MAX_ROWS))
        return self.has_class(self.IN_GAP) and len([*wanted]) > 1

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        lines: list[Content] = []
        most = 1 if self.has_class(self.IN_GAP) else min(MAX_ROWS, self.app.size.height // ROWS_SHARE)
        for notice in reversed(self.notices):
            lines = _lines_of(notice, width, most - len(lines)) + lines
        return lines


def _lines_of(notice: Notification, width: int, most: int) -> list[Content]:
    style = STYLES[notice.severity]
    title = Content.styled(f"{notice.title}  " if notice.title else "", f"bold {style}")
    message = sentences(notice.message)
    text = Content.from_markup(message) if notice.markup else Content(message)
    room = max(width - len(MARK), 1)
    lines = Content.assemble(title, text).wrap(room)
    if len(lines) > most > 0:
        lines[most - 1] = Content(f"{lines[most - 1].plain.rstrip()} …").truncate(room, ellipsis=True)
    return [
        Content.assemble((MARK if at == 0 else " " * len(MARK), style), line) for at, line in enumerate(lines[:most])
    ]


class Notices:
    """The notices of an app. A newer one about the same replaces the older."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._widget: NoticeLines | None = None
        self.shown: Sequence[Notification] = ()
        self._said_on: dict[str, WeakSet[Screen[Any]]] = {}
        """By its identity, the screens that were open there. A dialog that opens later is about something else."""
        self.is_over: dict[str, Callable[[], bool]] = {}
        """By the text of a notice, whether what it says is over."""

    def add(self, notice: Notification) -> None:
        """Show it for a while. Notices with the same title, or without one with the same text, are about the same."""
        about = notice.title or notice.message
        others = [other for other in self.shown if about != (other.title or other.message)]
        self.shown = (*others, notice)[-MAX_NOTICES:]
        self._said_on[notice.identity] = WeakSet(self._app.screen_stack)
        self._end_later(notice)
        self.place()

    def _end_later(self, notice: Notification, was_hidden: bool = False) -> None:
        """Remove it after its time. What a dialog covers then, and a warning that a card cuts, gets it after that."""

        def end() -> None:
            is_cut = self._widget is not None and self._widget.is_cut and notice.severity != "information"
            is_hidden = is_cut or notice not in self._in_front
            if notice in self.shown and (is_hidden or was_hidden):
                self._end_later(notice, is_hidden)
            else:
                self._remove(notice)

        self._app.set_timer(notice.timeout, end)

    @property
    def _in_front(self) -> Sequence[Notification]:
        """Those that weren't said before the dialog in front was opened."""
        *below, front = self._app.screen_stack or (None,)
        return [notice for notice in self.shown if not below or front in self._said_on[notice.identity]]

    def follow(self, dialog: Screen[Any]) -> None:
        """Show what was said before this dialog opened there, too."""
        for said_on in self._said_on.values():
            said_on.add(dialog)
        self.place()

    def drop_outdated(self) -> None:
        for notice in self.shown:
            if notice.message in self.is_over and self.is_over[notice.message]():
                self._remove(notice)

    def _remove(self, notice: Notification) -> None:
        self.is_over.pop(notice.message, None)
        self._said_on.pop(notice.identity, None)
        self.shown = [other for other in self.shown if other is not notice]
        self.place()

    def place(self) -> None:
        """Show the notices on the screen in front, unless it was opened later, where they don't move what asks."""
        stack = self._app.screen_stack
        if not stack:
            return
        screen, widget = stack[-1], self._widget
        notices = self._in_front
        is_asked = is_asked_on(screen)
        below = next(iter(screen.query("#prompt" if is_asked else "#prompt, .frame-keys")), None)
        parent = screen if below is None else below.parent
        if widget is not None and (not notices or widget.parent is not parent):
            widget.remove()
            widget = self._widget = None
        if notices and widget is None and screen.is_attached:  # detached, the app is closing
            widget = self._widget = NoticeLines()
            assert isinstance(parent, Widget)
            parent.mount(widget, before=below)
        if widget is not None:
            widget.set_class(is_asked and below is not None, widget.IN_GAP)
            widget.notices = notices


def is_asked_on(screen: Screen[Any]) -> bool:
    """Whether something on this screen waits for an answer."""
    return screen.has_class(ASKING) or any(widget.display for widget in screen.query(f".{ASKING}"))
