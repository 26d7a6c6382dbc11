"""Makes a prompt fit what an agent takes: text and links always go, anything else only where it says so (R-PROMPT-4).

It reads no files: whoever makes the blocks chooses between a resource and a link to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final, TypeAlias, assert_never
from urllib.parse import unquote, urlsplit

from acp_tui.conversation.content import (
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
)
from acp_tui.protocol.roles import AgentCapabilities

_REACHABLE: Final = ("file", "http", "https")
"""What an agent can read by itself; a link to anything else would lose the content."""
Fitted: TypeAlias = tuple[ContentBlock, str | None]
"""What is sent, and what the user should know of it; None: it is the block as it was."""


def fit(
    blocks: Iterable[ContentBlock], capabilities: AgentCapabilities
) -> tuple[tuple[ContentBlock, ...], tuple[str, ...]]:
    """The blocks that can be sent, one for each, and a note on each that is not what it was."""
    fitted = [_fit(block, capabilities) for block in blocks]
    return tuple(block for block, _ in fitted), tuple(note for _, note in fitted if note is not None)


def _fit(block: ContentBlock, capabilities: AgentCapabilities) -> Fitted:
    match block:
        case Text() | ResourceLink():
            return block, None
        case Image():
            return (block, None) if capabilities.image else _without_image(block)
        case Audio():
            return (block, None) if capabilities.audio else _left_out("audio", block.mime_type)
        case TextResource():
            return (block, None) if capabilities.embedded_context else _without_text(block)
        case BlobResource():
            return (block, None) if capabilities.embedded_context else _without_blob(block)
        case UnknownBlock():
            return _left_out("content", block.kind)
        case _:
            assert_never(block)


def _without_image(image: Image) -> Fitted:
    if image.uri is None or not _is_reachable(image.uri):
        return _left_out("images", image.mime_type)
    return _linked(image.uri, image.mime_type, "images")


def _without_text(resource: TextResource) -> Fitted:
    if _is_reachable(resource.uri):
        return _linked(resource.uri, resource.mime_type, "embedded resources")
    text = Text(f"{resource.uri}:\n\n{resource.text}")
    return text, f"{resource.uri} is sent as plain text: the agent takes no embedded resources"


def _without_blob(resource: BlobResource) -> Fitted:
    if _is_reachable(resource.uri):
        return _linked(resource.uri, resource.mime_type, "embedded resources")
    return _left_out("embedded resources", resource.uri)


def _linked(uri: str, mime_type: str | None, untaken: str) -> Fitted:
    link = ResourceLink(uri, _name_of(uri), mime_type=mime_type)
    return link, f"{link.name} is sent as a link: the agent takes no {untaken}"


def _left_out(untaken: str, what: str) -> Fitted:
    """The agent is told too: the words of the prompt may speak of what it does not get."""
    return Text(f"[{what}: left out]"), f"{what} is left out: the agent takes no {untaken}"


def _is_reachable(uri: str) -> bool:
    return uri.partition(":")[0].lower() in _REACHABLE


def _name_of(uri: str) -> str:
    try:
        path = urlsplit(uri).path
    except ValueError:
        path = ""
    return PurePosixPath(unquote(path)).name or uri
