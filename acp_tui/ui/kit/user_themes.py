"""The user's own themes: a file of colors for each, in a folder next to the settings.

Whatever the colors are, all text can be read on them, what asks a question included: a file whose colors would hide
text isn't used, and colors of words are moved towards the foreground until they stand out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from rich.style import Style
from textual.app import App
from textual.color import Color, ColorParseError
from textual.theme import Theme

from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.themes import (
    DARK,
    LIGHT,
    LINE_CONTRAST,
    TEXT_CONTRAST,
    THEME_NAMES,
    contrast,
    contrasting,
    palette_for,
    reversed_selection,
)

FOLDER: Final = "themes"
KEYS: Final = (
    *("primary", "secondary", "accent", "warning", "error", "success"),
    *("foreground", "background", "surface", "panel"),
)
"""The colors that a file may set; those that it leaves out are those of acp-dark, or of acp-light."""
GROUNDS: Final = ("background", "surface", "panel")
WORDS: Final = ("primary", "secondary", "accent", "warning", "error", "success")
MAX_BYTES: Final = 1 << 16
CURSOR_SHARE: Final = 0.4
"""Of `primary`, under the row or button at the cursor."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


class InvalidTheme(Exception):
    """The message says what is wrong, with the key."""


class UserThemes:
    """Registers the themes of a folder in an app."""

    def __init__(self, app: App[Any], folder: Path) -> None:
        self._app = app
        self._folder = folder
        self._read: dict[Path, str] = {}

    def use(self) -> list[str]:
        """Register the themes as the files are now, and show the current one anew if it changed. Returns what is wrong.

        A theme with a mistake stays as it was before.
        """
        problems: list[str] = []
        texts: dict[Path, str] = {}
        for file in sorted(self._folder.glob("*.toml")):
            try:
                texts[file] = _text_of(file)
            except (OSError, ValueError) as error:
                problems.append(make_visible_line(f"{file} can't be read: {error}"))
        before, self._read = self._read, texts
        for file, text in texts.items():
            if before.get(file) == text:
                continue
            try:
                self._register(theme_from(file.stem, text))
            except InvalidTheme as error:
                problems.append(make_visible_line(f"{file}: {error}. The theme stays as it was."))
        for gone in before.keys() - texts.keys():
            # The current one stays until another is chosen.
            if gone.stem != self._app.theme and not gone.exists() and gone.stem not in THEME_NAMES:
                self._app.unregister_theme(gone.stem)
        return problems

    def _register(self, theme: Theme) -> None:
        if self._app.get_theme(theme.name) == theme:
            return
        self._app.register_theme(theme)
        if self._app.theme == theme.name:
            self._app.mutate_reactive(App.theme)


def _text_of(file: Path) -> str:
    with file.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES} bytes")
    return data.decode()


def theme_from(name: str, text: str) -> Theme:
    """Make a theme of a file's text. Raises InvalidTheme."""
    if not _NAME.fullmatch(name):
        raise InvalidTheme("its name may have letters, digits, - and _ only, and at most 40 of them")
    if name in THEME_NAMES:
        raise InvalidTheme("another theme already has this name")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidTheme(str(error)) from error
    dark = document.pop("dark", True)
    if not isinstance(dark, bool):
        raise InvalidTheme("dark must be true or false")
    colors: dict[str, Any] = {key: _color(key, value).hex for key, value in document.items()}
    theme = replace(DARK if dark else LIGHT, name=name, **colors, variables={})
    theme = replace(theme, variables=_legible_words(theme))
    for problem in _illegible(theme):
        raise InvalidTheme(problem)
    return theme


def _color(key: str, value: object) -> Color:
    if key not in KEYS:
        raise InvalidTheme(f"{key} can't be set, only dark, {', '.join(KEYS)}")
    try:
        color = Color.parse(value) if isinstance(value, str) else None
    except ColorParseError:
        color = None
    if color is None or color.a != 1 or color.ansi is not None:
        raise InvalidTheme(f"{key} must be an opaque color such as #7aa2f7")
    return color


def _legible_words(theme: Theme) -> dict[str, str]:
    """The variables of the style sheets that words are drawn in."""
    ink, ground = Color.parse(theme.foreground or ""), Color.parse(theme.background or "")
    grounds = [Color.parse(getattr(theme, each)) for each in GROUNDS]

    def legible(color: Color) -> str:
        return contrasting(color, grounds, ink, TEXT_CONTRAST).hex

    muted = legible(ground.blend(ink, 0.6))
    words = {f"text-{each}": legible(Color.parse(getattr(theme, each))) for each in WORDS}
    return {"foreground-muted": muted, "text-disabled": muted, **words, **reversed_selection(ink.hex, ground.hex)}


def _illegible(theme: Theme) -> Iterator[str]:
    """What text could not be read on, with the key that is to change."""
    ink = Color.parse(theme.foreground or "")
    grounds = {each: Color.parse(getattr(theme, each)) for each in GROUNDS}
    cursor = grounds["surface"].blend(Color.parse(theme.primary), CURSOR_SHARE)
    for key, ground in grounds.items():
        yield from _too_weak(key, ink, ground)
    yield from _too_weak("primary", ink, cursor, LINE_CONTRAST)
    palette = palette_for(theme)
    for each in fields(palette):
        style = getattr(palette, each.name)
        if isinstance(style, Style) and style.color is not None and style.bgcolor is not None:
            blamed = {"diff_added": "success", "diff_removed": "error"}
            key = blamed.get(each.name.removesuffix("_word"), "background")
            on = Color.from_rich_color(style.bgcolor)
            yield from _too_weak(key, Color.from_rich_color(style.color), on)


def _too_weak(key: str, ink: Color, ground: Color, least: float = TEXT_CONTRAST) -> Iterator[str]:
    found = contrast(ink, ground)
    if found < least:
        yield f"{key} is too close to foreground: the contrast of text is {found:.1f}, and must be at least {least}"
