"""A client's values as ACP v1 writes them; whether an agent can take them is the caller's to know."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar, assert_never

from acp_tui.conversation.content import (
    Annotations,
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
)
from acp_tui.protocol.handler import ClientOffer
from acp_tui.protocol.v1 import content, initialize
from acp_tui.protocol.wire import Variant, WireModel

M = TypeVar("M", bound=WireModel)
_Annotated: TypeAlias = Text | Image | Audio | ResourceLink | TextResource | BlobResource


def initialize_request(
    protocol_version: int, offer: ClientOffer, name: str, title: str, version: str
) -> initialize.InitializeRequest:
    """The handshake: what the client offers to serve, and what it understands in any case."""
    return initialize.InitializeRequest(
        protocol_version=protocol_version,
        client_capabilities=initialize.ClientCapabilities(
            fs=initialize.FileSystemCapabilities(
                read_text_file=offer.read_text_file, write_text_file=offer.write_text_file
            ),
            terminal=offer.terminal,
            session=_session_capabilities(),
            # Without it claude-agent-acp 0.23 does not report the output of the commands that it runs itself.
            meta={"terminal_output": True},
        ),
        client_info=initialize.Implementation(name=name, title=title, version=version),
    )


def _session_capabilities() -> initialize.ClientSessionCapabilities:
    yes = initialize.Marker()
    return initialize.ClientSessionCapabilities(
        config_options=initialize.SessionConfigOptionsCapabilities(boolean=yes), notices=yes, compaction=yes
    )


def content_block(block: ContentBlock) -> Variant:
    """The block on the wire. Raises ValueError for one of a kind we do not know: only an agent makes those."""
    match block:
        case Text():
            return _block(content.TextContent, block, text=block.text)
        case Image():
            return _block(
                content.ImageContent, block, data=block.data, mime_type=block.mime_type, uri=block.uri
            )
        case Audio():
            return _block(content.AudioContent, block, data=block.data, mime_type=block.mime_type)
        case ResourceLink():
            return _resource_link(block)
        case TextResource():
            text = _made(content.TextResourceContents, text=block.text, **_resource_fields(block))
            return _block(content.EmbeddedResource, block, resource=text)
        case BlobResource():
            blob = _made(content.BlobResourceContents, blob=block.blob, **_resource_fields(block))
            return _block(content.EmbeddedResource, block, resource=blob)
        case UnknownBlock():
            raise ValueError(f"a content block of the unknown kind {block.kind!r} cannot be sent")
        case _:
            assert_never(block)


def _resource_link(link: ResourceLink) -> content.ResourceLink:
    return _block(
        content.ResourceLink,
        link,
        uri=link.uri,
        name=link.name,
        title=link.title,
        description=link.description,
        mime_type=link.mime_type,
        size=link.size,
    )


def _resource_fields(block: TextResource | BlobResource) -> dict[str, Any]:
    return {"uri": block.uri, "mime_type": block.mime_type, "meta": block.resource_meta}


def _block(model: type[M], block: _Annotated, **fields: Any) -> M:
    """The model with the block's annotations and `_meta`."""
    return _made(model, annotations=_annotations(block.annotations), meta=block.meta, **fields)


def _annotations(annotations: Annotations | None) -> content.Annotations | None:
    if annotations is None:
        return None
    return _made(
        content.Annotations,
        audience=None if annotations.audience is None else list(annotations.audience),
        last_modified=annotations.last_modified,
        priority=annotations.priority,
        meta=annotations.meta,
    )


def _made(model: type[M], **fields: Any) -> M:
    """The model without what is None: on the wire it is left out, not null."""
    return model(**{name: value for name, value in fields.items() if value is not None})
