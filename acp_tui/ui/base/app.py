"""The base class of our apps (main, replay, inspector, and pictures): looks, keys, pacing, and notices as parts."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.console import Console
from textual import events, on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.filter import LineFilter, Monochrome, NoColor
from textual.notifications import Notify
from textual.reactive import var
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.keymap import BY_ID, DEFAULT_KEYMAP, Keymap, keymap_of, places_of
from acp_tui.ui.commands.keys import Keys
from acp_tui.ui.kit.notice_lines import AskingChanged, Notices
from acp_tui.ui.kit.terminal_colors import has_unicode
from acp_tui.ui.kit.themes import ANSI_DARK, DARK, OWN_THEMES, stylesheets, theme_for, theme_notes
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.rendering.links import WithoutLinks
from acp_tui.ui.textual_gaps.internals import PatchedApp, forget_callbacks
from acp_tui.ui.textual_gaps.terminal_input import feed_early

if TYPE_CHECKING:
    from textual.types import CSSPathType

    from acp_tui.ui.commands.help import Pickers


@cache
def keep_what_is_loaded() -> None:
    """Freeze loaded objects: otherwise each full garbage collection scans them and stalls the screen for 40 ms.

    Runs only once, because frozen objects are never collected, and a tab opened later must leave nothing behind when
    it's closed. (It's cached, because asking whether anything is frozen takes 12 ms.)
    """
    gc.freeze()
    # A young collection of this size takes at most 10 ms. Rows that scroll by are garbage in cycles (Strip.divide). A
    # middle one scans five of them. With fifty, it took as long as a full one, repeatedly in a long conversation.
    gc.set_threshold(20_000, 5, 100)


class AppStyles:
    """The looks of one app. Create it before the app is styled."""

    def __init__(self, app: BaseApp, appearance: Appearance, environ: Mapping[str, str] = os.environ) -> None:
        self._app = app
        self._environ = environ
        self._animations = app.animation_level
        self._filters: Sequence[LineFilter] = ()
        self._terminal_theme = DARK.name
        """The theme that matches the terminal, if none is set."""
        for own in OWN_THEMES:
            app.register_theme(own)
        self.use(appearance)
        # Nothing is styled yet, so the first parse of the stylesheets uses the theme. A second isn't needed.
        forget_callbacks(app)
        app.stylesheet.set_variables(app.get_css_variables())

    def use(self, appearance: Appearance) -> None:
        self._appearance, app = appearance, self._app
        # An empty value doesn't count (https://no-color.org).
        app.no_color = bool(self._environ.get("NO_COLOR"))
        # This theme uses attributes where others use colors.
        app.theme = ANSI_DARK if app.no_color else self._known(appearance.theme)
        app.animation_level = "none" if appearance.reduced_motion else self._animations
        filters: list[LineFilter] = [NoColor(enabled=app.no_color), Ascii(enabled=appearance.ascii)]
        filters.append(WithoutLinks(enabled=not appearance.links))
        self._filters = [each for each in filters if each.enabled]

    def draw_anew(self) -> None:
        """Redraw everything, because the line filters may have changed."""
        for screen in self._app.screen_stack:
            for node in screen.walk_children(Widget, with_self=True):
                node.refresh()

    def filters(self, textuals: Iterable[LineFilter]) -> Sequence[LineFilter]:
        """The filters for each line. With NO_COLOR there are no grays either, unlike in Textual's own filter."""
        return [*(each for each in textuals if not isinstance(each, Monochrome)), *self._filters]

    def _known(self, name: str) -> str:
        return name if name in self._app.available_themes else DARK.name

    def note_terminal_theme(self) -> None:
        self._terminal_theme = self._app.theme

    def fitted(self, chosen: Appearance) -> Appearance:
        """Fill in unset values to match the terminal. Its theme is known only from the start."""
        return replace(
            chosen, theme=chosen.theme or self._terminal_theme, ascii=chosen.ascii or not has_unicode(self._environ)
        )

    def try_on(self, name: str | None) -> None:
        """Show a theme; "" for the one that matches the terminal, None for the one in the settings."""
        if not self._app.no_color:
            wanted = self._appearance.theme if name is None else name or self._terminal_theme
            self._app.theme = self._known(wanted)

    async def choose_theme(self, chosen: str, keep: Callable[[str], Awaitable[None]], words: str = "") -> None:
        """Let the user preview themes, and `keep` the chosen one. If none is chosen, the previous one comes back.

        The list begins with those whose names contain `words`.
        """
        themes = sorted(self._app.available_themes)
        try:
            name = await self._app.pickers.choose_theme(themes, chosen, self.try_on, words)
            if name is not None:
                await keep(name)
        finally:
            self.try_on(None)


MAX_USED: Final = 2
"""The number of recent commands at the top of the palette."""


