"""Our base of Textual's app, with what it lacks; and what Textual knows but tells nobody, one function per need.

Checked with Textual 8.2.8. Each override, patch, and function could go if Textual had a public way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial, wraps
from typing import Any, Final, TypeAlias

from rich.console import RenderableType
from textual import message_pump
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.await_remove import AwaitRemove
from textual.binding import Binding
from textual.dom import DOMNode
from textual.driver import Driver
from textual.events import Key, Paste
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import AwaitMount, Widget
from textual.widgets import Input, TextArea
from textual.worker import Worker
from textual.worker_manager import WorkerManager

from acp_tui.client.desktop import through_terminal
from acp_tui.ui.textual_gaps.driver import FramePacer
from acp_tui.ui.textual_gaps.painting import SafeCompositor, create_strip_caches_on_use


class ClosingWorkers(WorkerManager):
    """Closes what a worker was to run: one that is canceled at once never begins, and Python warns of that."""

    def _remove_worker(self, worker: Worker[Any]) -> None:
        super()._remove_worker(worker)
        for work in (worker._work, *getattr(worker._work, "args", ())):
            if asyncio.iscoroutine(work):
                work.close()


class PatchedApp(App[None]):
    """The base of our apps. Paces the frames by `pacer`."""

    def __init__(self) -> None:
        self.pacer = FramePacer(self)  # Textual asks for a driver immediately
        patch_textual()
        super().__init__()
        self._workers = ClosingWorkers(self)

    def get_driver_class(self) -> type[Driver]:
        return self.pacer.driver_class(super().get_driver_class())

    def let_go_of_terminal(self) -> None:
        """Stop the driver's threads. Call it when the app has ended, for whatever reason."""
        if self.pacer.terminal is not None:
            self.pacer.terminal.end_threads()

    def copy_to_clipboard(self, text: str) -> None:
        # Textual also sends what is too long, and GNU screen drops what Textual sends.
        self._clipboard = text
        write_to_terminal(self, through_terminal(text))

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        # Textual sends each frame at once, however late the terminal is.
        self.pacer.display(renderable, partial(super()._display, screen))

    def _check_resize(self) -> None:
        # Textual draws nothing if the window has its old size back, even if the terminal dropped rows in between.
        is_first = not self.pacer.shown or hasattr(self._resize_event, "is_first_report")
        if self._resize_event is not None and self.screen_stack and not is_first:
            self.pacer.shown.forget()
            self.screen.refresh()
        super()._check_resize()

    def _end_batch(self) -> None:
        # Textual drops the frames of a batch, and tells nobody when it ends.
        super()._end_batch()
        self.pacer.note_batch_end()

    def _register(self, parent: DOMNode, *widgets: Widget, **places: Any) -> list[Widget]:
        # All widgets come through here. A screen makes its own compositor.
        for widget in widgets:
            if isinstance(widget, Screen):
                widget._compositor = SafeCompositor()
            elif (blinks := getattr(type(widget), "cursor_blink", None)) is not None:
                widget.set_reactive(blinks, False)  # it would redraw while nothing happens
        return super()._register(parent, *widgets, **places)

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        # Textual cancels workers only when the widgets that they act on are gone.
        for worker in tuple(self.workers):
            if any(node in nodes for node in worker.node.ancestors_with_self):
                worker.cancel()
        return AwaitedRemoval(super()._prune(*nodes, parent=parent))

    @property
    def _background_screens(self) -> list[Screen[Any]]:
        # Textual considers the screen below visible even if it's covered, and drew both in each frame.
        return super()._background_screens if self.screen.is_modal else []

    def _refresh_notifications(self) -> None:
        # Textual has toasts. It calls this when another screen comes to the front.
        self.call_later(self.place_notices)

    def place_notices(self) -> None:
        """Show the notices on the screen in front."""


class HomeScreen(Screen[None]):
    """A screen whose prompt gets the keyboard when the widget that has it is removed, hidden, or disabled.

    Textual gives it to another one nearby: a search that ended with its session, to the next session's welcome.
    """

    prompt: Widget

    def _reset_focus(self, widget: Widget, avoiding: list[Widget] | None = None) -> None:
        if self.focused is widget:
            self.set_focus(None if self.prompt in (avoiding or ()) else self.prompt)


class AwaitedRemoval(AwaitRemove):
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


class ReliableTimer(Timer):
    """A timer that fires even if it was late from the beginning, unless it repeats.

    Textual's timers skip what is past, and one that fires once is over then. If a busy machine ran something else at
    its start, a window that was resized kept its old size, and a tab that was switched to was never drawn.
    """

    def __init__(self, *args: Any, repeat: int | None = None, **options: Any) -> None:
        super().__init__(*args, repeat=repeat, skip=repeat is None, **options)


@cache
def patch_textual() -> None:
    """Patch what no override reaches, in the whole process."""
    create_strip_caches_on_use()
    message_pump.Timer = ReliableTimer  # type: ignore[attr-defined]  # imported there, but not exported
    measure_after_each_change()
    mount_nothing_at_the_end()
    focus_nothing_that_leaves()
    dismiss_no_other_screen()
    finish_what_is_awaited()
    cut_what_is_selected()
    edit_in_the_order_of_the_keys()


def mount_nothing_at_the_end() -> None:
    """Make Textual mount nothing in an app that is ending, as it does in a widget that is.

    It raised a MountError, so an agent that asked something right after the user had quit ended in a traceback.
    """

    @wraps(mount := Widget.mount)
    def mount_until_then(self: Widget, *widgets: Widget, **places: Any) -> AwaitMount:
        return AwaitMount(self, []) if self.app._exit else mount(self, *widgets, **places)

    Widget.mount = mount_until_then  # type: ignore[method-assign]  # Textual has no hook for it


