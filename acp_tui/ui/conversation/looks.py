"""Reads entries' colors from the stylesheet into palettes; a palette without rules stays the same object.

An entry is drawn before it has a widget, so its colors follow from kind and state, never from :hover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Final

from rich.style import Style
from textual.color import Color
from textual.css.styles import RenderStyles
from textual.theme import Theme
from textual.widget import Widget

from acp_tui.ui.conversation.drawing import Scene
from acp_tui.ui.conversation.entry_views import Kind
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.textual_gaps.placing import rules_for

PARTS: Final = {
    f"entry--{each.name.replace('_', '-')}": each.name for each in fields(Palette) if each.name != "dark"
}
"""The field of a palette that a component class stands for."""
THEME_COLORS: Final = {
    "foreground": "text",
    "accent": "accent",
    "warning": "warning",
    "error": "error",
    "success": "success",
}
"""Colors of a theme, and the fields of a palette that have them with enough contrast on every ground."""


class Looks:
    """The scenes to draw entries in, for each kind and state once."""

    def __init__(self, parent: Widget) -> None:
        self._parent = parent
        self._base: Scene | None = None
        self._scenes: dict[Kind, Scene] = {}
        self._by_styles: dict[frozenset[tuple[str, Style]], Scene] = {}
        self._rules: dict[Kind, dict[str, Style]] = {}
        """What the stylesheet says, by the fields of a palette."""
        self._legible: Mapping[Color, Style] = {}

    def scene(self, kind: Kind, base: Scene) -> Scene:
        """`base` with the palette of this kind of entry; kinds that look the same share one."""
        if self._base is not base:
            self._scenes.clear()
            self._by_styles.clear()
            if self._base is None or self._base.palette is not base.palette:
                self._rules.clear()
                self._legible = _legible_colors(self._parent.app.current_theme, base.palette)
            self._base = base
        scene = self._scenes.get(kind)
        if scene is None:
            scene = self._scenes[kind] = self._resolve(kind, base)
        return scene

    def forget(self) -> None:
        """The stylesheet may say something else now."""
        self._base = None

    def _resolve(self, kind: Kind, base: Scene) -> Scene:
        if kind not in self._rules:
            self._rules[kind] = self._read(kind, base)
        styles = self._rules[kind]
        if not styles:
            return base
        key = frozenset(styles.items())
        if key not in self._by_styles:
            self._by_styles[key] = replace(base, palette=base.palette.with_styles(styles))
        return self._by_styles[key]

    def _read(self, kind: Kind, base: Scene) -> dict[str, Style]:
        styles: dict[str, Style] = {}
        for part, rules in rules_for(self._parent, *kind, PARTS):
            name = PARTS[part] if part else "text"
            before: Style = getattr(base.palette, name)
            own = self._style(rules, has_ground=bool(part))
            if own:
                # Where there are no shades, what is muted is dim: another color is not.
                bright = Style(dim=False) if before.dim and own.color is not None else Style.null()
                styles[name] = before + bright + own
        return styles

    def _style(self, rules: RenderStyles, *, has_ground: bool) -> Style:
        style = Style.null()
        if rules.has_rule("color") and not rules.auto_color:
            style += self._legible.get(rules.color) or Style(color=rules.color.rich_color)
        if has_ground and rules.has_rule("background") and not rules.background.is_transparent:
            style += Style(bgcolor=rules.background.rich_color)
        if rules.has_rule("text_style"):
            style += rules.text_style
        return style


def _legible_colors(theme: Theme, palette: Palette) -> dict[Color, Style]:
    generated = theme.to_color_system().generate()
    return {Color.parse(generated[name]): getattr(palette, field) for name, field in THEME_COLORS.items()}
