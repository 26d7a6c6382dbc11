"""Names in one line what a terminal cannot show: pictures, sounds, files, blocks of kinds that we do not know."""

from __future__ import annotations

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


def block_label(block: ContentBlock) -> str:
    """A line such as "[image image/png, 12 KB]"."""
    match block:
        case Text(text):
            label = text
        case Image(data, mime_type):
            label = f"[image {mime_type}, {_size(data)}]"
        case Audio(data, mime_type):
            label = f"[audio {mime_type}, {_size(data)}]"
        case ResourceLink(uri, name, title):
            label = f"[{title or name}: {uri}]"
        case TextResource(uri, text):
            label = f"[{uri}, {len(text.splitlines())} lines]"
        case BlobResource(uri, blob, mime_type):
            label = f"[{uri} {mime_type or 'of unknown type'}, {_size(blob)}]"
        case _:
            label = f"[{block.kind}: a kind of content that acp-tui does not know]"
    return make_visible_line(label)


def _size(base64: str) -> str:
    size = len(base64) * 3 // 4
    return (
        f"{size} bytes" if size < 1000 else f"{size / 1000:.0f} KB" if size < 1e6 else f"{size / 1e6:.1f} MB"
    )