def measure_after_each_change() -> None:
    """Make Textual measure a widget again that changes twice before it is idle, with a layout in between.

    It kept the size that it had measured in between: the second line of a dialog's keys was cut.
    """

    @wraps(refresh := Widget.refresh)
    def refresh_and_measure(self: Widget, *regions: Region, **how: bool) -> Widget:
        self._layout_updates += how.get("layout", False)
        return refresh(self, *regions, **how)

    Widget.refresh = refresh_and_measure  # type: ignore[method-assign, assignment]  # Textual has no hook for it


def cut_what_is_selected() -> None:
    """Make Textual's Ctrl+X cut only a selection. Without one, it deleted the whole line."""

    def cut(self: TextArea) -> None:
        if not self.selection.is_empty:
            self.action_copy()
            self.action_delete_left()

    TextArea.action_cut = cut  # type: ignore[method-assign]  # one for every text area


TakeKey: TypeAlias = Callable[[Any, Key], Awaitable[None]]
NOT_OF_FIELDS: Final = ("submit", "cursor_page_up", "cursor_page_down")
"""Bound in Textual's fields, but what is around a field may use these keys first."""


def edit_in_the_order_of_the_keys() -> None:
    """Make fields handle their bindings at once. Through the app, they came after letters that were typed later.

    The key still goes up to the cards, which count it, and to the app, which must not run the binding again.
    In a dialog, what is bound with priority waits its turn, too: it acted on the row where the cursor was before the
    arrows and letters that were on their way.
    """

    def bound_first(take_key: TakeKey) -> TakeKey:
        @wraps(take_key)
        async def edit(self: Widget, event: Key) -> None:
            if self.screen.is_modal and await check(self.app, event.key, priority=True):
                event.is_of_field = True  # type: ignore[attr-defined]  # a mark of ours, for the app
                return
            for binding in bindings_of_key(self, event.key) if not event.is_printable else ():
                if binding.action not in NOT_OF_FIELDS and await self.app.run_action(binding.action, self):
                    event.is_of_field = True  # type: ignore[attr-defined]
                    return
            await take_key(self, event)

        return edit

    @wraps(check := App._check_bindings)
    async def check_in_order(self: App[Any], key: str, priority: bool = False) -> bool:
        return not (priority and self.screen.is_modal) and await check(self, key, priority)

    @wraps(run_binding := App._on_key)
    async def run_others(self: App[Any], event: Key) -> None:
        is_done = hasattr(event, "is_of_field")
        if not (is_done or (self.screen.is_modal and await check(self, event.key, priority=True))):
            await run_binding(self, event)

    fields: tuple[Any, ...] = (Input, TextArea)
    for field in fields:
        field._on_key = bound_first(field._on_key)
    App._check_bindings = check_in_order  # type: ignore[method-assign]  # Textual has no hook for it
    App._on_key = run_others  # type: ignore[method-assign]  # Textual has no hook for it


def focus_nothing_that_leaves() -> None:
    """Make Textual give no keyboard to a widget that is being removed: it would swallow keys.

    Textual marks what there is when the removal begins. What a widget composes after that leaves unmarked, with it or
    before it.
    """

    @wraps(set_focus := Screen.set_focus)
    def set_focus_if_it_stays(self: Screen[Any], widget: Widget | None, *how: Any, **options: Any) -> None:
        if widget is None or stays(widget):
            set_focus(self, widget, *how, **options)

    Screen.set_focus = set_focus_if_it_stays  # type: ignore[method-assign]  # Textual has no hook for it


def dismiss_no_other_screen() -> None:
    """Make Textual dismiss the screen that it is asked to: now, or once no other covers it.

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


def finish_what_is_awaited() -> None:
    """Let the closing of a screen go on if a task that awaits it is cancelled.

    The app awaits it, too, so it ended with a CancelledError if a worker was cancelled at that moment.
    """

    def await_shielded(self: AwaitComplete) -> Generator[Any, None, Any]:
        if self._pre_await is not None:
            self._pre_await()
        return asyncio.shield(self._future).__await__()

    AwaitComplete.__await__ = await_shielded  # type: ignore[method-assign]  # Textual has no hook for it


def stays(widget: Widget) -> bool:
    """Whether it's in the app, and isn't being removed, by itself or with what is around it."""
    return widget.is_attached and not any(place._pruning for place in widget.ancestors_with_self)


def forget_closed_watchers(app: App[Any]) -> None:
    """Drop watchers of closed screens: Textual does that only on a change, which would keep whole tabs in memory."""
    watchers: dict[str, list[tuple[DOMNode, object]]] = getattr(app, "__watchers", {})
    for of_attribute in watchers.values():
        of_attribute[:] = [(node, callback) for node, callback in of_attribute if not node._closing]


def write_to_terminal(app: App[Any], sequence: str) -> None:
    """Send a control sequence to the terminal, between two frames. Does nothing without a terminal."""
    if app._driver is not None:
        app._driver.write(sequence)


def forget_callbacks(app: App[Any]) -> None:
    """Drop callbacks that were deferred until the app runs."""
    app._next_callbacks.clear()


def bindings_of_key(widget: DOMNode, key: str) -> Iterable[Binding]:
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


@contextmanager
def muted(app: App[Any]) -> Iterator[None]:
    """Drop writes in this context: while a program has the terminal, they would wait for a writer that has ended."""
    driver: Any = app._driver
    if driver is None:
        yield
        return
    driver.write = lambda data: None
    try:
        yield
    finally:
        del driver.write  # restores the class's method
