"""Content blocks as ACP v1 writes them; what they mean to a conversation is `acp_tui.conversation.content`."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, Tag

from acp_tui.protocol.wire import UNKNOWN, Int64, Lenient, OptionalItems, Variant, WireModel, open_union

Role: TypeAlias = str
"""assistant, user, or one we do not know."""


class Annotations(WireModel):
    """Hints on whom a block is for."""

    audience: OptionalItems[Role] = None
    last_modified: Lenient[str] = None
    priority: Lenient[float] = None


class TextContent(Variant):
    """Plain text or Markdown."""

    type: Literal["text"] = "text"
    text: str
    annotations: Lenient[Annotations] = None


class ImageContent(Variant):
    """A picture in base64."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str
    uri: Lenient[str] = None
    annotations: Lenient[Annotations] = None


class AudioContent(Variant):
    """A sound in base64."""

    type: Literal["audio"] = "audio"
    data: str
    mime_type: str
    annotations: Lenient[Annotations] = None


class ResourceLink(Variant):
    """A resource that is named, not included."""

    type: Literal["resource_link"] = "resource_link"
    uri: str
    name: str
    title: Lenient[str] = None
    description: Lenient[str] = None
    mime_type: Lenient[str] = None
    size: Lenient[Int64] = None
    annotations: Lenient[Annotations] = None


class TextResourceContents(WireModel):
    """The text of a resource."""

    uri: str
    text: str
    mime_type: Lenient[str] = None


class BlobResourceContents(WireModel):
    """The bytes of a resource in base64."""

    uri: str
    blob: str
    mime_type: Lenient[str] = None


EmbeddedResourceResource: TypeAlias = Annotated[
    TextResourceContents | BlobResourceContents, Field(union_mode="left_to_right")
]


class EmbeddedResource(Variant):
    """A resource with its contents."""

    type: Literal["resource"] = "resource"
    resource: EmbeddedResourceResource
    annotations: Lenient[Annotations] = None


BLOCK_TYPES: Final = frozenset({"text", "image", "audio", "resource_link", "resource"})

ContentBlock: TypeAlias = Annotated[
    Annotated[TextContent, Tag("text")]
    | Annotated[ImageContent, Tag("image")]
    | Annotated[AudioContent, Tag("audio")]
    | Annotated[ResourceLink, Tag("resource_link")]
    | Annotated[EmbeddedResource, Tag("resource")]
    | Annotated[dict[str, Any], Tag(UNKNOWN)],
    open_union(BLOCK_TYPES),
]
