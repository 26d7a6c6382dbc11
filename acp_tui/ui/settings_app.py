"""The part of the app that lives by the settings: how it looks, which keys are in force, and what is wrong in them.

How the settings are read and followed is `settings_desk`'s, which is loaded behind the first frame.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.filter import LineFilter, Monochrome, NoColor
from textual.widget import Widget

from acp_tui.client.settings.location import project_settings_file
from acp_tui.client.settings.tree import Appearance, Settings
from acp_tui.ui.keyed_app import KeyedApp
from acp_tui.ui.keymap import keymap_of
from acp_tui.ui.preloading import preload
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.tabbed_app import TabbedApp
from acp_tui.ui.terminal_colours import has_unicode
from acp_tui.ui.textual_internals import forget_callbacks
from acp_tui.ui.themes import ANSI_DARK, DARK, OWN_THEMES
from acp_tui.ui.toasts import ToastingApp

if TYPE_CHECKING:
    from acp_tui.client.settings.project_settings import ProjectSettings
    from acp_tui.client.settings.reader import SettingsRead
    from acp_tui.ui.settings_desk import SettingsDesk


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

        desk = await self._loaded_desk()
        if self._settings_file is None:
            await desk.open()
        await self.push_screen_wait(SettingsScreen(desk))

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
        from anyio import to_thread

        await to_thread.run_sync(preload, ("acp_tui.ui.settings_desk",))
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
