"""Wrappers for Textual's private API, one function per use; and lending the terminal to a program.

Checked with Textual 8.2.8. Overridden private methods are in our classes, with the reason: `driver` (the driver,
frames, and the key parser) and `prompt.draft` (the text area).
"""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Final

from anyio import to_thread
from rich.cells import cell_len
from rich.segment import Segment
from textual import message_pump
from textual._compositor import Compositor, ReflowResult
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.await_remove import AwaitRemove
from textual.binding import Binding
from textual.events import Key, Paste
from textual.geometry import Region, Size
from textual.notifications import Notifications
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import AwaitMount, Widget

if TYPE_CHECKING:
    from textual.pilot import Pilot


CONTROL_CHARACTERS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that control a terminal or reorder the text around them."""


class SafeCompositor(Compositor):
    """A compositor that sends every new widget its first Resize, paints no removed one, and sends the terminal no
    control characters.

    A layout compares with the map of widgets, but Textual also rebuilds that map whenever a widget's region is
    requested. A rebuild between a widget's mount and its layout adds the widget silently: no Show, no Resize, and
    widgets that draw on their first Resize stay blank. So compare with the last layout instead.
    """

    def __init__(self) -> None:
        super().__init__()
        self._laid_out = self._full_map

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out everything at the app's size; return what changed since the last call.

        Not at the size of an event: a screen that is laid out sends itself a Resize, too. If the window was resized in
        the meantime, that one would come after the app's and bring the old size back.
        """
        self._full_map = self._laid_out
        result = super().reflow(parent, parent.app.size)
        self._laid_out = self._full_map
        return result

    @property
    def visible_widgets(self) -> dict[Widget, tuple[Region, Region]]:
        """The region and clip of all widgets to be painted.

        A removed widget stays in the map until the next layout. But its component styles are gone: painting a text
        area because something beside it changed would end the app with a KeyError.
        """
        return {widget: place for widget, place in super().visible_widgets.items() if widget.parent is not None}

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        """Replace control characters that a widget forgot to make visible. All painting passes through here.

        Styles aren't text: colors and links become escape sequences only later.
        """
        chops = super()._render_chops(crop, is_rendered_line)
        return [
            {cut: _obeyed_by_none(strip) for cut, strip in line.items()} if _has_obeyed(line) else line
            for line in chops
        ]

    def clear(self) -> None:
        """Forget all widgets."""
        super().clear()
        self._laid_out.clear()


def _has_obeyed(line: Mapping[int, Strip | None]) -> bool:
    for strip in line.values():
        for part in strip or ():
            text = part.text
            if not text.isprintable() and CONTROL_CHARACTERS.search(
                text
            ):  # isprintable() is fast, and nearly always enough
                return True
    return False


def _obeyed_by_none(strip: Strip) -> Strip:
    """Replace control characters without changing the width. Most of them take no cell."""
    if strip is None:  # nothing is painted there
        return strip
    parts = [Segment(CONTROL_CHARACTERS.sub(_stand_in, part.text), part.style) for part in strip]
    return Strip(parts, strip.cell_length)


def _stand_in(found: re.Match[str]) -> str:
    return "\N{REPLACEMENT CHARACTER}" * cell_len(found[0])


def tell_every_first_size(screen: Screen[Any]) -> None:
    """Give an empty screen a compositor that never misses a first Resize."""
    screen._compositor = SafeCompositor()


class SureTimer(Timer):
    """A timer that fires even if it was late from the beginning, unless it repeats.

    Textual's timers skip what is past, and one that fires once is over then. If a busy machine ran something else at
    its start, a window that was resized kept its old size, and a tab that was switched to was never drawn.
    """

    def __init__(self, *args: Any, repeat: int | None = None, **options: Any) -> None:
        super().__init__(*args, repeat=repeat, skip=repeat is None, **options)


def use_sure_timers() -> None:
    """Make Textual use them from now on, in the whole process."""
    message_pump.Timer = SureTimer  # type: ignore[attr-defined]  # imported there, but not exported


@cache
def mount_nothing_at_the_end() -> None:
    """Make Textual mount nothing in an app that is ending, in the whole process, as it does in a widget that is.

    It raised a MountError, so an agent that asked something right after the user had quit ended in a traceback.
    """

    @wraps(mount := Widget.mount)
    def mount_until_then(self: Widget, *widgets: Widget, **places: Any) -> AwaitMount:
        return AwaitMount(self, []) if self.app._exit else mount(self, *widgets, **places)

    Widget.mount = mount_until_then  # type: ignore[method-assign]  # Textual has no hook for it


@cache
def focus_nothing_that_leaves() -> None:
    """Make Textual give no keyboard to a widget that is being removed, in the whole process: it would swallow keys.

    Textual marks what there is when the removal begins. What a widget composes after that leaves unmarked, with it or
    before it.
    """

    @wraps(set_focus := Screen.set_focus)
    def set_focus_if_it_stays(self: Screen[Any], widget: Widget | None, *how: Any, **options: Any) -> None:
        if widget is None or (widget.is_attached and not any(place._pruning for place in widget.ancestors_with_self)):
            set_focus(self, widget, *how, **options)

    Screen.set_focus = set_focus_if_it_stays  # type: ignore[method-assign]  # Textual has no hook for it


