"""Our two themes, the palette for any theme, and the locations of the stylesheets.

Text has a contrast of at least 4.5 to 1 (WCAG 2 AA) on every background; lines and bars 3 to 1. The stylesheets are
inside the package in a wheel, and next to it in a checkout or an editable install.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.style import Style
from textual.color import Color
from textual.constants import COLOR_SYSTEM
from textual.theme import BUILTIN_THEMES, Theme

from acp_tui.ui.kit.terminal_colors import Shade
from acp_tui.ui.rendering.palette import NO_STYLE, Palette


def reversed_selection(foreground: str, background: str) -> dict[str, str]:
    """Selected text in the prompt and in fields is reversed, as in the conversation. That is always legible."""
    return {"input-selection-background": foreground, "input-selection-foreground": background}


DARK: Final = Theme(
    name="acp-dark",
    primary="#7aa2f7",
    secondary="#9d8cf2",
    accent="#e0af68",
    warning="#e0af68",
    error="#f7768e",
    success="#8fcf7f",
    foreground="#d5d9e5",
    background="#16171d",
    surface="#1c1e26",
    panel="#262933",
    dark=True,
    variables={"foreground-muted": "#9497a1", "text-disabled": "#9497a1", **reversed_selection("#d5d9e5", "#16171d")},
)
LIGHT: Final = Theme(
    name="acp-light",
    primary="#2456b8",
    secondary="#6b3fa0",
    accent="#8a5a00",
    warning="#8a5a00",
    error="#b3213b",
    success="#2c6e1f",
    foreground="#24262e",
    background="#fbfaf7",
    surface="#f1efe9",
    panel="#e4e1d8",
    dark=False,
    variables={"foreground-muted": "#5e5f64", "text-disabled": "#5e5f64", **reversed_selection("#24262e", "#fbfaf7")},
)
OWN_THEMES: Final = (DARK, LIGHT)
ANSI_DARK: Final = "ansi-dark"
ANSI_LIGHT: Final = "ansi-light"
"""Textual's own theme, in the terminal's 16 colors."""
THEME_NAMES: Final = frozenset({*BUILTIN_THEMES, *(own.name for own in OWN_THEMES)})
"""All themes that can be chosen."""

TEXT_CONTRAST: Final = 4.5
LINE_CONTRAST: Final = 3.0
COLOR_NAMES: Final = (
    *("background", "surface", "foreground", "foreground-muted"),
    *("primary", "secondary", "accent", "success", "warning", "error"),
)


def theme_notes(name: str) -> tuple[str, ...]:
    """Report an unknown theme in the settings. "" is the one that matches the terminal."""
    if not name or name in THEME_NAMES:
        return ()
    known = ", ".join(sorted(THEME_NAMES))
    return (f"appearance.theme: there is no theme {name!r}; known: {known}; {DARK.name} is shown instead",)


_palettes: dict[str, tuple[Theme, Palette]] = {}
"""One palette per theme name. Palettes don't change, and drawn lines are cached by palette identity."""


def theme_for(shade: Shade | None, environ: Mapping[str, str]) -> str:
    """The theme that matches a terminal with this background and environment; None for an unknown background."""
    # Textual declares this as str, but it is one of Rich's names.
    console = Console(force_terminal=True, color_system=COLOR_SYSTEM, _environ=environ)  # type: ignore[arg-type]
    if console.color_system in ("256", "truecolor"):
        return LIGHT.name if shade == "light" else DARK.name
    return ANSI_LIGHT if shade == "light" else ANSI_DARK


def palette_for(theme: Theme) -> Palette:
    """The palette of a theme. Returns the same object each time, so that drawn lines stay valid."""
    known = _palettes.get(theme.name)
    if known is None or known[0] is not theme:
        palette = _ansi_palette(theme.dark) if theme.ansi else _true_color_palette(theme)
        known = _palettes[theme.name] = (theme, palette)
    return known[1]


def _true_color_palette(theme: Theme) -> Palette:
    generated = theme.to_color_system().generate()
    colors = {name: Color.parse(generated[name]) for name in COLOR_NAMES}
    ground, ink = colors["background"], colors["foreground"]
    panel = ground.blend(ink, 0.055 if theme.dark else 0.045)
    added, removed = (ground.blend(colors[name], 0.14) for name in ("success", "error"))
    plain_grounds = (ground, colors["surface"], panel)
    grounds = (*plain_grounds, added, removed)

    def legible(name: str) -> Style:
        color = colors[name]
        return _style(contrasting(ground.blend(color, color.a, 1), grounds, ink, TEXT_CONTRAST))

    muted = legible("foreground-muted")
    return replace(
        _palette(
            theme.dark,
            _style(ink),
            muted,
            _style(contrasting(ink.blend(ground, 0.72), plain_grounds, ink, LINE_CONTRAST)),
            *map(legible, ("primary", "secondary", "accent", "success", "warning", "error")),
        ),
        user=_style(ink, panel),
        code_block=_style(ink, panel),
        diff_added=_style(ink, added),
        # Syntax colors wouldn't stand out on such a strong background.
        diff_added_word=_style(ink, ground.blend(colors["success"], 0.36)),
        diff_removed=_style(ink, removed),
        diff_removed_word=_style(ink, ground.blend(colors["error"], 0.36)),
        syntax_operator=muted,
    )


