"""Content blocks and tool calls as ACP v1 writes them. `conversation` knows what they mean."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from acp_tui.protocol import wire
from acp_tui.protocol.validators import FIRST_MATCH, OTHER, Discriminator, OpenUnion, Tag

Role: TypeAlias = wire.Line
"""assistant, user, or an unknown one."""


class Annotations(wire.WireModel):
    """Hints about a block's audience and importance."""

    audience: wire.OptionalItems[Role] = None
    last_modified: wire.Lenient[wire.Line] = None
    priority: wire.Lenient[float] = None


class TextContent(wire.WireModel):
    type: Literal["text"] = "text"
    text: wire.Text
    annotations: wire.Lenient[Annotations] = None


class ImageContent(wire.WireModel):
    type: Literal["image"] = "image"
    data: wire.Text
    mime_type: wire.Line
    uri: wire.Lenient[wire.Word] = None
    annotations: wire.Lenient[Annotations] = None


class AudioContent(wire.WireModel):
    type: Literal["audio"] = "audio"
    data: wire.Text
    mime_type: wire.Line
    annotations: wire.Lenient[Annotations] = None


class ResourceLink(wire.WireModel):
    type: Literal["resource_link"] = "resource_link"
    uri: wire.Word
    name: wire.Line
    title: wire.Lenient[wire.Line] = None
    description: wire.Lenient[wire.Line] = None
    mime_type: wire.Lenient[wire.Line] = None
    size: wire.Lenient[wire.Int64] = None
    annotations: wire.Lenient[Annotations] = None


class TextResourceContents(wire.WireModel):
    uri: wire.Word
    text: wire.Text
    mime_type: wire.Lenient[wire.Line] = None


class BlobResourceContents(wire.WireModel):
    uri: wire.Word
    blob: wire.Text
    mime_type: wire.Lenient[wire.Line] = None


EmbeddedResourceResource: TypeAlias = Annotated[TextResourceContents | BlobResourceContents, FIRST_MATCH]


class EmbeddedResource(wire.WireModel):
    type: Literal["resource"] = "resource"
    resource: EmbeddedResourceResource
    annotations: wire.Lenient[Annotations] = None


BLOCK_TYPES: Final = ("text", "image", "audio", "resource_link", "resource")

ContentBlock: TypeAlias = Annotated[
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | wire.RawObject, OpenUnion()
]


ToolKind: TypeAlias = wire.Line
ToolCallStatus: TypeAlias = wire.Line


class Content(wire.WireModel):
    type: Literal["content"] = "content"
    content: ContentBlock


class Diff(wire.WireModel):
    """A change of one file, with its text before and after. Without `old_text`, the file is new."""

    type: Literal["diff"] = "diff"
    path: wire.Line
    new_text: wire.Text
    old_text: wire.Lenient[wire.Text] = None


class Terminal(wire.WireModel):
    type: Literal["terminal"] = "terminal"
    terminal_id: wire.Short


_BARE_BLOCK: Final = "block"
_CONTENT_TYPES: Final = ("content", "diff", "terminal")


def _content_tag(value: Any) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else None
    if kind in BLOCK_TYPES:
        return _BARE_BLOCK
    return kind if kind in _CONTENT_TYPES else OTHER if isinstance(kind, str) else None


ToolCallContent: TypeAlias = Annotated[
    Annotated[Content, Tag("content")]
    | Annotated[Diff, Tag("diff")]
    | Annotated[Terminal, Tag("terminal")]
    # Not in the schema, but in an example in the documentation, and so in agents (R-DOC-2).
    | Annotated[ContentBlock, Tag(_BARE_BLOCK, in_schema=False)]
    | Annotated[wire.RawObject, Tag(OTHER)],
    Discriminator(_content_tag),
]


class ToolCallLocation(wire.WireModel):
    """A place in a file. `line` is 1-based."""

    path: wire.Line
    line: wire.Lenient[wire.UInt32] = None


def marked_block(mark: str) -> wire.Wire:
    return {"type": "text", "text": mark}


def marked_content(mark: str) -> wire.Wire:
    return {"type": "content", "content": marked_block(mark)}


def marked_location(mark: str) -> wire.Wire:
    return {"path": mark}


class ToolCallFields(wire.WireModel):
    """What a report about a tool call may omit. Null means the same as absent."""

    tool_call_id: wire.Short
    name: wire.Lenient[wire.Line] = None
    kind: wire.Lenient[ToolKind] = None
    status: wire.Lenient[ToolCallStatus] = None
    content: Annotated[wire.OptionalItems[ToolCallContent], wire.cut_items(marked_content)] = None
    locations: Annotated[wire.OptionalItems[ToolCallLocation], wire.cut_items(marked_location)] = None
    raw_input: wire.Raw = None
    raw_output: wire.Raw = None


class ToolCallUpdate(ToolCallFields):
    """A change of a tool call, which may be the first mention of it."""

    title: wire.Lenient[wire.Line] = None
