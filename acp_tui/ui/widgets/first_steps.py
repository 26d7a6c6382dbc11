"""What an empty session says: what can be typed here. It is gone as soon as something has been said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.conversation.facts import Command
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.keyed_app import follow_keys, keys_in_force
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import wrap
from acp_tui.ui.themes import palette_for
from acp_tui.ui.widgets.fields.row_list import cut
from acp_tui.ui.widgets.strip_view import StripView

LABEL_CELLS: Final = 5


class FirstSteps(StripView):
    """A greeting of the agent's command, where it has one, and the ways to begin."""

    DEFAULT_CSS = "FirstSteps { height: auto; display: none; }"

    def __init__(self, greeting: str = "", *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._greeting = greeting
        self._commands: Sequence[Command] = ()
        self._is_wanted = False

    def look(self, commands: Sequence[Command], *, is_wanted: bool) -> None:
        """Show them, with the commands that the agent has, or show nothing."""
        if (commands, is_wanted) != (self._commands, self._is_wanted):
            self._commands, self._is_wanted = commands, is_wanted
            self._draw()

    def on_mount(self) -> None:
        """Draw again in other colours, and with other keys."""
        self.watch(self.app, "theme", self._draw, init=False)
        follow_keys(self, self._draw)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    def _draw(self) -> None:
        self.display = self._is_wanted
        if self.display:
            width = self.content_size.width or self.app.size.width  # the first layout is still to come
            lines = list(self._lines(width, palette_for(self.app.current_theme)))
            self.show(lines, len(lines))

    def _lines(self, width: int, palette: Palette) -> Iterator[Strip]:
        if self._greeting:
            yield from wrap([(self._greeting, palette.text)], width)
            yield Strip([])
        for label, text in self._ways():
            what = cut(text, max(width - LABEL_CELLS, 2))
            yield Strip([Segment(f"{label:<{LABEL_CELLS}}", palette.accent), Segment(what, palette.muted)])

    def _ways(self) -> Iterator[tuple[str, str]]:
        """What is typed, and what it does."""
        yield "@", "a file, a folder or a picture goes along"
        names = ", ".join(make_visible_line(command.name) for command in self._commands)
        yield "/", f"commands: {names}" if names else "commands"
        yield "!", "run a command yourself, in the session's folder"
        if help_key := keys_in_force(self).shown("help"):
            yield help_key, "help, and all keys"
