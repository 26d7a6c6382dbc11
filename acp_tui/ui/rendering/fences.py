"""Reads a fenced code block line by line, so that a long one is never parsed as a whole; draws by `CodePanel`."""

from __future__ import annotations

import re
from typing import Final

from acp_tui.ui.rendering.code import CodePanel
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.rows import Row

_OPENING: Final = re.compile(r"(?:[ \t]*\n)*( {0,3})(?:(`{3,})([^`\n]*)|(~{3,})([^\n]*))\n")


class OpenFence:
    """A top-level fence whose end has not been read."""

    def __init__(self, opening: re.Match[str], width: int, palette: Palette) -> None:
        """`opening` comes from `find_opening`."""
        indent, ticks, tick_info, tildes, tilde_info = opening.groups()
        mark = ticks or tildes
        self._closing = re.compile(rf" {{0,3}}{mark}{mark[0]}*[ \t]*")
        self._half_closing = re.compile(rf" {{0,3}}{mark[0]}*[ \t]*")
        self._indent = re.compile(rf" {{0,{len(indent)}}}")
        self._panel = CodePanel((tick_info or tilde_info or "").strip(), width, palette)
        self._empty = True

    def header(self) -> list[Row]:
        """The rows above the code."""
        return self._panel.header()

    def read(self, line: str) -> tuple[list[Row], bool]:
        """The rows of a complete line, and whether it ends the block."""
        if self._closing.fullmatch(line):
            return (self._panel.append("") if self._empty else []), True
        self._empty = False
        return self._panel.append(self._outdented(line)), False

    def preview(self, line: str) -> list[Row]:
        """The rows of what there is of the next line; none where it may become the end of the block."""
        if self._half_closing.fullmatch(line):
            return self._panel.preview("") if self._empty else []
        return self._panel.preview(self._outdented(line))

    def _outdented(self, line: str) -> str:
        """The code, without the spaces that the fence itself is indented by."""
        return self._indent.sub("", line, count=1)


def find_opening(text: str) -> re.Match[str] | None:
    """The opening line of the fence that `text` begins with, once that line is complete."""
    return _OPENING.match(text)
