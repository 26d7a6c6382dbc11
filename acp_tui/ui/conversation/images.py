"""The pictures of a conversation: how the terminal shows them, and decoding them in a thread. Draws no lines."""

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
"""How the user wants pictures shown."""
Way: TypeAlias = Literal["kitty", "blocks", "off"]
"""How they are."""
Found: TypeAlias = Picture | NotAPicture | None
"""None: it is not there yet."""


def way_for(wanted: Wanted, environ: Mapping[str, str], color_system: str | None) -> Way:
    """How pictures are shown in such an environment; `color_system` by Rich's name, None: there are no colours."""
    if wanted == "off" or color_system not in ("truecolor", "256"):
        return "off"
    wants_kitty = wanted == "kitty" or (wanted == "auto" and draws_placeholders(environ))
    # There a picture's id is a colour.
    return "kitty" if wants_kitty and color_system == "truecolor" else "blocks"


def pictures_for(view: Widget, wanted: Wanted, on_decoded: Callable[[object], None]) -> Pictures | None:
    """What draws the pictures of a mounted view; None where they are only named."""
    app = view.app
    # What no terminal shows must not depend on the one it is made in.
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
    if app.is_running:  # else nobody is there to take it
        write_to_terminal(app, sequence)


class Pictures:
    """The pictures of a conversation; each is decoded once, in a thread, when it is first drawn."""

    def __init__(
        self,
        decode: Callable[[str], Picture],
        on_decoded: Callable[[object], None],
        terminal: KittyTerminal | None = None,
    ) -> None:
        """`on_decoded` gets each owner of a picture when it looks different."""
        self._decode = decode
        self._on_decoded = on_decoded
        self._terminal = terminal
        self._feeder = Feeder()
        self._found: dict[str, Picture | NotAPicture] = {}
        """By the base64 they came in, which is larger than what is kept of them."""
        self._waiting: dict[str, set[object]] = {}

    def find(self, data: str, owner: object) -> Found:
        """The picture, or why there is none; None while it is decoded: `on_decoded` tells its owner when it is."""
        found = self._found.get(data)
        if found is None:
            if data not in self._waiting:
                self._waiting[data] = set()
                self._feeder.run(partial(self._work, data), partial(self._tell, data))
            self._waiting[data].add(owner)
        return found

    @property
    def is_decoding(self) -> bool:
        """Whether a picture is on its way."""
        return bool(self._waiting)

    def close(self) -> None:
        """Nobody will look at them any more."""
        self._feeder.close()
        if self._terminal is not None:
            self._terminal.release_all()

    def _work(self, data: str) -> None:
        """In the feeder's thread."""
        try:
            self._found[data] = self._decode(data)
        except NotAPicture as reason:
            self._found[data] = reason

    def _tell(self, data: str) -> None:
        self._found.setdefault(data, NotAPicture("it can't be decoded"))  # the log says why
        for owner in self._waiting.pop(data):
            self._on_decoded(owner)
