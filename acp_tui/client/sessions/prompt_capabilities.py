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
            if capabilities.image:
                return block, None
            return _linked(block, "images") or _left_out("images", block.mime_type)
        case content.Audio():
            return (block, None) if capabilities.audio else _left_out("audio", block.mime_type)
        case content.TextResource():
            if capabilities.embedded_context:
                return block, None
            return _linked(block, "embedded resources") or _as_text(block)
        case content.BlobResource():
            if capabilities.embedded_context:
                return block, None
            return _linked(block, "embedded resources") or _left_out("embedded resources", block.uri)
        case content.UnknownBlock():
            return _left_out("content", block.kind)
        case _:
            assert_never(block)


def _as_text(resource: content.TextResource) -> Fitted:
    label = content.block_words(resource).removeprefix("[").removesuffix("]")
    text = content.labeled(f"{resource.uri}:\n\n{resource.text}", label)
    name = label if resource.uri.startswith(content.COMMAND_SCHEME) else resource.uri
    return text, f"{name} is sent as plain text: the agent doesn't accept embedded resources"


def _linked(block: content.Image | content.TextResource | content.BlobResource, untaken: str) -> Fitted | None:
    """A link in its place; None if the agent can't read what it leads to."""
    if block.uri is None or block.uri.partition(":")[0].lower() not in _REACHABLE:
        return None
    link = content.ResourceLink(block.uri, _name_of(block.uri), mime_type=block.mime_type)
    return link, f"{link.name} is sent as a link: the agent doesn't accept {untaken}"


def _left_out(untaken: str, what: str) -> Fitted:
    """A placeholder, so that the agent knows what is missing: the text of the prompt may refer to it."""
    return content.Text(f"[{what}: left out]"), f"{what} is left out: the agent doesn't accept {untaken}"


def _name_of(uri: str) -> str:
    try:
        path = urlsplit(uri).path
    except ValueError:
        path = ""
    return PurePosixPath(unquote(path)).name or uri
