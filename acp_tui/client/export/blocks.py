"""Content blocks as parts of a page; text that a message runs together is not its matter."""

from __future__ import annotations

import json
from typing import Any, assert_never

from acp_tui.client.export.parts import Code, Folded, Link, Note, Part, Picture, Prose
from acp_tui.conversation.content import (
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
    is_for_user,
)


def block_parts(block: ContentBlock) -> tuple[Part, ...]:
    """The parts that show a block; none where it is not meant for the user."""
    return (_part(block),) if is_for_user(block) else ()


def _part(block: ContentBlock) -> Part:
    match block:
        case Text(text):
            return Prose(text)
        case Image(data, mime_type, uri):
            label = f"[image {mime_type}, {_size(data)}]"
            return Picture(data, mime_type, label if uri is None else f"{label} {uri}")
        case Audio(data, mime_type):
            return Note(f"[audio {mime_type}, {_size(data)}]")
        case ResourceLink(uri, name, title):
            return Link(title or name, uri)
        case TextResource(uri, text):
            return Folded(uri, (Code(text),))
        case BlobResource(uri, blob, mime_type):
            return Note(f"[{uri}, {mime_type or 'of unknown type'}, {_size(blob)}]")
        case UnknownBlock(kind, raw):
            return Folded(f"{kind}: a kind of content that acp-tui does not know", (json_code(raw),))
        case _:
            assert_never(block)


def json_code(value: Any) -> Code:
    """A JSON value, indented; a string is shown as the text that it is."""
    if isinstance(value, str):
        return Code(value)
    return Code(json.dumps(value, ensure_ascii=False, indent=2, default=str), "json")


def _size(base64: str) -> str:
    size = len(base64.rstrip("=")) * 3 // 4
    return f"{size} bytes" if size < 1000 else f"{size / 1000:.0f} KB"
