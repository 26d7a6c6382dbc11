"""Our two themes, the palette for any theme, and the locations of the stylesheets.

Text has a contrast of at least 4.5 to 1 (WCAG 2 AA) on every background; lines and bars 3 to 1. The stylesheets are
inside the package in a wheel, and next to it in a checkout or an editable install.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypedDict, Unpack

from rich.color import Color as RichColor
from rich.console import Console
from rich.style import Style
from textual.color import Color
from textual.constants import COLOR_SYSTEM
from textual.theme import BUILTIN_THEMES, Theme

from acp_tui.ui.kit.terminal_colors import Shade
from acp_tui.ui.rendering.palette import Palette


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
    return (f"appearance.theme: there is no theme {name!r}; known: {', '.join(sorted(THEME_NAMES))}",)


_palettes: dict[str, tuple[Theme, Palette]] = {}
"""One palette per theme name. Palettes don't change, and drawn lines are cached by palette identity."""


class _Attributes(TypedDict, total=False):
    """Text attributes other than color."""

    bold: bool
    dim: bool
    italic: bool
    reverse: bool
    strike: bool
    underline: bool


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
    dark = theme.dark
    generated = theme.to_color_system().generate()
    colors = {name: Color.parse(generated[name]) for name in COLOR_NAMES}
    ground, ink = colors["background"], colors["foreground"]

    def style(color: Color, *, on: Color | None = None, **attributes: Unpack[_Attributes]) -> Style:
        return Style(color=_rich(color), bgcolor=_rich(on) if on else None, **attributes)

    panel = ground.blend(ink, 0.055 if dark else 0.045)
    added, removed = (ground.blend(colors[name], 0.14) for name in ("success", "error"))
    plain_grounds = (ground, colors["surface"], panel)
    grounds = (*plain_grounds, added, removed)

    def legible(name: str) -> Color:
        color = colors[name]
        return contrasting(ground.blend(color, color.a, 1), grounds, ink, TEXT_CONTRAST)

    muted = legible("foreground-muted")
    faint = contrasting(ink.blend(ground, 0.72), plain_grounds, ink, LINE_CONTRAST)
    primary, secondary, accent = map(legible, ("primary", "secondary", "accent"))
    success, warning, error = map(legible, ("success", "warning", "error"))
    return Palette(
        dark=dark,
        text=style(ink),
        muted=style(muted),
        accent=style(accent),
        success=style(success),
        warning=style(warning),
        error=style(error),
        status=style(muted),
        status_word=style(muted),
        user=style(ink, on=panel),
        thought=style(muted, italic=True),
        heading_1=style(secondary, bold=True),
        heading_2=style(secondary),
        heading=style(ink, bold=True),
        strong=Style(bold=True),
        emphasis=Style(italic=True),
        strikethrough=Style(strike=True),
        code=style(accent),
        code_block=style(ink, on=panel),
        code_label=style(muted),
        link=style(primary, underline=True),
        quote=style(muted),
        quote_bar=style(faint),
        list_marker=style(primary),
        task_done=style(success),
        task_open=style(muted),
        table_header=style(ink, bold=True),
        table_border=style(faint),
        rule=style(faint),
        diff_title=style(ink, bold=True),
        diff_hunk=style(secondary),
        diff_context=style(muted),
        diff_number=style(muted),
        diff_added=style(ink, on=added),
        # Syntax colors wouldn't stand out on such a strong background.
        diff_added_word=style(ink, on=ground.blend(colors["success"], 0.36)),
        diff_removed=style(ink, on=removed),
        diff_removed_word=style(ink, on=ground.blend(colors["error"], 0.36)),
        syntax_keyword=style(secondary),
        syntax_string=style(success),
        syntax_comment=style(muted, italic=True),
        syntax_number=style(accent),
        syntax_function=style(primary),
        syntax_type=style(primary),
        syntax_builtin=style(accent),
        syntax_decorator=style(accent),
        syntax_tag=style(primary),
        syntax_operator=style(muted),
        syntax_inserted=style(success),
        syntax_deleted=style(error),
        syntax_error=style(error),
    )


def _ansi_palette(dark: bool) -> Palette:
    """The terminal's own 16 colors. How they look is unknown."""

    def style(color: str | None = None, **attributes: Unpack[_Attributes]) -> Style:
        return Style(color=color, **attributes)

    yellow = "yellow" if dark else "magenta"
    return Palette(
        dark=dark,
        muted=style(dim=True),
        accent=style(yellow),
        success=style("green"),
        warning=style(yellow),
        error=style("red"),
        status=style(dim=True),
        status_word=style(dim=True),
        user=style(bold=True),
        thought=style(dim=True, italic=True),
        heading_1=style("magenta", bold=True),
        heading_2=style("magenta"),
        heading=style(bold=True),
        strong=style(bold=True),
        emphasis=style(italic=True),
        strikethrough=style(strike=True),
        code=style(yellow),
        code_label=style(dim=True),
        link=style("blue", underline=True),
        quote=style(dim=True),
        quote_bar=style(dim=True),
        list_marker=style("blue"),
        task_done=style("green"),
        task_open=style(dim=True),
        table_header=style(bold=True),
        table_border=style(dim=True),
        rule=style(dim=True),
        diff_title=style(bold=True),
        diff_hunk=style("magenta"),
        diff_context=style(dim=True),
        diff_number=style(dim=True),
        diff_added=style("green"),
        diff_added_word=style(reverse=True),
        diff_removed=style("red"),
        diff_removed_word=style(reverse=True),
        syntax_keyword=style("magenta"),
        syntax_string=style("green"),
        syntax_comment=style(dim=True, italic=True),
        syntax_number=style(yellow),
        syntax_function=style("blue"),
        syntax_type=style("blue"),
        syntax_builtin=style(yellow),
        syntax_decorator=style(yellow),
        syntax_tag=style("blue"),
        syntax_operator=style(),
        syntax_inserted=style("green"),
        syntax_deleted=style("red"),
        syntax_error=style("red"),
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


def _rich(color: Color) -> RichColor:
    return color.rich_color


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
