"""What of a prompt an agent accepts: each block as it is, as a link, as text, or left out with a note."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final, TypeAlias, assert_never
from urllib.parse import unquote, urlsplit

from acp_tui.conversation import content
from acp_tui.protocol.roles import AgentCapabilities

_REACHABLE: Final = ("file", "http", "https")
"""URI schemes that an agent can read on its own. A link to anything else would lose the content."""

Fitted: TypeAlias = tuple[content.ContentBlock, str | None]
"""The block to send, and a note for the user if it differs from the original, otherwise None."""


def fit(
    blocks: Iterable[content.ContentBlock], capabilities: AgentCapabilities
) -> tuple[tuple[content.ContentBlock, ...], tuple[str, ...]]:
    """The blocks to send, one for each input block, and a note for each block that had to change."""
    fitted = [_fit(block, capabilities) for block in blocks]
    return tuple(block for block, _ in fitted), tuple(note for _, note in fitted if note is not None)


def _fit(block: content.ContentBlock, capabilities: AgentCapabilities) -> Fitted:
    match block:
        case content.Text() | content.ResourceLink():
            return block, None
        case content.Image():
            return (block, None) if capabilities.image else _without_image(block)
        case content.Audio():
            return (block, None) if capabilities.audio else _left_out("audio", block.mime_type)
        case content.TextResource():
            return (block, None) if capabilities.embedded_context else _without_text(block)
        case content.BlobResource():
            return (block, None) if capabilities.embedded_context else _without_blob(block)
        case content.UnknownBlock():
            return _left_out("content", block.kind)
        case _:
            assert_never(block)


def _without_image(image: content.Image) -> Fitted:
    if image.uri is None or not _is_reachable(image.uri):
        return _left_out("images", image.mime_type)
    return _linked(image.uri, image.mime_type, "images")


def _without_text(resource: content.TextResource) -> Fitted:
    if _is_reachable(resource.uri):
        return _linked(resource.uri, resource.mime_type, "embedded resources")
    label = content.block_words(resource).removeprefix("[").removesuffix("]")
    text = content.labeled(f"{resource.uri}:\n\n{resource.text}", label)
    name = label if resource.uri.startswith(content.COMMAND_SCHEME) else resource.uri
    return text, f"{name} is sent as plain text: the agent doesn't accept embedded resources"


def _without_blob(resource: content.BlobResource) -> Fitted:
    if _is_reachable(resource.uri):
        return _linked(resource.uri, resource.mime_type, "embedded resources")
    return _left_out("embedded resources", resource.uri)


def _linked(uri: str, mime_type: str | None, untaken: str) -> Fitted:
    link = content.ResourceLink(uri, _name_of(uri), mime_type=mime_type)
    return link, f"{link.name} is sent as a link: the agent doesn't accept {untaken}"


def _left_out(untaken: str, what: str) -> Fitted:
    """A placeholder, so that the agent knows what is missing: the text of the prompt may refer to it."""
    return content.Text(f"[{what}: left out]"), f"{what} is left out: the agent doesn't accept {untaken}"


def _is_reachable(uri: str) -> bool:
    return uri.partition(":")[0].lower() in _REACHABLE


def _name_of(uri: str) -> str:
    try:
        path = urlsplit(uri).path
    except ValueError:
        path = ""
    return PurePosixPath(unquote(path)).name or uri
