"""The pictures of a conversation: how the terminal shows them, and decoding them in a thread. Doesn't draw lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias

from textual.app import App
from textual.widget import Widget

from acp_tui.client.terminals.feeder import Feeder
from acp_tui.ui.rendering.kitty import KittyTerminal, draws_placeholders, kitty_picture
from acp_tui.ui.rendering.pictures import NotAPicture, Picture, block_picture
from acp_tui.ui.textual_gaps.internals import write_to_terminal

Wanted: TypeAlias = Literal["auto", "kitty", "blocks", "off"]
"""How the user wants pictures to be shown."""
Way: TypeAlias = Literal["kitty", "blocks", "off"]
Found: TypeAlias = Picture | NotAPicture | None
"""None if the picture isn't decoded yet."""


def way_for(wanted: Wanted, environ: Mapping[str, str], color_system: str | None) -> Way:
    """How to show pictures in this environment. `color_system` is Rich's name, or None if there are no colors."""
    if wanted == "off" or color_system not in ("truecolor", "256"):
        return "off"
    wants_kitty = wanted == "kitty" or (wanted == "auto" and draws_placeholders(environ))
    # Kitty's placeholders encode a picture's ID as a color, which takes true color.
    return "kitty" if wants_kitty and color_system == "truecolor" else "blocks"


def pictures_for(view: Widget, wanted: Wanted, on_decoded: Callable[[object], None]) -> Pictures | None:
    """The pictures of a mounted view; None if they are only named."""
    app = view.app
    # Output that no terminal shows must not depend on the terminal it is made in.
    environ, colors = ({}, "truecolor") if app.is_headless else (os.environ, app.console.color_system)
    match way_for(wanted, environ, None if app.no_color else colors):
        case "off":
            return None
        case "blocks":
            return Pictures(block_picture, on_decoded)
        case "kitty":
            terminal = KittyTerminal(partial(_write, app), is_in_tmux="TMUX" in environ)
            app.app_resume_signal.subscribe(view, lambda _: terminal.forget(), immediate=True)
            return Pictures(partial(kitty_picture, terminal), on_decoded, terminal)


def _write(app: App[Any], sequence: str) -> None:
    if app.is_running:  # otherwise there is no terminal to write to
        write_to_terminal(app, sequence)


class Pictures:
    """The pictures of a conversation. Each is decoded once, in a thread, when it is first drawn."""

    def __init__(
        self,
        decode: Callable[[str], Picture],
        on_decoded: Callable[[object], None],
        terminal: KittyTerminal | None = None,
    ) -> None:
        """`on_decoded` is called with each owner of a picture that now looks different."""
        self._decode = decode
        self._on_decoded = on_decoded
        self._terminal = terminal
        self._feeder = Feeder()
        self._found: dict[str, Picture | NotAPicture] = {}
        """Keyed by the base64 data, which is larger than the decoded picture that is kept."""
        self._waiting: dict[str, set[object]] = {}

    def find(self, data: str, owner: object) -> Found:
        """The picture, or why it can't be shown; None while it is being decoded. `on_decoded` then notifies `owner`."""
        found = self._found.get(data)
        if found is None:
            if data not in self._waiting:
                self._waiting[data] = set()
                self._feeder.run(partial(self._work, data), partial(self._tell, data))
            self._waiting[data].add(owner)
        return found

    @property
    def is_decoding(self) -> bool:
        return bool(self._waiting)

    def close(self) -> None:
        """Free the pictures; nothing shows them anymore."""
        self._feeder.close()
        if self._terminal is not None:
            self._terminal.release_all()

    def _work(self, data: str) -> None:
        """Decode a picture, in the feeder's thread."""
        try:
            self._found[data] = self._decode(data)
        except NotAPicture as reason:
            self._found[data] = reason

    def _tell(self, data: str) -> None:
        self._found.setdefault(data, NotAPicture("it can't be decoded"))  # the log has the reason
        for owner in self._waiting.pop(data):
            self._on_decoded(owner)
