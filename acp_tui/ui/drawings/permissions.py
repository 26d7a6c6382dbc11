"""Draws what stands around the subject of a permission request: its title, the answers it offers, the keys."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.facts import PermissionOption
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.visible import (
    collapse_blanks_in_line,
    make_visible_command,
    make_visible_line,
)
from acp_tui.ui.drawings.permission_subject import Asked
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import width_cells, wrap

KIND_WORDS: Final[Mapping[str, str]] = {
    "allow_once": "allows this once",
    "allow_always": "allows this and will not ask again",
    "reject_once": "refuses this once",
    "reject_always": "refuses this and will not ask again",
}
MAX_NUMBER: Final = 9
"""There is no key for an option beyond it."""
ROOMY_CELLS: Final = 50
SEPARATOR: Final = " · "


def title_lines(asked: Asked, palette: Palette, width: int, *, file: str = "") -> list[Strip]:
    """What it is about, how many requests wait, and before all the file, where the title does not name it."""
    queue = f"1 of {asked.waiting}  " if asked.waiting > 1 else ""
    title = _title(asked.call)
    spans = [
        ("Permission  ", palette.warning + Style(bold=True)),
        (queue, palette.muted),
        (f"{file}  " if posixpath.basename(file) not in title else "", palette.diff_title),
        (title, palette.strong),
    ]
    lines = wrap(spans, width)
    # Where rows are dear, the frame has to say what it is.
    return lines if len(lines) == 1 or width >= ROOMY_CELLS else wrap(spans[1:], width)


def shortened(lines: Sequence[Strip], rows: int, width: int) -> list[Strip]:
    """At most so many of these lines: the first ones and the last, with a mark where some are left out."""
    if len(lines) <= rows:
        return list(lines)
    last = [lines[-1]] if rows > 1 else []
    above = lines[: rows - len(last)]
    if not above:
        return []
    mark = Strip([Segment(" …")], 2)
    return [*above[:-1], Strip.join([above[-1].crop(0, max(width - 2, 0)), mark]), *last]


def _title(call: ToolCall) -> str:
    """A command's look-alike letters are marked; in the words of other titles they may well be meant."""
    if call.kind == "execute":
        return collapse_blanks_in_line(make_visible_line(make_visible_command(call.shown_title)))
    return collapse_blanks_in_line(make_visible_line(call.shown_title))


def option_lines(
    options: Sequence[PermissionOption], chosen: int | None, palette: Palette, width: int
) -> list[list[Strip]]:
    """The lines of each option: the agent's own name for it, and what its kind means."""
    return [
        _option(number, option, chosen == number, palette, width) for number, option in enumerate(options)
    ]


def _option(
    number: int, option: PermissionOption, is_chosen: bool, palette: Palette, width: int
) -> list[Strip]:
    style = palette.error if option.is_rejection else palette.success
    word = KIND_WORDS.get(
        option.kind, f"of a kind that acp-tui does not know: {make_visible_line(option.kind)}"
    )
    number_word = f"{number + 1}  " if number < MAX_NUMBER else "·  "
    head = [
        Segment("❯ " if is_chosen else "  ", palette.accent),
        Segment(number_word, palette.muted),
    ]
    indent = [Segment(" " * sum(segment.cell_length for segment in head))]
    spans = [
        (make_visible_line(option.name), style + Style(bold=is_chosen)),
        (f"  {word}", palette.muted),
    ]
    lines = wrap(spans, width - indent[0].cell_length)
    return [Strip([*(indent if row else head), *line]) for row, line in enumerate(lines)]


def keys_lines(keys: Sequence[str], style: Style, width: int) -> list[Strip]:
    """Keys and what they do, as many in a line as fit; broken between them where it can be."""
    lines = [""]
    for key in keys:
        longer = f"{lines[-1]}{SEPARATOR}{key}" if lines[-1] else key
        if lines[-1] and width_cells(longer) > width:
            lines.append(key)
        else:
            lines[-1] = longer
    return [strip for line in lines for strip in wrap([(line, style)], width)]