@cache
def dismiss_no_other_screen() -> None:
    """Make Textual dismiss the screen that it is asked to, in the whole process: now, or once no other covers it.

    It removed the top screen. Enter or Escape pressed again before a dialog was gone ended the app, or removed what was
    below; pressed just before another dialog came up, it removed that one.
    """

    @wraps(dismiss := Screen.dismiss)
    def dismiss_itself(self: Screen[Any], result: Any = None) -> AwaitComplete:
        def close() -> None:
            if self.is_active and self.is_running:
                dismiss(self, result)

        if self.is_active:
            return dismiss(self, result)
        self.watch(self, "stack_updates", close, init=False)
        return AwaitComplete()

    Screen.dismiss = dismiss_itself  # type: ignore[method-assign]  # Textual has no hook for it


@cache
def finish_what_is_awaited() -> None:
    """Let the closing of a screen go on if a task that awaits it is cancelled, in the whole process.

    The app awaits it, too, so it ended with a CancelledError if a worker was cancelled at that moment.
    """

    def await_shielded(self: AwaitComplete) -> Generator[Any, None, Any]:
        if self._pre_await is not None:
            self._pre_await()
        return asyncio.shield(self._future).__await__()

    AwaitComplete.__await__ = await_shielded  # type: ignore[method-assign]  # Textual has no hook for it


class Removal(AwaitRemove):
    """A removal that continues even if the task that awaits it is cancelled.

    Textual awaits the removed widgets' tasks with `gather`, which cancels them along with the waiting task. So a worker
    that was cancelled while it removed a widget ended the app with a CancelledError.
    """

    def __init__(self, removal: AwaitRemove) -> None:
        super().__init__(removal._tasks, removal._post_remove)

    def __await__(self) -> Generator[None, None, None]:
        current = asyncio.current_task()
        shielded: list[Any] = [asyncio.shield(task) for task in self._tasks if task is not current]
        return AwaitRemove(shielded, self._post_remove).__await__()


def write_to_terminal(app: App[Any], sequence: str) -> None:
    """Send a control sequence to the terminal, between two frames. Does nothing without a terminal."""
    if app._driver is not None:
        app._driver.write(sequence)


def forget_toasts(app: App[Any], said: tuple[str, str]) -> None:
    """Remove the toasts with this title and text. The next toast redraws the rest."""
    for toast in tuple(app._notifications):
        if (toast.title, toast.message) == said:
            app._unnotify(toast, refresh=False)


def toasts_of(app: App[Any]) -> Notifications:
    """The current notices, oldest first."""
    return app._notifications


def forget_callbacks(app: App[Any]) -> None:
    """Drop callbacks that were deferred until the app runs."""
    app._next_callbacks.clear()


def bindings_of_key(widget: Widget, key: str) -> Iterable[Binding]:
    """The bindings of a key in this widget, as set by the user."""
    return widget._bindings.key_to_bindings.get(key, ())


def has_priority(screen: Screen[Any], key: str) -> bool:
    """Whether the key has a priority binding, which the focused widget doesn't see."""
    chain = (bindings.key_to_bindings.get(key, ()) for _, bindings in screen._binding_chain)
    return any(binding.priority for found in chain for binding in found)


def press_in(widget: Widget, event: Key | Paste) -> None:
    """Pass the widget a key or a paste that was meant for another."""
    widget._forward_event(event if isinstance(event, Paste) else Key(event.key, event.character))


def take_waiting_keys(widget: Widget) -> list[Key | Paste]:
    """Remove and return the unhandled keys and pastes of a widget, oldest first."""
    queue: asyncio.Queue[Any] = widget._message_queue
    waiting = [widget._pending_message] if widget._pending_message is not None else []
    widget._pending_message = None
    while not queue.empty():
        waiting.append(queue.get_nowait())
        queue.task_done()
    keys = [message for message in waiting if isinstance(message, Key | Paste)]
    for message in waiting:
        if not isinstance(message, Key | Paste):
            queue.put_nowait(message)
    return keys


def painted_rows(screen: Screen[Any]) -> list[Strip]:
    """The whole screen as painted, from top to bottom."""
    return screen._compositor.render_strips()


async def lay_out_and_paint(pilot: Pilot[Any]) -> None:
    """Wait until all widgets have handled their messages, and paint."""
    await pilot._wait_for_screen()
    pilot.app.screen._on_timer_update()


def draw_rows_again(screen: Screen[Any], rows: Iterable[int]) -> None:
    """Send the current state of these rows to the terminal."""
    # Not the app's size: the window may have grown since the last layout.
    width, height = screen._compositor.size
    screen._compositor._dirty_regions.update(Region(0, y, width, 1) for y in rows if y < height)
    screen._compositor.update_widgets(screen._dirty_widgets)  # the next line considers them drawn
    screen._compositor_refresh()


def run_in_terminal(app: App[Any], command: Sequence[str]) -> int:
    """Run a program in the terminal as a child process, and return its exit status. Blocks everything else.

    Raises: OSError; SuspendNotSupported.
    """
    with lent_terminal(app):
        return subprocess.call(command)


async def run_in_terminal_meanwhile(app: App[Any], command: Sequence[str]) -> int:
    """Like `run_in_terminal`, but agents continue to work. Their output is drawn when the terminal is back."""
    with lent_terminal(app):
        return await to_thread.run_sync(subprocess.call, command)


@contextmanager
def lent_terminal(app: App[Any]) -> Iterator[None]:
    """Neither read from nor write to the terminal in this context. Raises: SuspendNotSupported."""
    with app.batch_update(), app.suspend(), _muted(app):
        # Ctrl+C is for the program in the terminal. It would inherit SIG_IGN, but not a handler.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _muted(app: App[Any]) -> Iterator[None]:
    """Drop writes: a bell or a copy would wait for a writer that has ended, and eventually block forever."""
    driver: Any = app._driver
    if driver is None:
        yield
        return
    driver.write = lambda data: None
    try:
        yield
    finally:
        del driver.write  # restores the class's method