class BaseApp(PatchedApp):
    """Delegates Textual's hooks to its parts. Has no tabs, and starts no agent."""

    CSS_PATH: ClassVar[CSSPathType | None] = [*stylesheets()]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (50, "-wide")]  # noqa: RUF012 - Textual has no ClassVar here either
    VERTICAL_BREAKPOINTS = [(0, "-low"), (24, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, id="quit"),
        # Without priority, Textual ignores the app's bindings while a dialog is open.
        Binding("f1", "help", "Help", show=False, priority=True, id="help"),
    ]

    keymap: var[Keymap] = var(DEFAULT_KEYMAP, init=False)
    clock: Callable[[], float] = staticmethod(time.monotonic)
    theme_for = staticmethod(theme_for)
    feed_early = staticmethod(feed_early)

    def __init__(
        self, settings: Settings | None = None, notes: Sequence[str] = (), environ: Mapping[str, str] = os.environ
    ) -> None:
        """`notes` is what the user should know about the settings."""
        super().__init__()
        # Textual prints tracebacks with it, and our stderr shows every ESC as a character, so no colors.
        self.error_console = Console(markup=False, highlight=False, stderr=True, color_system=None)
        self.settings = settings or Settings()
        self.keys = Keys(self, lambda: self.clock())
        self.notices = Notices(self)
        self.looks = AppStyles(self, self.settings.appearance, environ)
        self.keymap = keymap_of(self.settings.keys)
        self._notes = (*notes, *theme_notes(self.settings.appearance.theme), *self.keymap.notes)
        self._used_commands: Sequence[str] = ()
        """The IDs of commands chosen in the palette, latest first."""

    def hang_up(self) -> None:
        self.exit()

    # Keys

    def on_load(self) -> None:
        """Let each task begin in the next round of the loop, as before Python 3.12 and in the tests.

        Textual has tasks begin at once, in the call that creates them. Code that counts on the usual order fails then:
        before Python 3.12.8 and 3.13.1, even the standard library's connecting to a host with several addresses does.
        """
        asyncio.get_running_loop().set_task_factory(None)

    async def on_event(self, event: events.Event) -> None:
        """Run the command of a user-defined key, or pass the event on."""
        if isinstance(event, events.InputEvent) and not self.is_running:
            return  # its screens are closed
        if not await self.keys.take(event):
            await super().on_event(event)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether the action is available. Help isn't while a program has the keyboard."""
        if action == "help":
            return isinstance(self.screen, ModalScreen) or hasattr(self.screen, "action_help")
        return super().check_action(action, parameters)

    @cached_property
    def pickers(self) -> Pickers:
        from acp_tui.ui.commands.help import Pickers  # imported on first use

        return Pickers(self)

    def action_help(self) -> None:
        """Show the screen's own help, or the keys of the dialog."""
        own_help = getattr(self.screen, "action_help", None)
        if own_help is not None:
            own_help()
        else:
            self.pickers.show_keys(self.screen)

    def action_command_palette(self) -> None:
        screen = self.screen

        async def run(command: Command | None) -> None:
            if command is not None:
                others = [id_ for id_ in self._used_commands if id_ != command.id]
                self._used_commands = [command.id, *others][:MAX_USED]
                await self.run_action(command.action, screen)

        here = places_of(screen.focused or screen)
        suggested = (*self._used_commands, *self.suggested_for(screen))
        self.pickers.choose_command(lambda: self.commands_for(screen), self.keymap, here, suggested, run)

    def commands_for(self, screen: Screen[object]) -> Iterator[Command]:
        """The commands that the palette offers on this screen; here, those for all of acp-tui."""
        yield from (BY_ID[id_] for id_ in ("change_theme", "screenshot", "quit"))

    def suggested_for(self, screen: Screen[object]) -> Sequence[str]:
        """The IDs of commands that fit the moment, the best first."""
        return ()

    # Looks

    def get_line_filters(self) -> Sequence[LineFilter]:
        textuals: Iterable[LineFilter] = super().get_line_filters()
        looks = getattr(self, "looks", None)  # Textual asks during construction
        return looks.filters(textuals) if looks is not None else [*textuals]

    @work
    async def action_choose_theme(self) -> None:
        await self.looks.choose_theme(self.theme, self.keep_theme)

    async def keep_theme(self, name: str) -> None:
        """Use this theme until the app exits."""
        self.settings = replace(self.settings, appearance=replace(self.settings.appearance, theme=name))
        self.looks.use(self.settings.appearance)

    # Notices

    def on_notify(self, event: Notify) -> None:
        event.prevent_default()  # Textual's toasts lie over what is used
        self.notices.add(event.notification)

    @on(AskingChanged)
    def place_notices(self) -> None:
        self.notices.place()

    def say(self, text: str, *, is_wrong: bool = False) -> None:
        self.notify(text, title="Settings", severity="warning" if is_wrong else "information", markup=False)

    def tell_notes(self, notes: Sequence[str]) -> None:
        """Report problems of the settings: in full if there is one, otherwise only how many."""
        if len(notes) == 1:
            self.say(notes[0], is_wrong=True)
        elif notes:
            self.say(f"{len(notes)} problems with your settings; to see them: /settings", is_wrong=True)


FONTS: Final = "Fira Code, Menlo, Consolas, DejaVu Sans Mono, monospace"


def picture_of(app: App[Any]) -> str:
    """The screen as SVG: with stable ids, the viewer's own fonts, and a window in the theme's colors.

    Textual's ids contain a checksum of the contents. Its font comes from the network, which most places that show
    pictures forbid. Each run of text has a fixed width, so another monospaced font moves no column. Textual's frame is
    nearly black, even around a light theme.
    """
    svg = app.export_screenshot(title="acp-tui", simplify=True)
    svg = re.sub(r"\bterminal-\d+-", "terminal-", re.sub(r"@font-face\s*\{[^}]*\}\s*", "", svg))
    if not app.current_theme.ansi:  # its colors are the terminal's own
        color = app.theme_variables
        frame = f'<rect fill="{color["surface"]}" stroke="{color["panel"]}"'
        svg = svg.replace('<rect fill="#292929" stroke="rgba(255,255,255,0.35)"', frame, 1)
        title = '<text class="terminal-title" fill="{}"'
        svg = svg.replace(title.format("#c5c8c6"), title.format(color["foreground"]), 1)
    return svg.replace("font-family: Fira Code, monospace", f"font-family: {FONTS}")
