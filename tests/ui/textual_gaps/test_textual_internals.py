"""The internals of Textual that we use still exist: a new version of Textual fails here first, and by name."""

import asyncio
from contextlib import suppress
from inspect import isfunction
from itertools import count

import pytest
from rich.segment import Segment
from textual import _time, message_pump
from textual._compositor import Compositor
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.containers import Vertical
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Resize
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.textual_gaps import painting
from acp_tui.ui.textual_gaps.internals import painted_rows
from support.waiting import until

OVERRIDDEN = (
    (App, "_background_screens"),
    (App, "_display"),
    (App, "_end_batch"),
    (App, "_on_key"),
    (App, "_prune"),
    (App, "_refresh_notifications"),
    (App, "_register"),
    (Compositor, "_render_chops"),
    (Compositor, "clear"),
    (Compositor, "reflow"),
    (Compositor, "visible_widgets"),
    (LinuxDriver, "_sigcont_application"),
    (TextArea, "scroll_cursor_visible"),
    (TextArea, "update_suggestion"),
    (linux_driver, "XTermParser"),
    (message_pump, "Timer"),
    (AwaitComplete, "__await__"),
    (Screen, "_reset_focus"),
    (Screen, "dismiss"),
    (Screen, "set_focus"),
    (Widget, "_get_virtual_dom"),
    (Widget, "_on_key"),
    (Widget, "mount"),
    (Widget, "refresh"),
)
CALLED = (
    (App, "_unnotify"),
    (LinuxDriver, "_disable_mouse_support"),
    (Screen, "_compositor_refresh"),
)


@pytest.mark.parametrize(("owner", "name"), [*OVERRIDDEN, *CALLED])
def test_textual_has(owner: object, name: str) -> None:
    assert hasattr(owner, name)


@pytest.mark.parametrize("name", ["_batch_count", "_driver", "_message_queue", "_next_callbacks", "_pending_message"])
def test_a_textual_app_has(name: str) -> None:
    assert hasattr(App(), name)


@pytest.mark.parametrize("name", ["size", "_dirty_regions", "_full_map", "render_strips", "update_widgets"])
async def test_the_compositor_of_a_textual_screen_has(name: str) -> None:
    async with App().run_test() as pilot:
        assert hasattr(pilot.app.screen._compositor, name)
        assert hasattr(pilot.app.screen, "_dirty_widgets")


@pytest.mark.parametrize("name", ["_file", "_auto_restart", "_must_signal_resume"])
def test_textuals_driver_uses(name: str) -> None:
    """By its code, because it is created only for a terminal."""
    functions = [each for each in vars(LinuxDriver).values() if isfunction(each)]
    assert any(name in each.__code__.co_names for each in functions)


class Sized(Widget):
    """A widget that notes whether it was told its size."""

    has_size = False

    def on_resize(self) -> None:
        self.has_size = True


async def test_a_widget_gets_its_first_resize_though_its_region_was_asked_for_before() -> None:
    async with BaseApp().run_test() as pilot:
        screen, late = pilot.app.screen, Sized()
        late.display = False
        await screen.mount(late)
        late.display = True
        screen._compositor.update_widgets({late})
        screen.find_widget(late)
        await until(lambda: late.has_size, pilot.pause)


async def test_a_resize_that_a_screen_sent_itself_does_not_bring_an_old_size_back() -> None:
    async with BaseApp().run_test(size=(20, 5)) as pilot:
        screen = pilot.app.screen
        await pilot.resize_terminal(80, 24)
        screen.post_message(Resize(Size(20, 5), Size(20, 5)))  # sent when it was laid out, and handled late
        await pilot.pause()
        assert [len(painted_rows(screen)), painted_rows(screen)[0].cell_length] == [24, 80]


async def test_a_timer_fires_once_even_if_it_was_late_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    async with BaseApp().run_test() as pilot:
        times = count(start=0.0, step=0.01)  # longer than its delay passes before it sleeps
        monkeypatch.setattr(_time, "get_time", lambda: next(times))
        fired = asyncio.Event()
        timer = pilot.app.set_timer(1 / 120, fired.set)
        await until(fired.is_set, pilot.pause)
        timer.stop()


async def test_a_dialog_dismissed_twice_removes_nothing_below() -> None:
    async with BaseApp().run_test() as pilot:
        below, dialog, results = Screen[None](), ModalScreen[str](), list[str | None]()
        await pilot.app.push_screen(below)
        await pilot.app.push_screen(dialog, results.append)
        dialog.dismiss("first")
        dialog.dismiss("second")
        await until(lambda: not dialog.is_attached, pilot.pause)
        assert [results, pilot.app.screen] == [["first"], below]


async def test_a_dialog_dismissed_below_another_goes_when_that_is_gone() -> None:
    async with BaseApp().run_test() as pilot:
        below, above, results = ModalScreen[str](), ModalScreen[None](), list[str | None]()
        await pilot.app.push_screen(below, results.append)
        await pilot.app.push_screen(above)
        below.dismiss("chosen")
        await pilot.pause()
        assert [results, pilot.app.screen] == [[], above]
        above.dismiss()
        await until(lambda: not below.is_attached, pilot.pause)
        assert results == ["chosen"]


