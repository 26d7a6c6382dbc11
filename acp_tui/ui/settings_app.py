"""The part of the app that lives by the settings: how it looks, which keys are in force, and what is wrong in them.

How the settings are read and followed is `settings_desk`'s, which is loaded behind the first frame.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import work
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen
from textual.widget import Widget

from acp_tui.client.settings.location import project_settings_file
from acp_tui.client.settings.tree import Appearance, Settings
from acp_tui.ui.command import Command
from acp_tui.ui.keyed_app import KeyedApp
from acp_tui.ui.keymap import BY_ID, keymap_of, places_of
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.tab.loading import preloaded
from acp_tui.ui.tabbed_app import TabbedApp
from acp_tui.ui.terminal_colours import has_unicode
from acp_tui.ui.textual_internals import forget_callbacks
from acp_tui.ui.themes import ANSI_DARK, DARK, OWN_THEMES
from acp_tui.ui.toasts import ToastingApp

if TYPE_CHECKING:
    from acp_tui.client.settings.project_settings import ProjectSettings
    from acp_tui.client.settings.reader import SettingsRead
    from acp_tui.ui.settings_desk import SettingsDesk

MOST_USED: Final = 5
"""Commands that the palette begins with."""


class SettingsApp(ToastingApp, KeyedApp, TabbedApp):
    """Puts settings into force, from the start and as they change."""

    def __init__(
        self, cwd: Path, settings: Settings, notes: Sequence[str], settings_file: Path | None
    ) -> None:
        """`notes` is what the user should know of the settings.

        With `settings_file`, what is changed there, and in the project's file in `cwd`, counts while the app runs.
        """
        super().__init__()
        self._cwd = cwd
        self.settings = settings
        self._settings_file = settings_file
        self._settings_desk: SettingsDesk | None = None
        self._terminal_theme = DARK.name
        """What fits the terminal, where no theme is set."""
        self._animations = self.animation_level
        self._used_commands: Sequence[str] = ()
        """Their ids, of those that were chosen in the palette, the last first."""
        for own in OWN_THEMES:
            self.register_theme(own)
        self._set_look(settings.appearance)
        self._style_once()
        self.keymap = keymap_of(settings.keys)
        self._notes = (*notes, *self._theme_notes(settings.appearance.theme), *self.keymap.notes)

    def _style_once(self) -> None:
        """Nothing is styled yet: the theme is in the first parse of the style sheets, and needs no second one."""
        forget_callbacks(self)
        self.stylesheet.set_variables(self.get_css_variables())

    # How it looks

    def _set_look(self, appearance: Appearance) -> None:
        self.no_color = bool(os.environ.get("NO_COLOR"))  # an empty one means nothing (https://no-color.org)
        # What colours tell apart in other themes, this one tells apart by attributes.
        self.theme = ANSI_DARK if self.no_color else self._known_theme(appearance.theme)
        self.animation_level = "none" if appearance.reduced_motion else self._animations
        looks: list[LineFilter] = [NoColor(enabled=self.no_color), Ascii(enabled=appearance.ascii)]
        self._looks = [look for look in looks if look.enabled]

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What each line goes through before it is shown; NO_COLOR leaves no greys either, as Textual's own would."""
        own = (each for each in super().get_line_filters() if not isinstance(each, Monochrome))
        return [*own, *self._looks]

    def _known_theme(self, name: str) -> str:
        return name if name in self.available_themes else DARK.name

    def _theme_notes(self, name: str) -> tuple[str, ...]:
        if not name or name in self.available_themes:
            return ()
        known = ", ".join(sorted(self.available_themes))
        return (f"appearance.theme: there is no theme {name!r}; known: {known}",)

    def _draw_anew(self) -> None:
        """What lines go through before they are shown may be another: no line that is drawn counts any more."""
        for screen in self.screen_stack:
            for node in screen.walk_children(Widget, with_self=True):
                node.refresh()

    def show_theme(self, name: str | None) -> None:
        """Try a theme on; "" for the one that fits the terminal, None for the one that the settings say."""
        if not self.no_color:
            wanted = self.settings.appearance.theme if name is None else name or self._terminal_theme
            self.theme = self._known_theme(wanted)

    @work
    async def action_choose_theme(self) -> None:
        """Let the user choose another theme."""
        await self.choose_theme(self.theme, self.keep_theme)

    async def choose_theme(self, chosen: str, keep: Callable[[str], Awaitable[None]]) -> None:
        """Let the user try themes on, and `keep` the one they choose; without one the one before comes back."""
        from acp_tui.ui.screens.theme_choice import ThemePicker  # when it is first asked for

        try:
            name = await self.push_screen_wait(
                ThemePicker(sorted(self.available_themes), chosen, self.show_theme)
            )
            if name is not None:
                await keep(name)
        finally:
            self.show_theme(None)

    async def keep_theme(self, name: str) -> None:
        """Use it as long as the app runs."""
        self.settings = replace(self.settings, appearance=replace(self.settings.appearance, theme=name))

    # Commands

    def action_command_palette(self) -> None:
        """Let the user choose among all that can be done now."""
        from acp_tui.ui.screens.palette import CommandPicker  # when it is first asked for

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

    # What is said of the settings

    def tell_notes(self, notes: Sequence[str]) -> None:
        """Say what is wrong in the settings: in a word where it is more than one thing."""
        if len(notes) == 1:
            self.say(notes[0], is_wrong=True)
        elif notes:
            self.say(f"{len(notes)} things are wrong: /settings shows them", is_wrong=True)

    def say(self, text: str, *, is_wrong: bool = False) -> None:
        """Tell the user something of the settings."""
        self.notify(text, title="Settings", severity="warning" if is_wrong else "information", markup=False)

    async def trusts(self, project: ProjectSettings, user: SettingsRead) -> bool:
        """Ask the user whether to use a project's settings."""
        from acp_tui.ui.screens.trust_settings import TrustSettingsDialog

        return await self.push_screen_wait(TrustSettingsDialog(project, user))

    @work
    async def action_show_settings(self) -> None:
        """Let the user change the settings, and see what is wrong in them."""
        from acp_tui.ui.screens.settings import SettingsScreen

        await self.push_screen_wait(SettingsScreen(await self.loaded_settings_desk()))

    async def loaded_settings_desk(self) -> SettingsDesk:
        """The desk, with the files read where nobody follows them."""
        desk = await self._loaded_desk()
        if self._settings_file is None:
            await desk.open()
        return desk

    # The settings, as they change

    @work
    async def follow_settings(self) -> None:
        """Put changes of the files into force, as long as the app runs."""
        if self._settings_file is not None:
            desk = await self._loaded_desk()
            await desk.open()
            await desk.follow()

    async def settings_in_force(self) -> Settings:
        """Those that hold once the files are read and the user has said whether to use the project's."""
        from anyio import to_thread

        project = project_settings_file(self._cwd)
        if self._settings_file is not None and await to_thread.run_sync(os.path.lexists, project):
            self.begin_to_follow()
            await (await self._loaded_desk()).ready()
        return self.settings

    async def _loaded_desk(self) -> SettingsDesk:
        await preloaded(["acp_tui.ui.settings_desk"])
        from acp_tui.client.settings.location import settings_file
        from acp_tui.ui.settings_desk import SettingsDesk

        if self._settings_desk is None:
            self._settings_desk = SettingsDesk(
                self, self._settings_file or settings_file(), self._cwd, self.settings
            )
        return self._settings_desk

    def use_settings(self, settings: Settings) -> tuple[str, ...]:
        """Put them into force; gives what of them cannot be."""
        before, self.settings = self.settings, replace(settings, appearance=self._fitted(settings.appearance))
        if self.settings.appearance != before.appearance:
            self._set_look(self.settings.appearance)
            self._draw_anew()
        if settings.keys != before.keys:
            self.keymap = keymap_of(settings.keys)
        for tab in self.tabs:
            tab.use_settings(self.settings)
        return (*self._theme_notes(settings.appearance.theme), *self.keymap.notes)

    def _fitted(self, chosen: Appearance) -> Appearance:
        """With what is not set as it fits the terminal, of which the theme is known from the start only."""
        if not chosen.theme and self._settings_desk is not None and not self._settings_desk.is_open:
            self._terminal_theme = self.theme
        has_letters = has_unicode(os.environ)
        return replace(
            chosen, theme=chosen.theme or self._terminal_theme, ascii=chosen.ascii or not has_letters
        )
