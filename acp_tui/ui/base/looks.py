"""How an app looks, as the settings and the terminal want it: theme, colors, motion, letters for signs."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from textual.app import App
from textual.filter import LineFilter, Monochrome, NoColor
from textual.widget import Widget

from acp_tui.client.settings.tree import Appearance
from acp_tui.ui.kit.terminal_colours import has_unicode
from acp_tui.ui.kit.themes import ANSI_DARK, DARK, OWN_THEMES
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.textual_gaps.internals import forget_callbacks


class Looks:
    """The looks of one app, which has no look of its own yet."""

    def __init__(
        self, app: App[Any], appearance: Appearance, environ: Mapping[str, str] = os.environ
    ) -> None:
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
        from acp_tui.ui.dialogs.theme_choice import ThemePicker  # loading point: when it is first asked for

        themes = sorted(self._app.available_themes)
        try:
            name = await self._app.push_screen_wait(ThemePicker(themes, chosen, self.try_on))
            if name is not None:
                await keep(name)
        finally:
            self.try_on(None)
