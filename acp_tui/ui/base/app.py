"""The app that the real one, replay, inspector and pictures share: looks, keys, pace and notices, as parts of it."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.console import Console, RenderableType
from textual import events, work
from textual.app import App
from textual.await_remove import AwaitRemove
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.notifications import SeverityLevel
from textual.reactive import var
from textual.screen import ModalScreen, Screen
from textual.types import CSSPathType
from textual.widget import Widget

from acp_tui.client.settings.tree import Appearance, Settings
from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.keymap import AS_BUILT, BY_ID, Keymap, keymap_of, places_of
from acp_tui.ui.commands.keys import Keys
from acp_tui.ui.kit.terminal_colours import has_unicode
from acp_tui.ui.kit.themes import ANSI_DARK, DARK, OWN_THEMES, stylesheets, theme_notes
from acp_tui.ui.kit.toasts import Toasts
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.textual_gaps.driver import Pacing
from acp_tui.ui.textual_gaps.internals import (
    Removal,
    bindings_of_key,
    forget_callbacks,
    tell_every_first_size,
)
from acp_tui.ui.textual_gaps.lean_strips import make_strips_lean

if TYPE_CHECKING:
    from acp_tui.ui.commands.help import Pickers


@cache
def keep_what_is_loaded() -> None:
    """Once all is loaded: without this, each full collection looks at all of it and stalls the screen for 40 ms.

    Only once: what is frozen is never collected, and a later tab is to leave nothing behind when it is closed. (Asking
    whether anything is frozen takes 12 ms: it is counted.)
    """
    gc.freeze()
    # A young collection of so many takes 10 ms at most: a row that scrolls by is garbage in cycles (Strip.divide).
    # A middle one looks at five of them: fifty took as long as a full one, again and again in a long conversation.
    gc.set_threshold(20_000, 5, 100)


class Looks:
    """The looks of one app, which has no look of its own yet."""

    def __init__(self, app: BaseApp, appearance: Appearance, environ: Mapping[str, str] = os.environ) -> None:
        self._app = app
        self._environ = environ
        self._animations = app.animation_level
        self._filters: Sequence[LineFilter] = ()
        self._terminal_theme = DARK.name
        """What fits the terminal, where no theme is set."""
        for own in OWN_THEMES:
            app.register_theme(own)
        self._appearance = appearance
        self.use(appearance)
        # Nothing is styled yet: the theme is in the first parse of the style sheets, and needs no second one.
        forget_callbacks(app)
        app.stylesheet.set_variables(app.get_css_variables())

    def use(self, appearance: Appearance) -> None:
        """Look like this from now on."""
        self._appearance, app = appearance, self._app
        # An empty one means nothing (https://no-color.org).
        app.no_color = bool(self._environ.get("NO_COLOR"))
        # What colors tell apart in other themes, this one tells apart by attributes.
        app.theme = ANSI_DARK if app.no_color else self._known(appearance.theme)
        app.animation_level = "none" if appearance.reduced_motion else self._animations
        filters: list[LineFilter] = [NoColor(enabled=app.no_color), Ascii(enabled=appearance.ascii)]
        self._filters = [each for each in filters if each.enabled]

    def draw_anew(self) -> None:
        """What lines go through before they are shown may be another: no line that is drawn counts any more."""
        for screen in self._app.screen_stack:
            for node in screen.walk_children(Widget, with_self=True):
                node.refresh()

    def filters(self, textuals: Iterable[LineFilter]) -> Sequence[LineFilter]:
        """What each line goes through before it is shown; NO_COLOR leaves no greys either, as Textual's own would."""
        return [*(each for each in textuals if not isinstance(each, Monochrome)), *self._filters]

    def _known(self, name: str) -> str:
        return name if name in self._app.available_themes else DARK.name

    def note_terminal_theme(self) -> None:
        """What is shown now is what fits the terminal."""
        self._terminal_theme = self._app.theme

    def fitted(self, chosen: Appearance) -> Appearance:
        """With what is not set as it fits the terminal, of which the theme is known from the start only."""
        return replace(
            chosen,
            theme=chosen.theme or self._terminal_theme,
            ascii=chosen.ascii or not has_unicode(self._environ),
        )

    def try_on(self, name: str | None) -> None:
        """Show a theme; "" for the one that fits the terminal, None for the one that the settings say."""
        if not self._app.no_color:
            wanted = self._appearance.theme if name is None else name or self._terminal_theme
            self._app.theme = self._known(wanted)

    async def choose_theme(self, chosen: str, keep: Callable[[str], Awaitable[None]]) -> None:
        """Let the user try themes on, and `keep` the one they choose; without one the one before comes back."""
        themes = sorted(self._app.available_themes)
        try:
            name = await self._app.pickers.choose_theme(themes, chosen, self.try_on)
            if name is not None:
                await keep(name)
        finally:
            self.try_on(None)


MOST_USED: Final = 5
"""Commands that the palette begins with."""


