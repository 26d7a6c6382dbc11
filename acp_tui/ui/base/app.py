"""The app that the real one, replay, inspector and pictures share: looks, keys, pace and notices, as parts of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from rich.console import Console, RenderableType
from textual import events, work
from textual.app import App
from textual.await_remove import AwaitRemove
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.reactive import var
from textual.screen import ModalScreen, Screen
from textual.types import CSSPathType
from textual.widget import Widget

from acp_tui.client.settings.tree import Settings
from acp_tui.ui.base.looks import Looks
from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.keymap import AS_BUILT, BY_ID, Keymap, keymap_of, places_of
from acp_tui.ui.commands.keys import Keys
from acp_tui.ui.kit.stylesheets import stylesheets
from acp_tui.ui.kit.themes import theme_notes
from acp_tui.ui.kit.toasts import Toasts
from acp_tui.ui.textual_gaps.internals import Removal, bindings_of_key, tell_every_first_size
from acp_tui.ui.textual_gaps.pacing import Pacing

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
        self.pacing.display(renderable, lambda: super(BaseApp, self)._display(screen, renderable))

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

    def action_help_dialog(self) -> None:
        """Show the keys of the dialog that is open."""
        from acp_tui.ui.dialogs.dialog_help import DialogHelp  # loading point: when it is first asked for

        self.push_screen(DialogHelp(self.screen))

    def action_command_palette(self) -> None:
        """Let the user choose among all that can be done now."""
        from acp_tui.ui.commands.palette import CommandPicker  # loading point: when it is first asked for

        screen = self.screen
        if isinstance(screen, CommandPicker):
            return

        async def run(command: Command | None) -> None:
            if command is not None:
                others = [id_ for id_ in self._used_commands if id_ != command.id]
                self._used_commands = [command.id, *others][:MOST_USED]
                await self.run_action(command.action, screen)

        palette = CommandPicker(
            self.commands_for(screen),
            self.keymap,
            here=places_of(screen.focused or screen),
            recent=self._used_commands,
            cells=self.size.width,
        )
        self.push_screen(palette, run)

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
            self.say(f"{len(notes)} things are wrong: /settings shows them", is_wrong=True)
