"""Draws content blocks other than text: a picture if the terminal can show one, otherwise a label in a box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.content import Audio, BlobResource, ContentBlock, Image, ResourceLink, Text, TextResource
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.conversation.drawing import Drawing, Joined, Scene
from acp_tui.ui.conversation.images import Found
from acp_tui.ui.rendering.links import to_file, to_page
from acp_tui.ui.rendering.pictures import Picture
from acp_tui.ui.rendering.wrapping import wrap

MIN_BOX_CELLS: Final = 12
"""If there is less room, a box has no frame."""
FILE_SCHEME: Final = "file://"


def block_label(block: ContentBlock) -> str:
    """A label with what is known about the block, such as "[image: PNG, 12 KB]". Text is returned unchanged."""
    return make_visible_line(_label(block))


def _label(block: ContentBlock) -> str:
    match block:
        case Text(text):
            return text
        case Image(data, mime_type, uri):
            return _bracketed("image", _format(mime_type), _size_of(data), _place(uri))
        case Audio(data, mime_type):
            return _bracketed("audio", _format(mime_type), _size_of(data))
        case ResourceLink(uri, name, title, size=size):
            return _bracketed("link", title or name, "" if size is None else _size(size), _place(uri))
        case TextResource(uri, text):
            return _bracketed("file", _place(uri), _count_lines(text))
        case BlobResource(uri, blob, mime_type):
            return _bracketed("file", _place(uri), mime_type or "", _size_of(blob))
        case _:
            return f"[{block.kind}: a kind of content acp-tui doesn't know]"


def _bracketed(kind: str, *facts: str) -> str:
    return f"[{kind}: {', '.join(filter(None, facts))}]"


def _format(mime_type: str) -> str:
    """The short name of a format, such as "SVG" for "image/svg+xml"."""
    subtype = mime_type.partition("/")[2].partition(";")[0].partition("+")[0]
    return subtype.strip().removeprefix("x-").upper() or mime_type


def _place(uri: str | None) -> str:
    """Where the content is: a path for a local file, otherwise the address."""
    uri = uri or ""
    return unquote(uri.removeprefix(FILE_SCHEME)) if uri.startswith(f"{FILE_SCHEME}/") else uri


def _count_lines(text: str) -> str:
    count = len(text.splitlines())
    return "1 line" if count == 1 else f"{count} lines"


def _size_of(base64: str) -> str:
    return _size(len(base64.rstrip("=")) * 3 // 4)


def _size(size_bytes: int) -> str:
    if size_bytes < 1000:
        return f"{size_bytes} bytes"
    return f"{size_bytes / 1000:.0f} KB" if size_bytes < 1e6 else f"{size_bytes / 1e6:.1f} MB"


class BlockLines:
    """One block of a message or a tool call. Returns the same lines object until something about it changes."""

    def __init__(self, block: ContentBlock, drawing: Drawing) -> None:
        """`drawing` is the drawing that shows the block."""
        self._block = block
        self._drawing = drawing
        self._drawn: tuple[Scene, int, Found, Sequence[Strip]] | None = None

    def lines(self, scene: Scene, width: int, style: Style) -> Sequence[Strip]:
        """The block in at most `width` cells, with text in `style`."""
        found = self._find(scene)
        if self._drawn is None or self._drawn[:3] != (scene, width, found):
            self._drawn = (scene, width, found, _draw(self._block, found, width, style, scene.palette.folder))
        return self._drawn[3]

    def _find(self, scene: Scene) -> Found:
        if scene.pictures is None or not isinstance(self._block, Image):
            return None
        return scene.pictures.find(self._block.data, self._drawing)


def _draw(block: ContentBlock, found: Found, width: int, style: Style, folder: str) -> Sequence[Strip]:
    label = block_label(block)
    if isinstance(block, ResourceLink):
        is_file = block.uri.startswith(f"{FILE_SCHEME}/")
        style += to_file(folder, _place(block.uri)) if is_file else to_page(block.uri)
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
    """Puts each of `words` on its own lines, in a frame that fits them."""
    if width < MIN_BOX_CELLS:
        return [line for each in words for line in wrap([(each, style)], width)]
    lines = [line for each in words for line in wrap([(each, style)], width - 4)]
    inner = max(line.cell_length for line in lines)
    sides = Segment("│ ", style), Segment(" │", style)
    rows = [Strip([sides[0], *line.adjust_cell_length(inner, style), sides[1]], inner + 4) for line in lines]
    edge = "─" * (inner + 2)
    return [Strip([Segment(f"╭{edge}╮", style)]), *rows, Strip([Segment(f"╰{edge}╯", style)])]