class BaseApp(App[None]):
    """Passes what Textual asks of an app on to its parts; it has no tabs, and starts no agent."""

    CSS_PATH: ClassVar[CSSPathType | None] = [*stylesheets()]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (24, "-high")]  # noqa: RUF012 - no ClassVar in Textual either
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
        # Without priority, Textual passes over the app's bindings while a dialog is open.
        Binding("f1", "help_dialog", "Help", show=False, priority=True),
    ]

    keymap: var[Keymap] = var(AS_BUILT, init=False)
    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(
        self,
        settings: Settings | None = None,
        notes: Sequence[str] = (),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`notes` is what the user should know of the settings."""
        self.pacing = Pacing(self)  # Textual asks for a driver at once
        make_strips_lean()
        super().__init__()
        # Textual prints its tracebacks with it, and our stderr shows every ESC as a character: no colors, then.
        self.error_console = Console(markup=False, highlight=False, stderr=True, color_system=None)
        self.settings = settings or Settings()
        self.keys = Keys(self, lambda: self.clock())
        self.toasts = Toasts(self)
        self.looks = Looks(self, self.settings.appearance, environ)
        self.keymap = keymap_of(self.settings.keys)
        self._notes = (*notes, *theme_notes(self.settings.appearance.theme), *self.keymap.notes)
        self._used_commands: Sequence[str] = ()
        """Their ids, of those that were chosen in the palette, the last first."""

    # Pace

    def get_driver_class(self) -> type[Driver]:
        """The paced one, where Textual would take the one that it is made of."""
        return self.pacing.driver_class(super().get_driver_class())

    def let_go_of_terminal(self) -> None:
        """To be called when the app has ended, in whatever way."""
        self.pacing.let_go_of_terminal()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        self.pacing.display(renderable, partial(super()._display, screen))

    def _register(self, parent: DOMNode, *widgets: Widget, **places: Any) -> list[Widget]:
        for screen in widgets:
            if isinstance(screen, Screen):
                tell_every_first_size(screen)
        return super()._register(parent, *widgets, **places)

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        return Removal(super()._prune(*nodes, parent=parent))

    @property
    def _background_screens(self) -> list[Screen[Any]]:
        # Textual 8.2.8 holds the screen below for visible whatever covers it: each of its frames drew both.
        return super()._background_screens if self.screen.is_modal else []

    # Keys

    async def on_event(self, event: events.Event) -> None:
        """Do what a chosen key stands for, or pass it on."""
        if not await self.keys.take(event):
            await super().on_event(event)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether it can be done now: a screen that is no dialog of ours, or has a help of its own, gives that."""
        if action == "help_dialog":
            is_ours = isinstance(self.screen, ModalScreen)
            return is_ours and not tuple(bindings_of_key(self.screen, "f1"))
        return super().check_action(action, parameters)

    @cached_property
    def pickers(self) -> Pickers:
        """What is chosen from, and read."""
        from acp_tui.ui.commands.help import Pickers  # loading point: when it is first asked for

        return Pickers(self)

    def action_help_dialog(self) -> None:
        """Show the keys of the dialog that is open."""
        self.pickers.show_keys(self.screen)

    def action_command_palette(self) -> None:
        """Let the user choose among all that can be done now."""
        screen = self.screen

        async def run(command: Command | None) -> None:
            if command is not None:
                others = [id_ for id_ in self._used_commands if id_ != command.id]
                self._used_commands = [command.id, *others][:MOST_USED]
                await self.run_action(command.action, screen)

        here = places_of(screen.focused or screen)
        self.pickers.choose_command(
            lambda: self.commands_for(screen), self.keymap, here, self._used_commands, run
        )

    def commands_for(self, screen: Screen[object]) -> Iterator[Command]:
        """What the palette offers over this screen: here, what concerns all of acp-tui."""
        yield from (BY_ID[id_] for id_ in ("change_theme", "screenshot", "quit"))

    # Looks

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What each line goes through before it is shown."""
        textuals: Iterable[LineFilter] = super().get_line_filters()
        looks = getattr(self, "looks", None)  # Textual asks while it is being made
        return looks.filters(textuals) if looks is not None else [*textuals]

    @work
    async def action_choose_theme(self) -> None:
        """Let the user choose another theme."""
        await self.looks.choose_theme(self.theme, self.keep_theme)

    async def keep_theme(self, name: str) -> None:
        """Use it as long as the app runs."""
        self.settings = replace(self.settings, appearance=replace(self.settings.appearance, theme=name))
        self.looks.use(self.settings.appearance)

    # Notices

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Say this for a while, from now on where it is being said already."""
        self.toasts.forget(title, message)
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def _refresh_notifications(self) -> None:
        # Textual's own: there is something else to be said, or another screen in front.
        self.call_later(self.toasts.place)

    def say(self, text: str, *, is_wrong: bool = False) -> None:
        """Tell the user something of the settings."""
        self.notify(text, title="Settings", severity="warning" if is_wrong else "information", markup=False)

    def tell_notes(self, notes: Sequence[str]) -> None:
        """Say what is wrong in the settings: in a word where it is more than one thing."""
        if len(notes) == 1:
            self.say(notes[0], is_wrong=True)
        elif notes:
            self.say(f"{len(notes)} problems with your settings; to see them: /settings", is_wrong=True)
