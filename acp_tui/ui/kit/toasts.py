"""Shows notices as toasts, or in a separate row if a toast would cover a question from the agent."""

from __future__ import annotations

from typing import Any, Final

from textual.app import App, ScreenStackError
from textual.content import Content
from textual.message import Message
from textual.notifications import Notification
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from acp_tui.ui.textual_gaps.internals import forget_toasts, toast_rack, toasts_of

ASKING: Final = "-asking"
"""The class of a screen or widget that waits for the user's answer to an agent."""


STYLES: Final = {"information": "$text-success", "warning": "$text-warning", "error": "$text-error"}


class AskingChanged(Message):
    """A question appeared or disappeared: what covers it has to give way, or may come back."""

    @classmethod
    def tell(cls, card: Widget) -> None:
        """Post it from the card's own queue: what is posted while a parent is at work doesn't bubble beyond that."""
        card.call_later(lambda: card.post_message(cls()))


class NoticeLine(Static):
    """The latest notice, at the top of the screen. Widgets below make room for it."""

    DEFAULT_CSS = """
    NoticeLine {
        dock: top;
        height: 1;
        padding: 0 1;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        background: $panel;
        color: $foreground;
    }
    """
    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._until: Timer | None = None

    def show(self, notice: Notification) -> None:
        style = STYLES[notice.severity]
        title = Content.styled(f"{notice.title}  " if notice.title else "", f"bold {style}")
        text = Content.from_markup(notice.message) if notice.markup else Content(notice.message)
        self.update(Content.assemble(("▪ ", style), title, Content(" ").join(text.split("\n"))))
        if self._until is not None:
            self._until.stop()
        self._until = self.set_timer(max(notice.time_left, 0.1), self.remove)


class Toasts:
    """Shows the notices of an app. A repeated notice replaces the previous one."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app

    def forget(self, title: str, message: str) -> None:
        forget_toasts(self._app, (title, message))

    def place(self) -> None:
        """Show the notices in a place where they cover no question."""
        try:
            screen = self._app.screen
        except ScreenStackError:
            return
        rack = toast_rack(screen)
        if rack is None or not screen.is_attached:  # detached, the app is closing: nothing can be mounted anymore
            return
        notices, lines = toasts_of(self._app), screen.query(NoticeLine)
        if not _asks(screen):
            lines.remove()
            rack.show(notices)
            return
        rack.display = False
        waiting = [notice for notice in notices if not notice.has_expired]
        if not waiting:
            lines.remove()
        elif lines:
            lines.first().show(waiting[-1])
        else:
            line = NoticeLine()
            screen.mount(line)
            line.show(waiting[-1])


def _asks(screen: Screen[object]) -> bool:
    """Whether something on this screen waits for an answer."""
    return screen.has_class(ASKING) or any(widget.display for widget in screen.query(f".{ASKING}"))
