"""Names in one line what a terminal cannot show: pictures, sounds, files, blocks of kinds that we do not know."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from acp_tui.conversation.content import (
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
)
from acp_tui.conversation.visible import make_visible_line

FILE_SCHEME: Final = "file://"


def block_label(block: ContentBlock) -> str:
    """What it is and what else is known of it, such as "[image: PNG, 12 KB]"; a text as it is."""
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
            return f"[{block.kind}: a kind of content that acp-tui does not know]"


def _bracketed(kind: str, *facts: str) -> str:
    return f"[{kind}: {', '.join(filter(None, facts))}]"


def _format(mime_type: str) -> str:
    """The short name of a format, "SVG" for "image/svg+xml"."""
    subtype = mime_type.partition("/")[2].partition(";")[0].partition("+")[0]
    return subtype.strip().removeprefix("x-").upper() or mime_type


def _place(uri: str | None) -> str:
    """Where it is: a path for a file on this machine, else the address."""
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
