"""Draws blocks that are not read as text: pictures where the terminal shows them, else a box that names them.

It decodes nothing itself, and lets nothing be decoded on the event loop: a box is shown until the picture is there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.client.terminals.feeder import Feeder
from acp_tui.conversation.content import Audio, BlobResource, ContentBlock, Image
from acp_tui.ui.drawings.blocks import block_label
from acp_tui.ui.drawings.drawing import Drawing, Joined, Scene
from acp_tui.ui.rendering.kitty import KittyTerminal, draws_placeholders, kitty_picture
from acp_tui.ui.rendering.pictures import NotAPicture, Picture, block_picture
from acp_tui.ui.rendering.wrapping import wrap
from acp_tui.ui.textual_gaps.internals import write_to_terminal

Wanted: TypeAlias = Literal["auto", "kitty", "blocks", "off"]
"""How the user wants pictures shown."""
Way: TypeAlias = Literal["kitty", "blocks", "off"]
"""How they are."""
Found: TypeAlias = Picture | NotAPicture | None
"""None: it is not there yet."""

MIN_BOX_CELLS: Final = 12
"""In less room a box has no frame."""


def way_for(wanted: Wanted, environ: Mapping[str, str], color_system: str | None) -> Way:
    """How pictures are shown in such an environment; `color_system` by Rich's name, None: there are no colours."""
    if wanted == "off" or color_system not in ("truecolor", "256"):
        return "off"
    wants_kitty = wanted == "kitty" or (wanted == "auto" and draws_placeholders(environ))
    # There a picture's id is a colour.
    return "kitty" if wants_kitty and color_system == "truecolor" else "blocks"


def pictures_for(view: Widget, wanted: Wanted, on_decoded: Callable[[Drawing], None]) -> Pictures | None:
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
        on_decoded: Callable[[Drawing], None],
        terminal: KittyTerminal | None = None,
    ) -> None:
        """`on_decoded` gets each drawing that looks different now."""
        self._decode = decode
        self._on_decoded = on_decoded
        self._terminal = terminal
        self._feeder = Feeder()
        self._found: dict[str, Picture | NotAPicture] = {}
        """By the base64 they came in, which is larger than what is kept of them."""
        self._waiting: dict[str, set[Drawing]] = {}

    def find(self, data: str, drawing: Drawing) -> Found:
        """The picture, or why there is none; None while it is decoded, which `on_decoded` ends for the drawing."""
        found = self._found.get(data)
        if found is None:
            if data not in self._waiting:
                self._waiting[data] = set()
                self._feeder.run(partial(self._work, data), partial(self._tell, data))
            self._waiting[data].add(drawing)
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
        self._found.setdefault(data, NotAPicture("it cannot be decoded"))  # the log says why
        for drawing in self._waiting.pop(data):
            self._on_decoded(drawing)


class BlockLines:
    """One block of a message or a tool call; its lines stay the same object until something about them changes."""

    def __init__(self, block: ContentBlock, drawing: Drawing) -> None:
        """`drawing` is the one that shows the block."""
        self._block = block
        self._drawing = drawing
        self._drawn: tuple[Scene, int, Found, Sequence[Strip]] | None = None

    def lines(self, scene: Scene, width: int, style: Style) -> Sequence[Strip]:
        """The block in at most `width` cells; text in `style`."""
        found = self._find(scene)
        if self._drawn is None or self._drawn[:3] != (scene, width, found):
            self._drawn = (scene, width, found, _draw(self._block, found, width, style))
        return self._drawn[3]

    def _find(self, scene: Scene) -> Found:
        if scene.pictures is None or not isinstance(self._block, Image):
            return None
        return scene.pictures.find(self._block.data, self._drawing)


def _draw(block: ContentBlock, found: Found, width: int, style: Style) -> Sequence[Strip]:
    label = block_label(block)
    if isinstance(found, Picture):
        caption = f"{_unbracketed(label)}, {found.size[0]} × {found.size[1]}"
        return Joined(found.lines(width), wrap([(caption, style)], width))
    if not isinstance(block, Image | Audio | BlobResource):
        return wrap([(label, style)], width)
    words = [_unbracketed(label)] + ([] if found is None else [f"not shown: {found}"])
    return _boxed(words, width, style)


def _unbracketed(label: str) -> str:
    return label.removeprefix("[").removesuffix("]")


def _boxed(words: Sequence[str], width: int, style: Style) -> list[Strip]:
    """Each of `words` on lines of its own, in a frame as wide as they are."""
    if width < MIN_BOX_CELLS:
        return [line for each in words for line in wrap([(each, style)], width)]
    lines = [line for each in words for line in wrap([(each, style)], width - 4)]
    inner = max(line.cell_length for line in lines)
    sides = Segment("│ ", style), Segment(" │", style)
    rows = [Strip([sides[0], *line.adjust_cell_length(inner, style), sides[1]], inner + 4) for line in lines]
    edge = "─" * (inner + 2)
    return [Strip([Segment(f"╭{edge}╮", style)]), *rows, Strip([Segment(f"╰{edge}╯", style)])]
