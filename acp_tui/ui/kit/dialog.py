"""The common parts of dialogs: a frame with a title and keys, and closing from code."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Paste
from textual.geometry import Size
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static, TextArea

from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.conversation.visible.cutting import cut_shown
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.answer_guard import AnswerGuard
from acp_tui.ui.rendering.wrapping import SEPARATOR, pack
from acp_tui.ui.textual_gaps.internals import press_in
from acp_tui.ui.textual_gaps.terminal_input import LINE_END

if TYPE_CHECKING:
    from acp_tui.ui.kit.filtered_list import FilteredList

R = TypeVar("R")

MAX_COST: Final = 100_000
"""What drawing a text in a dialog may cost."""


def shown(text: str, style: str = "") -> Content:
    """An agent's text made safe to draw, on as many lines as it has, but not on more than anyone reads in a dialog."""
    return Content.styled(make_visible(cut_shown(text, MAX_COST)), style)


def shown_line(text: str, style: str = "") -> Content:
    """An agent's text made safe to draw, on one line."""
    return Content.styled(make_visible_line(text), style)


MAX_WRITTEN: Final = 30
"""So many characters are shown of what goes to a draft that the dialog covers."""
MAX_KEY_LINES: Final = 2
MAX_KEYS_SHARE: Final = 6
"""On a higher screen, one in so many of its lines may tell keys."""


def key_lines(keys: Sequence[str], width: int, height: int) -> list[str]:
    """As many keys as fit, and always the first and the last, on a screen of this height."""
    keys = [*keys]
    while len(lines := pack(keys, width)) > max(MAX_KEY_LINES, height // MAX_KEYS_SHARE) and len(keys) > 2:
        del keys[-2]
    return lines


FOR_ROWS: Final = ("{list_choose}", "{move_up}")
CLEARS: Final = "{dialog_close} clear"


class FrameKeys(Widget):
    """What keys do, such as `{dialog_close} close`: with words in a search, it clears those first.

    Breaks lines between keys. On a small screen, leaves some out, but not the last: how to leave. Without a row to
    choose, leaves out those that move and choose.
    """

    keys = reactive("", layout=True)
    has_row = reactive(default=True, layout=True)
    is_searching = reactive(default=False, layout=True)
    warning = reactive("", layout=True)
    written = reactive("", layout=True)
    """What was typed here goes to a draft that can't be seen. This is its end."""

    def __init__(self, keys: str) -> None:
        super().__init__(classes="frame-keys")
        self.set_reactive(FrameKeys.keys, keys)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Content:
        return Content("\n".join(self._lines(self.content_size.width)))

    def _lines(self, width: int) -> list[str]:
        keys = (self.warning or self.keys).split(SEPARATOR)
        told = [key for key in keys if self.has_row or not key.startswith(FOR_ROWS)]
        told = [CLEARS if self.is_searching and key.startswith("{dialog_close}") else key for key in told]
        told = keys_in_force(self).hint(SEPARATOR.join(told)).split(SEPARATOR)
        draft = [f"In your draft: {self.written}"] * bool(self.written)
        return key_lines([*draft, *told], width, self.app.size.height)


CLOSING: Final[Sequence[BindingType]] = (
    Binding("ctrl+c", "screen.copy_text", show=False, id="dialog_close"),  # Textual's own, for a selection
    *bindings_of("dialog_close", at="dialog"),
)


class Dialog(ModalScreen[R]):
    """A dialog, which returns None if it's closed without a choice."""

    clock: ClassVar[Callable[[], float]] = staticmethod(time.monotonic)
    only_opens = False
    """Whether Enter only opens or shows something, so that it counts right behind the one that opened the dialog."""
    BINDINGS: ClassVar[list[BindingType]] = [*CLOSING]

    def __init__(self, title: str | Content, keys: str, *parts: Widget) -> None:
        super().__init__(classes="dialog")
        self.title = str(title)
        self.frame = Frame(title, keys, *parts)
        self.opened = AnswerGuard(type(self).clock, self)
        """Knows since when the terminal shows the dialog."""

    def compose(self) -> ComposeResult:
        yield self.frame

    def on_screen_resume(self) -> None:
        self.opened.arm()

    def warn(self, text: str) -> None:
        """Show this in place of the keys; "" shows the keys again."""
        self.frame.foot.warning = text

    def action_close(self) -> None:
        self.dismiss(None)

    @property
    def prompt_below(self) -> TextArea | None:
        """The prompt of the session below; None without one."""
        found = (screen.query("PromptInput").results(TextArea) for screen in reversed(self.app.screen_stack))
        return next(chain.from_iterable(found), None)

    def write_key(self, event: Key) -> bool:
        """Write what the key would write in the draft below, a line break, too. Returns False if that is nothing."""
        command = keys_in_force(self).command_at(("prompt",), event.key)
        breaks_line = event.key == LINE_END or (command is not None and command.id == "new_line")
        if breaks_line or event.is_printable:
            self.write_below("\n" if breaks_line else event.character or "")
        return breaks_line or event.is_printable

    def write_below(self, text: str, *, is_paste: bool = False) -> None:
        """Put this into the draft of the session below, and show it there: under a dialog, a tab draws nothing."""
        prompt = self.prompt_below
        if prompt is not None:
            if is_paste:
                press_in(prompt, Paste(text))
            else:
                prompt.insert(text)
            prompt.call_later(self._show_below)

    def _show_below(self) -> None:
        prompt = self.prompt_below
        if prompt is not None and self.frame.region.overlaps(prompt.region):
            self.frame.foot.written = make_visible_line(prompt.text[-MAX_WRITTEN:])
        for screen in self.app.screen_stack:
            screen.refresh()


class Frame(Vertical):
    """Holds the parts of a dialog in the middle of the screen."""

    DEFAULT_CSS = """
    Frame { height: auto; max-height: 100%; width: 90; max-width: 100%; }
    Frame > .frame-title, Frame > .frame-keys { height: auto; width: 1fr; }
    """

    def __init__(self, title: str | Content, keys: str, *parts: Widget) -> None:
        self.foot = FrameKeys(keys)
        shown_title = shown_line(title) if isinstance(title, str) else title
        super().__init__(Static(shown_title, classes="frame-title", markup=False), *parts, self.foot)

    def on_filtered_list_moved(self, message: FilteredList.Moved) -> None:  # by name: it imports this module
        self.foot.has_row, self.foot.is_searching = message.has_row, message.is_searching
