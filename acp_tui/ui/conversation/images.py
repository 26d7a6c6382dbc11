"""The pictures of a conversation: how the terminal shows them, and decoding them in a thread. Doesn't draw lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias

from textual.app import App
from textual.widget import Widget

from acp_tui.client.desktop import MULTIPLEXERS
from acp_tui.client.terminals.feeder import Feeder
from acp_tui.ui.rendering.kitty import KittyTerminal, draws_placeholders, kitty_picture
from acp_tui.ui.rendering.pictures import NotAPicture, Picture, block_picture
from acp_tui.ui.rendering.sixel import sixel_picture, with_graphics
from acp_tui.ui.textual_gaps.driver import FramePacer
from acp_tui.ui.textual_gaps.internals import write_to_terminal

Wanted: TypeAlias = Literal["auto", "kitty", "sixel", "blocks", "off"]
"""How the user wants pictures to be shown."""
Way: TypeAlias = Literal["kitty", "sixel", "blocks", "off"]
"""`sixel`: blocks, if the terminal doesn't say that it draws that."""
Found: TypeAlias = Picture | NotAPicture | None
"""None if the picture isn't decoded yet."""


def way_for(wanted: Wanted, environ: Mapping[str, str], color_system: str | None) -> Way:
    """How to show pictures in this environment. `color_system` is Rich's name, or None if there are no colors."""
    if wanted == "off" or color_system not in ("truecolor", "256"):
        return "off"
    wants_kitty = wanted == "kitty" or (wanted == "auto" and draws_placeholders(environ))
    # Kitty's placeholders encode a picture's ID as a color, which takes true color.
    if wants_kitty and color_system == "truecolor":
        return "kitty"
    # Multiplexers know only the text. SSH passes on TERM alone.
    is_multiplexed = not MULTIPLEXERS.isdisjoint(environ) or environ.get("TERM", "").startswith(("tmux", "screen"))
    return "sixel" if wanted in ("auto", "sixel") and not is_multiplexed else "blocks"


def pictures_for(view: Widget, wanted: Wanted, on_decoded: Callable[[object], None]) -> Pictures | None:
    """The pictures of a mounted view; None if they are only named."""
    app = view.app
    # Output that no terminal shows must not depend on the terminal it is made in.
    environ, colors = ({}, "truecolor") if app.is_headless else (os.environ, app.console.color_system)
    match way_for(wanted, environ, None if app.no_color else colors):
        case "off":
            return None
        case "sixel" if isinstance(pacer := getattr(app, "pacer", None), FramePacer):
            pacer.shown.with_graphics = with_graphics
            return Pictures(partial(_sixel_or_blocks, pacer, wanted == "sixel"), on_decoded)
        case "sixel" | "blocks":
            return Pictures(block_picture, on_decoded)
        case "kitty":
            terminal = KittyTerminal(partial(_write, app), is_in_tmux="TMUX" in environ)
            app.app_resume_signal.subscribe(view, lambda _: terminal.forget(), immediate=True)
            return Pictures(partial(kitty_picture, terminal), on_decoded, terminal)


def _sixel_or_blocks(pacer: FramePacer, is_sure: bool, data: str) -> Picture:
    draws_sixel = is_sure or (pacer.terminal is not None and pacer.terminal.draws_sixel)
    return sixel_picture(pacer, data) if draws_sixel and pacer.cell_size() is not None else block_picture(data)


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