def _style(color: Color, ground: Color | None = None) -> Style:
    return Style(color=color.rich_color, bgcolor=ground.rich_color if ground is not None else None)


def _ansi_palette(dark: bool) -> Palette:
    """The terminal's own 16 colors. How they look is unknown."""
    dim, reverse = Style(dim=True), Style(reverse=True)
    yellow = "yellow" if dark else "magenta"
    green, red = Style(color="green"), Style(color="red")
    blue, magenta, accent = (Style(color=name) for name in ("blue", "magenta", yellow))
    return replace(
        _palette(dark, NO_STYLE, dim, dim, blue, magenta, accent, green, accent, red),
        user=Style(bold=True),
        diff_added=green,
        diff_added_word=reverse,
        diff_removed=red,
        diff_removed_word=reverse,
    )


def _palette(
    dark: bool,
    ink: Style,
    muted: Style,
    faint: Style,
    primary: Style,
    secondary: Style,
    accent: Style,
    success: Style,
    warning: Style,
    error: Style,
) -> Palette:
    """What these colors stand for, without backgrounds."""
    bold, italic = Style(bold=True), Style(italic=True)
    return Palette(
        dark=dark,
        text=ink,
        muted=muted,
        accent=accent,
        success=success,
        warning=warning,
        error=error,
        status=muted,
        status_word=muted,
        thought=muted + italic,
        heading_1=secondary + bold,
        heading_2=secondary,
        heading=ink + bold,
        strong=bold,
        emphasis=italic,
        strikethrough=Style(strike=True),
        code=accent,
        code_label=muted,
        link=primary + Style(underline=True),
        quote=muted,
        quote_bar=faint,
        list_marker=primary,
        task_done=success,
        task_open=muted,
        table_header=ink + bold,
        table_border=faint,
        rule=faint,
        diff_title=ink + bold,
        diff_hunk=secondary,
        diff_context=muted,
        diff_number=muted,
        syntax_keyword=secondary,
        syntax_string=success,
        syntax_comment=muted + italic,
        syntax_number=accent,
        syntax_function=primary,
        syntax_type=primary,
        syntax_builtin=accent,
        syntax_decorator=accent,
        syntax_tag=primary,
        syntax_inserted=success,
        syntax_deleted=error,
        syntax_error=error,
    )


def contrasting(color: Color, grounds: Sequence[Color], ink: Color, least: float) -> Color:
    """The color closest to `color`, on the way to `ink`, that has this contrast on all `grounds`."""
    steps = (color.blend(ink, step / 20) for step in range(20))
    enough = (step for step in steps if all(contrast(step, ground) >= least for ground in grounds))
    return next(enough, ink)


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two opaque colors as defined by WCAG 2, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_PACKAGE = Path(__file__).parents[2]
_PLACES = (_PACKAGE / "styles", _PACKAGE.parent / "styles")
_FIRST_FRAME: Final = {"app", "prompt"}
"""The ones for the first frame. The others take longer to parse, so an app may read them afterwards."""


def stylesheets() -> list[Path]:
    """All stylesheets, those for the first frame first. Raises FileNotFoundError if the installation is incomplete."""
    for place in _PLACES:
        found = sorted(place.glob("*.tcss"), key=lambda sheet: (not _is_first(sheet), sheet))
        if found:
            return found
    places = " nor in ".join(map(str, _PLACES))
    raise FileNotFoundError(f"acp-tui's stylesheets aren't in {places}: reinstall acp-tui")


def split_stylesheets() -> tuple[list[Path], list[Path]]:
    """The stylesheets for the first frame, and the others. Raises FileNotFoundError if there are none."""
    found = stylesheets()
    return [sheet for sheet in found if _is_first(sheet)], [sheet for sheet in found if not _is_first(sheet)]


def _is_first(sheet: Path) -> bool:
    return sheet.stem in _FIRST_FRAME


def stylesheet(name: str) -> str:
    """The text of a stylesheet, for a widget that is used in another app."""
    return next(sheet for sheet in stylesheets() if sheet.stem == name).read_text(encoding="utf-8")
