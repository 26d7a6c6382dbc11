"""Reads from a tool call the command that it would run, and draws it as a shell shows it; it runs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.tool_text import PROMPT, command_line
from acp_tui.conversation.visible import collapse_blanks, make_visible_command
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import TAB_CELLS
from acp_tui.ui.rendering.wrapping import fold

NEXT_LINE: Final = "> "
"""Begins each further line of a command, so that a second command does not look like the end of the first."""
CONTINUATION: Final = "↪ "
"""Begins a row that goes on with the line above."""


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command as an agent reported it."""

    line: str
    """As a shell would read it; it may have several lines."""
    cwd: str | None = None
    other_fields: tuple[str, ...] = ()
    """What else was reported, by name."""


def reported_command(call: ToolCall) -> ShellCommand | None:
    """The command in the raw input of a call that executes one; None where there is none to be understood."""
    raw = call.raw_input
    if call.kind != "execute" or not isinstance(raw, Mapping):
        return None
    line, read = command_line(raw)
    if not line.strip():
        return None
    cwd = raw.get("cwd")
    if isinstance(cwd, str):
        read |= {"cwd"}
    return ShellCommand(
        line, cwd if isinstance(cwd, str) else None, tuple(key for key in raw if key not in read)
    )


def command_lines(line: str, palette: Palette, width: int) -> list[Strip]:
    """A block with the whole command: nothing of it is dropped where it is folded."""
    style = palette.code_block
    room = max(width - len(PROMPT), 1)
    strips = []
    for number, text in enumerate(collapse_blanks(make_visible_command(line)).removesuffix("\n").split("\n")):
        text = text.expandtabs(TAB_CELLS)
        for index, part in enumerate(fold(text, room)):
            sign = CONTINUATION if index else NEXT_LINE if number else PROMPT
            strips.append(_row(sign, text[part.start : part.stop], room - part.cells, style, palette))
    return strips


def _row(sign: str, text: str, spare_cells: int, style: Style, palette: Palette) -> Strip:
    fill = " " * spare_cells
    return Strip([Segment(sign, style + palette.code_label), Segment(text + fill, style)])
