"""Draws what surrounds the subject of a permission request: its title, the answers, and the keys."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.facts import PermissionOption
from acp_tui.conversation.permission_requests import kind_word, letters_of, quoted_name
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.visible import collapse_blanks_in_line, make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_command
from acp_tui.ui.permission.subject import ShownRequest
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import pack, width_cells, wrap

MAX_NUMBER: Final = 9
"""Options after this one have no number."""
KEYS_CELLS: Final = len("❯ 1 y  ")
GAP_CELLS: Final = 2
ENOUGH_NAME_CELLS: Final = 16
"""If less room is left, the agent's names have no column of their own."""
ROOMY_CELLS: Final = 50


def title_lines(asked: ShownRequest, palette: Palette, width: int, *, file: str = "") -> list[Strip]:
    """The subject, the number of waiting requests, and first the file if the title doesn't name it."""
    queue = f"1 of {asked.waiting}  " if asked.waiting > 1 else ""
    asks = asked.request.title
    title = _title(asked.call) if asks is None else collapse_blanks_in_line(make_visible_line(asks))
    spans = [
        ("Permission  ", palette.warning + Style(bold=True)),
        (queue, palette.muted),
        (f"{file}  " if posixpath.basename(file) not in title else "", palette.diff_title),
        (title, palette.strong),
    ]
    lines = wrap(spans, width)
    # If space is scarce, the frame must say what it is.
    return lines if len(lines) == 1 or width >= ROOMY_CELLS else wrap(spans[1:], width)


def shortened(lines: Sequence[Strip], rows: int, width: int) -> list[Strip]:
    """At most `rows` of these lines: the first ones and the last, with a mark if some are left out."""
    if len(lines) <= rows:
        return list(lines)
    last = [lines[-1]] if rows > 1 else []
    above = lines[: rows - len(last)]
    if not above:
        return []
    mark = Strip([Segment(" …")], 2)
    return [*above[:-1], Strip.join([above[-1].crop(0, max(width - 2, 0)), mark]), *last]


def _title(call: ToolCall) -> str:
    """Mark a command's look-alike letters. In other titles they may be intended."""
    if call.kind == "execute":
        return collapse_blanks_in_line(make_visible_line(make_visible_command(call.shown_title)))
    return collapse_blanks_in_line(make_visible_line(call.shown_title))


def option_lines(
    answers: Sequence[PermissionOption], chosen: int | None, palette: Palette, width: int
) -> list[list[Strip]]:
    """The lines of each answer: its keys, our word for its kind, and the agent's names in a column.

    Text from an agent never appears in the columns before the names.
    """
    names_from = KEYS_CELLS + max((width_cells(kind_word(option)) for option in answers), default=0) + GAP_CELLS
    if width - names_from < ENOUGH_NAME_CELLS:
        names_from = 0  # they continue after the word, and hang below it
    return [
        _option(option, number, letter, chosen == number, palette, width, names_from)
        for number, (option, letter) in enumerate(zip(answers, letters_of(answers), strict=True))
    ]


def _option(
    option: PermissionOption, index: int, letter: str, is_chosen: bool, palette: Palette, width: int, names_from: int
) -> list[Strip]:
    number = f"{index + 1}" if index < MAX_NUMBER else "·"
    style = _style_of(option, palette) + Style(bold=is_chosen)
    head = [Segment("❯ " if is_chosen else "  ", palette.accent), Segment(f"{number} {letter or ' '}  ", palette.muted)]
    word, name = kind_word(option), (quoted_name(option), palette.muted)
    if names_from:
        head.append(Segment(word.ljust(names_from - KEYS_CELLS), style))
        indent, lines = names_from, wrap([name], width - names_from)
    else:
        lines = wrap([(word, style), ("  ", style), name], width - KEYS_CELLS - GAP_CELLS)
        indent = KEYS_CELLS + GAP_CELLS
    below = [Segment(" " * indent)]
    return [Strip([*(below if row else head), *line]) for row, line in enumerate(lines)]


def _style_of(option: PermissionOption, palette: Palette) -> Style:
    """Once and always must not look alike, nor must yes and no."""
    match option.counts_as:
        case "allow_once":
            return palette.success
        case "reject_once":
            return palette.error
        case "reject_always":
            return palette.error + Style(underline=True)
        case _:
            return palette.warning


def keys_lines(keys: Sequence[str], style: Style, width: int) -> list[Strip]:
    """Keys and what they do, as many in a line as fit. Breaks between keys if possible."""
    return [strip for line in pack(keys, width) for strip in wrap([(line, style)], width)]