async def test_a_dialog_closes_though_the_task_that_awaits_it_is_cancelled() -> None:
    async with BaseApp().run_test() as pilot:
        app, dialog = pilot.app, ModalScreen[None]()
        await app.push_screen(dialog)

        async def close() -> None:
            await app.pop_screen()

        closing = asyncio.ensure_future(close())
        await asyncio.sleep(0)  # it awaits the closing now
        closing.cancel()
        await until(lambda: not dialog.is_attached, pilot.pause)
        assert closing.cancelled()


async def test_what_is_not_on_the_screen_gets_no_keyboard() -> None:
    async with BaseApp().run_test() as pilot:
        screen, field = pilot.app.screen, Input()
        await screen.mount(field)
        screen.set_focus(field)
        screen.set_focus(Input())  # as one that was composed while what it is in was removed
        assert screen.focused is field


class Lingering(Widget):
    """A widget that is removed only when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()

    async def on_unmount(self) -> None:
        await self.let_go.wait()


async def test_a_removed_text_area_is_not_painted_while_others_are_still_being_removed() -> None:
    async with BaseApp().run_test() as pilot:
        screen, area, lingering = pilot.app.screen, TextArea("a text", show_line_numbers=True), Lingering()
        await screen.mount(area, lingering)
        await pilot.pause()
        area.refresh()
        removal = screen.remove_children([area, lingering])
        await until(lambda: area.parent is None, lambda: asyncio.sleep(0))
        try:
            painted = screen._compositor.render_strips()
        finally:
            lingering.let_go.set()
        await removal
        assert "a text" not in "".join(strip.text for strip in painted)


def test_the_strips_of_textual_are_those_we_know() -> None:
    assert {*Strip.__slots__} == painting.SIZES.keys() | painting.OTHERS


def test_a_strip_makes_a_cache_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Strip, "__init__", Strip.__init__)
    monkeypatch.setattr(Strip, "__getattr__", None, raising=False)
    painting.create_strip_caches_on_use()
    strip = Strip([Segment("one two")])
    slots = {name: vars(Strip)[name] for name in painting.SIZES}

    def made() -> list[str]:
        found = []
        for name, slot in slots.items():
            with suppress(AttributeError):
                slot.__get__(strip)
                found.append(name)
        return found

    assert made() == []
    assert strip.crop(0, 3).text == "one"
    assert strip.crop(0, 3) is strip.crop(0, 3)
    assert made() == ["_crop_cache"]
    assert not hasattr(strip, "_no_such_cache")


class Whole(Vertical):
    """Counts its parts when it hears that it is about to go, and when it is gone."""

    def __init__(self) -> None:
        super().__init__(Static(), Static())
        self.counts: list[int] = []

    def _on_prune(self) -> None:
        self.counts.append(len(self.children))

    def on_unmount(self) -> None:
        self.counts.append(len(self.children))


async def test_a_widget_hears_that_it_goes_while_its_parts_are_still_there() -> None:
    async with App().run_test() as pilot:
        whole = Whole()
        await pilot.app.screen.mount(Vertical(whole))
        await pilot.app.screen.remove_children()
    assert whole.counts == [2, 0]


async def test_a_widget_that_goes_gets_no_keyboard() -> None:
    async with BaseApp().run_test() as pilot:
        field = Input()
        await pilot.app.screen.mount(field)
        field.remove()
        pilot.app.screen.set_focus(field)
        assert pilot.app.screen.focused is None


async def test_nothing_is_mounted_in_an_app_that_ends() -> None:
    async with BaseApp().run_test() as pilot:
        pilot.app.exit()
        late = Static()
        await pilot.app.screen.mount(late)
        assert late.parent is None


async def test_no_cursor_blinks_because_that_would_redraw_while_nothing_happens() -> None:
    async with BaseApp().run_test() as pilot:
        fields = [Input(), TextArea()]
        await pilot.app.screen.mount(Vertical(*fields))
        assert [field.cursor_blink for field in fields] == [False, False]


class Growing(Static):
    """Has as many rows as it is told."""

    rows = 1

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows."""
        return self.rows

    def grow(self, rows: int) -> None:
        """Have this many."""
        self.rows = rows
        self.refresh(layout=True)


async def test_a_widget_that_changes_twice_at_once_has_its_last_size() -> None:
    app = BaseApp()
    async with app.run_test() as pilot:
        widget = Growing()
        await app.screen.mount(widget)
        await pilot.pause()
        widget.grow(2)
        app.screen._clear_arrangement_cache()  # as for another widget that changes, before this one is idle
        app.screen._refresh_layout()
        widget.grow(3)
        await pilot.pause()
        assert widget.size.height == 3
