"""The colours: two themes of our own, and the palettes that text is drawn in under any theme."""

from __future__ import annotations

from typing import Final

from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from acp_tui.ui.rendering.palette import Palette

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
)
OWN_THEMES: Final = (DARK, LIGHT)


_palettes: dict[str, tuple[Theme, Palette]] = {}


def palette_for(theme: Theme) -> Palette:
    """The palette of a theme; the same object each time, so that what was drawn in it stays valid."""
    known = _palettes.get(theme.name)
    if known is None or known[0] is not theme:
        palette = _ansi_palette(theme.dark) if theme.ansi else _true_color_palette(theme)
        known = _palettes[theme.name] = (theme, palette)
    return known[1]


def _true_color_palette(theme: Theme) -> Palette:
    dark = theme.dark
    generated = theme.to_color_system().generate()
    names = ("primary", "secondary", "accent", "warning", "error", "success", "foreground", "background")
    colors = {name: Color.parse(generated[name]) for name in names}
    ground, ink = colors["background"], colors["foreground"]

    def style(color: Color, *, on: Color | None = None, **attributes: bool) -> Style:
        return Style(color=_rich(color), bgcolor=_rich(on) if on else None, **attributes)  # type: ignore[arg-type]

    muted = ink.blend(ground, 0.42)
    faint = ink.blend(ground, 0.72)
    primary, secondary, accent = colors["primary"], colors["secondary"], colors["accent"]
    success, error = colors["success"], colors["error"]
    panel = ground.blend(ink, 0.055 if dark else 0.045)
    added, removed = ground.blend(success, 0.14), ground.blend(error, 0.14)
    return Palette(
        dark=dark,
        text=style(ink),
        muted=style(muted),
        accent=style(accent),
        success=style(success),
        warning=style(colors["warning"]),
        error=style(error),
        user=style(ink, on=panel),
        thought=style(muted, italic=True),
        heading_1=style(primary, bold=True, underline=True),
        heading_2=style(primary, bold=True),
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
        diff_number=style(faint),
        diff_added=style(ink, on=added),
        diff_added_word=Style(bgcolor=_rich(ground.blend(success, 0.36))),
        diff_removed=style(ink, on=removed),
        diff_removed_word=Style(bgcolor=_rich(ground.blend(error, 0.36))),
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
    """The sixteen colours of the terminal's own palette; nothing is known of how they look."""

    def style(color: str | None = None, **attributes: bool) -> Style:
        return Style(color=color, **attributes)  # type: ignore[arg-type]

    yellow = "yellow" if dark else "magenta"
    return Palette(
        dark=dark,
        muted=style(dim=True),
        accent=style(yellow),
        success=style("green"),
        warning=style(yellow),
        error=style("red"),
        user=style(bold=True),
        thought=style(dim=True, italic=True),
        heading_1=style("blue", bold=True, underline=True),
        heading_2=style("blue", bold=True),
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


def _rich(color: Color) -> RichColor:
    return color.rich_color
