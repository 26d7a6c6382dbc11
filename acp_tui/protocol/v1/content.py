"""Content blocks and tool calls as ACP v1 writes them. `conversation` knows what they mean."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from acp_tui.protocol.schemas import OTHER, Discriminator, FirstMatch, OpenUnion, Tag
from acp_tui.protocol.wire import (
    Int64,
    Lenient,
    Line,
    OptionalItems,
    Raw,
    RawObject,
    Short,
    Text,
    UInt32,
    Wire,
    WireModel,
    Word,
    cut_items,
)

Role: TypeAlias = Line
"""assistant, user, or an unknown one."""


class Annotations(WireModel):
    """Hints about a block's audience and importance."""

    audience: OptionalItems[Role] = None
    last_modified: Lenient[Line] = None
    priority: Lenient[float] = None


class TextContent(WireModel):
    type: Literal["text"] = "text"
    text: Text
    annotations: Lenient[Annotations] = None


class ImageContent(WireModel):
    type: Literal["image"] = "image"
    data: Text
    mime_type: Line
    uri: Lenient[Word] = None
    annotations: Lenient[Annotations] = None


class AudioContent(WireModel):
    type: Literal["audio"] = "audio"
    data: Text
    mime_type: Line
    annotations: Lenient[Annotations] = None


class ResourceLink(WireModel):
    type: Literal["resource_link"] = "resource_link"
    uri: Word
    name: Line
    title: Lenient[Line] = None
    description: Lenient[Line] = None
    mime_type: Lenient[Line] = None
    size: Lenient[Int64] = None
    annotations: Lenient[Annotations] = None


class TextResourceContents(WireModel):
    uri: Word
    text: Text
    mime_type: Lenient[Line] = None


class BlobResourceContents(WireModel):
    uri: Word
    blob: Text
    mime_type: Lenient[Line] = None


EmbeddedResourceResource: TypeAlias = Annotated[TextResourceContents | BlobResourceContents, FirstMatch()]


class EmbeddedResource(WireModel):
    type: Literal["resource"] = "resource"
    resource: EmbeddedResourceResource
    annotations: Lenient[Annotations] = None


BLOCK_TYPES: Final = ("text", "image", "audio", "resource_link", "resource")

ContentBlock: TypeAlias = Annotated[
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | RawObject,
    OpenUnion(),
]


ToolKind: TypeAlias = Line
ToolCallStatus: TypeAlias = Line


class Content(WireModel):
    type: Literal["content"] = "content"
    content: ContentBlock


class Diff(WireModel):
    """A change of one file, with its text before and after. Without `old_text`, the file is new."""

    type: Literal["diff"] = "diff"
    path: Line
    new_text: Text
    old_text: Lenient[Text] = None


class Terminal(WireModel):
    type: Literal["terminal"] = "terminal"
    terminal_id: Short


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
    | Annotated[RawObject, Tag(OTHER)],
    Discriminator(_content_tag),
]


class ToolCallLocation(WireModel):
    """A place in a file. `line` is 1-based."""

    path: Line
    line: Lenient[UInt32] = None


def marked_block(mark: str) -> Wire:
    return {"type": "text", "text": mark}


def marked_content(mark: str) -> Wire:
    return {"type": "content", "content": marked_block(mark)}


def marked_location(mark: str) -> Wire:
    return {"path": mark}


class ToolCallFields(WireModel):
    """What a report about a tool call may omit. Null means the same as absent."""

    tool_call_id: Short
    name: Lenient[Line] = None
    kind: Lenient[ToolKind] = None
    status: Lenient[ToolCallStatus] = None
    content: Annotated[OptionalItems[ToolCallContent], cut_items(marked_content)] = None
    locations: Annotated[OptionalItems[ToolCallLocation], cut_items(marked_location)] = None
    raw_input: Raw = None
    raw_output: Raw = None


class ToolCallUpdate(ToolCallFields):
    """A change of a tool call, which may be the first mention of it."""

    title: Lenient[Line] = None
